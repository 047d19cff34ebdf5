"""What the product takes for granted about the client, checked with a hook of a few shell lines.

When a new version of the client fails here, the product has to change before its other tests can pass."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, JsonObject, refuse, say, use
from tests.support.running import wait_until

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "SessionEnd",
)
CLIENT_LIMIT = 10_000

# Files are numbered by how many are there, with the pid for hooks that run at the same time.
HOOK = """
folder=$(dirname "$0")
number=$(ls "$folder/seen" | wc -l | tr -d ' ')
{ pwd -P; cat; } > "$folder/seen/$number-$$-$1"
if [ "$1" = SessionStart ] && [ -f "$folder/answer" ]; then cat "$folder/answer"; fi
"""


@dataclass(frozen=True, slots=True)
class Seen:
    event: str
    hook_cwd: str
    raw: str

    @property
    def payload(self) -> JsonObject:
        payload: JsonObject = json.loads(self.raw)
        return payload


@dataclass(frozen=True, slots=True)
class Probe:
    """A shell hook on every event, in the user's settings file."""

    folder: Path
    settings: Path

    def install(self, tool_matcher: str = "") -> None:
        (self.folder / "seen").mkdir(parents=True)
        (self.folder / "hook.sh").write_text(HOOK)
        self.settings.parent.mkdir()
        hooks = {event: [self._entry(event, tool_matcher)] for event in EVENTS}
        self.settings.write_text(json.dumps({"hooks": hooks}))

    def _entry(self, event: str, tool_matcher: str) -> JsonObject:
        command = {"type": "command", "command": f"sh {self.folder}/hook.sh {event}", "timeout": 30}
        matcher = {"matcher": tool_matcher} if tool_matcher and "Tool" in event else {}
        return {**matcher, "hooks": [command]}

    def answer(self, context: str) -> None:
        """What SessionStart gives from now on."""
        given = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}}
        (self.folder / "answer").write_text(json.dumps(given))

    @property
    def seen(self) -> list[Seen]:
        files = sorted((self.folder / "seen").iterdir(), key=lambda one: int(one.name.partition("-")[0]))
        parts = [(one.name.split("-")[2], *one.read_text().partition("\n")[::2]) for one in files]
        return [Seen(event, cwd, raw) for event, cwd, raw in parts]

    @property
    def events(self) -> list[str]:
        return [one.event for one in self.seen]


@pytest.fixture
def probe(root: Path, claude_folder: Path) -> Probe:
    return Probe(root / "probe", claude_folder / "settings.json")


def test_a_session_runs_its_hooks_in_order(client: Client, api: FakeMessagesApi, probe: Probe, repo: Path) -> None:
    probe.install()
    api.script("look around", use("Bash", command="ls"), use("Bash", command="exit 3"), say("Nothing new."))

    reply = client.run("look around", repo)

    assert reply.text == "Nothing new."
    assert probe.events == [
        *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd")
    ]
    assert [hook.event for hook in reply.hooks] == probe.events[:-1]
    assert {one.payload["session_id"] for one in probe.seen} == {reply.session}


