"""A file of memories: what is read, what is refused with its line, and that nothing is lost there and back."""

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.compress.toolcalls.provenance import text_of
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.export_format import FIELDS, MAX_MEMORY_LENGTH, to_line, to_object, values_of
from claude_mem_lite.importers import memory_file
from claude_mem_lite.importers.memory_file import MAX_LINE_BYTES, CheckResult, open_memories
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import FOREIGN_ORIGINS, KINDS, JsonValue, Memory, Origin, Status, SymbolAction, SymbolChange
from claude_mem_lite.safety.clean_import import cleaned
from claude_mem_lite.safety.injection import looks_like_instructions
from claude_mem_lite.store import memories, memory_queries, sessions
from claude_mem_lite.worker.api.transfer import Batch, Line, read
from tests.support.fakes import NOW, Store
from tests.support.generated_secrets import GeneratedSecret, generated_secrets

NOTE = {"kind": "note", "title": "t"}


def ignored(_: int) -> None:
    """Nobody watches."""


def check(path: Path) -> CheckResult:
    with open_memories(str(path)) as file:
        return file.check(ignored)


def problems(folder: Path, *lines: JsonValue | bytes) -> list[tuple[int, str]]:
    path = folder / "memories.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return [(one.line, one.reason) for one in check(path).problems]


# What is refused.


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"sumary": "x"}, 'unknown key "sumary", did you mean summary?'),
        ({"Title": "x"}, 'unknown key "Title", did you mean title?'),
        ({"xyzzy": 1}, 'unknown key "xyzzy"'),
        ({"kind": "decisoin"}, 'kind cannot be "decisoin", did you mean decision?'),
        ({"kind": "zzz"}, f'kind cannot be "zzz"; it is one of {", ".join(KINDS)}'),
        ({"kind": None}, f"kind cannot be null; it is one of {', '.join(KINDS)}"),
        ({"title": " \n"}, "title is empty"),
        ({"title": 3}, "title must be text, not 3"),
        ({"title": "a\0b"}, "title holds a NUL character"),
        ({"summary": None}, "summary must be text, not null"),
        ({"summary": ["x" * 200]}, f'summary must be text, not ["{"x" * 58}…'),
        ({"status": "gone"}, 'status cannot be "gone"; it is one of active, superseded, retired, quarantined'),
        ({"origin": "usr"}, 'origin cannot be "usr", did you mean user?'),
        ({"created_at": "yesterday"}, 'created_at must be a time like 2026-03-01T12:00:00Z, not "yesterday"'),
        ({"created_at": 1772366400}, "created_at must be a time like 2026-03-01T12:00:00Z, not 1772366400"),
        (
            {"created_at": "2026-03-01T12:00:00"},
            'created_at has no time zone: "2026-03-01T12:00:00"; write Z at its end if it is UTC',
        ),
        ({"last_seen_at": "0001-01-01T00:00:00+05:00"}, 'last_seen_at is out of range: "0001-01-01T00:00:00+05:00"'),
        ({"facts": "one"}, 'facts must be a list of texts, not "one"'),
        ({"facts": ["one", 2]}, 'facts must be a list of texts, not ["one", 2]'),
        ({"tags": ["a\0"]}, "tags holds a NUL character"),
        ({"symbols": {}}, "symbols must be a list, not {}"),
        (
            {"symbols": [{"file": "a.py", "name": "f"}]},
            'symbols must hold objects with file, name and action, not {"file": "a.py", "name": "f"}',
        ),
        (
            {"symbols": [{"file": "a.py", "name": "f", "action": "x"}]},
            'symbols has one whose action cannot be "x"; it is one of new, modified, deleted',
        ),
        ({"trust": "high"}, 'trust must be a number, not "high"'),
        ({"trust": True}, "trust must be a number, not true"),
        ({"trust": 1.1}, "trust must be from 0 to 1, not 1.1"),
        ({"confidence": -0.1}, "confidence cannot be -0.1"),
        ({"times_seen": 1.0}, "times_seen must be a whole number of 0 or more, not 1.0"),
        ({"times_seen": -1}, "times_seen must be a whole number of 0 or more, not -1"),
        ({"tokens_in": 2**63}, "tokens_in must be a whole number of 0 or more, not 9223372036854775808"),
        ({"tokens_out": True}, "tokens_out must be a whole number of 0 or more, not true"),
        ({"cost_usd": 10**400}, f"cost_usd cannot be 1{'0' * 59}…"),
        ({"pinned": 1}, "pinned must be true or false, not 1"),
        ({"superseded_by": 4}, "superseded_by must be text, not 4"),
        ({"scope": "galaxy"}, 'scope cannot be "galaxy"; it is universal, language:NAME, project or project:ID'),
        ({"scope": "language:"}, 'scope cannot be "language:"; it is universal, language:NAME, project or project:ID'),
        ({"project": ""}, "project is empty"),
        (
            {"id": "K7F3"},
            'id cannot be "K7F3"; it has 4 to 64 of a-z, 0-9, _ and -, begins with a letter or digit, '
            "and may be left out",
        ),
        ({"id": "ghp_" + "a8kd93jflq02mzxc7vbn5typrw61hsgeuoii"}, "id looks like a secret"),
        ({"detail": "x" * MAX_MEMORY_LENGTH}, f"longer than {MAX_MEMORY_LENGTH:,} characters"),
    ],
)
def test_a_wrong_value_is_told_with_its_field_and_line(wrong: dict[str, JsonValue], told: str, tmp_path: Path) -> None:
    assert problems(tmp_path, NOTE, {**NOTE, **wrong}) == [(2, told)]


