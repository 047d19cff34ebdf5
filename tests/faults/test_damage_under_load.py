"""Files of a home that are deleted, replaced or cut while hooks and the worker are at work: every prompt that a hook
accepted is remembered afterwards, `worker drain` says so without a traceback, and the user hears what was recovered."""

from contextlib import closing
from dataclasses import replace

import pytest

from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.errors import CommandNotAccepted, MemoryLiteError, WorkerEnded
from claude_mem_lite.inbox.journal import FinishedUnit, Journal, all_lines
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import utc_now
from claude_mem_lite.worker.event_intake import Intake
from tests.faults import storm
from tests.faults.losses import WAIT_S, back_up, do, prompts, remember, told, worked
from tests.support.running import Machine, leave, payload, query, wait_until

WITH_BACKUP, WITHOUT_BACKUP = 24, 22
# The rest by `python -m tests.faults.storm`.
TOLD = {
    "memory removed": "memory.db is gone",
    "memory replaced by a folder": "memory.db was replaced by a folder",
    "memory replaced by that of another home": "memory.db was replaced by that of another home",
    "memory replaced by a link": "memory.db was replaced by a link",
    "inbox removed": "inbox.db is gone",
    "inbox replaced by a folder": "inbox.db was replaced by a folder",
    "inbox truncated": "inbox.db is empty",
    "memory removed twice": "memory.db is gone",
    "table of memory dropped": "memory.db was damaged (the table memories is missing)",
    "table of the inbox dropped": "inbox.db was damaged (the table inbox is missing)",
}
"""What the user hears; of the others it depends on how far the worker was whether anything had to be done again."""
CHOSEN = (
    *TOLD,
    "memory replaced by an older copy",
    "memory overwritten by an older copy",
    "inbox overwritten by an older copy",
    "both overwritten by older copies",
    "both overwritten by older copies after a kill",
    "memory truncated",
    "memory log truncated",
    "all logs removed",
    "shared memory truncated",
    "inbox replaced by an older copy",
    "both replaced by older copies",
    "both replaced by older copies after a kill",
    "home swapped for an empty folder",
    "home swapped and back",
    "link switched",
)


@pytest.mark.parametrize("name", CHOSEN)
def test_every_accepted_prompt_is_remembered(name: str) -> None:
    prompts = WITH_BACKUP if len(name) % 2 else WITHOUT_BACKUP
    outcome = storm.run(storm.DAMAGES[name], prompts, by_link=name == "link switched")
    assert len(outcome.accepted - {storm.AWAY, storm.SAID}) == prompts
    assert storm.SAID in outcome.accepted
    assert outcome.lost == set()
    assert not any("Traceback" in printed for printed in outcome.printed)
    assert outcome.printed[-1] == ""
    assert TOLD.get(name, "") in outcome.told


@pytest.mark.parametrize(("steps_before", "is_taken"), [(0, False), (1, False), (2, True)])
def test_an_event_leaves_the_spool_only_if_home_and_inbox_are_there_after_the_commit(
    home: Home, steps_before: int, is_taken: bool
) -> None:
    steps = iter(range(10))
    left = leave(home, payload("UserPromptSubmit", prompt="count the plums"))
    with closing(open_for_writing(home.inbox_db)) as db:
        migrate(db, INBOX_MIGRATIONS, utc_now())
        Intake(home, Queue(db), utc_now, lambda: next(steps) < steps_before).take_in(Config())
    assert [path.name for path in home.spool_new.iterdir()] == ([] if is_taken else [left])


def test_what_no_hook_could_write_is_left_in_the_spool_by_a_worker_whose_files_are_gone(home: Home) -> None:
    with closing(open_for_writing(home.inbox_db)) as db:
        migrate(db, INBOX_MIGRATIONS, utc_now())
        intake = Intake(home, Queue(db), utc_now, lambda: False)
        home.spool_tmp.rmdir()
        intake.hold("00000000001700000000-1-00000000-Stop", b"{}")
        home.spool_tmp.mkdir()
        intake.take_in(Config())
        intake.leave_rest()
    assert [path.read_bytes() for path in home.spool_new.iterdir()] == [b"{}"]


