"""Steps of an agent's session to turns, in the form that transcripts of Claude Code have.

A turn is yielded whole or not at all, as in `transcript_turns`."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from claude_mem_lite.event_names import past_name, time_of
from claude_mem_lite.importers.agent_session import AgentSession, AgentStep
from claude_mem_lite.importers.transcript_turns import STEP_NS, TranscriptEvent, TranscriptTurn
from claude_mem_lite.models import JsonObject, text


@dataclass(slots=True)
class _Draft:
    """Turn under construction. `is_over`: the agent or the user ended the turn."""

    first: AgentStep
    steps: list[AgentStep] = field(default_factory=list)
    closed_by: AgentStep | None = None
    is_over: bool = False


class AgentTurnBuilder:
    """Builder of turns. Takes steps in order; yields a turn when the next turn begins."""

    def __init__(self, session: AgentSession) -> None:
        self.last_ns = 0
        self._session = session
        self._draft: _Draft | None = None
        self._is_left = False
        self._is_started = False
        self._named_ns = 0

    @property
    def is_open(self) -> bool:
        """Return whether a turn was held back because the turn still goes on."""
        return self._draft is not None

    def add(self, step: AgentStep) -> Iterator[TranscriptTurn]:
        """Take a step; yield the turn that the step completes."""
        self.last_ns = max(self.last_ns, step.at_ns)
        self._is_left = step.kind == "end"
        if step.kind == "prompt":
            yield from self._done(is_end=False)
            self._draft = _Draft(step, [step])
        elif step.kind == "tool":
            draft = self._draft or self._begin(step)
            draft.steps.append(step)
            draft.closed_by, draft.is_over = None, False
        elif self._draft:
            _close(self._draft, step)

    def finish(self, *, is_quiet: bool, is_settled: bool) -> Iterator[TranscriptTurn]:
        """Yield the last turn, unless the turn still goes on. A turn with a reply is over if its file is settled."""
        draft = self._draft
        if draft and (is_quiet or draft.is_over or self._is_left or (is_settled and draft.closed_by)):
            yield from self._done(is_end=is_quiet or self._is_left)

    def _begin(self, step: AgentStep) -> _Draft:
        self._draft = _Draft(step)
        return self._draft

    def _done(self, *, is_end: bool) -> Iterator[TranscriptTurn]:
        draft, self._draft = self._draft, None
        if draft is None:
            return
        events = list(self._start(draft))
        key = ""
        for step in draft.steps:
            for event in self._events(step, draft):
                key = key or event.name
                events.append(event)
        if not key:
            return
        events += self._stop(draft, is_end=is_end)
        yield TranscriptTurn(
            session=self._session.id,
            name=key,
            prompt_id=draft.first.turn,
            began_at=time_of(key),
            cwd=draft.first.cwd,
            events=tuple(events),
        )

    def _start(self, draft: _Draft) -> Iterator[TranscriptEvent]:
        if not self._is_started:
            self._is_started = True
            first = draft.steps[0]
            yield self._named("SessionStart", first, draft, {"source": "startup"}, first.at_ns - STEP_NS)

    def _events(self, step: AgentStep, draft: _Draft) -> Iterator[TranscriptEvent]:
        if step.kind == "prompt":
            yield self._named("UserPromptSubmit", step, draft, {"prompt": step.text}, step.at_ns)
        elif step.kind == "compact":
            yield self._named("PreCompact", step, draft, {"trigger": "auto"}, step.at_ns)
        for number, call in enumerate(step.calls):
            yield self._named(text(call.get("hook_event_name")), step, draft, call, step.at_ns, str(number))

    def _stop(self, draft: _Draft, *, is_end: bool) -> Iterator[TranscriptEvent]:
        last = draft.closed_by or draft.steps[-1]
        if draft.closed_by or not is_end:
            message: JsonObject = {"last_assistant_message": last.text} if draft.closed_by and last.text else {}
            yield self._named("Stop", last, draft, message, last.at_ns)
        if is_end:
            reason = "other" if draft.closed_by else "interrupted"
            yield self._named("SessionEnd", last, draft, {"reason": reason}, last.at_ns)

    def _named(
        self, kind: str, step: AgentStep, draft: _Draft, members: JsonObject, at_ns: int, seed: str = ""
    ) -> TranscriptEvent:
        self._named_ns = max(at_ns, self._named_ns + STEP_NS)
        payload = {
            **members,
            "session_id": self._session.id,
            "cwd": text(members.get("cwd")) or step.cwd,
            "hook_event_name": kind,
            "git_branch": self._session.branch,
            "imported": True,
            "agent": self._session.agent,
        }
        if kind != "SessionStart":
            payload["prompt_id"] = draft.first.turn or draft.first.id
        return TranscriptEvent(past_name(kind, self._named_ns, step.id, kind, seed), payload)


def _close(draft: _Draft, step: AgentStep) -> None:
    """Apply a step after which a turn may be over."""
    if step.kind == "reply":
        draft.closed_by = step
    elif step.kind == "stop":
        draft.is_over = True
        draft.closed_by = step if step.text else draft.closed_by or step
    elif step.kind == "abort":
        draft.closed_by, draft.is_over = None, True
    elif step.kind == "compact":
        draft.steps.append(step)
