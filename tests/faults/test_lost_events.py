"""A worker that is killed with what it wrote last in the logs of its databases, and then damage of every kind: whatever
a hook or a command was told to be kept is there afterwards, once, and the user hears of it."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files
from claude_mem_lite.db.connection import empty_log, open_for_reading, open_for_writing
from claude_mem_lite.db.file_swap import write_json
from claude_mem_lite.inbox import journal
from claude_mem_lite.inbox.journal import Journal
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.paths import Home
from claude_mem_lite.worker import background
from claude_mem_lite.worker.composition import open_loop
from claude_mem_lite.worker.recovery import set_aside, startup
from tests.faults.losses import (
    DAMAGES,
    WAIT_S,
    Moment,
    aside,
    back_up,
    cut_log,
    do,
    empty,
    fill_with_garbage,
    forget,
    log_of,
    notes,
    prompts,
    remember,
    remove,
    remove_log,
    spoil_header,
    spoil_log,
    spoil_page,
    told,
    truncate,
    worked,
)
from tests.support import live_files
from tests.support.fakes import FakeEmbedder
from tests.support.running import Json, Machine, dump, leave, open_machine, query, turn, wait_until

EVERY = (*DAMAGES, remove_log, cut_log, spoil_log)
# The pages that these spoil may be in the log as well, which is read instead: then nothing is wrong.
HEALED = (spoil_header, spoil_page, truncate)
OPEN = "prune the pears"
PARTS = ("memory.db", "inbox.db", "memory.db-wal", "inbox.db-wal", "worker.pid", "spool", "backups")
Damage = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Killed:
    """What a worker left that was killed, and what is known when nothing of it is damaged."""

    files: Path
    known: dict[str, list[tuple[object, ...]]]
    events: list[tuple[object, ...]]


def known_to(home: Home) -> dict[str, list[tuple[object, ...]]]:
    return dump(home.memory_db)


def events_of(home: Home) -> list[tuple[object, ...]]:
    """What came after the backup, as the inbox has it."""
    columns = "name, event, session, payload, status, turn"
    return sorted(query(home.inbox_db, f"select {columns} from inbox where session in ('', 's-2', 's-open')"))


def open_turn(home: Home) -> list[Json]:
    """A turn that is under way: its prompt and its tool calls, and no end."""
    given = turn("s-open", OPEN, steps=2)[:-1]
    for one in given:
        leave(home, one)
    return given


def take_in_open_turn(machine: Machine) -> None:
    given = open_turn(machine.home)
    count = "select count(*) from inbox where session = 's-open'"
    wait_until(lambda: query(machine.home.inbox_db, count) == [(len(given),)], "the open turn to be taken in")
    wait_until(lambda: not machine.spooled(), "the spool to be empty")


def checkpoint(home: Home) -> None:
    for path in (home.memory_db, home.inbox_db):
        with closing(sqlite3.connect(path)) as db:
            assert empty_log(db)


def lay_out(files: Path, home: Home) -> None:
    for name in PARTS:
        source, target = files / name, home.root / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.exists():
            shutil.copy(source, target)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    """Finished turns, some in the backup, some in the files of the databases and some in their logs alone, a command,
    and a turn that is still open."""
    kept = tmp_path_factory.mktemp("killed") / "home"
    with open_machine() as machine:
        home = machine.home
        machine.start_worker()
        told_to_remember = {"kind": "note", "text": "Plums are blue", "cwd": "/"}
        for given in turn("s-1", "count the apples"):
            leave(home, given)
        machine.drain()
        machine.post("/api/backup", {})
        for given in turn("s-1", "count the plums"):
            leave(home, given)
        machine.drain()
        checkpoint(home)
        machine.post("/api/memories", told_to_remember)
        for number in range(3):
            for given in turn("s-2", f"count tree {number}"):
                leave(home, given)
        machine.drain()
        take_in_open_turn(machine)
        machine.kill_worker()
        shutil.copytree(
            home.root,
            kept,
            ignore=lambda folder, names: (
                [one for one in names if one not in PARTS] if Path(folder) == home.root else []
            ),
        )
        machine.start_worker()
        machine.drain()
        machine.stop_worker()
        assert told(home) == ""
        yield Killed(kept, known_to(home), events_of(home))


@pytest.mark.parametrize("which", [("memory_db",), ("inbox_db",), ("memory_db", "inbox_db")], ids="-".join)
@pytest.mark.parametrize("damage", EVERY, ids=lambda damage: damage.__name__)
def test_nothing_that_was_acknowledged_is_lost(
    home: Home, killed: Killed, damage: Damage, which: tuple[str, ...]
) -> None:
    lay_out(killed.files, home)
    for name in which:
        damage(getattr(home, name))
    with worked(home):
        pass
    assert known_to(home) == killed.known
    assert events_of(home) == killed.events
    for name in which:
        database = name.replace("_db", ".db")
        is_healed = damage in HEALED and f"damaged/{database}" not in aside(home)
        assert is_healed or database in told(home)
    for path in (home.memory_db, home.inbox_db):
        assert query(path, "pragma integrity_check") == [("ok",)]


@pytest.mark.parametrize("which", ["memory_db", "inbox_db"])
def test_the_log_of_a_database_that_is_gone_goes_aside(home: Home, killed: Killed, which: str) -> None:
    """Beside another database it would be read as that one's."""
    lay_out(killed.files, home)
    path: Path = getattr(home, which)
    log = log_of(path).read_bytes()
    remove(path)
    startup.prepare(home, Moment()())
    (folder,) = set_aside.folders(home)
    assert (folder / log_of(path).name).read_bytes() == log
    assert not log_of(path).exists()


