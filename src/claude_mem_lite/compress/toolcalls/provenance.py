"""Provenance of the text of a turn: text from the web, from foreign tools and from foreign files keeps its origin.

Foreign files are installed packages and files outside of the checkout. The module also decides about quarantine:
orders to an agent from foreign text, from files and outputs, or in the agent's own words."""

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
    file_of,
    flatten,
    typed_command,
)
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Draft, Event, JsonValue, Memory, Origin, SessionSummary, ToolCall, is_request, text
from claude_mem_lite.safety.injection import head_and_tail, looks_like_an_attack, looks_like_instructions
from claude_mem_lite.turn_digest import TurnDigest

_INSTALLED = lazy(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|\.venv|venv|\.cargo/registry|bower_components|\.m2)/"
)
_WRITTEN = lazy(r"(?:>{1,2}|\btee(?:\s+-a)?)\s*[\"']?([^\s\"';&|<>()]+)")
# Notes and logs of the agent and of its programs.
_OWN_NOTES = lazy(r"/\.claude/|\.(?:log|out|err|tap)$|^/(?:dev|proc|sys)/")
_OWN_TOOLS = lazy(r"(?i)read|view|edit|write|update|notebook|bash|shell|glob|grep|^ls$|lsp|search_file")
# Tools without text of the world: planning and questions. The text that a sub-agent read is in the sub-agent's calls.
_SILENT_TOOLS = lazy(r"^(?:Todo|Task|Agent$|AskUser|ExitPlan|EnterPlan|Skill|Slash|Kill)")
_MAX_ANSWER_LENGTH = 100_000
_MAX_TEXT = 2_000_000
_MAX_DEPTH = 20
# So many equal words in a row are no chance: "the default value of the setting is" has seven.
_RUN = 8
_SHORT_RUN = 4
_PATHS = ("file_path", "notebook_path", "path")
_WORD = lazy(r"\w+")


def origin_of(call: ToolCall) -> Origin | None:
    """Return the origin of a response; None for text of the project, and for tools without text."""
    if call.tool in WEB_TOOLS:
        return "web"
    if call.tool in COMMAND_TOOLS:
        return "web" if shell.fetches(typed_command(call)) else None
    if call.tool.startswith("mcp__"):
        return "mcp"
    return None if _OWN_TOOLS.search(call.tool) or _SILENT_TOOLS.match(call.tool) else "mcp"


def only_source(events: Iterable[Event]) -> Origin | None:
    """Return the origin of all findings of the events; None when a finding comes from the project."""
    calls = [event.tool for event in events if event.tool and not _SILENT_TOOLS.match(event.tool.tool)]
    origins = {origin_of(call) for call in calls}
    if not calls or None in origins:
        return None
    return "web" if "web" in origins else "mcp"


def source_of(end: Event, events: Iterable[Event]) -> Origin | None:
    """Return the origin of all findings of a sub-agent, by the event of its end; None for the project."""
    return only_source(event for event in events if event.agent_id == end.agent_id)


