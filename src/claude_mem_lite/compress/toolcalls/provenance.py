"""What a turn heard from others, on the web or from their tools: it keeps its origin, whoever repeats it.

Here is also decided what goes to quarantine: orders to an agent that others wrote, or that a file or an output held,
or that the agent says in its own name.

Files that others wrote: packages that were installed, and what lies outside of the checkout."""

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.payload_fields import (
    COMMAND_TOOLS,
    READ_TOOLS,
    WEB_TOOLS,
    flatten,
    typed_command,
)
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import (
    REQUEST_LEAD,
    Draft,
    Event,
    JsonValue,
    Memory,
    Origin,
    SessionSummary,
    ToolCall,
    TurnDigest,
    text,
)
from claude_mem_lite.safety.injection import head_and_tail, looks_like_an_attack, looks_like_instructions

_INSTALLED = lazy(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|\.venv|venv|\.cargo/registry|bower_components|\.m2)/"
)
_WRITTEN = lazy(r"(?:>{1,2}|\btee(?:\s+-a)?)\s*[\"']?([^\s\"';&|<>()]+)")
# What the agent or its programs noted for themselves.
_OWN_NOTES = lazy(r"/\.claude/|\.(?:log|out|err|tap)$|^/(?:dev|proc|sys)/")


def calls_reading_others(events: Iterable[Event]) -> list[ToolCall]:
    """The calls that showed a file which others wrote. What the turn itself has written is none."""
    found: list[ToolCall] = []
    own: set[str] = set()
    for event in events:
        call = event.tool
        if call is None:
            continue
        if call.tool in COMMAND_TOOLS:
            command = typed_command(call)
            if not shell.fetches(command):
                own.update(_WRITTEN.findall(command[:20_000]))
            shown = shell.showing(command)
            paths = [word.strip("\"'") for part in shown for word in part.split()[1:] if "/" in word]
        else:
            path = text(call.input.get("file_path")) or text(call.input.get("path"))
            paths = [path] if call.tool in READ_TOOLS else []
            if path and not paths:
                own.add(path)
        if any(path not in own and _is_others(path, event) for path in paths):
            found.append(call)
    return found


def _is_others(path: str, event: Event) -> bool:
    if _INSTALLED.search(path):
        return True
    root = event.cwd.rstrip("/").removesuffix(event.inside).rstrip("/")
    if not root or _OWN_NOTES.search(path):
        return False
    whole = posixpath.normpath(posixpath.join(event.cwd, path))
    return path.startswith("~") or not f"{whole}/".startswith(f"{root}/")


_OWN_TOOLS = lazy(r"(?i)read|view|edit|write|update|notebook|bash|shell|glob|grep|^ls$|lsp|search_file")
# Planning and asking tell nothing of the world; what a sub-agent heard is in its own calls.
_SILENT_TOOLS = lazy(r"^(?:Todo|Task|Agent$|AskUser|ExitPlan|EnterPlan|Skill|Slash|Kill)")
_LONGEST = 100_000
_MAX_TEXT = 2_000_000
_DEEPEST = 20
# So many words in a row are no chance: "the default value of the setting is" has seven.
_RUN = 8
_SHORT_RUN = 4
_PATHS = ("file_path", "notebook_path", "path")
_WORD = lazy(r"\w+")


def origin_of(call: ToolCall) -> Origin | None:
    """Whose words a tool's answer is made of: None for the project's own, and for tools that answer nothing."""
    if call.tool in WEB_TOOLS:
        return "web"
    if call.tool in COMMAND_TOOLS:
        return "web" if shell.fetches(typed_command(call)) else None
    if call.tool.startswith("mcp__"):
        return "mcp"
    return None if _OWN_TOOLS.search(call.tool) or _SILENT_TOOLS.match(call.tool) else "mcp"


def only_source(events: Iterable[Event]) -> Origin | None:
    """The origin of all that these events found out, when nothing of it is the project's own."""
    calls = [event.tool for event in events if event.tool and not _SILENT_TOOLS.match(event.tool.tool)]
    origins = {origin_of(call) for call in calls}
    if not calls or None in origins:
        return None
    return "web" if "web" in origins else "mcp"


def source_of(end: Event, events: Iterable[Event]) -> Origin | None:
    """Where the sub-agent that ends here has all it found out from, when that is not the project."""
    return only_source(event for event in events if event.agent_id == end.agent_id)


