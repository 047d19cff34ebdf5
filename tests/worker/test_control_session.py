"""Tests of a control session of the experiment: what holds in it all the same, and what the user learns of it."""

from pathlib import Path
from urllib.parse import quote

import pytest

from claude_mem_lite.experiment.arms import arm_of
from claude_mem_lite.worker.api.routes import make_router
from tests.support.past_sessions import fixed_bug
from tests.support.running import Machine, payload, query
from tests.worker.commands import run_here
from tests.worker.test_experiment import CONTROL, MARKER, SHARE, events, named, replied, shell_of, turn_on
from tests.worker.test_guards import Guarded
from tests.worker.test_lesson_collection import SAID, allow
from tests.worker.trigger_events import answered, ask, remember
from tests.worker.working_repository import WorkingRepository

RULE = f"Always run the {MARKER} ledger tests with make ledger-test before a release"


@pytest.fixture
def shop(machine: Machine) -> Path:
    folder = machine.user_home / "shop"
    folder.mkdir(parents=True)
    machine.start_worker()
    remember(machine, str(folder), "rule", RULE)
    turn_on(machine)
    return folder


def start(machine: Machine, shop: Path, source: str = "startup") -> str:
    return replied(machine, "SessionStart", payload("SessionStart", CONTROL, str(shop), source=source))


def note_of_agent(machine: Machine, shop: Path) -> str:
    """A memory that an agent may forget."""
    body = {"cwd": str(shop), "session": named("treated"), "kind": "gotcha", "text": f"The {MARKER} cart is slow"}
    saved = machine.post("/api/ask/save", body)
    machine.drain()
    return str(saved["id"])


def test_guards_hold_in_a_control_session(machine: Machine, tmp_path: Path) -> None:
    machine.start_worker()
    guarded = Guarded(WorkingRepository.begin(machine, tmp_path / "shop", {"README.md": "# Shop\n"}))
    guarded.remember("Use pnpm, not npm")
    guarded.accept("deny")
    turn_on(machine)
    prompt = payload("UserPromptSubmit", CONTROL, guarded.root, prompt="install what is missing")
    assert "without memories" in replied(machine, "UserPromptSubmit", prompt)
    call = payload("PreToolUse", CONTROL, guarded.root, tool_name="Bash", tool_use_id="c-1", permission_mode="default")
    answer = guarded.before_call({**call, "tool_input": {"command": "cd web && npm ci"}})
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_control_session_is_asked_no_question_about_a_lesson(machine: Machine, shop: Path) -> None:
    allow(machine)
    assert "memory_save" not in replied(
        machine, "UserPromptSubmit", payload("UserPromptSubmit", CONTROL, str(shop), prompt=SAID)
    )
    assert "memory_save" in ask(machine, named("treated"), str(shop), SAID)


def test_a_control_session_is_not_told_to_save_lessons(machine: Machine, shop: Path) -> None:
    allow(machine)
    run_here(machine, "pin", remember(machine, str(shop), "rule", "Never push the quokka branch"), cwd=shop)
    control = start(machine, shop)
    assert "quokka" in control
    assert "memory_save" not in control
    treated = payload("SessionStart", named("treated"), str(shop), source="startup")
    assert "memory_save" in replied(machine, "SessionStart", treated)


def test_what_a_control_session_taught_without_a_question_is_kept_as_a_candidate(machine: Machine, shop: Path) -> None:
    replied(machine, "UserPromptSubmit", payload("UserPromptSubmit", CONTROL, str(shop), prompt=SAID))
    replied(machine, "Stop", payload("Stop", CONTROL, str(shop), last_assistant_message="Done."))
    machine.drain()
    assert query(machine.home.memory_db, "select sentence from lesson_candidates") == [(SAID,)]


def test_forgetting_and_retiring_by_the_shell_of_a_control_session_show_no_title(machine: Machine, shop: Path) -> None:
    start(machine, shop)
    id_ = note_of_agent(machine, shop)
    commands = (("retire", id_), ("retire", id_, "--json"), ("forget", id_))
    retired, as_json, forgotten = (
        run_here(machine, *command, cwd=shop, more=shell_of(CONTROL)).stdout for command in commands
    )
    assert (f"Retired {id_}\n" in retired, "Forgot 1 memory." in forgotten) == (True, True)
    assert MARKER not in retired + as_json + forgotten


def test_forgetting_by_a_tool_of_a_control_session_names_the_id_alone(machine: Machine, shop: Path) -> None:
    start(machine, shop)
    id_ = note_of_agent(machine, shop)
    body = {"cwd": str(shop), "session": CONTROL, "ids": [id_]}
    answer = machine.ask("POST", "/api/ask/forget", body, headers={"X-Agent-Session": CONTROL})
    assert answer.body["forgotten"] == [{"id": id_, "kind": "", "title": ""}]


def test_a_save_that_repeats_a_memory_does_not_show_it_to_a_control_session(machine: Machine, shop: Path) -> None:
    start(machine, shop)
    known = note_of_agent(machine, shop)
    body = {"cwd": str(shop), "session": CONTROL, "kind": "gotcha", "text": f"The {MARKER} cart is slow"}
    answer = machine.ask("POST", "/api/ask/save", body, headers={"X-Agent-Session": CONTROL})
    assert (answer.body["id"], answer.body["title"]) == (known, "")


