"""claude-mem's database is read whatever its version and whatever is in it, and nothing beside it is touched."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.export_format import values_of
from claude_mem_lite.importers.claude_mem_db import (
    TABLES,
    ClaudeMemDatabase,
    ClaudeMemRow,
    RowKind,
    SkippedRow,
    row_time,
    skipped_tables,
    to_list,
)
from claude_mem_lite.importers.claude_mem_file import MAX_STEPS, open_copy
from claude_mem_lite.importers.claude_mem_rows import kind_of, to_memory
from tests.support.claude_mem_databases import BLOG_MEMORY, NEWEST, SAMPLES, SHOP_SESSION, add, load, observe

FEW_STEPS = 20_000
"""What takes ten seconds is given up at once."""


def read(path: Path, kind: RowKind, max_steps: int = MAX_STEPS) -> list[ClaudeMemRow | SkippedRow]:
    with open_copy(path, max_steps) as db:
        return list(ClaudeMemDatabase(db).rows(kind))


def taken(path: Path, kind: RowKind) -> list[ClaudeMemRow]:
    return [row for row in read(path, kind) if isinstance(row, ClaudeMemRow)]


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


# What is too much, and what names things.


def test_a_row_that_is_too_long_is_told_and_all_others_are_read(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    before = {kind: len(taken(path, kind)) for kind in TABLES}
    long = "word " * 200_000
    observe(path, "Long", narrative=long)
    observe(path, "Many", facts=json.dumps([f"{number:x}" for number in range(200_000)]))
    observe(path, "After them")
    at = {"created_at": "2026-01-05T09:00:00.000Z", "created_at_epoch": 1767603600000}
    add(path, "user_prompts", content_session_id=SHOP_SESSION, prompt_number=9, prompt_text=long, **at)
    add(path, "session_summaries", memory_session_id=BLOG_MEMORY, project="blog", learned=long, **at)
    assert taken(path, "observation")[-1].texts["title"] == "After them"
    assert {kind: len(taken(path, kind)) for kind in TABLES} == before | {"observation": before["observation"] + 1}
    told = [row for kind in TABLES for row in read(path, kind) if isinstance(row, SkippedRow)]
    assert [row.reason for row in told if "longer" in row.reason] == ["it is longer than 900,000 characters"] * 4


def test_a_row_that_is_just_short_enough_is_taken_by_the_worker_too(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    name = "n" * 2_000
    facts = json.dumps([f"{number:05}" for number in range(99_000)])
    observe(path, "Long", narrative="w " * 150_000, facts=facts, project=name, memory_session_id=name)
    (row,) = [row for row in taken(path, "observation") if row.texts["title"] == "Long"]
    assert values_of(to_memory(row, row.project, ""))[1] == []


def test_secrets_and_control_characters_are_in_no_name_and_what_belongs_together_stays_so(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session, project = f"sess-{token}", f"shop-{token[:10]}\x1b[31m{token[10:]}\x1b]0;pwn\x07\n"
    at = {"created_at": "2026-01-05T09:00:00.000Z", "created_at_epoch": 1767603600000}
    started = {"started_at": at["created_at"], "started_at_epoch": at["created_at_epoch"], "status": "completed"}
    ids = {"content_session_id": session, "memory_session_id": f"memory-{token}"}
    add(path, "sdk_sessions", id=77, project=project, **ids, **started)
    observe(path, "Told", memory_session_id=f"memory-{token}", project=project)
    add(path, "user_prompts", content_session_id=session, prompt_number=1, prompt_text="go on", **at)
    add(path, "session_summaries", memory_session_id=f"memory-{token}", project=project, learned="much", **at)
    with open_copy(path) as db:
        kept = ClaudeMemDatabase(db)
        told = [row for kind in TABLES for row in kept.rows(kind) if isinstance(row, ClaudeMemRow)]
    found = {(row.session, row.project) for row in told if row.session.startswith("sess-")}
    assert len(found) == 1
    ((session, project),) = found
    assert kept.sessions[session].project == project
    assert len([row for row in told if row.session == session]) == 3
    assert token not in session + project
    assert "]0;pwn" in project
    assert (session + project).isprintable()


# The file.


def test_what_is_only_in_the_log_of_a_running_worker_is_read_and_nothing_is_touched(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem" / "claude-mem.db")
    with closing(sqlite3.connect(path)) as worker:
        worker.execute("pragma journal_mode = wal")
        worker.execute("pragma wal_autocheckpoint = 0")
        worker.execute("update observations set title = 'Only in the log' where id = 1")
        worker.commit()
        worker.execute("begin")
        worker.execute("update observations set title = 'Not committed' where id = 2")
        before = state(path.parent)
        assert set(before) == {"claude-mem.db", "claude-mem.db-wal", "claude-mem.db-shm"}
        titles = [row.texts["title"] for row in taken(path, "observation")]
        assert state(path.parent) == before
    assert titles[:2] == ["Only in the log", "Carts go into the session table"]


def test_reading_a_database_at_rest_leaves_no_file_beside_it(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem" / "claude-mem.db")
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = wal")
    before = state(path.parent)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert len(taken(path, "observation")) == 9
    finally:
        path.parent.chmod(0o700)
    assert state(path.parent) == before


def test_a_copy_that_was_overtaken_by_a_write_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = load(tmp_path / "claude-mem.db")
    copy = shutil.copyfile
    waiting = [1]

    def copy_slowly(source: Path, target: Path) -> None:
        copy(source, target)
        if waiting:
            observe(path, f"Written meanwhile {waiting.pop()}")

    monkeypatch.setattr(shutil, "copyfile", copy_slowly)
    assert len(taken(path, "observation")) == 10


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(lambda path: path.write_text("no database at all"), "is no SQLite database", id="text"),
        pytest.param(lambda path: path.write_bytes(b""), "is no SQLite database", id="empty"),
        pytest.param(lambda path: path.mkdir(), "is a directory", id="folder"),
        pytest.param(lambda path: _make(path, "create table other (id)"), "none of claude-mem's tables", id="other"),
        pytest.param(
            lambda path: _make(path, "create table memories (id); create table tombstones (memory)"),
            "a database of claude-mem-lite itself",
            id="own",
        ),
        pytest.param(
            lambda path: path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4000), "cannot be read", id="torn"
        ),
    ],
)
def test_what_is_no_database_of_claude_mem_is_refused(
    tmp_path: Path, make: Callable[[Path], object], reason: str
) -> None:
    make(tmp_path / "given.db")
    with pytest.raises(MemoryLiteError, match=reason), open_copy(tmp_path / "given.db") as db:
        ClaudeMemDatabase(db)


def test_what_fails_with_the_copy_in_hand_is_not_laid_to_the_original(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), open_copy(load(tmp_path / "claude-mem.db", NEWEST)):
        raise BrokenPipeError


def _make(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)


# The versions.


@pytest.mark.parametrize(
    ("sample", "version", "prompts", "summaries", "observations"),
    [("2", 2, 0, 1, 2), ("9", 9, 0, 1, 1), ("10.6.3", 23, 5, 2, 9), (NEWEST, 52, 5, 3, 9)],
)
def test_every_schema_is_read(
    tmp_path: Path, sample: str, version: int, prompts: int, summaries: int, observations: int
) -> None:
    with open_copy(load(tmp_path / "claude-mem.db", sample)) as db:
        kept = ClaudeMemDatabase(db)
        found = [list(kept.rows(kind)) for kind in ("prompt", "summary", "observation")]
        assert kept.version == version
        assert [len(rows) for rows in found] == [prompts, summaries, observations]
        assert [kept.count(kind) for kind in ("prompt", "summary", "observation")] == [prompts, summaries, observations]
    assert not [row for rows in found for row in rows if isinstance(row, SkippedRow)]


def test_sessions_of_old_names_are_known_by_the_agents_own_id(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db", "9")
    (observation,) = taken(path, "observation")
    assert (observation.session, observation.project) == ("old-session", "shop")
    memory = to_memory(observation, "shop", "")
    assert memory["title"] == "The build needs node 20 and fails without a word on older ones."
    assert (memory["summary"], memory["detail"]) == ("", "")
    (summary,) = taken(path, "summary")
    assert (summary.session, summary.lists["files_edited"]) == ("old-session", ("src/old.ts",))


def test_the_first_form_of_all_is_read_as_observations_and_summaries(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db", "2")
    first, second = taken(path, "observation")
    memory = to_memory(first, "blog", "")
    assert (memory["kind"], memory["title"]) == ("note", "Posts are rendered on save")
    assert (memory["summary"], memory["detail"]) == (
        "Not on every request.",
        "Posts are rendered once, when they are saved.",
    )
    assert (memory["tags"], memory["files"]) == (["render", "cache"], ["render.py"])
    assert second.at == datetime(2025, 9, 10, 9, 20, tzinfo=UTC)
    (summary,) = taken(path, "summary")
    assert summary.texts["completed"] == "How posts are rendered and cached."
    with open_copy(path) as db:
        assert [(one.table, one.rows) for one in skipped_tables(ClaudeMemDatabase(db))] == [("diagnostics", 1)]


def test_what_a_server_of_claude_mem_kept_by_itself_is_read_once(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    _make(
        path,
        """create table projects (id text primary key, name text, root_path text);
           create table memory_items (id text primary key, project_id text, server_session_id text,
             legacy_observation_id integer, kind text, type text, title text, text text, created_at_epoch integer);
           insert into projects values ('p-1', 'team', '/home/dev/team');
           insert into memory_items values
             ('a', 'p-1', null, null, 'manual', 'decision', 'Ship on Fridays', null, 1767603600000),
             ('b', 'p-1', null, 1, 'observation', 'discovery', 'A copy', null, 1767603600000);
           create table news (id integer primary key);
           insert into news values (1)""",
    )
    (own,) = [row for row in taken(path, "observation") if row.table == "memory_items"]
    assert (own.texts["title"], own.project) == ("Ship on Fridays", "team")
    with open_copy(path) as db:
        left = [(one.table, one.rows, one.reason) for one in skipped_tables(ClaudeMemDatabase(db))]
    assert [one[:2] for one in left] == [("memory_items", 1), ("news", 1), ("tool_uses", 1)]
    assert left[1][2] == "a table that this version does not know"


# What is in them.


def test_the_folder_of_a_session_is_known_by_its_tool_calls(tmp_path: Path) -> None:
    with open_copy(load(tmp_path / "claude-mem.db")) as db:
        assert ClaudeMemDatabase(db).sessions[SHOP_SESSION].cwd == "/home/dev/shop"


def test_rows_that_cannot_be_taken_are_named_with_the_reason(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    prompt = {"content_session_id": "nobody", "created_at": "2026-01-05", "created_at_epoch": 1767603600000}
    add(path, "user_prompts", prompt_number=1, prompt_text="<task-notification>done</task-notification>", **prompt)
    add(path, "user_prompts", prompt_number=2, prompt_text="  \x00 ", **prompt)
    add(path, "observations", memory_session_id="gone", project="x", type="change", created_at="", created_at_epoch=0)
    observe(path, "Long ago", memory_session_id="gone", created_at="never", created_at_epoch=-5)
    told = [
        (one.what, one.reason)
        for kind in ("prompt", "observation")
        for one in read(path, kind)
        if isinstance(one, SkippedRow)
    ]
    assert told == [
        ("user_prompts 6", "it is the notification of a background task, no prompt"),
        ("user_prompts 7", "it is empty"),
        ("observations 10", "it is empty"),
        ("observations 11", "it has no date that could be true"),
    ]


def test_a_damaged_table_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    with closing(sqlite3.connect(path)) as db, db:
        db.executemany(
            "insert into observations (memory_session_id, project, type, title, created_at, created_at_epoch)"
            " values ('s', 'p', 'change', ?, '', 1767603600000)",
            [(f"{number} {'word ' * 100}",) for number in range(1200)],
        )
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 8192)
    found = read(path, "observation")
    assert isinstance(found[-1], SkippedRow)
    assert found[-1].what.startswith("observations after row ")
    assert 9 <= len(found) < 1200
    assert len(taken(path, "prompt")) == 5


def test_values_that_should_not_be_there_are_read_as_text(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    observe(
        path,
        "Odd \x00one",
        facts="no json\n- but lines",
        concepts='{"a": 1}',
        files_read='[1, null, "a.py"]',
        narrative=b"\xff bytes",
    )
    odd = taken(path, "observation")[-1]
    assert odd.texts["title"] == "Odd one"
    assert odd.texts["narrative"] == "� bytes"
    assert odd.lists == {"facts": ("no json", "but lines"), "concepts": ("{'a': 1}",), "files": ("1", "null", "a.py")}


@pytest.mark.parametrize(
    ("row", "at"),
    [
        ({"created_at_epoch": 1767603600123}, datetime(2026, 1, 5, 9, 0, 0, 123000, tzinfo=UTC)),
        ({"created_at_epoch": 1767603600}, datetime(2026, 1, 5, 9, tzinfo=UTC)),
        ({"created_at_epoch": "1767603600000"}, datetime(2026, 1, 5, 9, tzinfo=UTC)),
        ({"created_at_epoch": None, "created_at": "2026-01-05T10:00:00+01:00"}, datetime(2026, 1, 5, 9, tzinfo=UTC)),
        ({"created_at_epoch": 10**30, "created_at": "2026-01-05 09:00:00"}, datetime(2026, 1, 5, 9, tzinfo=UTC)),
        ({"created_at_epoch": float("inf")}, None),
        ({}, None),
    ],
    ids=["milliseconds", "seconds", "text", "zone", "too-large", "infinite", "none"],
)
def test_times_are_read_in_every_form(row: dict[str, object], at: datetime | None) -> None:
    assert row_time(row, "created_at") == at


def test_lists_are_read_without_what_comes_twice() -> None:
    assert to_list('["a", "a", " ", "b"]') == ("a", "b")
    assert to_list("null") == ()
    assert to_list(None) == ()
    assert to_list("[" * 5000) == ("[" * 5000,)


def test_types_of_claude_mem_are_kinds_of_ours_and_none_becomes_a_rule() -> None:
    same = ("bugfix", "feature", "refactor", "change", "discovery", "decision")
    assert tuple(map(kind_of, same)) == same
    assert tuple(map(kind_of, ("security_alert", "rule", "preference", "", "case-holding"))) == (
        "gotcha",
        "note",
        "note",
        "note",
        "note",
    )


def test_the_samples_say_by_which_version_they_were_made() -> None:
    for path in SAMPLES.glob("*.sql"):
        head = path.read_text("utf-8").splitlines()[0]
        assert "claude-mem" in head
        assert path.stem in head


# What somebody may have put into the file.

_ENDLESS = "(with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c)"


def test_the_name_of_a_table_is_a_name_whatever_is_in_it(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    name = f'observations" where {_ENDLESS} is null --'
    quoted = name.replace('"', '""')
    _make(path, f'create table "{quoted}" (a); insert into "{quoted}" values (1)')
    with open_copy(path, FEW_STEPS) as db:
        assert [one.rows for one in skipped_tables(ClaudeMemDatabase(db)) if one.table == name] == [1]


def test_a_query_that_finds_no_end_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "claude-mem.db"
    _make(
        path,
        f"""create view endless as select 1 as id, {_ENDLESS} as title;
            create virtual table observations using fts5 (title, content='endless', content_rowid='id')""",
    )
    (told,) = read(path, "observation", FEW_STEPS)
    assert isinstance(told, SkippedRow)
    assert told.reason == "the rest cannot be read: interrupted"


def test_a_long_table_is_read_to_its_end_however_few_steps_a_row_may_take(tmp_path: Path) -> None:
    path = load(tmp_path / "claude-mem.db")
    with closing(sqlite3.connect(path)) as db, db:
        columns = "memory_session_id, project, type, title, created_at, created_at_epoch"
        db.execute(
            f"""insert into observations ({columns})
                with recursive n(x) as (select 1 union all select x + 1 from n where x < 3000)
                select {columns.replace("title", "'Number ' || x")} from observations, n where id = 1"""
        )
    rows = read(path, "observation", FEW_STEPS)
    assert len([row for row in rows if isinstance(row, ClaudeMemRow)]) == 3009
