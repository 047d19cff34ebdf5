"""Tests of the experiment in a worker (`worker/answers/session_arms.py`, `worker/api/agent_gate.py`,
`store/experiment/arms.py`, `db/experiment_schema.py`): a control session is given nothing in any channel, and marks
nothing."""

import json
from pathlib import Path

import pytest

from claude_mem_lite.experiment.arms import arm_of, position
from tests.support.running import Json, Machine, leave, payload, query
from tests.worker.commands import run_here
from tests.worker.trigger_events import now_name, remember

SHARE = 0.5
MARKER = "zyzzyva"
RULE = f"Always run the {MARKER} ledger tests with make ledger-test before a release"
DATA = Path(__file__).parents[1] / "data" / "agents"
FILES = ("a.py", "src/tax.py")


def named(arm: str, begin: str = "s") -> str:
    """An id whose arm is known."""
    return next(id_ for number in range(100) if arm_of(id_ := f"{begin}-{number}", SHARE) == arm)


CONTROL, TREATED = named("control"), named("treated")


@pytest.fixture
def shop(machine: Machine) -> Path:
    folder = machine.user_home / "shop"
    folder.mkdir(parents=True)
    machine.start_worker()
    remember(machine, str(folder), "rule", RULE)
    turn_on(machine)
    return folder


def turn_on(machine: Machine, share: float = SHARE) -> None:
    machine.home.config.write_text(f"experiment = {share}\n")
    machine.drain()


def replied(
    machine: Machine, event: str, given: Json, agent: str = "", ahead_s: float = 1.5, *, is_printed: bool = False
) -> str:
    """All bytes that the hook of an event would print; `is_printed`: the hook confirms the print."""
    label = f"{event}{agent}"
    name = leave(machine.home, given, name=now_name(label, ahead_s))
    headers = {"X-Spool": name, "Content-Length": "0"}
    told = machine.ask("POST", f"/hook/{label}", headers=headers)
    if told.status == 204:
        return ""
    if is_printed:
        machine.ask("POST", "/hook/printed", headers=headers)
    return json.dumps(told.body)


def events(session: str, cwd: str) -> list[tuple[str, Json]]:
    """One event of each kind that is answered."""
    starts = [
        ("SessionStart", payload("SessionStart", session, cwd, source=source))
        for source in ("startup", "resume", "clear", "compact")
    ]
    prompt = payload("UserPromptSubmit", session, cwd, prompt=f"run the {MARKER} ledger tests before the release")
    failed = payload(
        "PostToolUseFailure",
        session,
        cwd,
        tool_name="Bash",
        tool_input={"command": f"make {MARKER}"},
        error=f"make: *** No rule to make target '{MARKER}'.  Stop.",
    )
    opened = payload(
        "PostToolUse", session, cwd, tool_name="Read", tool_input={"file_path": f"{cwd}/a.py"}, tool_response={}
    )
    return [
        starts[0],
        ("UserPromptSubmit", prompt),
        ("PostToolUseFailure", failed),
        ("PostToolUse", opened),
        *starts[1:],
    ]


def test_the_position_of_a_session_is_the_same_for_ever() -> None:
    assert [round(position(id_), 6) for id_ in ("", "s-1")] == [0.780158, 0.922425]


def test_a_session_whose_position_is_below_the_share_is_a_control_session() -> None:
    assert [arm_of("s-1", share) for share in (0.92, 0.93)] == ["treated", "control"]


def test_no_hook_of_a_control_session_is_given_a_memory(machine: Machine, shop: Path) -> None:
    given = [replied(machine, event, told) for event, told in events(CONTROL, str(shop))]
    assert [reply for reply in given if MARKER in reply] == []
    treated = [replied(machine, event, told) for event, told in events(TREATED, str(shop))]
    assert any(MARKER in reply for reply in treated)


