"""Tests of `worker/guards/jobs.py`, `worker/guards/replays.py`, `worker/api/guards.py`, `client/guards.py`,
`responses/guards.py`, `cli/guards/group.py`, `cli/guards/output.py` and `install/guard_change.py` with a real worker:
proposals from the user's own words, replay, changes, ledger, forgetting and recovery."""

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest

from claude_mem_lite import held_guards
from claude_mem_lite.cli import completion_values
from tests.support.past_sessions import PastSession
from tests.support.running import Json, Machine, leave, payload, spool_name, wait_until
from tests.worker.commands import run_here
from tests.worker.working_repository import WorkingRepository

PAST = "5e55104a-0000-4000-8000-0000000000a1"


@dataclass(frozen=True, slots=True)
class Guarded:
    """A project with a worker, and short ways to its guards."""

    work: WorkingRepository

    @property
    def machine(self) -> Machine:
        return self.work.machine

    @property
    def root(self) -> str:
        return str(self.work.root)

    def run(self, *arguments: str, status: int = 0, more: dict[str, str] | None = None) -> str:
        done = run_here(self.machine, "guards", *arguments, cwd=self.root, status=status, more=more)
        return done.stdout + done.stderr

    def guards(self, *, every: bool = False) -> list[Json]:
        found: list[Json] = self.machine.get(f"/api/guards?cwd={self.root}&every={str(every).lower()}")["guards"]
        return found

    def only(self) -> Json:
        (guard,) = self.guards()
        return guard

    def detail(self, id_: str) -> Json:
        return self.machine.get(f"/api/guards/{id_}")

    def remember(self, words: str, **more: Json) -> str:
        given = {"kind": "rule", "text": words, "cwd": self.root, **more}
        return str(self.machine.post("/api/memories", given)["id"])

    def accept(self, mode: str = "ask") -> str:
        id_ = str(self.only()["id"])
        self.run("accept", id_, "--mode", mode)
        return id_

    def replayed(self) -> Json:
        wait_until(lambda: all(guard["is_replayed"] for guard in self.guards()), "the replay")
        return self.only()

    def held(self) -> Sequence[str]:
        """The ids of the guards that hooks read."""
        home = self.machine.home
        return sorted({guard.id for name in held_guards.names(home) for guard in held_guards.read(home, name)})

    def before_call(self, given: Json) -> Json:
        """What the hook of the guards answers to a call."""
        project = str(self.only()["project"])
        done = subprocess.run(
            [*self.machine.hook_command("PreToolUse"), held_guards.name_of(project)],
            input=json.dumps(given).encode(),
            capture_output=True,
            env=self.machine.environment(),
        )
        return json.loads(done.stdout)

    def past(self, session: PastSession) -> None:
        """Put a transcript where the client keeps those of this folder."""
        name = "".join(c if c.isalnum() and c.isascii() else "-" for c in self.root)
        folder = self.machine.user_home / ".claude" / "projects" / name
        folder.mkdir(parents=True, exist_ok=True)
        session.write(folder)

    def turn(self, session: str, *events: Json) -> None:
        """One turn with events of hooks, in order."""
        asked = payload("UserPromptSubmit", session, self.root, prompt="install what is missing")
        for event in (asked, *events, payload("Stop", session, self.root, last_assistant_message="It is installed.")):
            leave(self.machine.home, event, name=spool_name(event["hook_event_name"], time.time_ns()))
        self.machine.drain()

    def fires(self, guard: str, session: str, tool_use: str, decision: str = "ask") -> Json:
        told = {"guard": guard, "decision": decision, "tool_use_id": tool_use, "tool_name": "Bash", "ms": 0.4}
        return payload("GuardFired", session, self.root, project="p", prompt_id="p-1", **told)

    def ran(self, session: str, tool_use: str, command: str) -> Json:
        given = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {"stdout": "ok"}}
        return payload("PostToolUse", session, self.root, tool_use_id=tool_use, **given)


@pytest.fixture
def guarded(machine: Machine, tmp_path: Path) -> Guarded:
    machine.start_worker()
    return Guarded(WorkingRepository.begin(machine, tmp_path / "shop", {"README.md": "# Shop\n"}))


