"""Recorded sessions as the turns that the product would compress, in order of time; read without a worker."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.compress.compose.candidates import SentenceCandidate, candidates_of, plan_headings
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.compress.toolcalls.steps import Agreed, Ran, Step
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.importers.transcripts import find_transcripts, read_transcript
from claude_mem_lite.models import Turn

_LONE = ("SessionStart", "PreCompact")


@dataclass(frozen=True)
class PastTurn:
    """One recorded turn: its events, and what was said before it."""

    project: str
    turn: Turn
    number: int
    """The place in its session, from 1."""
    before: str
    """The agent's last closing message before the turn."""

    @property
    def message(self) -> str:
        return next((event.message or "" for event in reversed(self.turn.events) if event.kind == "Stop"), "")

    @cached_property
    def steps(self) -> list[Step]:
        return [step for event in self.turn.events for step in read_steps(event)]

    @cached_property
    def commits(self) -> list[Commit]:
        return [commit for step in self.steps if isinstance(step, Ran) for commit in step.commits]

    @cached_property
    def candidates(self) -> list[SentenceCandidate]:
        agreed = [step.plan for step in self.steps if isinstance(step, Agreed)]
        return candidates_of(self.message, self.commits, plan_headings(self.turn.prompt, agreed))


def past_turns(folder: Path) -> Iterator[PastTurn]:
    """Yield the turns of a data folder, session by session."""
    for transcript in find_transcripts([folder / "sessions"]):
        before = ""
        for number, past in enumerate(read_transcript(transcript, datetime.now(UTC)), 1):
            kept = [event for event in past.events if event.payload["hook_event_name"] not in _LONE]
            events = tuple(event_from_payload(event.name, event.payload) for event in kept)
            prompt = next((event.prompt for event in events if event.prompt), "")
            made = PastTurn(folder.name, Turn(past.name, past.session, folder.name, prompt, events), number, before)
            yield made
            before = made.message or before