@pytest.mark.parametrize("agent", ["codex", "copilot", "cursor", "gemini"])
def test_no_hook_of_another_agent_is_given_a_memory_in_a_control_session(
    machine: Machine, shop: Path, agent: str
) -> None:
    for file in FILES:
        remember(machine, str(shop), "gotcha", f"{file}: the {MARKER} total is kept in cents, never in floats")
    control = [replied(machine, event, told, f"_{agent}") for event, told in own_events(agent, CONTROL, shop)]
    assert [reply for reply in control if MARKER in reply] == []
    answered = set()
    for number, (event, _) in enumerate(own_events(agent, "", shop)):
        session = named("treated", f"{agent}-{number}")  # each event in a session that has got nothing yet
        if MARKER in replied(machine, event, own_events(agent, session, shop)[number][1], f"_{agent}"):
            answered.add(event)
    assert answered == {"SessionStart", "PostToolUse", *(() if agent == "cursor" else ("UserPromptSubmit",))}


def own_events(agent: str, session: str, cwd: Path) -> list[tuple[str, Json]]:
    """Recorded payloads of an agent and its sub-agents, in its own form, in another session and folder."""
    rows = [json.loads(line) for line in (DATA / f"{agent}.jsonl").read_text("utf-8").splitlines()]
    own = next(rows[0]["payload"][key] for key in ("conversation_id", "session_id") if key in rows[0]["payload"])
    asked = {"prompt": f"run the {MARKER} ledger tests before the release"}
    told = []
    for row in rows:
        moved = json.dumps(row["payload"]).replace("/home/dev/shop", str(cwd)).replace(f'"{own}"', f'"{session}"')
        more = asked if row["event"] == "UserPromptSubmit" else {}
        if row["event"] in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
            told.append((row["event"], {**json.loads(moved), **more}))
    return told


def test_the_user_is_shown_once_that_a_session_runs_without_memories(machine: Machine, shop: Path) -> None:
    given = [replied(machine, event, told) for event, told in events(CONTROL, str(shop))]
    assert ["without memories" in reply for reply in given] == [True, *[False] * (len(given) - 1)]


def test_what_the_user_pinned_is_given_in_a_control_session(machine: Machine, shop: Path) -> None:
    id_ = remember(machine, str(shop), "rule", "Never push the quokka branch")
    run_here(machine, "pin", id_, cwd=shop)
    (_, start), *_ = events(CONTROL, str(shop))
    reply = replied(machine, "SessionStart", start)
    assert "quokka" in reply
    assert MARKER not in reply
    machine.drain()
    ((why, tokens),) = query(machine.home.memory_db, "select layers_skipped, tokens from receipts")
    assert ("your experiment" in why, tokens > 0) == (True, True)


def test_a_receipt_says_why_a_control_session_was_given_nothing(machine: Machine, shop: Path) -> None:
    (_, start), *_ = events(CONTROL, str(shop))
    replied(machine, "SessionStart", start)
    machine.drain()
    rows = query(machine.home.memory_db, "select layers_skipped, tokens, given_at from receipts")
    assert [("your experiment" in why, tokens, given) for why, tokens, given in rows] == [(True, 0, None)]


def test_an_agent_of_a_control_session_finds_nothing_on_the_command_line(machine: Machine, shop: Path) -> None:
    for session in (CONTROL, TREATED):
        replied(machine, "SessionStart", payload("SessionStart", session, str(shop), source="startup"))
    for command in (("search", "ledger"), ("context",), ("list",), ("lessons",), ("sessions",), ("timeline", "abcdef")):
        refused = run_here(machine, *command, cwd=shop, more=shell_of(CONTROL), status=1)
        assert "experiment" in refused.stderr
        assert MARKER not in refused.stdout + refused.stderr
    assert RULE in run_here(machine, "search", MARKER, cwd=shop, more=shell_of(TREATED)).stdout
    assert RULE in run_here(machine, "search", MARKER, cwd=shop).stdout