class ForeignText:
    """The foreign text of a turn."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._shown_runs: set[int] | None = None
        calls = [event.tool for event in events if event.tool is not None and origin_of(event.tool)]
        # Text that was sent to a tool and comes back is not foreign.
        sent = {run for call in calls for run in _runs(json.dumps(call.input, ensure_ascii=False, default=str))}
        answers = [f"{flatten(call.response)}\n{call.error or ''}" for call in calls]
        answers += ["\n".join(_texts(call.response)) for call in _calls_reading_foreign_files(events)]
        answers += [
            event.message or "" for event in events if event.kind == "SubagentStop" and source_of(event, events)
        ]
        self._foreign = {run for answer in _first_and_last(answers) for run in _runs(answer)} - sent

    def has(self, sentence: str) -> bool:
        """Return whether a sentence copies many words of foreign text, or repeats an order in a response."""
        is_copied = bool(self._foreign) and not self._foreign.isdisjoint(_runs(sentence))
        return is_copied or self.has_order(sentence)

    def has_order(self, text: str) -> bool:
        """Return whether a text repeats orders to an agent in the response of any tool."""
        if not looks_like_instructions(text):
            return False
        # Orders are short, so fewer words in a row are enough.
        runs = [run for part in sentences(text) or [text] if looks_like_instructions(part) for run in _short_runs(part)]
        return not self._shown().isdisjoint(runs or _short_runs(text))

    def without(self, message: str) -> str:
        """Return a message without foreign lines."""
        return "\n".join(line for line in message.split("\n") if not self.has(line))

    def without_orders(self, message: str) -> str:
        """Return a message without the lines that repeat orders, for storing the message word for word."""
        if not message or not self.has_order(message):
            return message
        return "\n".join(line for line in message.split("\n") if not self.has_order(line))

    def cleared(self, summary: SessionSummary) -> SessionSummary:
        """Return the summary of a session without sentences that repeat orders or look like an attack."""
        changed: dict[str, Any] = {}
        for field in fields(summary):
            value = getattr(summary, field.name)
            is_users = field.name == "request" or (field.name == "headline" and is_request(value))
            is_held = self.has_order if is_users else self._is_held
            if isinstance(value, tuple):
                changed[field.name] = tuple(text for text in value if not is_held(text))
            elif is_held(value):
                kept = [part for part in sentences(value) if not is_held(part)]
                changed[field.name] = " ".join(kept) if not is_held(" ".join(kept)) else ""
        return replace(summary, **changed)

    def cleared_digest(self, digest: TurnDigest) -> TurnDigest:
        """Return the digest of a turn without drafts for quarantine, so that no summary repeats them."""
        tasks = digest.open_tasks
        return replace(
            digest,
            drafts=tuple(draft for draft in digest.drafts if not self.why_quarantined(draft)),
            open_tasks=None if tasks is None else self.own(tasks),
            tasks=self.own(digest.tasks),
        )

    def own(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the short texts, such as entries of a to-do list, that are not foreign."""
        return tuple(text for text in texts if not self.has(text))

    def why_quarantined(self, draft: Draft) -> str:
        """Return why the user must review a draft before any search finds it; '' for a draft without review.

        The user's own words need no review. The assistant's words do, even without a source in the turn: an agent may
        repeat in a later turn the text that it read."""
        return looks_like_instructions(text_of(draft)) if draft.origin != "user" else ""

    def _is_held(self, text: str) -> bool:
        return self.has_order(text) or looks_like_an_attack(text) != ""

    def _shown(self) -> set[int]:
        """Return hashes of word runs of all responses and names of files; read only for a text with orders."""
        if self._shown_runs is None:
            calls = [event.tool for event in self._events if event.tool is not None]
            answers = ["\n".join((*_texts(call.response), call.error or "")) for call in calls]
            answers += [text(call.input.get(name)) for call in calls for name in _PATHS]
            # The report of a sub-agent is a response too: its caller may not have seen the sources.
            answers += [event.message or "" for event in self._events if event.kind == "SubagentStop"]
            self._shown_runs = {run for answer in _first_and_last(answers) for run in _short_runs(answer)}
        return self._shown_runs


def _calls_reading_foreign_files(events: Iterable[Event]) -> list[ToolCall]:
    """Return the calls that showed a foreign file, except files that the turn itself wrote."""
    calls: list[ToolCall] = []
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
            path = file_of(call)
            paths = [path] if call.tool in READ_TOOLS else []
            if path and not paths:
                own.add(path)
        if any(path not in own and _is_foreign(path, event) for path in paths):
            calls.append(call)
    return calls


def _is_foreign(path: str, event: Event) -> bool:
    if _INSTALLED.search(path):
        return True
    root = event.cwd.rstrip("/").removesuffix(event.inside).rstrip("/")
    if not root or _OWN_NOTES.search(path):
        return False
    whole = posixpath.normpath(posixpath.join(event.cwd, path))
    return path.startswith("~") or not f"{whole}/".startswith(f"{root}/")


def text_of(draft: Draft | Memory) -> str:
    """Return all texts of a memory, a line each."""
    return "\n".join(filter(None, (draft.title, draft.summary, draft.detail, *draft.facts, *draft.files, *draft.tags)))


def _texts(value: JsonValue, depth: int = 0) -> Iterator[str]:
    """Yield every text in a response of any form: none may be overlooked."""
    if isinstance(value, str):
        yield value
    elif depth < _MAX_DEPTH and isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item, depth + 1)


def _first_and_last(answers: Sequence[str]) -> list[str]:
    """Return the first and the last responses within a limit: a turn may read hundreds of pages."""
    kept: dict[int, str] = {}
    for order in (range(len(answers)), reversed(range(len(answers)))):
        left = _MAX_TEXT // 2
        for at in order:
            if at in kept or left <= 0:
                continue
            kept[at] = head_and_tail(answers[at], min(_MAX_ANSWER_LENGTH, left))
            left -= len(kept[at])
    return [kept[at] for at in sorted(kept)]


def _words(text: str) -> list[str]:
    return _WORD.findall(head_and_tail(text, _MAX_ANSWER_LENGTH).lower())


def _short_runs(text: str) -> list[int]:
    """Return hashes of short runs of words, at least one."""
    words = _words(text)
    return [hash(tuple(words[at : at + _SHORT_RUN])) for at in range(max(1, len(words) - _SHORT_RUN + 1))]


def _runs(text: str) -> Iterator[int]:
    """Return hashes of runs of words: the words themselves would take ten times the memory."""
    words = _words(text)
    return (hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1))