def test_a_save_that_contradicts_a_memory_does_not_show_that_memory_to_a_control_session(
    machine: Machine, shop: Path
) -> None:
    known = remember(machine, str(shop), "decision", "Keep totals as floats instead of Decimal")
    run_here(machine, "pin", known, cwd=shop)
    start(machine, shop)
    for session, conflicts in ((CONTROL, 0), (named("treated"), 1)):
        said = f"Keep totals as Decimal instead of floats, as in {session}"
        body = {"cwd": str(shop), "session": session, "kind": "decision", "text": said}
        answer = machine.ask("POST", "/api/ask/save", body, headers={"X-Agent-Session": session})
        assert len(answer.body["conflicts"]) == conflicts


def test_an_evaluation_in_the_shell_of_a_control_session_is_refused(machine: Machine, shop: Path) -> None:
    start(machine, shop)
    recorded = fixed_bug("s1").write(machine.user_home / "recorded").parent
    refused = run_here(machine, "eval", str(recorded), cwd=shop, more=shell_of(CONTROL), status=1)
    assert "takes part in the user's experiment" in refused.stderr
    assert "1 session" in run_here(machine, "eval", str(recorded), cwd=shop, more=shell_of(named("treated"))).stdout


def test_an_agent_that_names_a_session_that_is_over_finds_nothing_while_a_control_session_runs(
    machine: Machine, shop: Path
) -> None:
    over = named("treated")
    replied(machine, "SessionStart", payload("SessionStart", over, str(shop), source="startup"))
    replied(machine, "SessionEnd", payload("SessionEnd", over, str(shop)))
    machine.drain()
    assert RULE in run_here(machine, "search", MARKER, cwd=shop, more=shell_of(over)).stdout
    start(machine, shop)
    assert "experiment" in run_here(machine, "search", MARKER, cwd=shop, more=shell_of(over), status=1).stderr


def test_a_control_session_is_told_apart_from_other_refusals(machine: Machine, shop: Path) -> None:
    start(machine, shop)
    answer = machine.ask("GET", "/api/memories", headers={"X-Agent-Session": CONTROL})
    assert (answer.status, answer.body["error"]["code"]) == (403, "control_session")


WITHOUT_MEMORIES = {
    "/api/health",
    "/api/settings",
    "/api/queue",
    "/api/queue/stats",
    "/api/index",
    "/api/index/damage",
    "/api/recoveries",
    "/api/experiment",
}


def test_a_control_session_reads_by_no_address_but_those_without_memories(machine: Machine, shop: Path) -> None:
    start(machine, shop)
    paths = ["/".join(route.parts) for route in make_router().routes if route.method == "GET"]
    asked = {path: machine.ask("GET", path, headers={"X-Agent-Session": CONTROL}).status for path in paths}
    assert {path for path, status in asked.items() if status != 403} == WITHOUT_MEMORIES & set(paths)
    answer = machine.ask("POST", "/api/ask", {"cwd": str(shop)}, headers={"X-Agent-Session": CONTROL})
    assert answer.status == 403


def test_a_control_session_with_an_unusual_id_is_known_by_it(machine: Machine, shop: Path) -> None:
    ids = (f"shop {number} é" for number in range(100))
    id_ = next(id_ for id_ in ids if arm_of(id_, SHARE) == "control" and arm_of(quote(id_), SHARE) == "treated")
    replied(machine, "SessionStart", payload("SessionStart", id_, str(shop), source="startup"))
    refused = run_here(machine, "search", MARKER, cwd=shop, more=shell_of(id_), status=1)
    assert "takes part in the user's experiment" in refused.stderr


def test_a_session_that_is_resumed_in_the_experiment_belongs_to_no_arm(machine: Machine, shop: Path) -> None:
    assert MARKER in start(machine, shop, "resume")
    assert query(machine.home.memory_db, "select session from experiment_arms") == []


def test_the_notice_is_shown_once_also_after_a_resume_by_another_worker(machine: Machine, shop: Path) -> None:
    assert "without memories" in start(machine, shop)
    machine.drain()
    machine.stop_worker()
    machine.start_worker()
    resumed = [start(machine, shop, "resume"), *(replied(machine, *each) for each in events(CONTROL, str(shop)))]
    assert not any("without memories" in reply for reply in resumed)


def test_each_start_of_a_control_session_has_a_receipt_with_the_reason(machine: Machine, shop: Path) -> None:
    for source in ("startup", "resume", "compact"):
        start(machine, shop, source)
    machine.drain()
    rows = query(machine.home.memory_db, "select moment, layers_skipped from receipts order by created_at")
    assert [(moment, "your experiment" in why) for moment, why in rows] == [
        ("startup", True),
        ("resume", True),
        ("compact", True),
    ]
    newest = run_here(machine, "receipts", cwd=shop).stdout.split()[0]
    assert "takes part in your experiment" in run_here(machine, "receipts", newest, cwd=shop).stdout


def test_after_the_experiment_a_resumed_control_session_gets_all_that_it_went_without(
    machine: Machine, shop: Path
) -> None:
    pinned = remember(machine, str(shop), "rule", "Never push the quokka branch")
    run_here(machine, "pin", pinned, cwd=shop)
    begun = answered(machine, "SessionStart", payload("SessionStart", CONTROL, str(shop), source="startup"), 0.0)
    assert "quokka" in begun
    machine.drain()
    machine.home.config.write_text("")
    machine.drain()
    assert MARKER in start(machine, shop, "resume")
