"""How far a memory is trusted, by whose words it is made of."""

from pathlib import Path

import pytest

from claude_mem_lite.compress.toolcalls.provenance import ForeignText
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import remember
from claude_mem_lite.knowledge.turn_events import memory_of
from claude_mem_lite.models import Draft, Event, Origin, Turn
from tests.support.fakes import NOW, SHOP, Store
from tests.support.running import query


@pytest.mark.parametrize(
    ("origin", "trust"),
    [
        ("user", 1.0),
        ("code", 0.9),
        ("assistant", 0.8),
        ("command", 0.7),
        ("import", 0.6),
        ("mcp", 0.3),
        ("web", 0.2),
    ],
)
def test_a_memory_is_stored_with_the_trust_its_origin_deserves(tmp_path: Path, origin: Origin, trust: float) -> None:
    turn = Turn("t-1", "s-1", SHOP.project, "Count the items", (Event("t-1", "Stop", "s-1", NOW, SHOP.root),))
    draft = Draft("discovery", "Items are counted twice", "The basket counts each item twice.", origin=origin)
    with Store(tmp_path / "memory.db") as store, atomic(store.db):
        remember.add(store.db, memory_of(draft, turn, SHOP, 0, NOW, ForeignText(turn.events)), turn.key, NOW)
    assert query(tmp_path / "memory.db", "select origin, trust from memories") == [(origin, trust)]
