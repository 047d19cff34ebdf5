"""Outcomes of recorded sessions, as an experiment compares them: numbers only, in order of time.

Sessions come through the product's own reader of transcripts. A session without an edit has no calls before an edit and
no files read before one: it is left out there."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from claude_mem_lite.event_names import time_of
from claude_mem_lite.importers.transcript_turns import TranscriptEvent, TranscriptTurn
from claude_mem_lite.importers.transcripts import find_transcripts, read_transcript
from claude_mem_lite.models import text

CALLS, FILES_READ, TURNS, SECONDS, FAILURES = "calls before edit", "files read", "turns", "seconds", "failures"
_EDITING_TOOLS = ("Edit", "MultiEdit", "Write", "NotebookEdit")
_TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure")


def outcomes(folder: Path) -> dict[str, list[float]]:
    """Return the values of each outcome, one for each session of a data folder that has it."""
    found: dict[str, list[float]] = {name: [] for name in (CALLS, FILES_READ, TURNS, SECONDS, FAILURES)}
    for transcript in find_transcripts([folder / "sessions"]):
        turns = tuple(read_transcript(transcript, datetime.now(UTC)))
        for name, value in _outcomes_of(turns):
            found[name].append(value)
    return found


def _outcomes_of(turns: Sequence[TranscriptTurn]) -> Iterator[tuple[str, float]]:
    if not turns:
        return
    calls = [event for turn in turns for event in turn.events if _kind(event) in _TOOL_EVENTS]
    tools = [text(event.payload.get("tool_name")) for event in calls]
    first_edit = next((at for at, tool in enumerate(tools) if tool in _EDITING_TOOLS), None)
    if first_edit is not None:
        yield CALLS, first_edit
        yield FILES_READ, tools[:first_edit].count("Read")
    yield TURNS, len(turns)
    yield SECONDS, sum((time_of(turn.events[-1].name) - turn.began_at).total_seconds() for turn in turns)
    yield FAILURES, sum(_kind(event) == "PostToolUseFailure" for event in calls)


def _kind(event: TranscriptEvent) -> str:
    return text(event.payload.get("hook_event_name"))
