"""The real client in the user's experiment: a control session is given nothing, by no hook and by no tool."""

import json
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

from claude_mem_lite.experiment.arms import arm_of
from tests.e2e.client import Client, Reply
from tests.e2e.fake_messages_api import FakeMessagesApi, Request, Step, say, use
from tests.e2e.product import COMMAND, Product
from tests.e2e.test_triggers import script_mending

SHARE = 0.5
OURS = "mcp__claude-mem-lite__"
ALLOWED = ("--allowedTools", "mcp__claude-mem-lite")
MARKERS = ("zyzzyva", "quokka", "numbat")
DECISION = "Keep the shopping carts of zyzzyva in SQLite, because one file is easy to back up"
GOTCHA = "split.py: the quokka part takes the rounding, never the first"
ABOUT_IT = "where do we keep the shopping carts, and why SQLite?"
MAX_TRIES = 10


def ids(arm: str) -> list[str]:
    found = (str(uuid.uuid5(uuid.NAMESPACE_URL, f"session {number}")) for number in range(200))
    return [id_ for id_ in found if arm_of(id_, SHARE) == arm]


def prepare(
    memory: Product, client: Client, api: FakeMessagesApi, repo: Path, *, has_silent_start: bool = False
) -> str:
    """Memories for every trigger, then the experiment. Returns the id of one memory."""
    if has_silent_start:
        memory.home.mkdir(exist_ok=True)
        (memory.home / "config.toml").write_text("budget_tokens = 1\n")
    script_mending(api, repo)
    client.run("a cent is lost", repo)
    memory.drain()
    split = repo / "split.py"
    split.write_text(f"divmod = lambda whole, parts: (whole // parts, 0)\n\n\n{split.read_text()}")
    memory.run("remember", "gotcha", GOTCHA, cwd=repo)
    known = json.loads(memory.run("remember", "decision", DECISION, "--json", cwd=repo))
    memory.run("experiment", "on", str(SHARE))
    memory.drain()
    return str(known["id"])


def run_all(client: Client, api: FakeMessagesApi, repo: Path, session: str) -> list[Request]:
    """A session that triggers every kind of hook, and asks by every tool and by the command line."""
    before = len(api.requests)
    client.run(ABOUT_IT, repo, *ALLOWED, "--session-id", session)
    client.resume(session, "go on", repo)
    return api.requests[before:]


def script(api: FakeMessagesApi, repo: Path, known: str) -> None:
    api.script(
        ABOUT_IT,
        use("Read", file_path=str(repo / "split.py")),
        use("Bash", command="python3 check.py"),
        use("Bash", command=f"{COMMAND} search 'shopping carts'"),
        use("Bash", command=f"{COMMAND} context"),
        use(f"{OURS}memory_context"),
        use(f"{OURS}memory_context", query="shopping carts"),
        use(f"{OURS}memory_search", query="shopping carts"),
        use(f"{OURS}memory_get", ids=[known]),
        use(f"{OURS}memory_timeline", id=known),
        use(f"{OURS}memory_save", kind="gotcha", text="The test database needs port 5433"),
        say("Done."),
    )
    api.script("go on", say("Very well."))


def received(requests: list[Request]) -> str:
    """All that the model server got."""
    return "\n".join(json.dumps(request.body, ensure_ascii=False) for request in requests)


