"""The entries of a transcript -> turns, each as the events its hooks would have given.

A turn is handed out whole or not at all: half a one would be taken for stored when the rest comes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from claude_mem_lite.agents.injected_markup import INTERRUPTED
from claude_mem_lite.event_names import event_of, past_name, time_of
from claude_mem_lite.importers.tool_results import Calls
from claude_mem_lite.importers.transcript_entries import Entry, Found, Said, blocks, read_user_line, without_injected
from claude_mem_lite.models import JsonObject, JsonValue, text

# Names order by time, and times are kept to the microsecond.
_STEP_NS = 1000
_SYNTHETIC = "<synthetic>"
_END_OF_TURN = ("stop_hook_summary", "turn_duration")
# These stand alone in the inbox: none of them can be the first event of a turn.
_LONE = ("SessionStart", "PreCompact")


@dataclass(frozen=True, slots=True)
class PastEvent:
    """One event in the form hooks give, under the name it has whenever it is read."""

    name: str
    payload: JsonObject


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn that is over. `name` is the key it has once it is stored."""

    session: str
    name: str
    prompt_id: str
    """As the client gave it; empty where it gave none."""
    began_at: datetime
    cwd: str
    events: tuple[PastEvent, ...]
    former_folders: tuple[str, ...] = ()
    """Where it was done, when an import puts it elsewhere."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of its events."""
        return tuple(sorted({text(event.payload.get("cwd")) for event in self.events}))

    @property
    def end(self) -> str:
        """The key of the end of the session, where that is stored by itself: behind the end of this turn; else ''."""
        before, last = ([""] + [event.name for event in self.events])[-2:]
        is_apart = event_of(last) == "SessionEnd" and before != "" and event_of(before) in ("Stop", "StopFailure")
        return last if is_apart else ""

    def mark(self) -> JsonObject:
        """What the worker can tell it by."""
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
        """All of it, for the worker to store."""
        events: list[JsonObject] = [{"name": event.name, "payload": event.payload} for event in self.events]
        return {"session": self.session, "name": self.name, "events": events}


@dataclass(slots=True)
class _Draft:
    """A turn that is being put together."""

    first: Entry
    session: str
    events: list[Found] = field(default_factory=list)
    is_answered: bool = False
    closing: list[str] = field(default_factory=list)
    closed_by: Entry | None = None
    """The line of the closing message; None while the model is at work, or was interrupted."""
    is_final: bool = False
    """The client itself says that the closing message is one."""

    def reopen(self) -> None:
        self.closing, self.closed_by, self.is_final = [], None, False


