"""Payloads are not to be trusted: whatever they hold, folding goes on and its limits hold."""

from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_lite.compress.rules.session_handoff import handoff
from claude_mem_lite.compress.rules.session_summary import summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.context.layers.session_codes import codes
from claude_mem_lite.models import KINDS, Event, JsonValue, SessionSummary, ToolCall, Turn
from claude_mem_lite.turn_digest import TurnDigest

ODD_TEXT = st.text(max_size=80) | st.sampled_from(
    [
        "", " ", "\n", "`", "**", "```", "|", "- ", "# ", "\ud800", "a" * 3_000, "I added it.", "yes", "Fixed by",
        "git commit -m 'x'", "pytest", "Exit code 1\nE   x", "1 failed in 0.1s", "--- FAIL: T (0s)", "rm",
        "mv a.py b.py",
        "Decision: x instead of y because z is better", "The root cause was X.", "Next steps:\n- a\n- b", "cd",
        "&&", "<<EOF",
        "/home/dev/shop/a.py", "def f():\n    pass", "/", "Tests:       1 failed, 1 total", "● ",
    ]
)  # fmt: skip
JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | ODD_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD_TEXT, inner, max_size=3),
    max_leaves=8,
)
_FIELDS = """
command file_path notebook_path content old_string new_string new_source edits todos answers taskId subject
status url prompt query description title path
"""
FIELDS = st.sampled_from(_FIELDS.split())
_RESPONSE_FIELDS = """
stdout stderr interrupted filePath structuredPatch originalFile type lines oldStart result content text
answers task file
"""
RESPONSE_FIELDS = st.sampled_from(_RESPONSE_FIELDS.split())
HUNK = st.fixed_dictionaries(
    {"lines": st.lists(st.tuples(st.sampled_from(" +-x"), ODD_TEXT).map("".join), max_size=4) | JSON, "oldStart": JSON}
)
_TOOLS = """
Bash Edit MultiEdit Write NotebookEdit Read WebFetch WebSearch Task Agent TodoWrite TaskCreate TaskUpdate
AskUserQuestion mcp__a__create_b mcp__ Skill Unknown
"""
TOOLS = st.sampled_from(_TOOLS.split())
CALLS = st.builds(
    ToolCall,
    tool=TOOLS | ODD_TEXT,
    input=st.dictionaries(FIELDS, ODD_TEXT | JSON, max_size=4),
    response=JSON | st.dictionaries(RESPONSE_FIELDS, ODD_TEXT | JSON | st.lists(HUNK, max_size=2), max_size=4),
    error=st.none() | ODD_TEXT,
)
EVENTS = st.builds(
    Event,
    name=st.just("n"),
    kind=st.sampled_from(
        ["PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "SubagentStop", "UserPromptSubmit", "Odd"]
    ),
    session=st.just("s"),
    at=st.just(datetime(2026, 1, 1, tzinfo=UTC)),
    cwd=st.sampled_from(["", "/", "/home/dev/shop", "x"]),
    tool=st.none() | CALLS,
    message=st.none() | ODD_TEXT | st.lists(ODD_TEXT, max_size=5).map("\n".join),
)
TURNS = st.builds(
    Turn,
    key=st.just("k"),
    session=st.just("s"),
    project=st.just("p"),
    prompt=ODD_TEXT,
    events=st.lists(EVENTS, max_size=6).map(tuple),
)


def check_digest(digest: TurnDigest) -> None:
    for draft in digest.drafts:
        assert draft.kind in KINDS
        assert 0 < len(draft.title) <= 200
        assert not draft.title.endswith(".")
        assert len(draft.summary) <= 1_000
        assert len(draft.detail) <= 2_000
        assert all(0 < len(fact) <= 240 for fact in draft.facts)
        for text in (draft.title, draft.summary, draft.detail, *draft.facts, *draft.files):
            text.encode()
        assert len(draft.title.split()) > 1  # no tool's name and no path alone
    for path in (*digest.files_read, *digest.files_edited):
        path.encode()


def check_summary(summary: SessionSummary) -> None:
    assert len(summary.headline) <= 200
    assert len(summary.request) <= 400
    texts = (summary.headline, summary.request, summary.investigated, summary.learned, summary.completed, summary.notes)
    lists = (summary.next_steps, summary.files_read, summary.files_edited, summary.key_decisions)
    assert sum(map(len, texts)) + sum(len(item) for items in lists for item in items) <= 3_500
    for text in (*texts, *(item for items in lists for item in items)):
        text.encode()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TURNS, min_size=1, max_size=3))
def test_any_turns_are_folded_and_summed_up_within_their_limits(turns: list[Turn]) -> None:
    summary: SessionSummary | None = None
    for turn in turns:
        digest = fold(turn)
        check_digest(digest)
        summary = summarize(summary, turn, digest)
        check_summary(summary)
        left = handoff(summary, digest)
        check_digest(TurnDigest((left,) if left else ()))
        assert len(codes(summary)) < 3_000


def test_what_no_database_takes_does_not_come_through() -> None:
    bad = "a\ud800\x00b"
    patch: list[JsonValue] = [{"oldStart": 1, "lines": [f"-x = {bad}", f"+y = {bad}"]}]
    calls = [
        ToolCall("Edit", {"file_path": f"/{bad}.ini"}, {"structuredPatch": patch}),
        ToolCall("Read", {"file_path": f"/{bad}"}, {}),
        ToolCall("Bash", {"command": f"./run {bad}"}, error=f"Exit code 1\nError: {bad} is wrong"),
    ]
    at = datetime(2026, 1, 1, tzinfo=UTC)
    events = [Event(name="n", kind="PostToolUse", session="s", at=at, cwd="/", tool=call) for call in calls]
    turn = Turn("k", "s", "p", f"change {bad} to the other value", tuple(events))
    digest = fold(turn)
    assert digest.log
    check_digest(digest)
    check_summary(summarize(None, turn, digest))


def test_a_turn_of_huge_strings_is_folded() -> None:
    huge = "word " * 40_000
    calls = [
        ToolCall("Bash", {"command": huge}, {"stdout": huge, "stderr": huge}),
        ToolCall("Bash", {"command": "pytest"}, error="Exit code 1\n" + huge),
        ToolCall("Edit", {"file_path": "/a.py", "old_string": huge, "new_string": huge + "x"}, {"originalFile": huge}),
        ToolCall("Write", {"file_path": "/b.py", "content": huge.replace(" ", "\n")}),
        ToolCall("WebFetch", {"url": huge, "prompt": huge}, {"result": huge}),
    ]
    at = datetime(2026, 1, 1, tzinfo=UTC)
    events = [Event(name="n", kind="PostToolUse", session="s", at=at, cwd="/", tool=call) for call in calls]
    events.append(Event(name="n", kind="Stop", session="s", at=at, message=huge + ". I added it. " + huge))
    turn = Turn("k", "s", "p", huge, tuple(events))
    digest = fold(turn)
    check_digest(digest)
    check_summary(summarize(None, turn, digest))
