"""What sessions did to functions and classes, by file."""

import sqlite3

from claude_mem_lite.context import render
from claude_mem_lite.context.detect import Setting
from claude_mem_lite.context.items import Item
from claude_mem_lite.context.layers.sessions import are_all_elsewhere, last_sessions
from claude_mem_lite.context.layers.usage import unused_sessions
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.store import symbols

# Fewer than would fit: beyond these, room for earlier work told more of what sessions were to touch (benchmarks).
_SESSIONS, _MOST_SYMBOLS = 5, 20
# Where there are many files, none takes the room of the others.
_LEAST_OF_A_FILE = 2
# The map is of more than what is fresh in mind, and has more room.
_MAPPED_SESSIONS, _MOST_MAPPED = 10, 60


def changed_code(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:  # noqa: ARG001
    """What the last sessions changed, the file that was changed last first."""
    return _changes(db, occasion, _SESSIONS, _MOST_SYMBOLS)


def function_map(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:  # noqa: ARG001
    """The same over more sessions: which functions the work was about, and what became of them."""
    return _changes(db, occasion, _MAPPED_SESSIONS, _MOST_MAPPED)


def _changes(db: sqlite3.Connection, occasion: Occasion, last: int, most: int) -> list[Item]:
    found = last_sessions(db, occasion, last)
    if are_all_elsewhere(found, occasion):
        return []
    unused = unused_sessions(db, [one.id for one in found])
    of_use = [one.id for one in found if one.id not in unused]
    newest = symbols.newest(db, of_use, hidden=occasion.checkout.hidden, limit=most)
    seen = [one for one in newest if render.is_tellable(one.change)]
    states = occasion.checkout.states([one.change for one in seen])
    by_file: dict[str, list[Item]] = {}
    for one, now in zip(seen, states, strict=True):
        lines = by_file.setdefault(one.change.file, [])
        line = render.code_line(one.change, now)
        # The name of the file belongs to its first function: it is there when that is, and only then.
        shown = line if lines else f"{render.file_line(one.change.file)}\n{line}"
        lines.append(Item(shown, one.session, "changed in the last sessions"))
    most_of_a_file = max(_LEAST_OF_A_FILE, most // max(len(by_file), 1))
    return [item for items in by_file.values() for item in items[:most_of_a_file]]