@pytest.mark.parametrize("id_", ["abc", "-abcd", "_abcd", "a" * 65, "ab cd", "ab/cd", "äbcd", ""])
def test_an_id_that_no_command_could_name_is_refused(id_: str, tmp_path: Path) -> None:
    assert len(problems(tmp_path, {**NOTE, "id": id_})) == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"nonsense", "no JSON: Expecting value (column 1)"),
        (b'{"kind": "note"', "no JSON: Expecting ',' delimiter (column 16)"),
        (b'{"kind": "note", "title": "a\x00b"}', "no JSON: Invalid control character at (column 29)"),
        (b"{} {}", "no JSON: Extra data (column 4)"),
        (b"[]", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b'{"kind": "note", "title": "\xff"}', "not UTF-8 (byte 28)"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"kind": "note", "title": "a", "title": "b"}', "title is given twice"),
        (b'{"kind": "note", "title": "a", "trust": NaN}', "NaN is no number of JSON"),
        (b'{"kind": "note", "title": "a", "cost_usd": 1e999}', "cost_usd cannot be Infinity"),
    ],
)
def test_a_line_that_is_no_object_is_told_with_its_number(line: bytes, told: str, tmp_path: Path) -> None:
    assert problems(tmp_path, NOTE, b"", NOTE, line, NOTE) == [(4, told)]


def test_kind_and_title_are_required(tmp_path: Path) -> None:
    assert problems(tmp_path, {}) == [(1, "kind is missing"), (1, "title is missing")]


def test_an_id_that_comes_twice_is_told_with_both_lines(tmp_path: Path) -> None:
    lines = [{**NOTE, "id": id_} for id_ in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb")]
    assert problems(tmp_path, *lines) == [
        (3, "its id is that of line 1 too"),
        (5, "its id is that of line 1 too"),
        (6, "its id is that of line 2 too"),
    ]


def test_ten_problems_are_told_and_the_rest_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    path.write_text("{}\n" * 20)
    found = check(path)
    assert (len(found.problems), found.more_problems) == (10, 30)


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    long = json.dumps({**NOTE, "detail": "x" * MAX_LINE_BYTES}).encode()
    assert problems(tmp_path, NOTE, long, {}) == [
        (2, "longer than 16 MB"),
        (3, "kind is missing"),
        (3, "title is missing"),
    ]


def test_a_file_that_cannot_be_unpacked_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(NOTE).encode() * 1000)[:-20])
    with pytest.raises(MemoryLiteError, match="cannot be read after line 0"):
        check(path)


def test_a_file_that_changes_between_the_readings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    path.write_text(json.dumps(NOTE))
    with open_memories(str(path)) as file:
        checked = file.check(ignored)
        path.write_text(json.dumps({**NOTE, "title": "another"}))
        with pytest.raises(MemoryLiteError, match="was changed while it was read; run it again"):
            list(file.batches(checked, ignored))


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_what_is_no_file_is_refused_in_words(name: str, tmp_path: Path) -> None:
    with pytest.raises(MemoryLiteError, match=r"no such file|is a folder"), open_memories(str(tmp_path / name)):
        pass