def left_as_killed(home: Home, tmp_path: Path) -> Home:
    """A home with the files as they are on disk now, while a worker has them open: as a kill would leave them."""
    other = Home(tmp_path / "killed")
    other.make()
    lay_out(home.root, other)
    other.worker_pid.write_text("4194304")
    return other


def let_copies_go(home: Home, backed_up: int, max_bytes: int = journal.MAX_BYTES) -> None:
    """What a worker does when all is quiet."""
    with closing(open_for_writing(home.inbox_db)) as inbox, closing(open_for_writing(home.memory_db)) as memory:
        kept = Journal(home.journal_folder, max_bytes=max_bytes)
        background.trim_journal(Queue(inbox, journal=kept), kept, memory, backed_up, is_quiet=True)


def copied(home: Home) -> set[str]:
    """The sessions of which there are copies."""
    return {line.event().session for line in journal.all_lines(home.journal_folder) if line.kind == "event"}


def test_copies_stay_until_a_backup_has_what_became_of_their_events(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples", session="s-1")
        back_up(loop)
        do(home, loop, "count the plums", session="s-2")
    let_copies_go(home, 0)
    assert copied(home) == {"s-1", "s-2"}
    let_copies_go(home, backup_files.all_in(home.backups)[0].done)
    assert copied(home) == {"s-2"}
    for path in (home.memory_db, home.inbox_db):
        fill_with_garbage(path)
    with worked(home):
        pass
    assert prompts(home) == {"count the apples", "count the plums"}


def test_with_many_copies_those_go_that_are_done_and_in_both_files(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples", session="s-1")
        open_turn(home)
        assert loop.passes.wait_until_idle(WAIT_S)
        with closing(open_for_reading(home.memory_db)) as reader:
            reader.execute("begin")
            reader.execute("select * from memories").fetchall()
            let_copies_go(home, 0, max_bytes=1)
            assert copied(home) == {"s-1", "s-open"}
        let_copies_go(home, 0, max_bytes=1)
        assert copied(home) == {"s-open"}


def test_what_is_forgotten_leaves_the_copies_at_once_and_does_not_come_back(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "call it Zanzibar", session="s-1")
        do(home, loop, "count the plums", session="s-2")
        for given in turn("s-1", "Zanzibar again")[:-1]:
            leave(home, given)
        assert loop.passes.wait_until_idle(WAIT_S)
        said = remember(loop, "Zanzibar is a name")
        forget(loop, said)
        loop.commands.put({"command": "forget", "session": "s-1"}).result(WAIT_S)
        assert live_files.files_with(home.root, b"Zanzibar") == []
    remove(home.inbox_db)
    with worked(home):
        pass
    assert prompts(home) == {"count the plums"}
    assert notes(home) == set()


def test_nothing_of_an_excluded_folder_is_copied(home: Home) -> None:
    home.config.write_text('exclude = ["/srv/secret"]\n')
    with worked(home) as loop:
        for given in turn("s-1", "count the apples", cwd="/srv/secret"):
            leave(home, given)
        do(home, loop, "count the plums", session="s-2")
    assert copied(home) == {"s-2"}


def test_events_are_taken_in_when_they_cannot_be_copied(home: Home) -> None:
    home.journal_folder.write_text("in the way")
    with worked(home) as loop:
        do(home, loop, "count the apples")
    assert prompts(home) == {"count the apples"}
    assert not list(home.spool_new.iterdir())


def test_a_turn_that_was_told_in_two_parts_is_told_no_third_time(home: Home) -> None:
    """Its second part has no prompt by which one could know where it began."""
    asked, first, second, ended = turn("s-1", "count the apples", steps=2)
    with worked(home) as loop:
        for part in ((asked, first), (second, ended)):
            for given in part:
                leave(home, given)
            assert loop.passes.wait_until_idle(WAIT_S, flush=True)
        remember(loop, "Pears are green")
    before = dump(home.memory_db)
    assert len(before["prompts"]) == 2
    remove(home.inbox_db)
    with worked(home) as loop:
        pass
    assert dump(home.memory_db) == before
    assert "inbox.db is gone" in told(home)


def test_commands_are_done_again_after_what_they_are_about(home: Home, tmp_path: Path) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        checkpoint(home)
        do(home, loop, "count the plums", "From now on, always weigh the pears before you count them.")
        (last,) = query(home.memory_db, "select id from memories order by rowid desc limit 1")[0]
        loop.commands.put({"command": "pin", "id": last, "pinned": True}).result(WAIT_S)
        before = dump(home.memory_db)
        other = left_as_killed(home, tmp_path)
    for path in (other.memory_db, other.inbox_db):
        remove_log(path)
    with worked(other):
        pass
    assert dump(other.memory_db) == before
    assert "memory.db had lost" in told(other)
    assert "inbox.db had lost" in told(other)


def test_what_a_restore_has_still_to_do_again_is_not_lost_with_the_inbox(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        backup = back_up(loop)
        do(home, loop, "count the plums")
    write_json(home.restore_order, {"backup": str(backup)})
    with open_loop(home, embedder=FakeEmbedder()):
        assert prompts(home) == {"count the apples"}
    remove(home.inbox_db)
    with worked(home):
        pass
    assert prompts(home) == {"count the apples", "count the plums"}


def test_what_was_lost_takes_its_place_among_what_was_not(home: Home) -> None:
    with worked(home) as loop:
        open_turn(home)
        assert loop.passes.wait_until_idle(WAIT_S)
    with closing(sqlite3.connect(home.inbox_db)) as db:
        db.execute("delete from inbox where event = 'UserPromptSubmit'")
        db.commit()
    home.worker_pid.write_text("4194304")
    with worked(home):
        pass
    assert prompts(home) == {OPEN}
    assert len(query(home.memory_db, "select turn from prompts")) == 1


@pytest.mark.parametrize("damage", [remove, empty], ids=lambda damage: damage.__name__)
def test_an_inbox_that_is_gone_is_told_of_when_no_event_can_come_back(home: Home, damage: Damage) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    shutil.rmtree(home.journal_folder)
    damage(home.inbox_db)
    with worked(home) as loop:
        do(home, loop, "count the plums")
    assert prompts(home) == {"count the apples", "count the plums"}
    assert told(home).startswith("inbox.db is ")


def test_a_database_in_the_place_of_the_other_is_none_of_a_newer_version(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    memory, inbox = home.memory_db.read_bytes(), home.inbox_db.read_bytes()
    home.memory_db.write_bytes(inbox)
    home.inbox_db.write_bytes(memory)
    with worked(home):
        pass
    assert prompts(home) == {"count the apples"}
    assert aside(home) == ["damaged/inbox.db", "damaged/memory.db"]


def test_a_fresh_home_has_nothing_to_tell(home: Home) -> None:
    with worked(home):
        pass
    with worked(home):
        pass
    assert told(home) == ""
    assert aside(home) == []
