"""What a tool call is answered: a known fix for one that failed, what is known of a file that was opened or edited.

A command that a pipe lets end well though it failed, as `pytest | tail`, is answered like one that failed.

Hooks of every tool call come here: those that nothing is known for must cost next to nothing."""

import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from claude_mem_lite.agents.claude_code import TOOL_EVENTS
from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.payload_fields import COMMAND_TOOLS, typed_command
from claude_mem_lite.config import Config, in_folder
from claude_mem_lite.context.failure_hints import known_fixes
from claude_mem_lite.context.file_hints import about_file, name_in
from claude_mem_lite.context.item_block import Given, block, with_relations
from claude_mem_lite.context.order import NO_ROOM
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S, WORDS_OF_FAILURES
from claude_mem_lite.models import Event, HookMoment, ToolCall, text
from claude_mem_lite.store import receipts
from claude_mem_lite.worker.answers.hook_request import Waiting, find_raw, read_event, settings, tool_of
from claude_mem_lite.worker.answers.in_flight import Known
from claude_mem_lite.worker.answers.reply import Made, Weighing, explain, give
from claude_mem_lite.worker.loop import Loop

MAX_TOKENS = 300
"""Of one answer."""
MAX_FILE_TOKENS = 120
"""Of the answer to an opened file: files are opened far more often than commands fail."""
FILE_TOOLS = {
    "Read": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
"""The tools that open or change a file, and what they call it."""
Find = Callable[[sqlite3.Connection, Occasion, Collection[str]], Sequence[Given]]


def failure_context(loop: Loop, name: str, body: bytes) -> bytes | None:
    """The reply to a tool call that failed: what helped the last time, or nothing."""
    call = _arrived(loop, name, body, "PostToolUseFailure")
    return _fix(call) if call else None


def success_context(loop: Loop, name: str, body: bytes) -> bytes | None:
    """The reply to a tool call that ended well: what to mind in the file that it opened or changed, once a session;
    what helped the last time, when it is a command that failed all the same; or nothing."""
    call = _arrived(loop, name, body, "PostToolUse", is_worth=_may_be_answered)
    return _about(loop, call) if call else None


def either_context(loop: Loop, name: str, body: bytes) -> bytes | None:
    """The same for agents that have one event for calls that went well and for those that failed."""
    call = _arrived(loop, name, body, "PostToolUse", kinds=TOOL_EVENTS)
    return _about(loop, call) if call else None


def _about(loop: Loop, call: "_Call") -> bytes | None:
    tool = call.tool
    if tool.error is None and tool.tool in COMMAND_TOOLS:
        # What only looks at something has shown somebody else's failure.
        is_look = shell.main_part(typed_command(tool))[1] in ("explore", "files", "commit")
        return None if is_look else _fix(call)
    return _fix(call) if tool.error is not None else _about_file(loop, call)


def _may_be_answered(raw: bytes) -> bool:
    """Whether a call that ended well is worth parsing: most are not."""
    tool = tool_of(raw)
    if tool not in COMMAND_TOOLS:
        return tool in FILE_TOOLS
    lowered = raw.lower()
    return any(word in lowered for word in WORDS_OF_FAILURES)


def _fix(call: "_Call") -> bytes | None:
    tool = call.tool
    return _answer(call, "failure", lambda db, occasion, told: known_fixes(db, tool, occasion, told))


def _about_file(loop: Loop, call: "_Call") -> bytes | None:
    path = text(call.tool.input.get(FILE_TOOLS.get(call.tool.tool, "")))
    if not path:
        return None

    session, file = call.event.session, ""

    def find(db: sqlite3.Connection, occasion: Occasion, told: Collection[str]) -> Sequence[Given]:
        nonlocal file
        file = name_in(occasion.place.root, path)
        if not file or not loop.on_their_way.may_tell_of(db, session, file):
            return ()
        found = about_file(db, file, occasion, told)
        return () if found and receipts.was_injected_for_file(db, session, found[0].reason) else found

    reply = _answer(call, "file", find)
    if reply is not None:
        loop.on_their_way.note_file(session, file, loop.clock())
    return reply


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool call whose hook waits."""

    event: Event
    tool: ToolCall
    config: Config
    waiting: Waiting


def _arrived(
    loop: Loop,
    name: str,
    body: bytes,
    kind: str,
    *,
    is_worth: Callable[[bytes], bool] = lambda _: True,
    kinds: Collection[str] = (),
) -> _Call | None:
    """The call that an event is about, or None when it is none of those, or nothing is to be said to it."""
    waiting = Waiting(loop, name, ANSWER_WITHIN_S[kind])
    config = settings(loop)
    if config is None or not config.prompt_budget_tokens or waiting.is_over():
        return None
    found = find_raw(loop, name, body)
    if not is_worth(found.raw):
        return None  # most calls end here, before they are parsed
    event = read_event(loop, found, name, kinds or (kind,), config)
    if event is None or event.tool is None:
        return None
    config = in_folder(config, event.cwd)
    return _Call(event, event.tool, config, waiting) if config.prompt_budget_tokens else None


def _answer(call: _Call, moment: HookMoment, find: Find) -> bytes | None:
    def make(db: sqlite3.Connection, occasion: Occasion, known: Known) -> Made:
        began = time.perf_counter()
        most = MAX_FILE_TOKENS if moment == "file" else MAX_TOKENS
        budget = min(most, known.left(call.config.prompt_budget_tokens))
        found = with_relations(db, find(db, occasion, known.ids)) if budget else []
        told = block(found, occasion.now, budget, root=occasion.place.root)
        if call.config.debug and found:
            in_it = {item.source for item in told.items}
            explain(call.event, moment, [_weighing(one, in_it) for one in found])
        return Made(told.text, told.items, told.tokens, budget, round((time.perf_counter() - began) * 1000, 2))

    return give(call.waiting, call.event, moment, make)


def _weighing(one: Given, in_it: Collection[str]) -> Weighing:
    return Weighing(one.memory.id, one.source, one.score, "" if one.memory.id in in_it else NO_ROOM)