# What is read.


def test_blank_lines_a_bom_and_windows_line_ends_are_no_problem(tmp_path: Path) -> None:
    line = json.dumps(NOTE).encode()
    path = tmp_path / "memories.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n  \n" + line)
    found = check(path)
    assert (found.lines, found.problems) == (2, [])


def test_half_a_character_is_replaced() -> None:
    assert memory_file.parse(b'{"title": "a\\ud83d"}') == {"title": "a\ufffd"}
    assert memory_file.parse(b'{"title": "\\ud83d\\ude00"}') == {"title": "😀"}


@pytest.mark.parametrize("name", ["memories.jsonl.gz", "memories.jsonl"])
def test_a_packed_file_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(json.dumps(NOTE).encode()))
    assert check(path).lines == 1


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(NOTE).encode())))
    with open_memories("-") as file:
        checked = file.check(ignored)
        assert [line.memory for batch in file.batches(checked, ignored) for line in batch] == [NOTE]


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(json.dumps(NOTE),))
    writer.start()
    assert check(pipe).lines == 1
    writer.join()


def test_batches_are_small_in_lines_and_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    path.write_text("".join(json.dumps({**NOTE, "detail": "x" * size}) + "\n" for size in [0] * 120 + [600_000] * 3))
    with open_memories(str(path)) as file:
        found = list(file.batches(file.check(ignored), ignored))
    assert [len(batch) for batch in found] == [100, 21, 1, 1]


def test_equal_lines_without_an_id_are_numbered(tmp_path: Path) -> None:
    other = {"kind": "note", "title": "u"}
    path = tmp_path / "memories.jsonl"
    lines = [NOTE, other, {"title": "t", "kind": "note"}, {**NOTE, "id": "abcd"}, NOTE]
    path.write_text("\n".join(map(json.dumps, lines)))
    with open_memories(str(path)) as file:
        found = [line.nth for batch in file.batches(file.check(ignored), ignored) for line in batch]
    assert found == [0, 0, 1, 0, 2]


def test_progress_reaches_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    path.write_text((json.dumps(NOTE) + "\n") * 20_000)
    seen: list[int] = []
    with open_memories(str(path)) as file:
        file.check(seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == file.size_bytes


# Secrets.


def memory_with(one: GeneratedSecret) -> Memory:
    return Memory(
        id="abcd",
        kind="note",
        title=f"About {one.name}",
        summary=one.text,
        created_at=NOW,
        last_seen_at=NOW,
        scope="universal",
        project="p",
        detail=f"before\n{one.text}\nafter",
        facts=("one", one.text),
    )


def test_a_secret_is_out_after_one_import_and_the_next_changes_nothing() -> None:
    found = {one: cleaned(memory_with(one)) for one in generated_secrets()}
    assert [one.name for one, (_, changed) in found.items() if changed < 3] == []
    assert [one.name for one, (clean, _) in found.items() if one.secret in str(clean)] == []
    assert [one.name for one, (clean, _) in found.items() if cleaned(clean) != (clean, 0)] == []


def test_what_holds_no_secret_is_the_very_same() -> None:
    for words in (*AWKWARD, "git commit 3f786850e387550fdab836ed7e6dc881de23001b", "about <privates> and private keys"):
        memory = Memory(
            "abcd", "note", f"t{words}", words, NOW, NOW, "universal", "p", facts=(words, words), branch=words
        )
        assert cleaned(memory) == (memory, 0)


# There and back.


def test_a_line_has_every_field_in_order_and_no_character_that_ends_a_line_elsewhere() -> None:
    memory = Memory(
        id="k7f3a9",
        kind="note",
        title="naïve 日本\x85\u2028\x9b\x7f",
        summary="",
        created_at=datetime(1, 1, 1, tzinfo=UTC),
        last_seen_at=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        scope="universal",
        project="p",
        cost_usd=1e-7,
    )
    line = to_line(to_object(memory))
    assert list(json.loads(line)) == [field.name for field in fields(Memory)] == list(FIELDS)
    assert line.startswith(
        '{"id": "k7f3a9", "kind": "note", "title": "naïve 日本\\u0085\\u2028\\u009b\\u007f", "summary": "", '
        '"created_at": "0001-01-01T00:00:00.000000+00:00", "last_seen_at": "9999-12-31T23:59:59.999999+00:00", '
    )
    assert line.endswith('"cost_usd": 1e-07}\n')
    assert values_of(json.loads(line))[1] == []


def test_a_time_of_another_zone_is_kept_as_the_moment_it_is() -> None:
    values, _ = values_of({**NOTE, "created_at": "2026-03-01T14:00:00.5+02:00"})
    assert values["created_at"] == datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)


