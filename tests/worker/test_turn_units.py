"""Tests of `worker/loop.py`, `worker/event_intake.py`, `worker/turn_job.py`,
`worker/pass_progress.py`, `worker/write_thread.py`, `worker/background.py` and `inbox/event_history.py`: events that
are processed together, their order and time."""

import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support.running import Json, dump, leave, payload, query, running_loop, spool_name, turn, wait_until
from tests.worker.conftest import SetClock


def test_a_whole_turn_is_stored_with_its_prompt_and_its_reply(home: Home, loop: Services) -> None:
    for given in turn("s-1", "rename the parser"):
        leave(home, given)
    assert loop.passes.wait_until_idle(30)
    assert prompts(home) == [("s-1", "rename the parser", "Finished: rename the parser.")]
    assert statuses(home) == ["done", "skipped", "done"]


def test_an_open_turn_waits_for_its_end(home: Home, loop: Services) -> None:
    first, second, last = turn("s-1", "take your time")
    leave(home, first)
    leave(home, second)
    assert loop.passes.wait_until_idle(30)
    assert statuses(home) == ["raw", "raw"]
    leave(home, last)
    assert loop.passes.wait_until_idle(30)
    assert prompts(home) == [("s-1", "take your time", "Finished: take your time.")]


def test_an_open_turn_is_worked_on_when_told_to_flush(home: Home, loop: Services) -> None:
    leave(home, turn("s-1", "hurry up")[0])
    assert loop.passes.wait_until_idle(30, flush=True)
    assert statuses(home) == ["done"]
    assert prompts(home) == [("s-1", "hurry up", "")]


def test_what_follows_a_flushed_turn_is_stored_as_well(home: Home, loop: Services) -> None:
    first, second, last = turn("s-1", "in two parts")
    leave(home, first)
    assert loop.passes.wait_until_idle(30, flush=True)
    leave(home, second)
    leave(home, last)
    assert loop.passes.wait_until_idle(30)
    assert prompts(home) == [("s-1", "in two parts", ""), ("s-1", "", "Finished: in two parts.")]


def test_what_joins_a_flushed_turn_after_a_crash_is_stored_as_well(home: Home, loop: Services) -> None:
    """The crash came after the turn was stored and before its events were done."""
    first, second, last = turn("s-1", "in two parts")
    leave(home, first)
    assert loop.passes.wait_until_idle(30, flush=True)
    with closing(sqlite3.connect(home.inbox_db)) as db, db:
        db.execute("update inbox set status = 'raw', finished_at = null")
    leave(home, second)
    leave(home, last)
    assert loop.passes.wait_until_idle(30)
    assert prompts(home) == [("s-1", "in two parts", ""), ("s-1", "", "Finished: in two parts.")]


def test_the_next_prompt_closes_a_turn_that_was_interrupted(home: Home, loop: Services) -> None:
    leave(home, turn("s-1", "never mind")[0])
    leave(home, turn("s-1", "do this instead")[0])
    assert loop.passes.wait_until_idle(30)
    assert statuses(home) == ["done", "raw"]
    assert prompts(home) == [("s-1", "never mind", "")]


def test_a_turn_that_was_quiet_for_a_day_is_worked_on(home: Home, loop: Services, clock: SetClock) -> None:
    leave(home, turn("s-1", "left alone")[0])
    assert loop.passes.wait_until_idle(30)
    clock.advance(hours=23)
    assert loop.passes.wait_until_idle(30)
    assert statuses(home) == ["raw"]
    clock.advance(hours=2)
    assert loop.passes.wait_until_idle(30)
    assert prompts(home) == [("s-1", "left alone", "")]


def test_a_session_start_does_not_wait_for_an_open_turn(home: Home, loop: Services) -> None:
    leave(home, turn("s-1", "still at it")[0])
    leave(home, payload("SessionStart", "s-1", source="compact"))
    assert loop.passes.wait_until_idle(30)
    assert statuses(home) == ["raw", "done"]


