"""What sessions did to functions and classes, and which of them decisions are about, by file."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.code.syntax.changes import ABSENT
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
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, symbol_changes

# Fewer than would fit: beyond these, room for earlier work told more of what sessions were to touch (benchmarks).
_SESSIONS, _MAX_SYMBOLS = 5, 20
_MAX_OF_A_FILE = 3
_MAX_READ = 200
_WORTH = 0.02
_MAX_HELD, _MAX_LOOKED_AT, _MAX_DECIDED, _MAX_TIED = 60, 10, 5, 5
# Where there are many files, none takes the room of the others.
_MIN_OF_A_FILE = 2
# The map is of more than what is fresh in mind, and has more room.
_MAPPED_SESSIONS, _MAX_MAPPED = 10, 60


def unfinished_code(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:  # noqa: ARG001
    """Functions that sessions with something left open changed, and those that decisions are about, a line a file: the
    rest is told by `git log`."""
    left = _unfinished(db, occasion)
    lines: dict[str, list[str]] = {}
    newest: dict[str, symbol_changes.StoredChange] = {}
    for one, now in zip(left, occasion.checkout.states([one.change for one in left]), strict=True):
        newest.setdefault(one.change.file, one)
        lines.setdefault(one.change.file, []).append(render.code_line(one.change, now).removeprefix("  - "))
    items = [
        Item(
            _line_of_file(file, lines[file]),
            last.session,
            "changed by a session that left something open",
            files=tuple(from_root([file], occasion.place.root)),
            worth=_WORTH * FADE ** (place - 1),
            order=newest_first(place, len(newest), last.at, NO_FLOOR),
        )
        for place, (file, last) in enumerate(newest.items(), 1)
    ]
    decided = [one for one in _decided(db, occasion) if one[1] not in newest]
    return items + [
        Item(
            f"{_line_of_file(file, names)}  [DECIDED #{memory.id}]",
            memory.session or memory.id,
            "a decision is about it",
            files=tuple(from_root([file], occasion.place.root)),
            worth=_WORTH * FADE ** (len(items) + place - 1),
            order=newest_first(place, len(decided), memory.last_seen_at, NO_FLOOR),
        )
        for place, (memory, file, names) in enumerate(decided, 1)
    ]


def _decided(db: sqlite3.Connection, occasion: Occasion) -> list[tuple[Memory, str, list[str]]]:
    """Return the files with the functions and classes that decisions are about, the newest decision first, each file
    once. A decision that is tied to many is about none of them in particular."""
    scope, hidden = f"project:{occasion.place.project}", occasion.checkout.hidden
    held = memories.in_scope(db, scope, ("decision",), since=occasion.since, hidden=hidden, limit=_MAX_HELD)
    others = [one for one in held if not one.session or one.session != occasion.session]
    own = {one.id: _code_of(one) for one in others if one.kind == "decision"}
    few = [one for one in held if 0 < len(own.get(one.id, ())) <= _MAX_TIED and not why_unsure(one)]
    few = sorted(few, key=lambda one: one.last_seen_at, reverse=True)[:_MAX_LOOKED_AT]
    verdicts = occasion.checkout.freshness(few)
    found: dict[str, tuple[Memory, str, list[str]]] = {}
    for memory in (one for one in few if not why_never(one, verdicts)):
        names: dict[str, list[str]] = {}
        for file, name in own[memory.id]:
            names.setdefault(file, []).append(render.safe_line(name))
        for file in names:
            found.setdefault(file, (memory, file, names[file]))
    return list(found.values())[:_MAX_DECIDED]


def _code_of(memory: Memory) -> list[tuple[str, str]]:
    """Return the functions and classes that a memory is tied to and that were there, each with its file."""
    tied = (anchor for text in memory.anchors if (anchor := read_anchor(text)))
    code = [(one.file, one.name) for one in tied if one.name and one.after != ABSENT]
    code += [(one.file, one.name) for one in memory.symbols if one.action != "deleted"]
    return [one for one in dict.fromkeys(code) if render.is_tellable_name(one[1], f"{one[0]} ")]


def _unfinished(db: sqlite3.Connection, occasion: Occasion) -> list[symbol_changes.StoredChange]:
    """Return the changes of sessions that left something open, but for functions that a later session changed again."""
    left = list(dict.fromkeys(one.session for one in open_handoffs(db, occasion)))[:_SESSIONS]
    if not left:
        return []
    use = session_factors(db, left)
    left = [session for session in left if not is_unused(use[session])]
    later = [occasion.session, *(one.id for one in last_sessions(db, occasion, _MAPPED_SESSIONS))]
    newest = symbol_changes.newest(db, [*left, *later], hidden=occasion.checkout.hidden, limit=_MAX_READ)
    return [one for one in newest if one.session in left and render.is_tellable(one.change)][:_MAX_SYMBOLS]


def _line_of_file(file: str, lines: Sequence[str]) -> str:
    more = f" +{len(lines) - _MAX_OF_A_FILE}" if len(lines) > _MAX_OF_A_FILE else ""
    return f"{render.file_line(file)}: {', '.join(lines[:_MAX_OF_A_FILE])}{more}"


def function_map(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:  # noqa: ARG001
    """Functions that the last sessions changed, and what became of them, by file."""
    found = last_sessions(db, occasion, _MAPPED_SESSIONS)
    if are_all_elsewhere(found, occasion):
        return []
    use = session_factors(db, [one.id for one in found])
    of_use = [one.id for one in found if not is_unused(use[one.id])]
    newest = symbol_changes.newest(db, of_use, hidden=occasion.checkout.hidden, limit=_MAX_MAPPED)
    seen = [one for one in newest if render.is_tellable(one.change)]
    states = occasion.checkout.states([one.change for one in seen])
    by_file: dict[str, list[Item]] = {}
    for rank, (one, now) in enumerate(zip(seen, states, strict=True), 1):
        lines = by_file.setdefault(one.change.file, [])
        line = render.code_line(one.change, now)
        # The name of the file belongs to its first function: it is there when that is, and only then.
        shown = line if lines else f"{render.file_line(one.change.file)}\n{line}"
        order = newest_first(rank, len(seen), one.at)
        lines.append(Item(shown, one.session, "changed in the last sessions", order=order))
    return list(_by_file(by_file, _MAX_MAPPED, explained=occasion.explained))


def _by_file(by_file: Mapping[str, Sequence[Item]], most: int, *, explained: bool) -> Iterator[Item]:
    """Yield the lines file by file, each file up to its share; the others only for an explanation."""
    most_of_a_file = max(_MIN_OF_A_FILE, most // max(len(by_file), 1))
    for place, items in enumerate(by_file.values(), 1):
        for line, item in enumerate(items[: None if explained else most_of_a_file], 1):
            file = f"file {place} of {len(by_file)}, line {line} of {most_of_a_file} at most"
            left_out = "" if line <= most_of_a_file else f"more than {most_of_a_file} of its file"
            yield replace(item, order=f"{item.order}; {file}; {NO_FLOOR}", left_out=left_out)
