"""Tests of `context/layers/observations.py` and `context/layers/sessions.py`: only the code of work that may be shown
is checked."""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from claude_mem_lite.code.freshness.checkout_view import ChangeState
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.context.layers.observations import observations
from claude_mem_lite.context.layers.sessions import without_code
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import ContextRequest, Search
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Memory, SessionSummary
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.store import memory_links
from claude_mem_lite.store.branches import Hidden
from tests.support.fakes import NOW, SHOP, Store

SELECTED = 16


@dataclass
class Noting:
    """A checkout that notes of which memories it was asked."""

    gone: Collection[str] = ()
    asked: list[str] = field(default_factory=list)
    hidden: Hidden = ()

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        self.asked += [memory.title for memory in memories]
        return {memory.id: Freshness("gone" if memory.title in self.gone else "fresh") for memory in memories}

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        return ["unchanged" for _ in changes]


@pytest.fixture
def work(store: Store) -> list[Memory]:
    """Work of thirty turns, most similar first."""
    return [
        store.remember(f"Work {number:02}", created_at=NOW - timedelta(hours=number), files=(f"src/{number}.py",))
        for number in range(1, 31)
    ]


def found(work: Sequence[Memory]) -> Search:
    def search(db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int) -> list[Hit]:
        return [Hit(memory, 1 - place / 100, (), ()) for place, memory in enumerate(work)]

    return search


def shown(store: Store, work: Sequence[Memory], checkout: Noting, *, explained: bool = False) -> list[str]:
    request = ContextRequest(SHOP, NOW, checkout=checkout, search=found(work), explained=explained)
    titles = {memory.id: memory.title for memory in work}
    items = observations(store.db, request, Setting(query="work"))
    return [titles[item.source] for item in items if not item.left_out]


def test_of_work_that_is_not_selected_no_code_is_checked(store: Store, work: list[Memory]) -> None:
    checkout = Noting()
    selected = shown(store, work, checkout)
    assert len(selected) == SELECTED
    assert sorted(checkout.asked) == sorted(selected)


def test_work_whose_code_is_gone_leaves_its_place_to_the_next(store: Store, work: list[Memory]) -> None:
    gone = [memory.title for memory in work[:20:3]]
    others = [memory for memory in work if memory.title not in gone]
    assert shown(store, work, Noting(gone)) == shown(store, others, Noting())


def test_an_explanation_tells_of_all_work_whether_its_code_is_there(store: Store, work: list[Memory]) -> None:
    checkout = Noting()
    assert len(shown(store, work, checkout, explained=True)) == SELECTED
    assert sorted(checkout.asked) == [memory.title for memory in work]


def test_work_that_contradicts_selected_work_is_shown_only_if_its_code_is_there(
    store: Store, work: list[Memory]
) -> None:
    with atomic(store.db):
        memory_links.note_conflict(store.db, work[0].id, work[-1].id, NOW)
    assert shown(store, work, Noting())[:2] == [work[0].title, work[-1].title]
    assert work[-1].title not in shown(store, work, Noting([work[-1].title]))


def anchored(store: Store, session: str, *titles: str) -> None:
    store.session(session, SessionSummary(headline=session))
    for title in titles:
        store.remember(title, session=session, anchors=(f"code:a:b:src/{session}.py::{session}",))


def test_a_session_is_here_with_any_of_its_code(store: Store) -> None:
    anchored(store, "whole", "one", "two", "three")
    anchored(store, "partly", "four", "five", "six")
    anchored(store, "reverted", "seven", "eight", "nine")
    checkout = Noting(["four", "six", "seven", "eight", "nine"])
    request = ContextRequest(SHOP, NOW, checkout=checkout)
    assert without_code(store.db, request, ["whole", "partly", "reverted"]) == {"reverted"}
    assert len({"one", "two", "three"} & set(checkout.asked)) == 1