def test_a_hook_runs_in_the_folder_that_its_payload_names_also_after_cd(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    api.script("go down", use("Bash", command="cd src && ls"), use("Bash", command="ls"), say("There."))

    client.run("go down", repo)

    assert [one.payload["cwd"] for one in probe.seen] == [one.hook_cwd for one in probe.seen]
    assert [one.payload["cwd"] for one in probe.seen if one.event == "SessionStart"] == [str(repo)]
    assert [one.payload["cwd"] for one in probe.seen if one.event == "Stop"] == [str(repo / "src")]


def test_a_folder_reached_through_a_link_is_named_by_its_real_path(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    link = repo.parent / "link"
    link.symlink_to(repo)
    api.script("hello", say("Hello."))

    client.run("hello", link)

    assert {one.payload["cwd"] for one in probe.seen} == {str(repo)}
    assert {one.hook_cwd for one in probe.seen} == {str(repo)}


def test_a_payload_is_one_line_of_compact_json_with_its_text_as_it_is(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    prompt = "grüße <private>x</private> & 日本\nsecond line"
    api.script("grüße", say("Ja."))

    client.run(prompt, repo)

    raw = next(one.raw for one in probe.seen if one.event == "UserPromptSubmit")
    assert '"prompt":"grüße <private>x</private> & 日本\\nsecond line"' in raw
    assert raw == json.dumps(json.loads(raw), ensure_ascii=False, separators=(",", ":")) + "\n"


@pytest.mark.parametrize("status", [400, 500])
def test_a_turn_that_ends_in_an_api_error_runs_session_end_but_no_stop(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path, status: int
) -> None:
    probe.install()
    api.script("look around", use("Bash", command="ls"), refuse(status))

    reply = client.run("look around", repo)

    # The hook of StopFailure is started and not waited for: it is sent SIGTERM within some 10 ms.
    seen = [event for event in probe.events if event != "StopFailure"]
    assert reply.is_error
    assert seen == ["SessionStart", "UserPromptSubmit", "PostToolUse", "SessionEnd"]


def test_an_api_error_in_a_process_that_goes_on_runs_stop_failure(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    api.script("look around", refuse(500))

    with client.conversation(repo) as talk:
        reply = talk.say("look around")
        wait_until(lambda: "StopFailure" in probe.events, "the hook of StopFailure")

    assert reply.is_error
    assert "Stop" not in probe.events


def test_a_matcher_with_negative_lookahead_keeps_tools_away_from_a_hook(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install(tool_matcher="^(?!(Grep|Glob)$)")
    steps = (use("Grep", pattern="OPEN"), use("Glob", pattern="*"), use("Bash", command="ls"))
    api.script("look around", *steps, say("Seen."))

    client.run("look around", repo)

    assert [one.payload["tool_name"] for one in probe.seen if one.event == "PostToolUse"] == ["Bash"]


def test_context_given_at_the_start_lands_in_messages_and_not_in_system(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    probe.answer("The shop sells tea.")
    api.script("hello", say("Hello."))

    reply = client.run("hello", repo)

    request = api.requests_for("hello")[0]
    assert reply.start_contexts == ["The shop sells tea."]
    assert request.session == reply.session
    assert "The shop sells tea." in request.text
    assert "The shop sells tea." not in request.system


def test_context_of_ten_thousand_characters_passes_whole_and_of_one_more_does_not(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    api.script("hello", say("Hello."))

    for size in (CLIENT_LIMIT, CLIENT_LIMIT + 1):
        probe.answer("x" * size)
        client.run("hello", repo)

    whole, cut = api.requests_for("hello")
    assert "x" * CLIENT_LIMIT in whole.text
    assert "x" * CLIENT_LIMIT not in cut.text


def test_resume_adds_context_that_differs_and_not_the_same_again(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    api.script("hello", say("Hello."))
    probe.answer("The shop sells tea.")
    session = client.run("hello", repo).session

    client.resume(session, "hello again", repo)
    probe.answer("The shop sells coffee.")
    client.resume_latest("hello once more", repo)

    assert api.requests_for("hello again")[0].text.count("The shop sells tea.") == 1
    last = api.requests_for("hello once more")[0]
    assert last.session == session
    assert last.text.count("The shop sells tea.") == 1
    assert "The shop sells coffee." in last.text


def test_compact_and_clear_run_session_start_in_a_running_process(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    api.script("hello", say("Hello."))

    with client.conversation(repo) as talk:
        first = talk.say("hello")
        compacted = talk.say("/compact")
        cleared = talk.say("/clear")

    sources = [one.payload["source"] for one in probe.seen if one.event == "SessionStart"]
    assert sources == ["startup", "compact", "clear"]
    assert first.session == compacted.session != cleared.session


def test_fork_has_a_session_of_its_own(client: Client, api: FakeMessagesApi, probe: Probe, repo: Path) -> None:
    probe.install()
    api.script("hello", say("Hello."))
    session = client.run("hello", repo).session

    fork = client.fork(session, "hello", repo)

    assert fork.session != session
    assert [one.payload["source"] for one in probe.seen if one.event == "SessionStart"] == ["startup", "fork"]


def test_the_result_of_a_sub_agent_in_the_background_comes_after_the_turns_stop(
    client: Client, api: FakeMessagesApi, probe: Probe, repo: Path
) -> None:
    probe.install()
    job = use("Agent", description="count", prompt="count the files", subagent_type="general-purpose")
    api.script("ask somebody", job, say("Asked."))
    api.script("count the files", use("Bash", command="ls"), say("There are two."))

    reply = client.run("ask somebody", repo)

    by_agent = [one.event for one in probe.seen if one.payload.get("agent_id")]
    assert by_agent == ["PostToolUse", "SubagentStop"]
    assert {one.payload["session_id"] for one in probe.seen} == {reply.session}
    prompts = [str(one.payload["prompt"]) for one in probe.seen if one.event == "UserPromptSubmit"]
    assert [prompt.startswith("<task-notification>") for prompt in prompts] == [False, True]
    assert probe.events.count("Stop") == 2
