"""Tests of `worker/guards/jobs.py` with a real worker: outcomes of firings, what a pause tells the user, whose words
make no proposal, and guards in backups."""

import json
from pathlib import Path

import pytest

from tests.support.past_sessions import PastSession
from tests.support.running import Json, Machine, payload
from tests.worker.commands import run_here
from tests.worker.test_guards import PAST, Guarded
from tests.worker.working_repository import WorkingRepository


@pytest.fixture
def guarded(machine: Machine, tmp_path: Path) -> Guarded:
    machine.start_worker()
    return Guarded(WorkingRepository.begin(machine, tmp_path / "shop", {"README.md": "# Shop\n"}))


def counts(guarded: Guarded) -> dict[str, int]:
    """The outcomes of the only guard that occurred."""
    return {name: number for name, number in guarded.only()["counts"].items() if number}


def told_at_start(guarded: Guarded, session: str) -> str:
    """What the real hook tells the user at the start of a session."""
    told = guarded.machine.hook("SessionStart", payload("SessionStart", session, guarded.root, source="startup"))
    guarded.machine.drain()
    return str(json.loads(told.out).get("systemMessage", "")) if told.out else ""


# Outcomes.


def test_a_guarded_folder_that_the_shell_writes_is_got_round(guarded: Guarded) -> None:
    guarded.remember("Never touch vendor/")
    id_ = guarded.accept("deny")
    around = guarded.ran("s-1", "c-2", "echo x > vendor/a.py")
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1", "deny"), around)
    assert counts(guarded) == {"fired": 1, "got_round": 1}


def test_a_refused_call_without_anything_else_proves_nothing(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept("deny")
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1", "deny"), guarded.ran("s-1", "c-2", "ls"))
    assert counts(guarded) == {"fired": 1, "unknown": 1}


def test_a_reminded_call_that_stays_is_neither_followed_nor_overridden(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept("remind")
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1", "remind"), guarded.ran("s-1", "c-1", "npm ci"))
    assert counts(guarded) == {"fired": 1, "unknown": 1}


def test_the_next_session_start_tells_that_a_guard_was_overridden_three_times(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    for number in range(3):
        session, call = f"s-{number}", f"call-{number}"
        guarded.turn(session, guarded.fires(id_, session, call), guarded.ran(session, call, "npm ci"))
    assert f"guard {id_} is paused, because you overrode it three times in a row" in told_at_start(guarded, "s-8")
    assert told_at_start(guarded, "s-9") == ""


# Words of others.


def test_an_imported_rule_that_claims_to_be_the_users_makes_no_proposal(guarded: Guarded, tmp_path: Path) -> None:
    guarded.remember("Use pnpm, not npm")
    exported = tmp_path / "export.jsonl"
    run_here(guarded.machine, "export", "--output", exported, cwd=guarded.root)
    (line,) = [json.loads(one) for one in exported.read_text().splitlines() if "pnpm" in one]
    assert (line["origin"], line["made_by"], line["trust"]) == ("user", "user", 1.0)
    foreign: Json = {**line, "title": "Use yarn, not bun", "summary": "Use yarn, not bun"}
    exported.write_text(json.dumps({key: value for key, value in foreign.items() if key != "id"}) + "\n")
    run_here(guarded.machine, "import", "jsonl", exported, cwd=guarded.root)
    assert "Use yarn, not bun" in run_here(guarded.machine, "list", cwd=guarded.root).stdout
    assert [guard["rule"]["commands"] for guard in guarded.guards()] == [["npm"]]


def test_a_prompt_in_an_imported_transcript_makes_no_proposal(guarded: Guarded) -> None:
    session = PastSession(PAST, cwd=guarded.root).prompt("install it").runs("npm ci", "ok").says("Done.")
    guarded.past(session.prompt("no, never use npm").says("I use pnpm now."))
    folder = guarded.machine.user_home / ".claude" / "projects"
    run_here(guarded.machine, "import", "transcripts", folder, cwd=guarded.root)
    guarded.machine.drain()
    assert "never use npm" in run_here(guarded.machine, "list", cwd=guarded.root).stdout.lower()
    assert guarded.guards(every=True) == []


# Replay.


def test_a_proposal_is_run_over_the_stored_events_of_sessions_without_a_transcript(guarded: Guarded) -> None:
    guarded.turn("s-1", guarded.ran("s-1", "c-1", "npm ci"), guarded.ran("s-1", "c-2", "echo npm"))
    guarded.remember("Use pnpm, not npm")
    found = guarded.replayed()
    assert (found["would_have_fired"], found["in_sessions"]) == (1, 1)
    assert [match["text"] for match in guarded.detail(found["id"])["matches"]] == ["npm ci"]


# Backups.


def test_a_restored_backup_has_the_guards_with_their_ledger_and_the_hook_reads_them(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept("deny")
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1", "deny"), guarded.ran("s-1", "c-2", "pnpm install"))
    run_here(guarded.machine, "backup")
    made = max(guarded.machine.home.backups.glob("*.db"))
    guarded.machine.stop_worker()
    for path in guarded.machine.home.root.glob("*.db*"):
        path.unlink()
    (guarded.machine.home.guards / "roots").unlink(missing_ok=True)
    for path in guarded.machine.home.guards.iterdir():
        path.unlink()
    run_here(guarded.machine, "restore", str(made), "--yes")
    guarded.machine.drain()
    found = guarded.only()
    assert (found["id"], found["status"], found["mode"]) == (id_, "active", "deny")
    assert counts(guarded) == {"fired": 1, "followed": 1}
    assert guarded.held() == [id_]
