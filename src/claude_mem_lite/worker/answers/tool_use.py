"""Answer to a tool call: a known fix after a failure, memories about a file that was opened or edited.

A failure that a pipe hides, as in `pytest | tail`, is answered like a failure.

Hooks of every tool call arrive, so a call without an answer must cost next to nothing."""

import sqlite3
import time
from collections.abc import Callable, Collection, Sequence

from claude_mem_lite.agents.claude_code import TOOL_EVENTS
from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.payload_fields import COMMAND_TOOLS, typed_command
from claude_mem_lite.config import Config, in_folder
from claude_mem_lite.context.failure_hints import known_fixes
from claude_mem_lite.context.file_hints import about_file, relative_path
from claude_mem_lite.context.item_block import BlockItem, block, with_relations
from claude_mem_lite.context.order import NO_ROOM
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S, WORDS_OF_FAILURES
from claude_mem_lite.models import Event, HookTrigger, ToolCall, text
from claude_mem_lite.store import receipts
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.answers.hook_request import HookRequest, find_raw, read_event, settings, tool_of
from claude_mem_lite.worker.answers.in_flight import SessionInjections
from claude_mem_lite.worker.answers.reply import HookAnswer, ScoredCandidate, explain, reply_once
from claude_mem_lite.worker.services import Services

MAX_TOKENS = 300
"""Limit of an answer to a failure."""
MAX_FILE_TOKENS = 120
"""Limit of an answer to an opened file: files are opened far more often than commands fail."""
FILE_TOOLS = {
    "Read": "file_path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tools that open or change a file, with the name of their path argument."""
Find = Callable[[sqlite3.Connection, ContextRequest, Collection[str]], Sequence[BlockItem]]


def failure_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply to a failed tool call: the fix of the last time, or nothing."""
    call = _arrived(services, name, body, "PostToolUseFailure")
    return _fix(call) if call else None


def success_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply to a successful tool call: memories about the opened or changed file, once a session; the fix of
    the last time if the command failed nevertheless; or nothing."""
    call = _arrived(services, name, body, "PostToolUse", is_worth=_may_be_answered)
    return _about(services, call) if call else None


def either_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply for agents that report success and failure with the same event."""
    call = _arrived(services, name, body, "PostToolUse", kinds=TOOL_EVENTS)
    return _about(services, call) if call else None


def _about(services: Services, call: "_Call") -> bytes | None:
    tool = call.tool
    if tool.error is None and tool.tool in COMMAND_TOOLS:
        # A command that only reads has shown the failure of another one.
        only_reads = shell.main_part(typed_command(tool))[1] in ("explore", "files", "commit")
        return None if only_reads else _fix(call)
    return _fix(call) if tool.error is not None else _about_file(services, call)


def _may_be_answered(raw: bytes) -> bool:
    """Return whether a successful call is worth parsing: most are not."""
    tool = tool_of(raw)
    if tool not in COMMAND_TOOLS:
        return tool in FILE_TOOLS
    lowered = raw.lower()
    return any(word in lowered for word in WORDS_OF_FAILURES)


def _fix(call: "_Call") -> bytes | None:
    tool = call.tool
    return _answer(call, "failure", lambda db, context_request, known: known_fixes(db, tool, context_request, known))


def _about_file(services: Services, call: "_Call") -> bytes | None:
    path = text(call.tool.input.get(FILE_TOOLS.get(call.tool.tool, "")))
    if not path:
        return None

    session, file = call.event.session, ""

    def find(db: sqlite3.Connection, context_request: ContextRequest, known: Collection[str]) -> Sequence[BlockItem]:
        nonlocal file
        file = relative_path(context_request.location.root, path)
        if not file or not services.in_flight.is_new_file(db, session, file):
            return ()
        found = about_file(db, file, context_request, known)
        return () if found and receipts.was_injected_for_file(db, session, found[0].reason) else found

    reply = _answer(call, "file", find)
    if reply is not None:
        services.in_flight.note_file(session, file, services.clock())
    return reply


@frozen
class _Call:
    """Tool call of a waiting hook."""

    event: Event
    tool: ToolCall
    config: Config
    request: HookRequest


def _arrived(
    services: Services,
    name: str,
    body: bytes,
    kind: str,
    *,
    is_worth: Callable[[bytes], bool] = lambda _: True,
    kinds: Collection[str] = (),
) -> _Call | None:
    """Return the tool call of an event, or None when the event gets no answer."""
    request = HookRequest(services, name, ANSWER_WITHIN_S[kind])
    config = settings(services)
    if config is None or not config.prompt_budget_tokens or request.is_over():
        return None
    found = find_raw(services, name, body)
    if not is_worth(found.raw):
        return None  # before parsing, for most calls
    event = read_event(services, found, name, kinds or (kind,), config)
    if event is None or event.tool is None:
        return None
    config = in_folder(config, event.cwd)
    return _Call(event, event.tool, config, request) if config.prompt_budget_tokens else None


def _answer(call: _Call, moment: HookTrigger, find: Find) -> bytes | None:
    def make(db: sqlite3.Connection, context_request: ContextRequest, known: SessionInjections) -> HookAnswer:
        began = time.perf_counter()
        limit = MAX_FILE_TOKENS if moment == "file" else MAX_TOKENS
        budget = min(limit, known.left(call.config.prompt_budget_tokens))
        found = with_relations(db, find(db, context_request, known.ids)) if budget else []
        made = block(found, context_request.now, budget, root=context_request.location.root)
        if call.config.debug and found:
            chosen = {item.source for item in made.items}
            explain(call.event, moment, [_scored(given, chosen) for given in found])
        return HookAnswer(made.text, made.items, made.tokens, budget, round((time.perf_counter() - began) * 1000, 2))

    return reply_once(call.request, call.event, moment, make)


def _scored(given: BlockItem, chosen: Collection[str]) -> ScoredCandidate:
    left_out = "" if given.memory.id in chosen else NO_ROOM
    return ScoredCandidate(given.memory.id, given.source, given.score, left_out)