def test_a_worker_that_sees_nothing_unusual_does_not_ignore_damage_after_a_recovery(home: Home) -> None:
    """Only a suspicion that turned out to be unfounded keeps a worker from ending for another."""
    with worked(home) as loop:
        do(home, loop, "count the plums")
        back_up(loop)
    for _ in range(2):
        with worked(home) as loop:
            home.memory_db.unlink()
            loop.writes.wake()
            assert loop.shutdown.stopping.wait(WAIT_S)
        with worked(home):
            assert prompts(home) == {"count the plums"}
    assert told(home).count("memory.db is gone") == 2


def test_a_write_that_a_caller_waits_for_fails_when_its_database_was_removed_meanwhile(home: Home) -> None:
    """What is imported is in no inbox: nobody may be told that it is stored."""
    with worked(home) as loop:
        asked = loop.writes.execute_write(lambda _: home.memory_db.unlink())
        with pytest.raises(MemoryLiteError, match=r"memory\.db was removed"):
            asked.result(WAIT_S)


def test_a_command_that_no_worker_accepted_is_refused_at_once_and_never_done(home: Home) -> None:
    with worked(home) as loop:
        home.inbox_db.unlink()
        for _ in range(2):  # also when the loop has ended
            with pytest.raises(CommandNotAccepted, match=r"inbox\.db was removed"):
                remember(loop, "Plums are counted twice")
            assert loop.shutdown.stopping.wait(WAIT_S)
    with worked(home):
        assert query(home.memory_db, "select title from memories") == []


def test_a_command_that_was_accepted_by_a_worker_that_ended_is_done_once_by_the_next(home: Home) -> None:
    with worked(home) as loop:
        told = {"command": "remember", "kind": "note", "text": "Plums are counted twice", "cwd": "/"}
        asked = loop.writes.execute_queue_write(
            lambda _: (loop.commands.put(told), loop.writes.execute_write(lambda _: home.memory_db.unlink()))
        )
        command, _ = asked.result(WAIT_S)
        with pytest.raises(WorkerEnded, match="it is kept, and the next worker does it"):
            command.result(WAIT_S)
    with worked(home):
        assert query(home.memory_db, "select title, times_seen from memories") == [("Plums are counted twice", 1)]


def test_what_is_asked_of_a_loop_that_has_ended_is_refused(home: Home) -> None:
    with worked(home) as loop:
        pass
    with pytest.raises(WorkerEnded):
        loop.writes.execute_write(lambda _: None).result(WAIT_S)


def test_the_events_of_a_home_are_not_copied_into_the_folder_that_took_its_place(home: Home) -> None:
    is_replaced = False
    copies = Journal(home.journal_folder, lambda: is_replaced)
    arrival = Arrival("00000000001700000000-1-00000000-Stop", "Stop", "s-1", "{}", 2)
    copies.keep([arrival], 0.0)
    is_replaced = True
    copies.keep([replace(arrival, name="00000000001700000001-1-00000000-Stop")], 0.0)
    copies.note_done([arrival.name], FinishedUnit("", 1, 0.0, ()))
    assert [line.names for line in all_lines(home.journal_folder)] == [(arrival.name,)]


def test_a_worker_whose_home_was_replaced_leaves_the_other_one_alone(machine: Machine) -> None:
    """Neither its socket, nor its mark, nor anything else of it ends up in the folder that is there now."""
    process = machine.start_worker()
    machine.home.root.rename(machine.home.root.with_name("away"))
    machine.home.root.mkdir(mode=0o700)
    for name in ("worker.sock", "worker.pid"):
        (machine.home.root / name).write_text("of another worker")
    wait_until(lambda: process.poll() is not None, "the worker to end")
    assert sorted(path.name for path in machine.home.root.iterdir()) == ["worker.pid", "worker.sock"]
