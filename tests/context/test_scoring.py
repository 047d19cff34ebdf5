"""Scores against the numbers in docs/scores.md: what the page says is what is computed."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.context import scoring
from claude_mem_lite.context.project_setting import KEYWORDS, TASKS, Task, share_of, task_of
from claude_mem_lite.models import KINDS, Kind, Memory, Tally
from tests.docs.pages import ROOT
from tests.support.arithmetic import by_hand

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
PAGE = (ROOT / "docs" / "scores.md").read_text("utf-8")
_EXAMPLE = re.compile(r"(?P<kind>\w+), (?P<scope>\w+),.*?(?P<days>\d+) days? ago")
_TIMES = re.compile(r"seen (\d+) times?")


def table(first: str) -> list[list[str]]:
    """The rows of the table whose first column has this heading."""
    lines = PAGE[PAGE.index(f"| {first} |") :].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return rows[2:end]


def memory(kind: Kind = "decision", scope: str = "project:shop", days: float = 1, **more: object) -> Memory:
    seen = NOW - timedelta(days=days)
    base = Memory("m", kind, "Keep totals in cents", "", seen, seen, scope, "shop")
    return replace(base, **more)  # type: ignore[arg-type]


def scored(one: Memory, tally: Tally = Tally()) -> scoring.Score:  # noqa: B008
    return scoring.score(one, NOW, None, tally)


@pytest.mark.parametrize("row", table("memory"), ids=lambda row: row[0])
def test_worked_examples_come_out_as_the_page_says(row: list[str]) -> None:
    example = _EXAMPLE.match(row[0])
    assert example
    kind = next(kind for kind in KINDS if kind == example["kind"])
    scope = "universal" if example["scope"] == "universal" else f"{example['scope']}:shop"
    times = _TIMES.search(row[0])
    found = scored(
        memory(
            kind,
            scope,
            float(example["days"]),
            times_seen=int(times[1]) if times else 1,
            origin="user" if "stated" in row[0] else "assistant",
        )
    )
    assert found.scope == float(row[1])
    assert found.frequency == (None if row[2] == "–" else float(row[2]))
    assert (found.recency, found.task, found.total) == (float(row[3]), float(row[4]), float(row[5]))
    assert scoring.passes(found, scoring.AT_START) is row[6].startswith("in")


@pytest.mark.parametrize(("days", "value"), [(row[0], float(row[1])) for row in table("days since last seen")])
def test_recency_falls_at_the_days_on_the_page(days: str, value: float) -> None:
    assert scoring.recency_value(None if days == "unknown" else float(days)) == value


@pytest.mark.parametrize(("used", "ignored", "moved"), [[float(cell) for cell in row] for row in table("used")])
def test_outcomes_move_the_score_as_the_page_says(used: float, ignored: float, moved: float) -> None:
    tally = Tally(int(used), int(ignored))
    assert scored(memory(days=20), tally).total == pytest.approx(scored(memory(days=20)).total + moved)


def test_floors_and_keywords_are_those_on_the_page() -> None:
    floors = [float(row[0]) for row in table("floor")]
    assert floors == [scoring.ALWAYS, scoring.ON_DEMAND, scoring.AT_START]
    assert {row[0]: tuple(row[1].split(", ")) for row in table("task | keywords")} == KEYWORDS


def test_a_date_of_the_zero_of_a_clock_is_unknown() -> None:
    undated = replace(memory(), last_seen_at=datetime(1970, 1, 1, tzinfo=UTC))
    assert scored(undated).recency == scoring.UNKNOWN
    assert scored(memory(days=-3)).recency == 1.0


def test_pinned_memories_are_over_any_floor() -> None:
    old = memory("preference", "universal", 400)
    assert not scoring.passes(scored(old), scoring.ON_DEMAND)
    assert scoring.passes(scored(replace(old, pinned=True)), 1.0)


def test_the_parts_add_up_to_the_total() -> None:
    for kind in KINDS:
        found = scored(memory(kind, days=10, times_seen=3), Tally(used=2))
        assert sum(found.parts().values()) == pytest.approx(found.total, abs=2e-4)
    whole = memory(summary=" ".join(word for word in KEYWORDS["debugging"]))
    limited = scoring.score(whole, NOW, "debugging", Tally(used=9))
    assert limited.total == 1.0
    assert sum(limited.parts().values()) == pytest.approx(1.0, abs=2e-4)
    assert " - limit 0.0409; " in limited.explained(scoring.AT_START)


def test_the_explained_score_is_a_sum_with_the_floor_that_holds() -> None:
    expected = "0.9286 = (scope 0.4 + recency 0.2 + task 0.05) / 0.7; the floor of the layer is 0.7"
    assert scored(memory()).explained(scoring.AT_START) == expected
    gotcha = scored(memory("gotcha", days=10, times_seen=5)).explained(scoring.ALWAYS)
    assert gotcha == "0.76 = scope 0.4 + recency 0.16 + task 0.05 + frequency 0.15; the floor of the layer is 0.3"


@pytest.mark.parametrize(
    ("more", "exception"), [({"pinned": True}, "pinned by the user"), ({"origin": "user"}, "stated by the user")]
)
def test_what_is_over_any_floor_says_why(more: dict[str, object], exception: str) -> None:
    assert scored(memory(**more)).explained(scoring.AT_START).endswith(f"; no floor of the layer: {exception}")  # type: ignore[arg-type]


@given(
    kind=st.sampled_from(KINDS),
    scope=st.sampled_from(["universal", "language:go", "project:shop"]),
    days=st.floats(0, 400),
    times=st.integers(1, 30),
    used=st.integers(0, 40),
    ignored=st.integers(0, 40),
    task=st.sampled_from([None, *TASKS]),
)
def test_every_explained_score_can_be_recomputed_by_hand(
    kind: Kind, scope: str, days: float, times: int, used: int, ignored: int, task: Task | None
) -> None:
    one = memory(kind, scope, days, times_seen=times, summary="A fixed crash with a test")
    made = scoring.score(one, NOW, task, Tally(used, ignored))
    explained, *rest = made.explained(scoring.AT_START).split("; ")
    total, sum_ = explained.split(" = ")
    assert by_hand(sum_) == pytest.approx(float(total), abs=1e-4)
    assert float(total) == pytest.approx(made.total, abs=1e-9)
    assert sum(made.parts().values()) == pytest.approx(made.total, abs=3e-4)
    for placed in (part for part in rest if part.startswith("placed by ")):
        product, place = placed.removeprefix("placed by ").split(" = ")
        assert by_hand(product) == pytest.approx(float(place), abs=1e-4)
    assert rest[-1] == "the floor of the layer is 0.7"


def test_a_known_task_counts_by_the_share_of_its_keywords() -> None:
    fixed = memory(summary="A fixed crash: the traceback named the error")
    found = scoring.score(fixed, NOW, "debugging", Tally())
    assert found.task == 4 / len(KEYWORDS["debugging"])
    assert scoring.score(fixed, NOW, "documentation", Tally()).task == 0


def test_keywords_are_words_and_not_parts_of_others() -> None:
    assert share_of("the fixture has an address and a prefix", "debugging") == 0
    assert share_of("the fixture has an address and a prefix", "coding") == 0
    assert share_of("Ein Fehler, und es 崩溃 了", "debugging") == 2 / 8


@pytest.mark.parametrize(
    ("prompts", "task"),
    [
        (["the login crashes with an error, please fix it"], "debugging"),
        (["add a flag", "implement the export", "why does it fail?"], "coding"),
        (["add a test for the bug, fix it"], "debugging"),
        (["write the README", "and a docstring with an example"], "documentation"),
        (["how should we structure the modules? design the interface"], "architecture"),
        (["the docs of the schema"], None),
        (["continue", "yes"], None),
        ([], None),
    ],
)
def test_the_task_is_read_from_what_was_asked(prompts: list[str], task: str | None) -> None:
    assert task_of(prompts) == task


@given(
    kind=st.sampled_from(KINDS),
    scope=st.sampled_from(["universal", "language:go", "project:x"]),
    days=st.floats(-10, 5000),
    seen=st.integers(0, 1000),
    task=st.sampled_from([None, *TASKS]),
    used=st.integers(0, 1000),
    ignored=st.integers(0, 1000),
)
def test_a_score_stays_between_nothing_and_one(
    kind: Kind, scope: str, days: float, seen: int, task: Task | None, used: int, ignored: int
) -> None:
    one = memory(kind, scope, days, times_seen=seen)
    found = scoring.score(one, NOW, task, Tally(used, ignored))
    assert 0 <= found.total <= 1
    assert abs(found.outcome) <= 0.05
