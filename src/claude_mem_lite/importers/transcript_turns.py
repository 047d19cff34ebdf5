"""Entries of a transcript to turns, each as the events of its hooks.

A turn is yielded whole or not at all: the rest of a stored half turn would be taken for stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from claude_mem_lite.agents.claude_code import INTERRUPTED
from claude_mem_lite.event_names import event_of, past_name, time_of
from claude_mem_lite.importers.transcript_entries import (
    PendingCalls,
    TranscriptEntry,
    UnnamedEvent,
    UserLine,
    blocks,
    read_user_line,
    without_injected,
)
from claude_mem_lite.inbox.past_arrival import PlacedArrival, placed_arrival
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.safety.redact import texts_of
from claude_mem_lite.values import frozen

# Names sort by time, and times have microseconds.
STEP_NS = 1000
_SYNTHETIC = "<synthetic>"
_END_OF_TURN = ("stop_hook_summary", "turn_duration")
# Lone events of the inbox: none of them can be the first event of a turn.
_LONE = ("SessionStart", "PreCompact")


@frozen
class TranscriptEvent:
    """Event in the form of hooks, under a stable name."""

    name: str
    payload: JsonObject


@frozen
class TranscriptTurn:
    """Finished turn. `name` is the key in the store."""

    session: str
    name: str
    prompt_id: str
    """The client's id; empty if the client gave none."""
    began_at: datetime
    cwd: str
    events: tuple[TranscriptEvent, ...]
    former_folders: tuple[str, ...] = ()
    """Original folders, if an import moves the turn."""

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders of all events."""
        return tuple(sorted({text(event.payload.get("cwd")) for event in self.events}))

    @property
    def text_length(self) -> int:
        """Return the number of characters of all texts, close to the size of a request and cheaper than an encoding."""
        return sum(len(written) for event in self.events for written in texts_of(event.payload))

    @property
    def end(self) -> str:
        """Return the key of the session end if stored separately, after the end of this turn; else ''."""
        before, last = ([""] + [event.name for event in self.events])[-2:]
        is_apart = event_of(last) == "SessionEnd" and before != "" and event_of(before) in ("Stop", "StopFailure")
        return last if is_apart else ""

    def mark(self) -> JsonObject:
        """Return the fields by which the worker recognises the turn."""
        return {
            "session": self.session,
            "name": self.name,
            "end": self.end,
            "prompt_id": self.prompt_id,
            "began_at": self.began_at.isoformat(),
            "ended_at": time_of(self.events[-1].name).isoformat(),
            "cwd": self.cwd,
            "folders": list(self.folders),
            "former_folders": list(self.former_folders),
        }

    def as_json(self) -> JsonObject:
        """Return the whole turn, for the worker to read and store."""
        events: list[JsonObject] = [{"name": event.name, "payload": event.payload} for event in self.events]
        return {"session": self.session, "name": self.name, "events": events}

    def arrivals(self) -> list[PlacedArrival]:
        """Return the events on their way into the inbox, without secrets."""
        return [placed_arrival(event.name, event.payload) for event in self.events]

    def as_rows(self, arrivals: Sequence[PlacedArrival] = ()) -> JsonObject:
        """Return the whole turn as rows of the inbox, without secrets, for the worker to store; `arrivals` are its
        events, if they are made already."""
        events = [event.as_json() for event in arrivals or self.arrivals()]
        return {"session": self.session, "name": self.name, "events": events}


@dataclass(slots=True)
class _Draft:
    """Turn under construction."""

    first: TranscriptEntry
    session: str
    events: list[UnnamedEvent] = field(default_factory=list)
    is_answered: bool = False
    closing: list[str] = field(default_factory=list)
    closed_by: TranscriptEntry | None = None
    """Line of the closing message; None while the model works, or after an interruption."""
    is_final: bool = False
    """True if the client confirms the closing message."""

    def reopen(self) -> None:
        self.closing, self.closed_by, self.is_final = [], None, False


class TurnBuilder:
    """Builder of turns. Takes entries in order of time; yields a turn when the next turn begins."""

    def __init__(self, own_session: str) -> None:
        self.last_ns = 0
        self._own_session = own_session
        """Session of the file; lines of other sessions are copies, or remains of the session before."""
        self._sessions: set[str] = set()
        self._draft: _Draft | None = None
        self._calls: dict[str, PendingCalls] = {}
        self._started: set[str] = set()
        self._named_ns = 0

    def add(self, entry: TranscriptEntry) -> Iterator[TranscriptTurn]:
        """Take a line of the session's own file; yield the turn that the line completes."""
        self.last_ns = max(self.last_ns, entry.at_ns)
        self._sessions.add(entry.member("sessionId"))
        if entry.line.get("isSidechain") is True:
            self._sidechain(entry)
        elif entry.kind == "user":
            yield from self._user(entry)
        elif entry.kind == "assistant":
            self._assistant(entry)
        elif self._draft:
            self._system(entry, self._draft)

    def add_event(self, event: UnnamedEvent) -> None:
        """Take an event of a sub-agent."""
        self.last_ns = max(self.last_ns, event.at_ns)
        draft = self._draft or self._begin(event.entry)
        draft.events.append(event)

    def finish(self, *, is_quiet: bool, is_left: bool, agents_at_work: bool) -> Iterator[TranscriptTurn]:
        """Yield the last turn, unless the turn still goes on.

        The session ends with the turn after a long silence, or if the client was left after the closing message."""
        draft = self._draft
        if draft is None or not draft.events:
            return
        is_over = draft.closed_by is not None and draft.is_final and not agents_at_work
        if not is_over and not is_quiet:
            return
        # A file under another name may hold any session.
        is_own = draft.session == self._own_session or self._own_session not in self._sessions
        ends = is_own and (is_quiet or is_left)
        last = draft.closed_by or draft.events[-1].entry
        if draft.closed_by or not ends:
            self._stop(draft, last)
        if ends:
            reason = "other" if draft.closed_by else "interrupted"
            draft.events.append(UnnamedEvent("SessionEnd", last, {"reason": reason}))
        yield from self._done()

    @property
    def is_open(self) -> bool:
        """Return whether a turn was held back because the turn still goes on."""
        return self._draft is not None and bool(self._draft.events)

    def _user(self, entry: TranscriptEntry) -> Iterator[TranscriptTurn]:
        content = blocks(entry.message.get("content"))
        results = [block for block in content if block.get("type") == "tool_result"]
        if results:
            self._results(entry, results, "")
            interrupted = any(text(block.get("text")).startswith(INTERRUPTED) for block in content)
        else:
            line = read_user_line(entry.line, content)
            interrupted = line.mark == "interruption"
            yield from self._user_line(entry, line)
        if interrupted and self._draft:
            self._draft.reopen()

    def _user_line(self, entry: TranscriptEntry, line: UserLine) -> Iterator[TranscriptTurn]:
        """Begin a turn with a prompt, or with the notification of a finished background task after the end of a
        turn."""
        if line.mark == "prompt" or (line.mark == "notification" and self._draft and self._draft.closed_by):
            yield from self._close()
            draft = self._begin(entry)
            if line.mark == "prompt":
                draft.events.append(UnnamedEvent("UserPromptSubmit", entry, {"prompt": line.text}))

    def _assistant(self, entry: TranscriptEntry) -> None:
        message = entry.message
        if message.get("model") == _SYNTHETIC and entry.line.get("isApiErrorMessage") is not True:
            return
        draft = self._draft or self._begin(entry)
        if not draft.is_answered:
            # If the client changes sessions in the middle of a turn, the prompt still names the session before.
            draft.is_answered, draft.session = True, entry.member("sessionId") or draft.session
        for block in blocks(message.get("content")):
            if block.get("type") == "tool_use":
                self._calls_of("").begin(block)
                draft.reopen()
            elif block.get("type") == "text" and (reply := without_injected(text(block.get("text")))):
                self._say(draft, entry, reply)

    def _say(self, draft: _Draft, entry: TranscriptEntry, reply: str) -> None:
        """Take a text of the model; the last text closes the turn. Each block has a line, blocks of one message share
        the id."""
        before, id_ = draft.closed_by, text(entry.message.get("id"))
        is_more = bool(id_) and before is not None and text(before.message.get("id")) == id_
        if not is_more:
            draft.closing = []
        draft.closing.append(reply)  # no copy: a message may have any number of blocks
        draft.closed_by = entry
        draft.is_final = entry.message.get("stop_reason") not in (None, "tool_use")

    def _system(self, entry: TranscriptEntry, draft: _Draft) -> None:
        subtype = entry.line.get("subtype")
        if subtype == "compact_boundary":
            metadata = entry.line.get("compactMetadata")
            trigger = text(metadata.get("trigger")) if isinstance(metadata, dict) else ""
            draft.events.append(UnnamedEvent("PreCompact", entry, {"trigger": trigger or "auto"}))
        elif subtype in _END_OF_TURN and draft.closed_by:
            draft.is_final = True

    def _sidechain(self, entry: TranscriptEntry) -> None:
        """Take a sub-agent's line in the session's own file, as old clients wrote them: only tool calls are used."""
        agent = entry.member("agentId") or "sidechain"
        content = blocks(entry.message.get("content"))
        for block in content:
            if entry.kind == "assistant" and block.get("type") == "tool_use":
                self._calls_of(agent).begin(block)
        if entry.kind == "user":
            self._results(entry, [block for block in content if block.get("type") == "tool_result"], agent)

    def _results(self, entry: TranscriptEntry, results: list[JsonObject], agent: str) -> None:
        for ended in self._calls_of(agent).end(entry.line, results):
            self.add_event(UnnamedEvent(ended.kind, entry, ended.members, ended.id, agent))

    def _calls_of(self, agent: str) -> PendingCalls:
        return self._calls.setdefault(agent, PendingCalls())

    def _begin(self, entry: TranscriptEntry) -> _Draft:
        self._draft = _Draft(entry, entry.member("sessionId") or self._own_session)
        return self._draft

    def _close(self) -> Iterator[TranscriptTurn]:
        """End the current turn: with its closing message, or without if interrupted."""
        if self._draft and self._draft.events:
            self._stop(self._draft, self._draft.closed_by or self._draft.events[-1].entry)
            yield from self._done()

    def _stop(self, draft: _Draft, last: TranscriptEntry) -> None:
        message: JsonObject = {"last_assistant_message": "\n".join(draft.closing)} if draft.closing else {}
        if draft.closed_by and draft.closed_by.line.get("isApiErrorMessage") is True:
            error = draft.closed_by.member("error") or "unknown"
            draft.events.append(UnnamedEvent("StopFailure", last, {"error": error, **message}))
        else:
            draft.events.append(UnnamedEvent("Stop", last, message))

    def _done(self) -> Iterator[TranscriptTurn]:
        """Name the events of the turn and yield the turn."""
        draft, self._draft = self._draft, None
        first = next((event for event in draft.events if event.kind not in _LONE), None) if draft else None
        if draft is None or first is None:
            return
        events: list[TranscriptEvent] = []
        if draft.session not in self._started:
            self._started.add(draft.session)
            start = UnnamedEvent("SessionStart", draft.events[0].entry, {"source": "startup"})
            events.append(self._named(start, draft, start.at_ns - STEP_NS))
        key = ""
        for event in draft.events:
            events.append(self._named(event, draft, event.at_ns))
            key = events[-1].name if event is first else key
        yield TranscriptTurn(
            session=draft.session,
            name=key,
            prompt_id=draft.first.member("promptId"),
            began_at=time_of(key),
            cwd=first.entry.member("cwd"),
            events=tuple(events),
        )

    def _named(self, event: UnnamedEvent, draft: _Draft, at_ns: int) -> TranscriptEvent:
        self._named_ns = max(at_ns, self._named_ns + STEP_NS)
        origin = (event.entry.member("uuid") or str(event.entry.at_ns), event.kind, event.seed)
        return TranscriptEvent(past_name(event.kind, self._named_ns, *origin), _payload(event, draft))


def _payload(event: UnnamedEvent, draft: _Draft) -> JsonObject:
    branch = event.entry.member("gitBranch")
    payload: dict[str, JsonValue] = {
        "session_id": draft.session,
        "cwd": event.entry.member("cwd"),
        "hook_event_name": event.kind,
        "git_branch": "" if branch == "HEAD" else branch,
        "imported": True,
        **event.members,
    }
    if event.kind != "SessionStart":
        payload["prompt_id"] = draft.first.member("promptId") or draft.first.member("uuid")
    if event.agent:
        payload |= {"agent_id": event.agent, "agent_type": event.agent_type}
    return payload
