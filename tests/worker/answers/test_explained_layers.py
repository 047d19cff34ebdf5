"""`context --explain` of layers without a score: each printed line has a rank or a product that can be recomputed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from claude_mem_lite.client.client import Client
from claude_mem_lite.context.presets import BUILT_IN, LAYERS
from tests.support.arithmetic import equation
from tests.support.running import Json, Machine, open_machine, wait_until
from tests.worker.commands import run_here
from tests.worker.test_handoffs import work

PARTS = ("cart", "tax", "invoice", "refund", "coupon", "stock", "mail", "login")
_LINE = re.compile(r"(in |out)  (?P<layer>[a-z+ ]+): (?P<source>\S+), (?P<told>.+)")
_NEWEST = re.compile(r"newest first: (\d+) of (\d+) \((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\)")
_FLOOR = re.compile(
    r"the floor of (?:the layer|value a thousand tokens) is (?:over )?[\d.]+$|no floor of (?:the layer|value)(?:: .+)?$"
)
_CONFIDENCE = re.compile(r"confidence ([\d.]+), the floor of the layer is ([\d.]+)$")
_RATE = re.compile(r"^(\d+) tokens, ([\d.e-]+) a thousand, the floor of value a thousand tokens is ([\d.]+)$")
_USE = re.compile(r"use ([\d.]+), the floor of the layer is over 0$")


@dataclass(frozen=True, slots=True)
class Line:
    """A printed candidate: whether it is in, and the segments of its explanation."""

    is_in: bool
    layer: str
    source: str
    segments: tuple[str, ...]

    @property
    def newest(self) -> re.Match[str] | None:
        return next((found for one in self.segments if (found := _NEWEST.search(one))), None)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Path]]:
    """A worker that has seen 24 sessions of one project: they changed code and left things open."""
    root = tmp_path_factory.mktemp("shop")
    with open_machine() as machine:
        machine.start_worker()
        for number in range(24):
            part = PARTS[number % len(PARTS)]
            code = (
                f"def {part}_{number}(order):\n    return {number}\n\n\ndef check_{part}(order):\n    return {number}\n"
            )
            again = "update the tax table" if number % 6 == 2 else f"check the {part} page number {number}"
            said = (
                f"Added step {number} of the {part} page. Decided to keep {part} rows in SQLite. Still to do: {again}."
            )
            files = {f"{part}.py": code, f"{part}_{number}.py": code}
            work(machine, f"session-{number:02}", root, f"Work on the {part} page, step {number}", files, said)
        wait_until(lambda: not Client(machine.home).index().waiting, "everything to be indexed")
        yield machine, root


def printed(worked: tuple[Machine, Path], *more: str) -> list[Line]:
    machine, root = worked
    shown = run_here(machine, "context", "--explain", *more, cwd=root).stdout
    found = filter(None, map(_LINE.fullmatch, shown.partition("tokens by estimate")[2].splitlines()))
    return [
        Line(one[1] == "in ", one["layer"], one["source"], tuple(one["told"].split("; ")))
        for one in found
        if one["layer"] in LAYERS
    ]


@pytest.mark.parametrize("preset", list(BUILT_IN))
def test_every_line_ends_with_the_floor_that_held_for_it(worked: tuple[Machine, Path], preset: str) -> None:
    lines = printed(worked, "--preset", preset)
    assert len(lines) > 10
    for line in lines:
        assert _FLOOR.search(line.segments[-1]), line
        assert line.newest or any(" = " in one for one in line.segments), line


@pytest.mark.parametrize("preset", list(BUILT_IN))
def test_every_formula_of_a_line_is_its_value(worked: tuple[Machine, Path], preset: str) -> None:
    formulas = [
        part for line in printed(worked, "--preset", preset) for one in line.segments for part in _formulas(one)
    ]
    assert preset == "codes" or formulas
    for formula in formulas:
        shown, computed = equation(formula)
        assert computed == pytest.approx(shown, abs=6e-5), formula


def _formulas(segment: str) -> Iterator[str]:
    """The formula of a segment, without the reason that stands before it."""
    if " = " in segment:
        yield segment.rpartition(", ")[2]


def test_sessions_are_ranked_by_the_times_that_are_printed(worked: tuple[Machine, Path]) -> None:
    lines = [line for line in printed(worked, "--preset", "layers") if line.layer == "session index"]
    ranks = [line.newest for line in lines]
    assert [rank and rank[1] for rank in ranks] == [str(place) for place in range(1, 11)]
    times = [rank[3] for rank in ranks if rank]
    assert times == sorted(times, reverse=True)
    for line in lines:
        use = _USE.search(line.segments[-1])
        assert use
        assert line.is_in is (float(use[1]) > 0)


def test_by_value_a_line_is_in_when_its_printed_value_is_over_the_printed_floor(worked: tuple[Machine, Path]) -> None:
    lines = printed(worked, "--budget", "100000")
    weighed = [(line, found) for line in lines if (found := _RATE.search(line.segments[-1]))]
    assert {line.is_in for line, _ in weighed} == {True, False}
    for line, found in weighed:
        value, rest = equation(line.segments[-2])
        assert value == pytest.approx(rest, abs=2e-6)
        assert float(found[2]) == pytest.approx(1000 * value / int(found[1]), abs=1e-3)
        told_elsewhere = line.segments[0].startswith(("told in ", "repeats another line"))
        assert told_elsewhere or line.is_in is (float(found[2]) >= float(found[3])), line


def test_what_was_left_open_is_ranked_by_the_times_that_are_printed(worked: tuple[Machine, Path]) -> None:
    lines = [line for line in printed(worked, "--budget", "100000") if line.layer == "handoff"]
    stopped = [line for line in lines if any(one.startswith("line ") for one in line.segments)]
    assert sorted(one for line in stopped for one in line.segments if one.startswith("line ")) == [
        f"line {place} of {len(stopped)}" for place in range(1, len(stopped) + 1)
    ]
    left = [line for line in lines if line not in stopped]
    ranked = sorted((line.newest for line in left if line.newest), key=lambda one: int(one[1]))
    assert [one[1] for one in ranked] == [str(place) for place in range(1, len(left) + 1)]
    times = [one[3] for one in ranked]
    assert times == sorted(times, reverse=True)
    for line in left:
        share = next(equation(one)[0] for one in line.segments if one.startswith("repeated "))
        assert line.segments[0].startswith("said by a newer one") is (share >= 1), line
        assert not line.is_in or share < 1


def test_earlier_work_stands_in_the_order_of_its_printed_values(worked: tuple[Machine, Path]) -> None:
    lines = [
        line for line in printed(worked, "--budget", "100000", "--preset", "layers") if line.layer == "observations"
    ]
    placed = [line for line in lines if any(one.startswith("place ") for one in line.segments)]
    assert len(placed) >= 6
    by_place = {int(_place(line).split()[1].rstrip(",")): line for line in placed}
    assert sorted(by_place) == list(range(1, len(placed) + 1))
    first = equation(_formula(by_place[1]))[0]
    assert _place(by_place[1]) == "place 1, by relevance alone"
    assert first == max(_relevance(line) for line in placed)
    values = [equation(_formula(by_place[place]))[0] for place in sorted(by_place) if place > 1]
    assert values == sorted(values, reverse=True)
    for line in lines:
        confidence = _CONFIDENCE.search(line.segments[-1])
        assert confidence
        assert not line.is_in or float(confidence[1]) >= float(confidence[2])


def _place(line: Line) -> str:
    return next(one for one in line.segments if one.startswith("place "))


def _formula(line: Line) -> str:
    return next(formula for one in line.segments for formula in _formulas(one) if formula.startswith("rank "))


def _relevance(line: Line) -> float:
    """The share of the best score, by the printed scores."""
    ratio = _formula(line).partition(" = ")[2].partition(" × ")[0]
    return round(equation(ratio)[0], 4)


def test_the_same_explanations_are_in_the_json(worked: tuple[Machine, Path]) -> None:
    machine, root = worked
    answer: Json = machine.get(f"/api/context?cwd={root}&explain=true")
    told = [one["explained"] for one in (*answer["items"], *answer["left_out"])]
    assert all(told)
    shown = run_here(machine, "context", "--explain", cwd=root).stdout
    assert all(f", {one}\n" in shown for one in told)