class Hearsay:
    """The words that others have said in a turn."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._seen: set[int] | None = None
        calls = [event.tool for event in events if event.tool is not None and origin_of(event.tool)]
        # What was sent to them and comes back is not theirs.
        sent = {run for call in calls for run in _runs(json.dumps(call.input, ensure_ascii=False, default=str))}
        answers = [f"{flatten(call.response)}\n{call.error or ''}" for call in calls]
        answers += ["\n".join(_texts(call.response)) for call in calls_reading_others(events)]
        answers += [
            event.message or "" for event in events if event.kind == "SubagentStop" and source_of(event, events)
        ]
        self._heard = {run for answer in _first_and_last(answers) for run in _runs(answer)} - sent

    def has(self, sentence: str) -> bool:
        """Whether a good part of a sentence is word for word what others have said, or an order found by a tool."""
        is_heard = bool(self._heard) and not self._heard.isdisjoint(_runs(sentence))
        return is_heard or self.has_order(sentence)

    def has_order(self, told: str) -> bool:
        """Whether a text repeats orders to an agent that a tool's answer holds, whoever wrote that."""
        if not looks_like_instructions(told):
            return False
        # Orders are short, so fewer words in a row will do.
        runs = [run for part in sentences(told) or [told] if looks_like_instructions(part) for run in _short_runs(part)]
        return not self._shown().isdisjoint(runs or _short_runs(told))

    def without(self, message: str) -> str:
        """A message without the lines that are theirs."""
        return "\n".join(line for line in message.split("\n") if not self.has(line))

    def without_orders(self, message: str) -> str:
        """A message without the lines that repeat orders: what is kept of it word for word."""
        if not message or not self.has_order(message):
            return message
        return "\n".join(line for line in message.split("\n") if not self.has_order(line))

    def cleared(self, summary: SessionSummary) -> SessionSummary:
        """A session's summary without the sentences that repeat orders or read like an attack."""
        told: dict[str, Any] = {}
        for field in fields(summary):
            value = getattr(summary, field.name)
            is_users = field.name == "request" or (field.name == "headline" and value.startswith(REQUEST_LEAD))
            is_held = self.has_order if is_users else self._is_held
            if isinstance(value, tuple):
                told[field.name] = tuple(one for one in value if not is_held(one))
            elif is_held(value):
                kept = [part for part in sentences(value) if not is_held(part)]
                told[field.name] = " ".join(kept) if not is_held(" ".join(kept)) else ""
        return replace(summary, **told)

    def cleared_digest(self, digest: TurnDigest) -> TurnDigest:
        """What rules made of the turn, without what is to be quarantined: no summary tells it."""
        tasks = digest.open_tasks
        return replace(
            digest,
            drafts=tuple(draft for draft in digest.drafts if not self.why_quarantined(draft)),
            open_tasks=None if tasks is None else self.own(tasks),
            tasks=self.own(digest.tasks),
        )

    def own(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Those of some short texts, as of a to-do list, that are not theirs."""
        return tuple(one for one in texts if not self.has(one))

    def why_quarantined(self, draft: Draft) -> str:
        """Why a draft is to be seen by the user before anybody finds it; '' when it need not be.

        The user's own words never are. The assistant's are whether or not the turn showed them: what was read in one
        turn may be repeated in any later one."""
        return looks_like_instructions(told_by(draft)) if draft.origin != "user" else ""

    def _is_held(self, told: str) -> bool:
        return self.has_order(told) or looks_like_an_attack(told) != ""

    def _shown(self) -> set[int]:
        """Every few words that any tool or sub-agent has answered, and the names of files; read only when there is an
        order to look for."""
        if self._seen is None:
            calls = [event.tool for event in self._events if event.tool is not None]
            answers = ["\n".join((*_texts(call.response), call.error or "")) for call in calls]
            answers += [text(call.input.get(name)) for call in calls for name in _PATHS]
            # What a sub-agent reports is an answer too: of what it was shown, its caller may have seen nothing.
            answers += [event.message or "" for event in self._events if event.kind == "SubagentStop"]
            self._seen = {run for answer in _first_and_last(answers) for run in _short_runs(answer)}
        return self._seen


def told_by(draft: Draft | Memory) -> str:
    """All that a memory says, a line each."""
    return "\n".join(filter(None, (draft.title, draft.summary, draft.detail, *draft.facts, *draft.files, *draft.tags)))


def _texts(value: JsonValue, depth: int = 0) -> Iterator[str]:
    """Every text in an answer, whatever its shape: here nothing may be overlooked."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item, depth + 1)


def _first_and_last(answers: Sequence[str]) -> list[str]:
    """As many of the first and of the last answers as are looked at: hundreds of pages may be read in a turn."""
    kept: dict[int, str] = {}
    for order in (range(len(answers)), reversed(range(len(answers)))):
        left = _MAX_TEXT // 2
        for at in order:
            if at in kept or left <= 0:
                continue
            kept[at] = head_and_tail(answers[at], min(_LONGEST, left))
            left -= len(kept[at])
    return [kept[at] for at in sorted(kept)]


def _words(told: str) -> list[str]:
    return _WORD.findall(head_and_tail(told, _LONGEST).lower())


def _short_runs(told: str) -> list[int]:
    words = _words(told)
    return [hash(tuple(words[at : at + _SHORT_RUN])) for at in range(max(1, len(words) - _SHORT_RUN + 1))]


def _runs(told: str) -> Iterator[int]:
    """Every few words in a row, as numbers: the words themselves would take ten times the memory."""
    words = _words(told)
    return (hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1))