def test_an_agent_that_names_no_session_finds_nothing_while_a_control_session_runs(
    machine: Machine, shop: Path
) -> None:
    nameless = {"GEMINI_CLI": "1"}
    assert RULE in run_here(machine, "search", MARKER, cwd=shop, more=nameless).stdout
    replied(machine, "SessionStart", payload("SessionStart", CONTROL, str(shop), source="startup"))
    assert "experiment" in run_here(machine, "search", MARKER, cwd=shop, more=nameless, status=1).stderr


def test_an_agent_of_a_control_session_still_saves(machine: Machine, shop: Path) -> None:
    replied(machine, "SessionStart", payload("SessionStart", CONTROL, str(shop), source="startup"))
    saved = run_here(machine, "remember", "gotcha", "The cart is slow", cwd=shop, more=shell_of(CONTROL)).stdout
    assert "Stored as the agent's note" in saved


def test_a_session_of_before_the_experiment_belongs_to_no_arm(machine: Machine, shop: Path) -> None:
    machine.home.config.write_text("")
    machine.drain()
    started = payload("SessionStart", CONTROL, str(shop), source="startup")
    replied(machine, "SessionStart", started, ahead_s=0.0)
    machine.drain()
    turn_on(machine)
    assert MARKER in replied(machine, "SessionStart", {**started, "source": "compact"})
    assert query(machine.home.memory_db, "select session from experiment_arms") == []


def test_a_session_keeps_its_arm_when_the_share_changes(machine: Machine, shop: Path) -> None:
    start = payload("SessionStart", CONTROL, str(shop), source="startup")
    replied(machine, "SessionStart", start)
    turn_on(machine, position(CONTROL) / 2)
    assert MARKER not in replied(machine, "SessionStart", {**start, "source": "compact"})


def test_the_end_of_the_experiment_gives_running_sessions_their_memories_back(machine: Machine, shop: Path) -> None:
    start = payload("SessionStart", CONTROL, str(shop), source="startup")
    replied(machine, "SessionStart", start)
    machine.drain()
    machine.home.config.write_text("")
    machine.drain()
    assert MARKER in replied(machine, "SessionStart", {**start, "source": "compact"})


def test_a_context_rendered_during_an_experiment_holds_pinned_memories_alone(machine: Machine, shop: Path) -> None:
    replied(machine, "SessionStart", payload("SessionStart", TREATED, str(shop), source="startup"))
    machine.drain()
    assert not any(MARKER.encode() in path.read_bytes() for path in machine.home.rendered.glob("*"))
    machine.home.config.write_text("")
    machine.drain()
    assert any(MARKER.encode() in path.read_bytes() for path in machine.home.rendered.glob("*"))


def test_a_control_session_marks_no_memory(machine: Machine, shop: Path) -> None:
    id_ = remember(machine, str(shop), "rule", "Never push the quokka branch")
    run_here(machine, "pin", id_, cwd=shop)
    for session in (CONTROL, TREATED):
        for event, told in (*events(session, str(shop)), ("SessionEnd", payload("SessionEnd", session, str(shop)))):
            replied(machine, event, told, is_printed=True)
    machine.drain()
    of_session = "select distinct session from receipts join receipt_items on receipt = spool_name where"
    given = query(machine.home.memory_db, f"{of_session} given_at is not null")
    assert {session for (session,) in given} == {CONTROL, TREATED}
    assert query(machine.home.memory_db, f"{of_session} outcome is not null") == [(TREATED,)]


def shell_of(session: str) -> dict[str, str]:
    return {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session}


def test_an_ended_session_of_each_arm_has_an_outcome_and_the_command_shows_both(machine: Machine, shop: Path) -> None:
    for session in (CONTROL, TREATED):
        told = [*events(session, str(shop))[:4], ("Stop", payload("Stop", session, str(shop)))]
        edit = {"file_path": f"{shop}/a.py", "content": "x = 1\n"}
        told.insert(4, ("PostToolUse", payload("PostToolUse", session, str(shop), tool_name="Write", tool_input=edit)))
        for event, given in (*told, ("SessionEnd", payload("SessionEnd", session, str(shop)))):
            replied(machine, event, given)
    machine.drain()
    rows = query(
        machine.home.memory_db, "select calls_before_edit, files_before_edit, turns, tokens from experiment_outcomes"
    )
    assert rows == [(2, 1, 1, None)] * 2
    shown = run_here(machine, "experiment", cwd=shop).stdout
    assert "1 without memories, 1 with" in shown
    assert "cannot tell yet" in shown


