"""Any lines at all: they are read, reported or passed over, and what comes of them can be stored."""

import json
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.event_names import event_of
from claude_mem_lite.importers.transcripts import find_transcripts, read_transcript
from claude_mem_lite.inbox.spool import read_arrival
from tests.support.past_sessions import LONG_AGO, Json

SETTINGS = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
texts = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    [
        "s1", "s2", "", "\x00", "\ud83d", "x" * 5000, "HEAD", "2026-03-02T09:00:00Z", "2026-03-02",
        "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "1969-01-01T00:00:00Z",
        "[Request interrupted by user]", "<task-notification>",
        "<command-message>", "<command-message><command-args>x</command-args>", "<system-reminder>", "t1",
        "The user doesn't want to proceed with this tool use.", "tool_use", "end_turn", "<synthetic>",
    ]
)  # fmt: skip
anything: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def some(**known: "st.SearchStrategy[Json]") -> "st.SearchStrategy[Json]":
    return st.fixed_dictionaries({}, optional={key: value | anything for key, value in known.items()})


ids = st.sampled_from(["t1", "t2"])
blocks = some(
    type=st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"]),
    text=texts,
    id=ids,
    tool_use_id=ids,
    name=st.sampled_from(["Bash", "Edit", "Grep"]),
    input=some(command=texts),
    content=texts | st.lists(some(type=st.just("text"), text=texts), max_size=2),
    is_error=st.booleans(),
)
messages = some(
    id=texts, model=texts, stop_reason=texts, content=texts | st.lists(blocks, max_size=4), role=st.just("user")
)
lines = some(
    type=st.sampled_from(["user", "assistant", "system", "progress"]),
    subtype=st.sampled_from(["compact_boundary", "turn_duration"]),
    message=messages,
    timestamp=st.integers(0, 9).map(lambda second: f"2026-03-02T09:00:0{second}.000Z"),
    sessionId=texts,
    uuid=texts,
    promptId=texts,
    cwd=texts,
    gitBranch=texts,
    isSidechain=st.booleans(),
    agentId=texts,
    isMeta=st.booleans(),
    isCompactSummary=st.booleans(),
    isApiErrorMessage=st.booleans(),
    error=texts,
    toolUseResult=anything,
    compactMetadata=some(trigger=texts),
)
written = lines.map(json.dumps) | anything.map(json.dumps) | lines.map(lambda line: json.dumps(line)[:-3])
files = st.lists(written, max_size=12).map(lambda found: "\n".join(found).encode("utf-8", "surrogatepass"))


@given(main=files | st.binary(max_size=300), agent=files, days=st.sampled_from([0, 30]))
@SETTINGS
def test_any_lines_become_turns_that_can_be_stored(main: bytes, agent: bytes, days: int) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "s1" / "subagents").mkdir(parents=True)
        (folder / "s1.jsonl").write_bytes(main)
        (folder / "s1" / "subagents" / "agent-a1.jsonl").write_bytes(agent)
        (transcript,) = find_transcripts([folder])
        reading = read_transcript(transcript, LONG_AGO + timedelta(days=days))
        turns = list(reading)
        assert list(read_transcript(transcript, LONG_AGO + timedelta(days=days))) == turns
    names = [event.name for turn in turns for event in turn.events]
    assert names == sorted(set(names))
    assert all(problem.reason for problem in reading.problems)
    for turn in turns:
        json.dumps([turn.mark(), turn.as_json()], ensure_ascii=False).encode()
        for event in turn.events:
            assert event_from_payload(event.name, event.payload).kind == event_of(event.name)
            arrival = read_arrival(event.name, json.dumps(event.payload).encode(), lambda _: False)
            assert arrival is not None
            assert (arrival.problem, arrival.session) == ("", turn.session)