# Proposals.


def test_a_sure_lesson_from_a_prompt_is_proposed_and_not_in_force(guarded: Guarded) -> None:
    guarded.work.session("no, never use npm", {}, "I use pnpm now.")
    found = guarded.only()
    assert (found["status"], found["rule"]["commands"], found["mode"]) == ("proposed", ["npm"], "auto")
    assert guarded.held() == []


def test_a_rule_that_the_user_gives_is_proposed_at_once(guarded: Guarded) -> None:
    memory = guarded.remember("Use pnpm, not npm")
    assert (guarded.only()["memory"], guarded.only()["instead"] != "") == (memory, True)


def test_a_rule_that_names_nothing_to_match_stays_a_memory_alone(guarded: Guarded) -> None:
    guarded.remember("Write short sentences")
    assert guarded.guards() == []


def test_words_of_an_agent_make_no_proposal(guarded: Guarded) -> None:
    body = {"cwd": guarded.root, "session": "s-9"}
    guarded.machine.post("/api/ask/save", {**body, "kind": "rule", "text": "Use pnpm, not npm"})
    assert guarded.guards() == []


def test_an_imported_rule_makes_no_proposal(guarded: Guarded, tmp_path: Path) -> None:
    guarded.remember("Use pnpm, not npm")
    exported = tmp_path / "export.jsonl"
    run_here(guarded.machine, "export", "--output", exported, cwd=guarded.root)
    (line,) = [json.loads(one) for one in exported.read_text().splitlines() if "pnpm" in one]
    foreign = {**line, "id": "", "title": "Use yarn, not bun", "summary": "Use yarn, not bun", "origin": "import"}
    exported.write_text(json.dumps({key: value for key, value in foreign.items() if key != "id"}) + "\n")
    run_here(guarded.machine, "import", "jsonl", exported, cwd=guarded.root)
    assert [guard["rule"]["commands"] for guard in guarded.guards()] == [["npm"]]


def test_a_proposal_goes_with_the_memory_that_it_was_made_from(guarded: Guarded) -> None:
    memory = guarded.remember("Use pnpm, not npm")
    run_here(guarded.machine, "retire", memory, cwd=guarded.root)
    assert guarded.guards() == []


def test_a_guard_in_force_is_paused_with_a_note_when_its_rule_no_longer_holds(guarded: Guarded) -> None:
    memory = guarded.remember("Use pnpm, not npm")
    guarded.accept()
    run_here(guarded.machine, "retire", memory, cwd=guarded.root)
    found = guarded.only()
    assert (found["status"], found["note"]) == ("paused", "the rule it was made from no longer holds")
    assert guarded.held() == []