def work(machine: Machine, session: str, cwd: Path, source: str = "startup", end: str = "SessionEnd") -> None:
    """One turn of a session, to its end."""
    replied(machine, "SessionStart", payload("SessionStart", session, str(cwd), source=source))
    replied(machine, "UserPromptSubmit", payload("UserPromptSubmit", session, str(cwd), prompt="tidy the cart"))
    replied(machine, end, payload(end, session, str(cwd)))
    machine.drain()


def counted(machine: Machine) -> list[tuple[str, int]]:
    rows = query(machine.home.memory_db, "select session, turns from experiment_outcomes order by place")
    return [(session, turns) for session, turns in rows]


def test_a_resumed_session_keeps_the_place_and_the_values_at_which_it_was_first_counted(
    machine: Machine, shop: Path
) -> None:
    work(machine, CONTROL, shop)
    work(machine, TREATED, shop)
    work(machine, CONTROL, shop, "resume")
    assert counted(machine) == [(CONTROL, 1), (TREATED, 1)]


def test_a_turn_that_ended_by_an_error_does_not_end_the_session(machine: Machine, shop: Path) -> None:
    work(machine, CONTROL, shop, end="StopFailure")
    assert counted(machine) == []
    work(machine, CONTROL, shop, "resume")
    assert counted(machine) == [(CONTROL, 2)]


def test_one_outcome_has_the_whole_level_and_the_others_share_another(machine: Machine, shop: Path) -> None:
    found = machine.get("/api/experiment")["outcomes"]
    assert [one["name"] for one in found if one["is_primary"]] == ["calls_before_edit"]
    assert [one["level"] for one in found] == pytest.approx([0.05, *[0.05 / 6] * 6])
    assert [one["name"] for one in found if one["scale"] == "share"] == ["repeated_failures", "corrections"]


def test_the_command_turns_the_experiment_on_and_off_and_keeps_the_rest_of_the_settings(
    machine: Machine, shop: Path
) -> None:
    machine.home.config.write_text("budget_tokens = 900 # mine\nexperiment = 0.1\n")
    run_here(machine, "experiment", "on", "0.3", cwd=shop)
    assert machine.home.config.read_text() == "budget_tokens = 900 # mine\nexperiment = 0.3\n"
    assert "about 30%" in run_here(machine, "status", cwd=shop).stdout
    run_here(machine, "experiment", "off", cwd=shop)
    assert machine.home.config.read_text() == "budget_tokens = 900 # mine\n"
    assert "experiment on 0.2" in run_here(machine, "experiment", cwd=shop).stdout
    again = run_here(machine, "experiment", "off", cwd=shop)
    assert again.stdout == "No experiment was on: all sessions get their memories.\n"


def test_an_agent_does_not_turn_the_experiment_off(machine: Machine, shop: Path) -> None:
    refused = run_here(machine, "experiment", "off", cwd=shop, more=shell_of(TREATED), status=1)
    assert "speaks for the user" in refused.stderr


def test_a_share_above_a_half_is_refused(machine: Machine, shop: Path) -> None:
    machine.home.config.write_text("experiment = 0.6\n")
    assert "from 0 to 0.5" in machine.get("/api/health")["settings_problem"]


def test_a_repository_cannot_begin_an_experiment(machine: Machine, shop: Path) -> None:
    machine.home.config.write_text("")
    (shop / ".git").mkdir()
    (shop / ".claude-mem-lite.toml").write_text("experiment = 0.5\n")
    machine.drain()
    given = replied(machine, "SessionStart", payload("SessionStart", CONTROL, str(shop), source="startup"))
    assert "without memories" not in given