def test_a_control_session_that_tries_everything_is_given_nothing_and_still_saves(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    known = prepare(memory, client, api, repo)
    script(api, repo, known)

    control = received(run_all(client, api, repo, ids("control")[0]))

    assert [
        marker
        for marker in (*MARKERS, "[bugfix]", known, "<claude-mem-lite>")
        if marker in without_asked(control, known)
    ] == []
    assert "takes part in the user's experiment" in control
    assert "Saved as #" in control


@dataclass(frozen=True, slots=True)
class Trigger:
    """A hook, with a session that triggers it and what a treated session is given."""

    event: str
    prompt: str
    marker: str
    step: Step | None = None

    @property
    def has_silent_start(self) -> bool:
        """What the start gives is not given again."""
        return self.event != "SessionStart"


TRIGGERS = (
    Trigger("SessionStart", "good morning", "zyzzyva"),
    Trigger("UserPromptSubmit", ABOUT_IT, "zyzzyva"),
    Trigger("PostToolUseFailure", "is everything fine?", "[bugfix]", use("Bash", command="python3 check.py")),
    Trigger("PostToolUse", "what is in there?", "quokka"),
)


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: trigger.event)
def test_each_kind_of_hook_gives_something_in_a_treated_session_and_nothing_in_a_control_session(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path, trigger: Trigger
) -> None:
    prepare(memory, client, api, repo, has_silent_start=trigger.has_silent_start)
    step = use("Read", file_path=str(repo / "split.py")) if trigger.event == "PostToolUse" else trigger.step
    api.script(trigger.prompt, *filter(None, (step, say("Very well."))))

    # A hook waits 0.15 s for its answer, which a busy machine may miss several times in a row.
    tries = (client.run(trigger.prompt, repo, "--session-id", id_) for id_ in ids("treated")[:MAX_TRIES])
    treated = next(reply for reply in tries if trigger.marker in given(reply, trigger.event))
    assert trigger.marker in received(api.requests)

    before = len(api.requests)
    for id_ in ids("control")[:2]:
        control = client.run(trigger.prompt, repo, "--session-id", id_)
        assert control.events[trigger.event] == treated.events[trigger.event] > 0
        assert "additionalContext" not in printed(control)
    assert not any(marker in received(api.requests[before:]) for marker in (*MARKERS, "[bugfix]", "<claude-mem-lite>"))


def given(reply: Reply, event: str) -> str:
    """All that hooks of one kind printed."""
    return "\n".join(hook.stdout for hook in reply.hooks if hook.event == event)


def printed(reply: Reply) -> str:
    return "\n".join(hook.stdout for hook in reply.hooks)


def test_each_tool_answers_a_treated_session_and_refuses_a_control_session(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    known = prepare(memory, client, api, repo, has_silent_start=True)
    calls = (
        use(f"{OURS}memory_context", query="shopping carts"),
        use(f"{OURS}memory_search", query="shopping carts"),
        use(f"{OURS}memory_get", ids=[known]),
        use(f"{OURS}memory_timeline", id=known),
        use("Bash", command=f"{COMMAND} search 'shopping carts'"),
    )
    for number, call in enumerate(calls):
        api.script(f"call {number}", call, say("Done."))
        asked = [asked_by(client, api, repo, f"call {number}", ids(arm)[number]) for arm in ("treated", "control")]
        assert ["zyzzyva" in text for text in asked] == [True, False]
        assert ["takes part in the user's experiment" in text for text in asked] == [False, True]


def asked_by(client: Client, api: FakeMessagesApi, repo: Path, prompt: str, session: str) -> str:
    """All that the model server got from a session of one prompt."""
    before = len(api.requests)
    client.run(prompt, repo, *ALLOWED, "--session-id", session)
    return received(api.requests[before:])


def test_a_compaction_gives_a_control_session_nothing_and_a_clear_begins_a_session_with_an_arm_of_its_own(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    prepare(memory, client, api, repo)
    for prompt in ("good morning", "go on"):
        api.script(prompt, say("Very well."))
    with client.conversation(repo, "--session-id", ids("control")[0]) as talk:
        started, compacted = talk.say("good morning"), talk.say("/compact")
        cleared = talk.say("/clear")
        talk.say("go on")

    assert "without memories" in printed(started)
    assert compacted.events["SessionStart"] == 1
    assert printed(compacted).strip() == ""
    assert ("zyzzyva" in printed(cleared)) == (arm_of(cleared.session, SHARE) == "treated")


def without_asked(text: str, known: str) -> str:
    """The text without the arguments of the tools that name the memory."""
    return text.replace(f'"ids": ["{known}"]', "").replace(f'"id": "{known}"', "")


def test_a_control_session_changes_nothing_that_another_project_is_given(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path, tmp_path: Path
) -> None:
    known = prepare(memory, client, api, repo)
    other = tmp_path / "other"
    other.mkdir()
    memory.run("remember", "rule", "Always greet the numbat", "--scope", "universal", cwd=repo)
    memory.drain()
    before = chosen(memory, repo)
    script(api, other, known)

    run_all(client, api, other, ids("control")[0])
    memory.drain()

    assert chosen(memory, repo) == before


def chosen(memory: Product, repo: Path) -> list[tuple[str, str]]:
    """The lines of the context of a new session, by layer and source: their ages change from minute to minute."""
    found = json.loads(memory.run("context", "--json", cwd=repo))
    return [(item["layer"], item["source"]) for item in found["items"]]
