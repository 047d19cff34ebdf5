"""Code layers: changes of functions and classes by sessions, and the code that decisions are about, by file."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from claude_mem_lite.code.syntax.changes import ABSENT, read_anchor
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.code_state import why_never, why_unsure
from claude_mem_lite.context.layers.layer import FADE, Item
from claude_mem_lite.context.layers.sessions import (
    are_all_elsewhere,
    is_unused,
    last_sessions,
    open_handoffs,
    session_factors,
)
from claude_mem_lite.context.order import NO_FLOOR, newest_first
from claude_mem_lite.context.project_setting import Setting, from_root
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, symbol_changes

# Fewer than fit: in benchmarks the room was worth more for earlier work.
_SESSIONS, _MAX_SYMBOLS = 5, 20
_MAX_OF_A_FILE = 3
_MAX_READ = 200
_WORTH = 0.02
_MAX_DECISIONS, _MAX_CHECKED, _MAX_DECIDED, _MAX_ANCHORS = 60, 10, 5, 5
# No file takes the room of the others.
_MIN_OF_A_FILE = 2
# The map covers more sessions and has more room.
_MAPPED_SESSIONS, _MAX_MAPPED = 10, 60


def unfinished_code(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:  # noqa: ARG001
    """Return functions changed by sessions with open work, and functions that decisions are about, a line per file.

    `git log` shows the rest."""
    changes = _unfinished(db, request)
    lines: dict[str, list[str]] = {}
    newest: dict[str, symbol_changes.StoredChange] = {}
    for stored, now in zip(changes, request.checkout.states([stored.change for stored in changes]), strict=True):
        newest.setdefault(stored.change.file, stored)
        lines.setdefault(stored.change.file, []).append(render.code_line(stored.change, now).removeprefix("  - "))
    items = [
        Item(
            _line_of_file(file, lines[file]),
            last.session,
            "changed by a session that left something open",
            files=tuple(from_root([file], request.location.root)),
            worth=_WORTH * FADE ** (place - 1),
            order=newest_first(place, len(newest), last.at, NO_FLOOR),
        )
        for place, (file, last) in enumerate(newest.items(), 1)
    ]
    decided = [(memory, file, names) for memory, file, names in _decided(db, request) if file not in newest]
    return items + [
        Item(
            f"{_line_of_file(file, names)}  [DECIDED #{memory.id}]",
            memory.session or memory.id,
            "a decision is about it",
            files=tuple(from_root([file], request.location.root)),
            worth=_WORTH * FADE ** (len(items) + place - 1),
            order=newest_first(place, len(decided), memory.last_seen_at, NO_FLOOR),
        )
        for place, (memory, file, names) in enumerate(decided, 1)
    ]


def _decided(db: sqlite3.Connection, request: ContextRequest) -> list[tuple[Memory, str, list[str]]]:
    """Return decisions with a file and the functions and classes there, newest decision first, each file once.

    A decision with many anchors is about none in particular."""
    scope, hidden = f"project:{request.location.project}", request.checkout.hidden
    decisions = memories.in_scope(db, scope, ("decision",), since=request.since, hidden=hidden, limit=_MAX_DECISIONS)
    others = [memory for memory in decisions if not memory.session or memory.session != request.session]
    sure = [memory for memory in others if memory.kind == "decision" and not why_unsure(memory)]
    newest = sorted(sure, key=lambda memory: memory.last_seen_at, reverse=True)
    with_code = ((memory, _code_of(memory)) for memory in newest)
    few = list(islice(((memory, code) for memory, code in with_code if 0 < len(code) <= _MAX_ANCHORS), _MAX_CHECKED))
    verdicts = request.checkout.freshness([memory for memory, _ in few])
    by_file: dict[str, tuple[Memory, str, list[str]]] = {}
    for memory, code in few:
        if why_never(memory, verdicts):
            continue
        names: dict[str, list[str]] = {}
        for file, name in code:
            names.setdefault(file, []).append(render.safe_line(name))
        for file in names:
            by_file.setdefault(file, (memory, file, names[file]))
    return list(by_file.values())[:_MAX_DECIDED]


def _code_of(memory: Memory) -> list[tuple[str, str]]:
    """Return the anchored functions and classes of a memory, each with file, except deleted symbols."""
    anchors = (anchor for text in memory.anchors if (anchor := read_anchor(text)))
    code = [(symbol.file, symbol.name) for symbol in anchors if symbol.name and symbol.after != ABSENT]
    code += [(symbol.file, symbol.name) for symbol in memory.symbols if symbol.action != "deleted"]
    return [(file, name) for file, name in dict.fromkeys(code) if render.is_safe_name(name, f"{file} ")]


def _unfinished(db: sqlite3.Connection, request: ContextRequest) -> list[symbol_changes.StoredChange]:
    """Return the changes of sessions with open work, except functions that a later session changed again."""
    session_ids = list(dict.fromkeys(handoff.session for handoff in open_handoffs(db, request)))[:_SESSIONS]
    if not session_ids:
        return []
    use = session_factors(db, session_ids)
    session_ids = [id_ for id_ in session_ids if not is_unused(use[id_])]
    later = [request.session, *(session.id for session in last_sessions(db, request, _MAPPED_SESSIONS))]
    newest = symbol_changes.newest(db, [*session_ids, *later], hidden=request.checkout.hidden, limit=_MAX_READ)
    own = [stored for stored in newest if stored.session in session_ids and render.is_safe_change(stored.change)]
    return own[:_MAX_SYMBOLS]


def _line_of_file(file: str, lines: Sequence[str]) -> str:
    more = f" +{len(lines) - _MAX_OF_A_FILE}" if len(lines) > _MAX_OF_A_FILE else ""
    return f"{render.file_line(file)}: {', '.join(lines[:_MAX_OF_A_FILE])}{more}"


def function_map(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:  # noqa: ARG001
    """Return the functions that the last sessions changed, with their present state, by file."""
    last = last_sessions(db, request, _MAPPED_SESSIONS)
    if are_all_elsewhere(last, request):
        return []
    use = session_factors(db, [session.id for session in last])
    of_use = [session.id for session in last if not is_unused(use[session.id])]
    newest = symbol_changes.newest(db, of_use, hidden=request.checkout.hidden, limit=_MAX_MAPPED)
    changes = [stored for stored in newest if render.is_safe_change(stored.change)]
    states = request.checkout.states([stored.change for stored in changes])
    by_file: dict[str, list[Item]] = {}
    for rank, (stored, now) in enumerate(zip(changes, states, strict=True), 1):
        lines = by_file.setdefault(stored.change.file, [])
        line = render.code_line(stored.change, now)
        # The name of the file is part of the line of its first function.
        shown = line if lines else f"{render.file_line(stored.change.file)}\n{line}"
        order = newest_first(rank, len(changes), stored.at)
        lines.append(Item(shown, stored.session, "changed in the last sessions", order=order))
    return list(_by_file(by_file, _MAX_MAPPED, explained=request.explained))


def _by_file(by_file: Mapping[str, Sequence[Item]], limit: int, *, explained: bool) -> Iterator[Item]:
    """Yield the lines file by file, each file up to its share; further lines only for an explanation."""
    max_of_a_file = max(_MIN_OF_A_FILE, limit // max(len(by_file), 1))
    for place, items in enumerate(by_file.values(), 1):
        for line, item in enumerate(items[: None if explained else max_of_a_file], 1):
            file = f"file {place} of {len(by_file)}, line {line} of {max_of_a_file} at most"
            left_out = "" if line <= max_of_a_file else f"more than {max_of_a_file} of its file"
            yield replace(item, order=f"{item.order}; {file}; {NO_FLOOR}", left_out=left_out)
