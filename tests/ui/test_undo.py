"""Forgetting from a page and undoing it: a memory with its older versions; pages that were not heard of for long."""

import json
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.ui.undo import Undo
from tests.fakes import Store
from tests.running import Json, Machine, query
from tests.ui.listening import listening


@pytest.fixture
def open_page(page: TestClient) -> Iterator[TestClient]:
    with listening(page.app, "page-1"):
        yield page


def do(page: TestClient, name: str, **given: Json) -> None:
    answer = page.post(f"/do/{name}", json=given)
    assert answer.status_code == 200, answer.text


def versions(machine: Machine, what: str, numbers: range, *, users: int = 0) -> list[str]:
    """What the agent said of a port, one number after the other, and the user said once; the ids, the oldest first."""
    ids = [f"{what}{number:02d}" for number in numbers]
    with Store(machine.home.memory_db) as store:
        for number, id_, successor in zip(numbers, ids, [*ids[1:], None], strict=True):
            store.remember(
                f"The {what} gate listens on port {number}",
                turn=id_,
                id=id_,
                kind="gotcha",
                session="",
                origin="user" if number == users else "assistant",
                status="superseded" if successor else "active",
                superseded_by=successor,
            )
    return ids


def chain(machine: Machine, what: str) -> list[tuple[object, ...]]:
    rows = query(machine.home.memory_db, "select id, status, superseded_by from memories order by id")
    return [row for row in rows if str(row[0]).startswith(what)]


def test_every_older_version_goes_and_comes_back_as_it_was(served: Machine, open_page: TestClient) -> None:
    ids = versions(served, "wombat", range(5, 9))
    before = chain(served, "wombat")
    do(open_page, "forget", id=ids[-1])
    assert chain(served, "wombat") == []
    do(open_page, "undo", id=ids[-1])
    assert chain(served, "wombat") == before
    told = [served.get(f"/api/memories/{id_}") for id_ in ids]
    assert [[one["id"] for one in record["replaced"]] for record in told] == [[], ids[:1], ids[1:2], ids[2:3]]


def test_what_stayed_is_linked_to_the_version_that_comes_back(served: Machine, open_page: TestClient) -> None:
    ids = versions(served, "tapir", range(5, 9), users=6)
    before = chain(served, "tapir")
    do(open_page, "forget", id=ids[-1])
    assert chain(served, "tapir") == [(ids[0], "superseded", ids[1]), (ids[1], "superseded", None)]
    do(open_page, "undo", id=ids[-1])
    assert chain(served, "tapir") == before


def test_the_memory_itself_comes_back_last(served: Machine, open_page: TestClient) -> None:
    """While it is missing its page offers to undo it, so what stops half way can be gone on with."""
    ids = versions(served, "okapi", range(5, 9))
    do(open_page, "forget", id=ids[-1])
    do(open_page, "undo", id=ids[-1])
    commands = [json.loads(row.payload) for row in served.rows() if row.event == "Command"]
    restored = [one["id"] for one in commands if one["command"] == "restore"]
    assert restored[-len(ids) :] == ids


def test_of_a_page_that_was_not_heard_of_for_long_nothing_is_kept() -> None:
    now = [1_000.0]
    undo = Undo(lambda: now[0])
    for page in ("silent", "open"):
        undo.heard(page)
        assert undo.keep(page, [{"id": "k7f3a9"}])
    for _ in range(3):
        now[0] += 100
        undo.heard("open")
    assert undo.of("silent") == {}
    assert not undo.keep("silent", [{"id": "b21c77"}])
    assert list(undo.of("open")) == ["k7f3a9"]
