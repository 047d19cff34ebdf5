"""`receipts`: what it asks of the worker, and how it shows what was given."""

from collections.abc import Iterator

import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.support.fake_worker import FakeWorker, fake_worker, run

ITEM: dict[str, JsonValue] = {
    "source": "k7f3a9bcde",
    "layer": "project",
    "reason": "holds in project",
    "tokens": 21,
    "score": 0.8125,
    "outcome": "used",
    "kind": "gotcha",
    "title": "The test database\nneeds \x1b[31mport 5433",
}
RECEIPT: dict[str, JsonValue] = {
    "id": "abcdefghij",
    "spool_name": "n",
    "session": "2f6d1c0e-8a4b-4c55-9d1e-0b7a6f3c2e11",
    "project": "github.com/me/shop",
    "moment": "startup",
    "items": [ITEM, {**ITEM, "source": "gone", "title": None, "kind": None, "outcome": None, "score": None}],
    "layers": ["project"],
    "layers_skipped": [{"layer": "language", "reason": "empty"}],
    "tokens": 42,
    "budget": 2000,
    "build_ms": 3.6,
    "created_at": "2026-01-01T00:00:00+00:00",
    "given_at": "2026-01-01T00:00:01+00:00",
}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        yield worker


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "2 items, 1 used"),
        ({"given_at": None}, "2 items, did not reach the agent"),
        ({"items": [{**ITEM, "outcome": None}]}, "1 item, session not over yet"),
        ({"items": [{**ITEM, "outcome": "ignored"}]}, "1 item, 1 ignored"),
        ({"items": [{**ITEM, "outcome": "unknown"}, ITEM]}, "2 items, 1 used, 1 unknown"),
    ],
)
def test_a_line_tells_what_came_of_it(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], more: dict[str, JsonValue], told: str
) -> None:
    worker.answer("GET /api/receipts", {"receipts": [{**RECEIPT, **more}]})
    assert run("receipts") == 0
    shown = capsys.readouterr().out.rstrip("\n").split("\t")
    assert (shown[0], *shown[2:]) == ("abcdefghij", "startup", RECEIPT["session"], "42/2000", told)


def test_one_in_full_tells_of_every_item(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/receipts/abcdef", RECEIPT)
    assert run("receipts", "abcdef") == 0
    shown = capsys.readouterr().out
    assert "42 of 2000 tokens by estimate, made in 4 ms" in shown
    assert "k7f3a9bcde  The test database needs port 5433  [used]" in shown
    assert "gotcha; holds in project; score 0.81; 21 tokens" in shown
    assert "gone  no longer there\n" in shown
    assert "out: language, empty" in shown
    assert "\x1b" not in shown


def test_a_session_is_asked_for_by_itself(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/receipts", {"receipts": []})
    assert run("receipts", "--session", "2f6d1c0e", "--limit", "3") == 0
    assert ("session", "2f6d1c0e") in worker.last("/api/receipts").query
    assert ("limit", "3") in worker.last("/api/receipts").query
    assert capsys.readouterr().out.startswith("This session was given nothing")


@pytest.mark.parametrize(
    "arguments", [("abcdef", "--session", "x"), ("abcdef", "--all-projects"), ("--session", "x", "--all-projects")]
)
def test_what_excludes_each_other_is_refused(arguments: tuple[str, ...]) -> None:
    assert run("receipts", *arguments) == 2