def test_events_that_come_again_change_nothing(home: Home, loop: Services) -> None:
    given: list[Json] = [
        payload("SessionStart", source="startup"),
        *turn("s-1", "once", steps=3),
        payload("SessionEnd"),
    ]
    named = [(spool_name(one["hook_event_name"]), one) for one in given]
    for name, one in named:
        leave(home, one, name=name)
    assert loop.passes.wait_until_idle(30)
    inbox, memory = dump(home.inbox_db), dump(home.memory_db)
    for name, one in named:
        leave(home, one, name=name)
    assert loop.passes.wait_until_idle(30)
    assert dump(home.inbox_db) == inbox
    assert dump(home.memory_db) == memory


def test_turns_of_a_session_are_stored_in_the_order_they_came(home: Home, loop: Services) -> None:
    for number in range(12):
        for given in turn("s-1", f"step {number}"):
            leave(home, given)
    assert loop.passes.wait_until_idle(30)
    assert [text for _, text, _ in prompts(home)] == [f"step {number}" for number in range(12)]


def test_a_session_ends_as_its_last_events_say(home: Home, loop: Services) -> None:
    for session in ("completed", "failed", "active"):
        for given in turn(session, "work")[:-1]:
            leave(home, given)
    leave(home, payload("Stop", "completed", last_assistant_message="Done."))
    leave(home, payload("SessionEnd", "completed", reason="other"))
    leave(home, payload("StopFailure", "failed", error="server_error"))
    leave(home, payload("SessionEnd", "failed", reason="other"))
    leave(home, payload("Stop", "active", last_assistant_message="Done."))
    assert loop.passes.wait_until_idle(30)
    assert dict(query(home.memory_db, "select id, status from sessions")) == {
        "completed": "completed",
        "failed": "failed",
        "active": "active",
    }


def test_a_session_without_a_sign_of_life_for_a_day_was_interrupted(home: Home, clock: SetClock) -> None:
    with running_loop(home, clock) as loop:
        leave(home, turn("s-1", "gone for good")[0])
        assert loop.passes.wait_until_idle(30, flush=True)
    clock.advance(days=2)
    with running_loop(home, clock) as loop:
        assert loop.passes.wait_until_idle(30)
    assert query(home.memory_db, "select status from sessions") == [("interrupted",)]


def test_events_that_a_backup_has_are_kept_for_8_days_after_they_are_done(home: Home, clock: SetClock) -> None:
    with running_loop(home, clock) as loop:
        leave(home, payload("Stop", "finished"))
        leave(home, turn("open", "not yet")[0])
        assert loop.passes.wait_until_idle(30)
        made = loop.backups.make_soon()
        loop.writes.wake()
        made.result(30)
    for days, kept in ((7.9, ["finished", "open"]), (0.2, ["open"])):
        clock.advance(days=days)
        with running_loop(home, clock) as loop:
            assert loop.passes.wait_until_idle(30)
        assert [session for (session,) in query(home.inbox_db, "select session from inbox order by id")] == kept


def statuses(home: Home) -> list[str]:
    return [status for (status,) in query(home.inbox_db, "select status from inbox order by id")]


def prompts(home: Home) -> list[tuple[str, str, str]]:
    return [(a, b, c) for a, b, c in query(home.memory_db, "select session, text, reply from prompts order by turn")]