def exported(store: Store) -> str:
    return "".join(to_line(to_object(memory)) for _, memory in memory_queries.all_after(store.db, 0, None))


def imported(store: Store, path: Path) -> remember.ImportResult:
    """The way of a file through command and worker, without the socket between them."""
    with open_memories(str(path)) as file:
        checked = file.check(ignored)
        assert checked.problems == []
        taken = []
        for batch in file.batches(checked, ignored):
            sent = [Line(memory=dict(line.memory), nth=line.nth) for line in batch]
            given = Batch(project="example.org/me/here", at=NOW, lines=sent, trust=True)
            found = [read(store.db, line, given).given for line in sent]
            taken.append(remember.import_memories(store.db, found, NOW))
    return remember.ImportResult(
        sum(one.imported for one in taken),
        sum(one.known for one in taken),
        tuple(id_ for one in taken for id_ in one.different),
        sum(one.forgotten for one in taken),
    )


AWKWARD = [
    "",
    " ",
    "\n",
    "\x1b[31mred\x1b[0m",
    "a\n\x1eb",
    "\u2028",
    "\x85",
    "\ufeff",
    "[private]",
    "private",
    "😀",
    '"',
]
text = st.one_of(st.sampled_from(AWKWARD), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20))
filled = text.filter(str.strip)
times = st.datetimes(timezones=st.just(UTC))
shares = st.floats(0, 1).map(abs)
counts = st.integers(0, 2**63 - 1)
lists = st.lists(text, max_size=3).map(tuple)
symbols = st.builds(SymbolChange, text, text, st.sampled_from(get_args(SymbolAction)))
every_memory = st.builds(
    Memory,
    id=st.from_regex(r"[a-z0-9][a-z0-9_-]{3,20}", fullmatch=True),
    kind=st.sampled_from(KINDS),
    title=filled,
    summary=text,
    created_at=times,
    last_seen_at=times,
    scope=st.one_of(st.just("universal"), st.just("language:python"), filled.map(lambda name: f"project:{name}")),
    project=filled,
    status=st.sampled_from(get_args(Status)),
    detail=text,
    facts=lists,
    files=lists,
    symbols=st.lists(symbols, max_size=2).map(tuple),
    anchors=lists,
    tags=lists,
    session=text,
    prompt=text,
    branch=text,
    commit=text,
    # What a teammate shared comes back as imported: test_transfer has it.
    origin=st.sampled_from([origin for origin in get_args(Origin) if origin != "team"]),
    trust=shares,
    confidence=shares,
    times_seen=counts,
    pinned=st.booleans(),
    superseded_by=st.one_of(st.none(), text),
    made_by=text,
    prompt_version=text,
    tokens_in=counts,
    tokens_out=counts,
    cost_usd=st.floats(0, allow_infinity=False).map(abs),
).map(lambda memory: replace(memory, pinned=memory.pinned and memory.origin not in FOREIGN_ORIGINS))
# What could be an order, hidden characters among them, comes back in quarantine.
every_harmless_memory = every_memory.filter(lambda memory: not looks_like_instructions(text_of(memory)))


