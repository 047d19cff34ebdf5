"""Fields of what the worker told, whatever stands there."""

import pytest

from claude_mem_lite.client.responses import number, objects, part, whole, whole_or_none
from claude_mem_lite.models import JsonValue


@pytest.mark.parametrize("value", [None, True, "7", [7], {"a": 7}])
def test_what_is_no_number_counts_as_none(value: JsonValue) -> None:
    told = {"field": value}
    assert (whole(told, "field"), whole_or_none(told, "field"), number(told, "field")) == (0, None, 0.0)


def test_a_number_is_read_as_it_is() -> None:
    told: dict[str, JsonValue] = {"whole": 7, "part": 0.5}
    assert (whole(told, "whole"), whole_or_none(told, "whole"), number(told, "whole")) == (7, 7, 7.0)
    assert (whole_or_none(told, "part"), number(told, "part")) == (None, 0.5)


@pytest.mark.parametrize("value", [None, 7, "text", []])
def test_what_is_no_object_is_an_empty_one(value: JsonValue) -> None:
    assert part({"field": value}, "field") == {}


def test_only_the_objects_of_a_list_are_read() -> None:
    told: dict[str, JsonValue] = {"list": [{"a": 1}, 7, None, {"b": 2}], "object": {"a": 1}}
    assert objects(told, "list") == [{"a": 1}, {"b": 2}]
    assert objects(told, "object") == objects(told, "missing") == []
