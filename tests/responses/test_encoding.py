"""Conversion of responses between dataclasses and JSON."""

from collections.abc import Collection, Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from claude_mem_lite.models import JsonObject, Memory, Passage, Session
from claude_mem_lite.responses.encoding import Response, from_json, response, response_from, to_json
from claude_mem_lite.responses.lessons import LessonCandidate
from claude_mem_lite.responses.memories import StoredMemory
from claude_mem_lite.responses.records import SessionRecord, TurnRecord
from claude_mem_lite.store.lesson_candidates import Candidate


@response
class Item(Response):
    id: str
    score: float = 0.5


@response
class Stated(Item):
    pass


@response
class Answer(Response):
    title: str
    count: int
    items: tuple[Item, ...]
    best: Item | None = None
    is_sure: bool = False
    at: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    more: int | None = None

    def omitted_fields(self) -> Collection[str]:
        return ("more",) if self.more is None else ()


SENT: JsonObject = {
    "title": "t",
    "count": 2,
    "items": [{"id": "a", "score": 1}],
    "best": {"id": "b", "score": 0.25},
    "is_sure": True,
    "at": "2026-01-01T00:00:00Z",
    "names": {"p": "shop"},
}


def test_a_received_response_is_sent_on_with_the_same_keys_in_the_same_order() -> None:
    sent = to_json(from_json(Answer, SENT))
    assert sent == SENT
    assert isinstance(sent, dict)
    assert list(sent) == list(SENT)


def test_the_client_keeps_what_it_received() -> None:
    assert from_json(Answer, {**SENT, "new": 1}).raw == {**SENT, "new": 1}


def test_fields_that_are_missing_are_empty() -> None:
    assert from_json(Answer, {}) == Answer("", 0, ())
    assert from_json(Answer, None) == Answer("", 0, ())


def test_fields_of_another_type_are_empty() -> None:
    received = {"title": 3, "count": True, "items": [{"id": "a"}, "b"], "best": [], "is_sure": 1, "names": {"p": 1}}
    assert from_json(Answer, received) == Answer("", 0, (Item("a"),))


def test_a_required_dataclass_that_is_missing_is_empty() -> None:
    @dataclass(frozen=True, slots=True)
    class Outer:
        item: Item
        at: datetime
        known: Mapping[str, Item]
        anything: object
        maybe: str | None

    assert from_json(Outer, {"anything": [1]}) == Outer(Item(""), datetime.fromtimestamp(0, UTC), {}, [1], None)


def test_times_are_sent_as_text_with_the_letter_of_utc() -> None:
    time = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    assert to_json({"at": time}) == {"at": "2026-01-02T03:04:05.000678Z"}
    assert to_json(time.replace(microsecond=0)) == "2026-01-02T03:04:05Z"


def test_a_response_takes_the_fields_of_a_stored_value() -> None:
    @dataclass(frozen=True, slots=True)
    class Stored:
        title: str
        at: datetime
        other: int

    made = response_from(Answer, Stored("t", datetime(2026, 1, 1, tzinfo=UTC), 7), count=1, items=())
    assert made == Answer("t", 1, (), at="2026-01-01T00:00:00Z")


def test_a_response_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Item("a").id = "b"  # type: ignore[misc]


def test_responses_are_equal_by_their_fields() -> None:
    assert (Item("a"), hash(Item("a"))) == (Item("a", 0.5), hash(Item("a", score=0.5)))
    assert Item("a") != Item("b")
    assert Item("a") != Stated("a")
    assert repr(Item("a")) == "Item(id='a', score=0.5)"
    assert replace(Item("a"), score=1.0) == Item("a", 1.0)


@pytest.mark.parametrize(("values", "named"), [((), {}), (("a", 1.0, 2), {}), (("a",), {"size": 1})])
def test_a_response_needs_its_fields_and_has_no_others(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Item(*values, **named)


@pytest.mark.parametrize(
    ("stored", "sent"),
    [(Memory, StoredMemory), (Session, SessionRecord), (Passage, TurnRecord), (Candidate, LessonCandidate)],
)
def test_a_record_begins_with_the_fields_of_the_stored_value(stored: type[Memory], sent: type[StoredMemory]) -> None:
    names = [each.name for each in fields(stored)]
    assert [each.name for each in fields(sent)][: len(names)] == names