class TurnBuilder:
    """Takes what a transcript holds in the order of time; gives out a turn when the next one begins."""

    def __init__(self, own_session: str) -> None:
        self.last_ns = 0
        self._own_session = own_session
        """The session whose file it is; lines of others are copies, or left behind by the one before."""
        self._sessions: set[str] = set()
        self._draft: _Draft | None = None
        self._calls: dict[str, Calls] = {}
        self._started: set[str] = set()
        self._named_ns = 0

    def add(self, entry: Entry) -> Iterator[PastTurn]:
        """Take a line of the session's own file; yields the turn that is over because of it."""
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

    def add_found(self, found: Found) -> None:
        """Take an event of a sub-agent."""
        self.last_ns = max(self.last_ns, found.at_ns)
        draft = self._draft or self._begin(found.entry)
        draft.events.append(found)

    def finish(self, *, is_quiet: bool, is_left: bool, agents_at_work: bool) -> Iterator[PastTurn]:
        """The last turn, unless it still goes on.

        The session ends with it when nobody wrote for long, or when the client was left after its closing message."""
        draft = self._draft
        if draft is None or not draft.events:
            return
        is_over = draft.closed_by is not None and draft.is_final and not agents_at_work
        if not is_over and not is_quiet:
            return
        # A file under a name of its own tells of whatever session it holds.
        is_own = draft.session == self._own_session or self._own_session not in self._sessions
        ends = is_own and (is_quiet or is_left)
        last = draft.closed_by or draft.events[-1].entry
        if draft.closed_by or not ends:
            self._stop(draft, last)
        if ends:
            reason = "other" if draft.closed_by else "interrupted"
            draft.events.append(Found("SessionEnd", last, {"reason": reason}))
        yield from self._done()

    @property
    def is_open(self) -> bool:
        """Whether a turn was not given out because it still goes on."""
        return self._draft is not None and bool(self._draft.events)

    def _user(self, entry: Entry) -> Iterator[PastTurn]:
        content = blocks(entry.message.get("content"))
        results = [block for block in content if block.get("type") == "tool_result"]
        if results:
            self._results(entry, results, "")
            interrupted = any(text(block.get("text")).startswith(INTERRUPTED) for block in content)
        else:
            said = read_user_line(entry.line, content)
            interrupted = said.mark == "interruption"
            yield from self._said(entry, said)
        if interrupted and self._draft:
            self._draft.reopen()

    def _said(self, entry: Entry, said: Said) -> Iterator[PastTurn]:
        """A prompt begins a turn. So does the notice that a task in the background is done, once a turn is over."""
        if said.mark == "prompt" or (said.mark == "notification" and self._draft and self._draft.closed_by):
            yield from self._close()
            draft = self._begin(entry)
            if said.mark == "prompt":
                draft.events.append(Found("UserPromptSubmit", entry, {"prompt": said.text}))

    def _assistant(self, entry: Entry) -> None:
        message = entry.message
        if message.get("model") == _SYNTHETIC and entry.line.get("isApiErrorMessage") is not True:
            return
        draft = self._draft or self._begin(entry)
        if not draft.is_answered:
            # When the client changes sessions in the middle of a turn, the prompt still names the one before.
            draft.is_answered, draft.session = True, entry.member("sessionId") or draft.session
        for block in blocks(message.get("content")):
            if block.get("type") == "tool_use":
                self._calls_of("").begin(block)
                draft.reopen()
            elif block.get("type") == "text" and (said := without_injected(text(block.get("text")))):
                self._say(draft, entry, said)

    def _say(self, draft: _Draft, entry: Entry, said: str) -> None:
        """A text of the model; the last one closes the turn. Each block has a line, those of one message its id."""
        before, id_ = draft.closed_by, text(entry.message.get("id"))
        is_more = bool(id_) and before is not None and text(before.message.get("id")) == id_
        draft.closing = [*draft.closing, said] if is_more else [said]
        draft.closed_by = entry
        draft.is_final = entry.message.get("stop_reason") not in (None, "tool_use")

    def _system(self, entry: Entry, draft: _Draft) -> None:
        subtype = entry.line.get("subtype")
        if subtype == "compact_boundary":
            told = entry.line.get("compactMetadata")
            trigger = text(told.get("trigger")) if isinstance(told, dict) else ""
            draft.events.append(Found("PreCompact", entry, {"trigger": trigger or "auto"}))
        elif subtype in _END_OF_TURN and draft.closed_by:
            draft.is_final = True

    def _sidechain(self, entry: Entry) -> None:
        """A sub-agent's line in the session's own file, as old clients wrote them: only its calls are told apart."""
        agent = entry.member("agentId") or "sidechain"
        content = blocks(entry.message.get("content"))
        for block in content:
            if entry.kind == "assistant" and block.get("type") == "tool_use":
                self._calls_of(agent).begin(block)
        if entry.kind == "user":
            self._results(entry, [block for block in content if block.get("type") == "tool_result"], agent)

    def _results(self, entry: Entry, results: list[JsonObject], agent: str) -> None:
        for ended in self._calls_of(agent).end(entry.line, results):
            self.add_found(Found(ended.kind, entry, ended.members, ended.id, agent))

    def _calls_of(self, agent: str) -> Calls:
        return self._calls.setdefault(agent, Calls())

    def _begin(self, entry: Entry) -> _Draft:
        self._draft = _Draft(entry, entry.member("sessionId") or self._own_session)
        return self._draft

    def _close(self) -> Iterator[PastTurn]:
        """End the turn before: by its closing message, or without one when it was broken off."""
        if self._draft and self._draft.events:
            self._stop(self._draft, self._draft.closed_by or self._draft.events[-1].entry)
            yield from self._done()

    def _stop(self, draft: _Draft, last: Entry) -> None:
        said: JsonObject = {"last_assistant_message": "\n".join(draft.closing)} if draft.closing else {}
        if draft.closed_by and draft.closed_by.line.get("isApiErrorMessage") is True:
            error = draft.closed_by.member("error") or "unknown"
            draft.events.append(Found("StopFailure", last, {"error": error, **said}))
        else:
            draft.events.append(Found("Stop", last, said))

    def _done(self) -> Iterator[PastTurn]:
        """Give the events of the turn their names, and the turn away."""
        draft, self._draft = self._draft, None
        first = next((found for found in draft.events if found.kind not in _LONE), None) if draft else None
        if draft is None or first is None:
            return
        events: list[PastEvent] = []
        if draft.session not in self._started:
            self._started.add(draft.session)
            start = Found("SessionStart", draft.events[0].entry, {"source": "startup"})
            events.append(self._named(start, draft, start.at_ns - _STEP_NS))
        key = ""
        for found in draft.events:
            events.append(self._named(found, draft, found.at_ns))
            key = events[-1].name if found is first else key
        yield PastTurn(
            session=draft.session,
            name=key,
            prompt_id=draft.first.member("promptId"),
            began_at=time_of(key),
            cwd=first.entry.member("cwd"),
            events=tuple(events),
        )

    def _named(self, found: Found, draft: _Draft, at_ns: int) -> PastEvent:
        self._named_ns = max(at_ns, self._named_ns + _STEP_NS)
        origin = (found.entry.member("uuid") or str(found.entry.at_ns), found.kind, found.seed)
        return PastEvent(past_name(found.kind, self._named_ns, *origin), _payload(found, draft))


def _payload(found: Found, draft: _Draft) -> JsonObject:
    branch = found.entry.member("gitBranch")
    payload: dict[str, JsonValue] = {
        "session_id": draft.session,
        "cwd": found.entry.member("cwd"),
        "hook_event_name": found.kind,
        "git_branch": "" if branch == "HEAD" else branch,
        "imported": True,
        **found.members,
    }
    if found.kind != "SessionStart":
        payload["prompt_id"] = draft.first.member("promptId") or draft.first.member("uuid")
    if found.agent:
        payload |= {"agent_id": found.agent, "agent_type": found.agent_type}
    return payload