def test_a_dismissed_proposal_does_not_come_back_when_the_rule_is_said_again(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    guarded.run("dismiss", guarded.only()["id"])
    guarded.work.session("again: use pnpm, not npm", {}, "Sorry.")
    assert guarded.guards() == []
    assert [guard["status"] for guard in guarded.guards(every=True)] == ["dismissed"]


# Replay.


def test_a_proposal_is_run_over_the_transcripts_of_the_project(guarded: Guarded) -> None:
    session = PastSession(PAST, cwd=guarded.root).prompt("install it")
    guarded.past(session.runs("cd web && npm ci", "ok").runs("echo npm", "npm").says("Done."))
    guarded.remember("Use pnpm, not npm")
    found = guarded.replayed()
    assert (found["would_have_fired"], found["in_sessions"], found["status"]) == (1, 1, "proposed")
    (match,) = guarded.detail(found["id"])["matches"]
    assert (match["session"], match["text"], match["outcome"]) == (PAST, "cd web && npm ci", "ran")
    assert not match["is_after"]


def test_a_replay_keeps_no_secret_of_a_command(guarded: Guarded) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session = PastSession(PAST, cwd=guarded.root).prompt("install it")
    guarded.past(session.runs(f"NPM_TOKEN={secret} npm ci", "ok").says("Done."))
    guarded.remember("Use pnpm, not npm")
    (match,) = guarded.detail(guarded.replayed()["id"])["matches"]
    assert "npm ci" in match["text"]
    assert secret not in match["text"]


def test_a_rule_that_the_user_let_pass_again_and_again_is_doubtful_and_not_proposed(guarded: Guarded) -> None:
    session = PastSession(PAST, cwd=guarded.root, at=datetime.now(UTC) + timedelta(hours=1))
    for _ in range(3):
        session.prompt("continue with the next part").runs("npm ci", "ok").says("Done.")
    guarded.past(session.prompt("thanks, now write the docs").says("Done."))
    guarded.remember("Use pnpm, not npm")
    found = guarded.replayed()
    assert (found["status"], found["would_have_fired"]) == ("doubtful", 3)
    assert found["note"] == "it would have fired on 3 calls that you let pass after you stated the rule"
    assert "Doubtful, not proposed" in guarded.run()


# Changes.


def test_an_accepted_guard_is_in_the_file_of_the_hook_until_it_is_removed(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    assert guarded.held() == [id_]
    guarded.run("pause", id_)
    assert guarded.held() == []
    guarded.run("resume", id_)
    assert guarded.held() == [id_]
    guarded.run("remove", id_)
    assert guarded.held() == []


def test_a_guard_by_hand_has_the_parts_and_the_mode_that_were_given(guarded: Guarded) -> None:
    told = guarded.run("add", "--command", "git push", "--flag", "--force", "--reason", "shared", "--mode", "deny")
    found = guarded.only()
    assert (found["status"], found["mode"], found["words"]) == ("active", "deny", "runs `git push` with `--force`")
    assert "next session" in told


def test_a_guard_that_is_added_again_keeps_its_mode(guarded: Guarded) -> None:
    guarded.run("add", "use pnpm, not npm", "--mode", "deny")
    assert "refuses when a call runs `npm`" in guarded.run("add", "use yarn, not npm")
    assert guarded.only()["mode"] == "deny"


def test_a_change_tells_what_the_guard_does_now_and_when(guarded: Guarded) -> None:
    next_session = "from the next session"
    added = guarded.run("add", "use pnpm, not npm")
    assert "asks you, or reminds the agent where nobody can answer, when a call runs `npm`" in added
    assert next_session in added
    id_ = str(guarded.only()["id"])
    assert next_session not in guarded.run("accept", id_, "--mode", "remind")  # the hook is there: it holds at once
    assert f"guards resume {id_}` puts it in force again" in guarded.run("pause", id_)


def test_a_guard_that_is_added_while_memory_is_off_tells_that_it_does_not_hold(guarded: Guarded) -> None:
    guarded.machine.home.off_switch.touch()
    assert "No guard holds while memory is off" in guarded.run("add", "use pnpm, not npm")


def test_a_guard_whose_hook_cannot_be_placed_tells_that_calls_may_pass(guarded: Guarded) -> None:
    settings = guarded.work.root / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("{ broken")
    told = guarded.run("add", "use pnpm, not npm", status=1)
    assert told.startswith("Stored: ")
    assert "calls there may pass unchecked" in told
    assert "next session" not in told
    assert guarded.only()["status"] == "active"
    assert "Accepted, but not in force:" in guarded.run()


def test_a_guard_that_is_resumed_before_any_session_has_its_hook(guarded: Guarded, tmp_path: Path) -> None:
    folder = tmp_path / "fresh"
    folder.mkdir()
    settings = folder / ".claude" / "settings.local.json"
    run_here(guarded.machine, "guards", "add", "use pnpm, not npm", cwd=folder)
    (guard,) = guarded.machine.get(f"/api/guards?cwd={folder}")["guards"]
    run_here(guarded.machine, "guards", "pause", guard["id"], cwd=folder)
    assert not settings.exists()
    run_here(guarded.machine, "guards", "resume", guard["id"], cwd=folder)
    assert "PreToolUse" in settings.read_text()


def test_a_guard_that_is_changed_from_another_project_leaves_that_project_alone(
    guarded: Guarded, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    guarded.run("add", "use pnpm, not npm")
    id_ = str(guarded.only()["id"])
    run_here(guarded.machine, "guards", "accept", id_, "--mode", "deny", cwd=other)
    assert guarded.only()["mode"] == "deny"
    assert not (other / ".claude").exists()


def test_guards_are_listed_as_not_in_force_while_memory_is_off(guarded: Guarded) -> None:
    guarded.run("add", "use pnpm, not npm")
    assert "In force:" in guarded.run()
    guarded.machine.home.off_switch.touch()
    for told in (guarded.run(), guarded.run("show", guarded.only()["id"])):
        assert "Accepted, but not in force" in told
        assert "claude-mem-lite on" in told
        assert "In force" not in told


def test_guards_are_listed_as_not_in_force_after_an_uninstall(guarded: Guarded) -> None:
    run_here(guarded.machine, "install", cwd=guarded.root)
    guarded.run("add", "use pnpm, not npm")
    run_here(guarded.machine, "uninstall", cwd=guarded.root)
    told = guarded.run()
    assert "Accepted, but not in force:" in told
    assert "claude-mem-lite install" in told
    run_here(guarded.machine, "install", cwd=guarded.root)
    assert "In force:" in guarded.run()


def test_a_guard_by_a_sentence_that_names_nothing_is_refused_with_the_way_out(guarded: Guarded) -> None:
    assert "--command" in guarded.run("add", "be nice to users", status=1)


@pytest.mark.parametrize(
    "given",
    [
        ["never run `psql postgres://shop:hunter2hunter2@db/shop`"],
        ["--command", "psql postgres://shop:hunter2hunter2@db/shop", "--reason", "that is production"],
        ["--command", "psql", "--reason", "postgres://shop:hunter2hunter2@db/shop is production"],
    ],
)
def test_a_guard_with_a_secret_is_refused_and_kept_nowhere(guarded: Guarded, given: list[str]) -> None:
    assert "holds a secret" in guarded.run("add", *given, status=1)
    files = [path for path in guarded.machine.home.root.rglob("*") if path.is_file()]
    assert not [path for path in files if b"hunter2hunter2" in path.read_bytes()]


def test_an_agent_changes_no_guard(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.only()["id"]
    told = guarded.run("accept", id_, status=1, more={"CLAUDECODE": "1"})
    assert "speaks for the user" in told
    assert guarded.only()["status"] == "proposed"


def test_a_trial_tells_whether_and_why_a_guard_would_fire(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.only()["id"]
    assert guarded.run("try", id_, "cd web && npm ci").startswith("fires: the call runs `npm`: npm ci")
    assert guarded.run("try", id_, "echo npm").startswith("does not fire")


def test_the_list_and_one_guard_are_shown_with_their_figures(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    guarded.replayed()
    id_ = guarded.only()["id"]
    assert "no earlier session to try it on" in guarded.run()
    shown = guarded.run("show", id_)
    assert "so there is nothing to try it on" in shown
    assert all(words in shown for words in ("fires when a call runs `npm`", "Use pnpm, not npm", "Replay", "Ledger"))


# Ledger.


def test_a_call_that_the_user_allowed_is_overridden_and_the_third_in_a_row_pauses_the_guard(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    for number in range(3):
        session, call = f"s-{number}", f"call-{number}"
        guarded.turn(session, guarded.fires(id_, session, call), guarded.ran(session, call, "npm ci"))
    found = guarded.only()
    assert (found["counts"]["fired"], found["counts"]["overridden"], found["status"]) == (3, 3, "paused")
    assert "three times" in found["note"]
    assert guarded.held() == []
    assert "three times" in guarded.run()
    assert guarded.detail(id_)["firings"][0]["text"] == "npm ci"


def test_a_refused_call_with_the_alternative_after_it_is_followed(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept("deny")
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1", "deny"), guarded.ran("s-1", "c-2", "pnpm install"))
    assert guarded.only()["counts"]["followed"] == 1
    assert guarded.only()["after"] == {"sessions": 1, "violations": 1}


def test_a_session_without_an_occasion_is_not_counted(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    guarded.accept()
    guarded.turn("s-1", guarded.ran("s-1", "c-1", "ls"))
    assert guarded.only()["after"] == {"sessions": 0, "violations": 0}
    guarded.turn("s-2", guarded.ran("s-2", "c-2", "pnpm install"))
    assert guarded.only()["after"] == {"sessions": 1, "violations": 0}


def test_a_firing_that_the_user_calls_wrong_is_no_violation(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1"), guarded.ran("s-1", "c-1", "npm ci"))
    guarded.run("false", id_)
    found = guarded.only()
    assert (found["counts"]["false"], found["counts"]["overridden"]) == (1, 0)
    assert found["after"] == {"sessions": 1, "violations": 0}


def test_a_failure_of_the_hook_is_kept_with_its_guard(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    leave(guarded.machine.home, payload("GuardFailed", "s-1", guarded.root, guard=id_, reason="took too long"))
    guarded.machine.drain()
    assert [failure["reason"] for failure in guarded.detail(id_)["failures"]] == ["took too long"]


# The rest of the home.


def test_a_forgotten_rule_leaves_its_guard_and_every_file(guarded: Guarded) -> None:
    memory = guarded.remember("Use zanzibarium, not npm")
    if not guarded.guards():
        memory = guarded.remember("Never touch zanzibarium/")
    guarded.accept()
    run_here(guarded.machine, "forget", memory, "--yes", cwd=guarded.root)
    guarded.machine.drain()
    assert guarded.guards(every=True) == []
    assert guarded.held() == []
    guarded.machine.stop_worker()
    assert guarded.machine.files_with("zanzibarium") == []


def test_a_lost_database_gets_its_guards_back_with_the_events(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    guarded.run("add", "never touch vendor/")
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1"), guarded.ran("s-1", "c-1", "npm ci"))
    before = sorted((guard["id"], guard["status"], guard["mode"]) for guard in guarded.guards())
    counts = {guard["id"]: guard["counts"] for guard in guarded.guards()}
    guarded.machine.stop_worker()
    for path in guarded.machine.home.root.glob("memory.db*"):
        path.unlink()
    guarded.machine.start_worker()
    guarded.machine.drain()
    assert sorted((guard["id"], guard["status"], guard["mode"]) for guard in guarded.guards()) == before
    assert {guard["id"]: guard["counts"] for guard in guarded.guards()} == counts


def test_guards_are_not_exported(guarded: Guarded, tmp_path: Path) -> None:
    guarded.run("add", "--command", "npm", "--reason", "zanzibarium", "--instead", "pnpm")
    run_here(guarded.machine, "export", "--output", tmp_path / "all.jsonl", cwd=guarded.root)
    assert "zanzibarium" not in (tmp_path / "all.jsonl").read_text()


def test_a_broken_note_of_the_hook_is_dropped(guarded: Guarded) -> None:
    leave(guarded.machine.home, payload("GuardFired", "s-1", guarded.root), name=spool_name("GuardFired"))
    guarded.machine.drain()
    assert [row.status for row in guarded.machine.rows() if row.event == "GuardFired"] == ["done"]


def test_the_next_session_start_tells_the_user_once_that_a_guard_was_paused(guarded: Guarded) -> None:
    memory = guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    run_here(guarded.machine, "retire", memory, cwd=guarded.root)
    notices = []
    for session in ("s-1", "s-2"):
        told = guarded.machine.hook("SessionStart", payload("SessionStart", session, guarded.root, source="startup"))
        guarded.machine.drain()
        notices.append(json.loads(told.out).get("systemMessage", "") if told.out else "")
    assert f"guard {id_} is paused, because the rule it was made from no longer holds" in notices[0]
    assert notices[1] == ""


def test_the_statistics_count_guards_and_firings(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1"), guarded.ran("s-1", "c-1", "npm ci"))
    told = run_here(guarded.machine, "stats", cwd=guarded.root).stdout
    assert "guards: 1 in force, 0 paused, 0 proposed" in told
    assert "fired 1 time: 0 followed, 1 overridden" in told


def test_a_firing_of_the_real_hook_is_in_the_ledger_with_its_outcome(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept("deny")
    asked = payload("UserPromptSubmit", "s-1", guarded.root, prompt="install what is missing")
    guarded.machine.hook("UserPromptSubmit", asked)
    call = payload("PreToolUse", "s-1", guarded.root, tool_name="Bash", tool_use_id="c-1", permission_mode="default")
    answer = guarded.before_call({**call, "tool_input": {"command": "cd web && npm ci"}})
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "Use pnpm, not npm" in answer["hookSpecificOutput"]["permissionDecisionReason"]
    guarded.machine.hook("PostToolUse", guarded.ran("s-1", "c-2", "pnpm install"))
    guarded.machine.hook("Stop", payload("Stop", "s-1", guarded.root, last_assistant_message="Done."))
    guarded.machine.drain()
    (fired,) = guarded.detail(id_)["firings"]
    assert (fired["decision"], fired["outcome"], fired["session"]) == ("deny", "followed", "s-1")


def test_a_refused_call_is_shown_with_its_command_from_the_transcript(guarded: Guarded, tmp_path: Path) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept("deny")
    session = PastSession("s-1", cwd=guarded.root).prompt("install").calls("Bash", {"command": "npm ci"}, "c-1")
    transcript = str(session.write(tmp_path))
    ran = {**guarded.ran("s-1", "c-2", "ls"), "transcript_path": transcript}
    guarded.turn("s-1", guarded.fires(id_, "s-1", "c-1", "deny"), ran)
    assert [firing["text"] for firing in guarded.detail(id_)["firings"]] == ["npm ci"]


def test_a_note_of_another_agent_is_a_firing_too(guarded: Guarded) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    told = {key: value for key, value in guarded.fires(id_, "s-1", "c-1").items() if key != "hook_event_name"}
    for agent in ("codex", "gemini"):
        note = {**told, "hook_event_name": "GuardFired"}
        leave(guarded.machine.home, note, name=spool_name(f"GuardFired_{agent}", time.time_ns()))
    guarded.machine.drain()
    assert guarded.only()["counts"]["fired"] == 2


def test_a_merged_project_keeps_its_guards_under_the_name_that_its_hooks_know(guarded: Guarded, tmp_path: Path) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.accept()
    former = str(guarded.only()["project"])
    other = tmp_path / "other"
    other.mkdir()
    guarded.machine.post("/api/memories", {"kind": "rule", "text": "Write short sentences", "cwd": str(other)})
    run_here(guarded.machine, "projects", "merge", guarded.root, str(other), cwd=guarded.root)
    held = held_guards.read(guarded.machine.home, held_guards.name_of(former))
    assert [guard.id for guard in held] == [id_]
    assert guarded.held() == [id_]


def test_remembering_a_rule_tells_of_its_proposal(guarded: Guarded) -> None:
    told = run_here(guarded.machine, "remember", "rule", "Use pnpm, not npm", cwd=guarded.root).stdout
    assert f"guards accept {guarded.only()['id']}" in told
    assert "guard" not in run_here(guarded.machine, "remember", "rule", "Be brief", cwd=guarded.root).stdout


def test_a_forgotten_session_leaves_the_replay_and_no_later_replay_brings_it_back(guarded: Guarded) -> None:
    session = PastSession(PAST, cwd=guarded.root).prompt("run the job of the zanzibarium")
    guarded.past(session.runs("npm run zanzibarium", "ok").says("The zanzibarium job ran."))
    folder = guarded.machine.user_home / ".claude" / "projects"
    run_here(guarded.machine, "import", "transcripts", folder, cwd=guarded.root)
    guarded.remember("Use pnpm, not npm")
    assert guarded.replayed()["would_have_fired"] == 1
    run_here(guarded.machine, "forget", "--session", PAST, "--yes", cwd=guarded.root)
    assert guarded.only()["would_have_fired"] == 0
    guarded.accept()
    assert guarded.replayed()["would_have_fired"] == 0
    guarded.machine.stop_worker()
    assert guarded.machine.files_with("zanzibarium") == []


def test_the_shell_completes_the_ids_of_guards(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    guarded.remember("Use pnpm, not npm")
    id_ = guarded.only()["id"]
    for name, value in guarded.machine.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(guarded.root)
    command = click.Command("show", params=[click.Argument(["id_"])])
    found = completion_values.guards(click.Context(command), command.params[0], id_[:4])
    assert [(item.value, item.help) for item in found] == [(id_, "runs `npm`")]
