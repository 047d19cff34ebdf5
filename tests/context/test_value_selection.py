"""The choice of lines by value: most value a token first, over a floor, within the budget."""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import replace

import pytest

from claude_mem_lite.context.layers.layer import Item, Layer, LayerCandidates
from claude_mem_lite.context.order import NO_ROOM
from claude_mem_lite.context.project_setting import Forecast, Setting
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.selection import LayerSelection
from claude_mem_lite.context.value_selection import FLOOR, NOT_WORTH_IT, select_by_value
from tests.support.arithmetic import equation

LINE = "- " + "word " * 20
"""About 30 tokens."""
HIGH, LOW = 1000 * FLOOR, FLOOR
"""Worths of a line that are over and under the floor, whatever it is."""


def silent(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    return []


def line(source: str, worth: float = HIGH, *files: str, memory: bool = False) -> Item:
    return Item(f"{LINE}{source}", source, "said", files=files, worth=worth, memory=source if memory else "")


def layer(name: str, *items: Item, more_line: str = "") -> LayerCandidates:
    return LayerCandidates(Layer(name, f"## {name}", 100, silent, more_line=more_line), list(items))


def text(chosen: Sequence[LayerSelection]) -> str:
    return "\n".join(
        line_
        for layer_ in chosen
        if layer_.selected
        for line_ in (layer_.layer.header, *(i.line for i in layer_.selected), *layer_.more_lines())
    )


def choose(*found: LayerCandidates, budget: int = 2000, shares: dict[str, float] | None = None) -> list[LayerSelection]:
    return select_by_value(found, budget, text, Forecast(shares or {}, sessions=100))


def sources(chosen: Sequence[LayerSelection]) -> list[list[str]]:
    return [[item.source for item in one.selected] for one in chosen]


def left_out(chosen: Sequence[LayerSelection]) -> dict[str, str]:
    return {item.source: item.left_out for one in chosen for item in one.left_out}


def test_what_is_under_the_floor_is_left_out_whatever_room_there_is() -> None:
    chosen = choose(layer("one", line("a"), line("b", LOW)))
    assert sources(chosen) == [["a"]]
    assert left_out(chosen) == {"b": NOT_WORTH_IT}
    assert not chosen[0].is_cut()


def test_the_floor_is_lower_where_there_were_few_sessions() -> None:
    found = [layer("one", line("a", 10 * FLOOR))]
    by_sessions = [sources(select_by_value(found, 2000, text, Forecast(sessions=number))) for number in (0, 1, 100)]
    assert by_sessions == [[["a"]], [["a"]], [[]]]


def test_what_is_over_the_floor_and_has_no_room_says_so() -> None:
    chosen = choose(layer("one", line("a"), line("b", HIGH / 2)), budget=50)
    assert sources(chosen) == [["a"]]
    assert left_out(chosen) == {"b": NO_ROOM}
    assert chosen[0].is_cut()


def test_the_best_lines_get_the_room_and_stand_in_the_order_of_their_layer() -> None:
    found = layer("one", line("a", 2 * HIGH), line("b"), line("c", 4 * HIGH)), layer("two", line("d", 3 * HIGH))
    assert sources(choose(*found, budget=110)) == [["a", "c"], ["d"]]


def test_a_short_line_goes_before_a_long_one_of_the_same_worth() -> None:
    long = replace(line("long"), line=LINE * 2)
    assert sources(choose(layer("one", long, line("short")), budget=70)) == [["short"]]


def test_a_layer_has_no_number_of_lines_at_most() -> None:
    found = layer("one", *(line(str(number)) for number in range(20)))
    found = replace(found, layer=replace(found.layer, max_items=3))
    assert len(sources(choose(found))[0]) == 20
    assert choose(found, budget=200)[0].is_cut()


def test_a_file_that_a_line_tells_of_counts_no_more_for_the_next() -> None:
    shares = {"a.py": 0.5, "b.py": 0.5}
    first, again, other = (
        line(name, 0.0, file) for name, file in (("first", "a.py"), ("again", "a.py"), ("b", "b.py"))
    )
    chosen = choose(layer("one", first, again, other), shares=shares)
    assert sources(chosen) == [["first", "b"]]
    assert left_out(chosen) == {"again": NOT_WORTH_IT}


def test_a_memory_counts_besides_the_headline_that_names_its_file_but_not_besides_another_memory() -> None:
    headline = line("session", HIGH, "a.py")
    memories = [line(name, 0.0, "a.py", memory=True) for name in ("m1", "m2")]
    chosen = choose(layer("sessions", headline), layer("work", *memories), shares={"a.py": 1.0})
    assert sources(chosen) == [["session"], ["m1"]]
    assert left_out(chosen) == {"m2": NOT_WORTH_IT}


def test_what_the_user_wants_kept_goes_first_up_to_half_of_the_budget() -> None:
    kept = [replace(line(f"k{number}", 0.0), is_asked_for=True) for number in range(20)]
    others = [line(f"o{number}") for number in range(20)]
    kept_sources, other_sources = sources(choose(layer("others", *others), layer("kept", *kept), budget=600))[::-1]
    assert 5 < len(kept_sources) <= len(other_sources) <= len(kept_sources) + 1
    assert kept_sources == [f"k{number}" for number in range(len(kept_sources))]


def test_what_the_user_wants_kept_has_no_floor_while_there_is_room() -> None:
    kept = [replace(line(f"k{number}", 0.0), is_asked_for=True) for number in range(20)]
    chosen = choose(layer("kept", *kept), layer("others", line("low", LOW)), budget=800)
    assert len(chosen[0].selected) == 20
    assert all("no floor of value: the user wants it kept" in item.explained() for item in chosen[0].selected)
    assert left_out(chosen) == {"low": NOT_WORTH_IT}


@pytest.mark.parametrize(("budget", "expected"), [(2000, [["a", "b"]]), (60, [[]])])
def test_lines_that_belong_together_are_told_together_or_not_at_all(budget: int, expected: list[list[str]]) -> None:
    pair = replace(line("a"), with_next=True), line("b", 0.0)
    assert sources(choose(layer("one", *pair), budget=budget)) == expected


def test_a_memory_is_told_once_in_the_layer_where_it_is_worth_most() -> None:
    found = layer("one", line("m", HIGH, memory=True)), layer("two", line("m", 2 * HIGH, memory=True))
    chosen = choose(*found)
    assert sources(chosen) == [[], ["m"]]
    assert left_out(chosen) == {"m": "shown in two"}


def test_what_another_layer_tells_is_not_said_to_be_of_no_worth() -> None:
    found = layer("one", line("m", LOW, memory=True)), layer("two", line("m", HIGH, memory=True))
    assert left_out(choose(*found)) == {"m": "shown in two"}


def test_every_candidate_is_told_or_left_out_once() -> None:
    pair = replace(line("m", HIGH, memory=True), with_next=True, is_asked_for=True), line("n", HIGH, memory=True)
    found = (
        layer("one", line("m", 3 * HIGH, memory=True), line("a"), replace(line("b"), left_out="gone")),
        layer("two", *pair, *(line(f"c{number}") for number in range(9))),
    )
    for budget in range(20, 400, 10):
        chosen = choose(*found, budget=budget)
        for one, candidates in zip(chosen, found, strict=True):
            listed = [item.source for item in (*one.selected, *one.left_out)]
            assert sorted(listed) == sorted(item.source for item in candidates.items), budget


def test_what_is_not_told_is_not_counted() -> None:
    found = layer("one", *(line(f"m{number}", memory=True) for number in range(12)), more_line="- and {} more")
    for budget in range(40, 500, 20):
        chosen = choose(found, budget=budget)
        assert "more" not in text(chosen)
        assert len(text(chosen)) / 3.5 <= budget


def test_the_value_of_a_line_can_be_recomputed_from_its_explanation() -> None:
    shares = {"a.py": 0.123456789, "b.py": 1 / 3}
    lines = [line("a", 0.0301234567, "a.py"), line("b", 0.0, "b.py"), line("c", LOW), replace(line("d"), order="first")]
    chosen = choose(layer("one", *lines), shares=shares)
    explained = [item.explained() for one in chosen for item in (*one.selected, *one.left_out)]
    assert len(explained) == 4
    for each in explained:
        value, cost = each.removeprefix("first; ").split("; ")
        shown, computed = equation(value)
        assert computed == pytest.approx(shown, abs=2e-6)
        found = re.fullmatch(r"(\d+) tokens, (\S+) a thousand, the floor of value a thousand tokens is (\S+)", cost)
        assert found
        tokens, rate, floor = map(float, found.groups())
        assert 1000 * shown / tokens == pytest.approx(rate, abs=1e-3)
        assert floor == pytest.approx(1000 * FLOOR)
        assert (rate >= floor) is (each not in [item.explained() for item in chosen[0].left_out])
