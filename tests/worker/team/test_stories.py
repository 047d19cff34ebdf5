"""Tests of `team/sync.py` as users live it: two members, real events, real workers and a real PostgreSQL."""

from tests.support.postgres import Database
from tests.support.running import Json, leave, payload, wait_until
from tests.support.team_workers import Member
from tests.worker.test_fix_stories import NO_MODULE, PASSED, TESTS, failed, lived, ran, turn
from tests.worker.trigger_events import hooked_in_time, now_name

DECISION = "Keep invoices in PostgreSQL, because SQLite locked under two writers"
GOTCHA = "The CI cache must be cleared after a lockfile change, since it keeps the old node_modules"


def start_context(member: Member, session: str) -> str:
    """What the real hook prints at the start of a session."""
    given = payload("SessionStart", session, str(member.checkout), source="startup")
    return hooked_in_time(member.machine, "SessionStart", given)


def exchange(*members: Member) -> None:
    """Let everyone send, then let everyone receive."""
    for member in (*members, *members):
        member.sync()


def test_a_decision_is_in_the_start_context_of_a_teammate_with_the_name(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    ana.remember("decision", DECISION)
    exchange(ana, ben)
    context = start_context(ben, "s-ben")
    assert "[decision, ana, " in context
    assert "SQLite locked under two writers" in context


def test_a_fix_is_given_to_a_teammate_at_the_same_failing_command(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    steps = (failed(TESTS, NO_MODULE), ran("uv add sqlalchemy", "Installed 1 package"), ran(TESTS, PASSED))
    closing = "The tests failed since sqlalchemy was missing from the dependencies; it is added."
    lived(ana.machine, turn("s-ana", str(ana.checkout), "make the tests pass", *steps, closing=closing))
    exchange(ana, ben)
    given = payload("PostToolUseFailure", "s-ben", str(ben.checkout), **failed(TESTS, NO_MODULE))
    context = hooked_in_time(ben.machine, "PostToolUseFailure", given)
    assert "uv add sqlalchemy" in context
    assert "worked for ana" in context


def test_what_is_forgotten_in_one_home_is_gone_in_the_other(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    kept, gone = ana.remember("decision", DECISION), ana.remember("gotcha", GOTCHA)
    exchange(ana, ben)
    assert len(ben.titles()) == 2
    ana.machine.run("forget", gone, "--yes")
    exchange(ana, ben)
    assert ben.titles() == ana.titles() == [DECISION]
    assert kept != gone
    assert GOTCHA not in start_context(ben, "s-ben")


def test_a_forgotten_received_memory_stays_with_its_author(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    ana.remember("decision", DECISION)
    exchange(ana, ben)
    (received,) = ben.machine.get("/api/feed")["memories"]
    ben.machine.run("forget", received["id"], "--yes")
    exchange(ben, ana)
    assert ben.titles() == []
    assert ana.titles() == [DECISION]


def test_the_end_of_a_session_synchronises_at_once(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    exchange(ana, ben)
    ana.remember("decision", DECISION)
    end(ana, "s-ana")
    wait_for_sent(ana)
    ben.sync()
    assert ben.titles() == [DECISION]


def test_a_preference_never_reaches_the_server(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    ana.remember("preference", "I like short answers without tables")
    exchange(ana, ben)
    assert ben.titles() == []
    assert ana.status()["projects"][0]["sent"] == 0


def end(member: Member, session: str) -> None:
    """A turn and the end of its session, as hooks leave them."""
    cwd = str(member.checkout)
    events: list[Json] = [
        *turn(session, cwd, "look at the list", ran("ls", "README.md")),
        payload("SessionEnd", session, cwd, reason="exit"),
    ]
    for given in events:
        leave(member.machine.home, given, name=now_name(given["hook_event_name"]))
    member.machine.drain()


def wait_for_sent(member: Member) -> None:
    wait_until(lambda: bool(member.status()["projects"][0]["sent"]), "the memory to be sent")


def test_a_rule_reaches_a_teammate_and_its_guard_does_not(pair: tuple[Member, Member], database: Database) -> None:
    ana, ben = pair
    rule = "Use pnpm, not npm, because the lockfile is the one of pnpm"
    ana.remember("convention", rule)
    (proposed,) = ana.command("guards")["guards"]
    ana.said("guards", "accept", proposed["id"], "--mode", "deny")
    ana.said("guards", "add", "--command", "git push", "--flag", "--force", "--reason", "the zanzibarium is shared")
    exchange(ana, ben)
    assert ben.titles() == [rule]
    assert ben.command("guards", "--all")["guards"] == []
    bodies = database.rows("select body from claude_mem_lite.entries where body is not null")
    assert len(bodies) == 1
    assert not any(word in str(bodies) for word in (proposed["id"], "zanzibarium"))
