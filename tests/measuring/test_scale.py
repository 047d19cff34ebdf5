"""The made-up memories that search is measured with at scale, and the picture of the growth."""

import statistics
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.plot import Line, Panel, svg
from benchmarks.scale import panels, search, told
from benchmarks.scale_home import fill
from benchmarks.scale_queries import queries
from benchmarks.synthetic import HUGE_PROJECT, NOW, SPAN, Language, batch, project_id

from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.models import Memory

SIZE = 3000


@pytest.fixture(scope="module")
def language() -> Language:
    return Language()


@pytest.fixture(scope="module")
def memories(language: Language) -> list[Memory]:
    made, _ = batch(language, 0, SIZE, SIZE)
    return made


def test_the_same_numbers_make_the_same_memories_turns_and_queries(language: Language) -> None:
    again = Language()
    assert batch(language, 0, 60, 600) == batch(again, 0, 60, 600) != batch(language, 60, 60, 600)
    assert queries(language, 30, 1, 600) == queries(again, 30, 1, 600) != queries(language, 30, 2, 600)


def test_memories_are_of_the_shape_that_is_claimed(memories: list[Memory]) -> None:
    tokens = [estimate_tokens("\n".join((one.title, one.summary, *one.facts, one.detail))) for one in memories]
    assert 90 <= statistics.median(tokens) <= 105
    assert {len(one.title.split()) for one in memories} == set(range(5, 11))
    assert {one.summary.count(".") for one in memories} == {1, 2, 3}
    assert {len(one.facts) for one in memories} == set(range(7))
    assert {len(one.files) for one in memories} == {1, 2, 3}
    assert {len(one.symbols) for one in memories} == {0, 1, 2, 3}
    assert 0.15 < statistics.fmean(bool(one.detail) for one in memories) < 0.25
    assert 0.01 < statistics.fmean(one.scope == "universal" for one in memories) < 0.03


def test_half_of_the_memories_are_of_one_project_and_all_are_of_the_last_two_years(memories: list[Memory]) -> None:
    by_project = Counter(one.project for one in memories)
    assert by_project[project_id(HUGE_PROJECT)] == SIZE // 2
    moments = [one.created_at for one in memories]
    assert moments == sorted(moments)
    assert moments[0] == NOW - SPAN
    assert moments[-1] < NOW


def test_words_are_as_frequent_as_their_rank_says(language: Language, memories: list[Memory]) -> None:
    words = Counter(word for one in memories for word in f"{one.title} {one.summary}".lower().replace(".", "").split())
    share = words[language.words[0]] / words.total()
    # Half of the words are general ones, and of those every eleventh or twelfth is the first of 60,000.
    assert 0.03 < share < 0.06
    assert 1.6 < words[language.words[0]] / words[language.words[1]] < 2.5
    assert len(language.words) == len(set(language.words)) == 60_000


def test_a_third_of_the_queries_have_common_words_and_half_go_over_all_projects(language: Language) -> None:
    made = queries(language, 300, 1, SIZE)
    common = [one for one in made if one.kind == "common"]
    assert len(common) == 100
    assert all(len(set(one.text.split()) & set(language.common)) >= 2 for one in common)
    assert Counter(one.place for one in made) == {"all": 150, "huge": 75, "small": 75}
    assert all((one.filters.project is None) == (one.place == "all") for one in made)


def test_a_small_home_is_filled_searched_and_told_of(tmp_path: Path) -> None:
    filled = fill(tmp_path / "home", 150)
    assert fill(tmp_path / "home", 150) == filled
    searched = search(tmp_path / "home", 150, 60)
    assert len(searched.whole) == 60
    assert searched.found > 30
    names = [figure.name for figure in told(filled, searched)]
    assert "150: search, over all projects, p95" in names
    ElementTree.fromstring(svg(panels([(filled, searched)])))


def test_the_picture_is_sound_xml_with_a_line_for_each_series() -> None:
    lines = [Line("one & <two>", [(10, 1), (1000, 30)], 0), Line("three", [(10, 0.2), (1000, 2)], 1, dashed=True)]
    drawn = ElementTree.fromstring(svg([Panel("ms", "memories", lines, [(1000, 30)])]))
    told = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "one & <two>" in told
    assert "bar 30" in told
    assert "1,000" in told