def test_sessions_and_memories_carry_the_branch_and_commit_they_were_made_on(
    home: Home, loop: Services, tmp_path: Path
) -> None:
    repository = tmp_path / "shop"
    repository.mkdir()
    for arguments in (("init", "-q", "-b", "side"), ("commit", "-q", "--allow-empty", "-m", "first")):
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        subprocess.run(["git", "-C", str(repository), *identity, *arguments], check=True)
    head = ["git", "-C", str(repository), "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    for event in turn("s-1", "Add the first file", cwd=str(repository)):
        leave(home, event)
    assert loop.passes.wait_until_idle(30)
    loop.commands.put({"command": "remember", "kind": "note", "text": "x", "cwd": str(repository)}).result(30)
    assert query(home.memory_db, "select distinct branch, commit_id from sessions") == [("side", commit)]
    assert query(home.memory_db, "select distinct branch, commit_id from memories") == [("side", commit)]


def test_the_words_of_a_sub_agent_are_not_the_sessions_reply(home: Home, loop: Services) -> None:
    first, *rest = turn("s-1", "Look into it")
    helper = payload("SubagentStop", "s-1", agent_id="a", agent_type="general-purpose", last_assistant_message="HELPER")
    for event in (first, helper, *rest[:-1], {**rest[-1], "last_assistant_message": "MINE"}):
        leave(home, event)
    assert loop.passes.wait_until_idle(30)
    assert query(home.memory_db, "select reply from prompts") == [("MINE",)]


def test_what_a_session_leaves_open_is_one_memory_until_it_is_done(home: Home, loop: Services) -> None:
    def handoffs() -> list[tuple[str, str]]:
        found = query(home.memory_db, "select title, status from memories where kind = 'handoff'")
        return [(title, status) for title, status in found]

    def say(prompt: str, closing: str) -> None:
        first, used, _ = turn("s-1", prompt)
        printed = {"stdout": "3 passed in 0.12s", "stderr": "", "interrupted": False}
        used = {**used, "tool_input": {"command": "pytest"}, "tool_response": printed}
        for event in (first, used, payload("Stop", "s-1", last_assistant_message=closing)):
            leave(home, event)
        assert loop.passes.wait_until_idle(30)

    say("Add a cart", "I looked at the shop.\n\n## Next steps\n- Add checkout\n- Write docs")
    assert handoffs() == [("Left open: Add checkout (and 1 more)", "active")]
    leave(home, payload("SessionEnd", "s-1", reason="other"))
    assert loop.passes.wait_until_idle(30)
    assert handoffs() == [("Left open: Add checkout (and 1 more)", "active")]
    say("Add the checkout", "Added the checkout page.\n\n## Next steps\n- Write docs")
    assert handoffs() == [("Left open: Write docs", "active")]
    say("And the docs", "They are written. Nothing else is left to do.")
    assert handoffs() == [("Left open: Write docs", "retired")]


def test_a_turn_that_broke_off_leaves_no_prompt_as_an_open_step(home: Home, loop: Services, clock: SetClock) -> None:
    first, used, _ = turn("s-1", "Move the session check to the middleware")
    leave(home, first)
    leave(home, used)
    assert loop.passes.wait_until_idle(30)
    clock.advance(hours=25)
    assert loop.passes.wait_until_idle(30)
    assert query(home.memory_db, "select title, status from memories where kind = 'handoff'") == []


def test_what_waits_besides_an_event_is_seen_at_once(home: Home, loop: Services) -> None:
    """A session that starts waits for the end of the one before it, and for nothing else."""
    own = spool_name("SessionStart")
    wait_until(lambda: not loop.passes.is_behind(own), "rest")
    leave(home, payload("SessionStart", "s-2", source="startup"), name=own)
    wait_until(lambda: not loop.passes.is_behind(own), "rest")  # it looks into the spool by itself now and then
    leave(home, turn("s-1", "the end")[-1])
    assert loop.passes.is_behind(own)
    assert loop.passes.wait_until_idle(30)
    wait_until(lambda: not loop.passes.is_behind(own), "rest")


def test_an_event_under_way_is_seen(home: Home, loop: Services) -> None:
    held, go_on = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        held.set()
        go_on.wait(30)

    done = loop.writes.execute_write(hold)
    assert held.wait(30)
    assert loop.passes.is_behind(spool_name("SessionStart"))
    go_on.set()
    done.result(30)