@settings(max_examples=50, deadline=None)
@given(st.lists(every_harmless_memory, max_size=6, unique_by=lambda memory: memory.id))
def test_any_memories_come_back_byte_for_byte(made: Sequence[Memory]) -> None:
    with (
        tempfile.TemporaryDirectory() as name,
        Store(Path(name) / "a.db") as first,
        Store(Path(name) / "b.db") as second,
    ):
        for memory in made:
            memories.insert(first.db, memory, NOW)
        path = Path(name) / "memories.jsonl"
        path.write_text(exported(first), encoding="utf-8", newline="")
        assert imported(second, path) == remember.ImportResult(len(made), 0, (), 0)
        assert exported(second) == exported(first)
        assert imported(second, path) == remember.ImportResult(0, len(made), (), 0)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | text,
        lambda item: st.lists(item, max_size=3) | st.dictionaries(text, item, max_size=3),
        max_leaves=5,
    ),
    st.sampled_from(FIELDS),
)
def test_any_value_in_any_field_is_read_or_refused_in_words(value: JsonValue, name: str) -> None:
    values, problems = values_of({**NOTE, name: value})
    assert bool(problems) != (name in values)
    assert all(len(problem) < 400 for problem in problems)


def test_what_is_not_said_gets_its_default(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    lines = [{"kind": "note", "title": "a note"}, {"kind": "rule", "title": "a rule", "origin": "user"}]
    path.write_text("\n".join(map(json.dumps, lines)))
    imported(store, path)
    note, rule = (memory for _, memory in memory_queries.all_after(store.db, 0, None))
    assert note == Memory(
        id=note.id,
        kind="note",
        title="a note",
        summary="",
        created_at=NOW,
        last_seen_at=NOW,
        scope="project:example.org/me/here",
        project="example.org/me/here",
        origin="import",
        trust=0.6,
        made_by="import",
    )
    assert (rule.scope, rule.project, rule.origin, rule.trust) == ("universal", "example.org/me/here", "user", 1.0)


def test_equal_lines_without_an_id_are_two_memories_and_stay_two(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    path.write_text((json.dumps(NOTE) + "\n") * 2)
    assert imported(store, path) == remember.ImportResult(2, 0, (), 0)
    assert imported(store, path) == remember.ImportResult(0, 2, (), 0)


@pytest.mark.parametrize(
    ("line", "scope", "project"),
    [
        ({"scope": "project"}, "project:example.org/me/here", "example.org/me/here"),
        ({"scope": "project:shop"}, "project:example.org/me/shop", "example.org/me/shop"),
        ({"scope": "project", "project": "p"}, "project:p", "p"),
        ({"scope": "project:shop", "project": "p"}, "project:shop", "p"),
        ({"project": "p"}, "project:p", "p"),
        ({"project": "p", "kind": "rule"}, "universal", "p"),
        ({"scope": "Language:Python"}, "language:python", "example.org/me/here"),
        ({"scope": "Universal"}, "universal", "example.org/me/here"),
        ({"scope": "Project:shop"}, "project:example.org/me/shop", "example.org/me/shop"),
    ],
)
def test_a_scope_is_what_remember_makes_of_it(
    line: dict[str, str], scope: str, project: str, store: Store, tmp_path: Path
) -> None:
    store.remember("known", project="example.org/me/shop")
    sessions.note_project(store.db, "example.org/me/shop", NOW)
    path = tmp_path / "memories.jsonl"
    path.write_text(json.dumps({**NOTE, **line}))
    imported(store, path)
    *_, (_, memory) = memory_queries.all_after(store.db, 0, None)
    assert (memory.scope, memory.project) == (scope, project)


def test_what_is_there_is_never_changed_and_what_was_forgotten_stays_so(store: Store, tmp_path: Path) -> None:
    kept = store.remember("Kept as it is", pinned=True)
    gone = store.remember("Gone for good")
    path = tmp_path / "memories.jsonl"
    lines = [to_line(to_object(replace(kept, title="Overwritten"))), to_line(to_object(gone))]
    path.write_text("".join(lines))
    memories.remove(store.db, [gone.id], NOW + timedelta(hours=1))
    assert imported(store, path) == remember.ImportResult(0, 0, (kept.id,), 1)
    assert memories.get(store.db, kept.id) == kept
    assert memories.count(store.db) == 1


def test_repeated_lines_are_found_without_numpy_which_takes_long_to_load(tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    path.write_text((json.dumps(NOTE) + "\n") * 3)
    code = (
        "import sys\n"
        "from claude_mem_lite.importers.memory_file import open_memories\n"
        "with open_memories(sys.argv[1]) as file:\n"
        "    print(len(file.check(lambda _: None).repeated), 'numpy' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=True, text=True)
    assert ran.stdout == "1 False\n"
