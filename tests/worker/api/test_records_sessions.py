"""In which session was that? The ranking of sessions by their hits."""

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.models import Passage
from claude_mem_lite.search_values import Hit
from claude_mem_lite.worker.api.records import rank_sessions
from tests.support.fakes import NOW

TURN = Passage("id", "turn", "title", "text", "s1", "p", NOW)


def hits(*scored: tuple[str, float]) -> list[Hit]:
    return [Hit(replace(TURN, session=session), score, ()) for session, score in scored]


def test_each_further_hit_of_a_session_counts_half_as_much() -> None:
    assert rank_sessions(hits(("a", 0.8), ("a", 0.4), ("a", 0.4))) == [("a", 0.8 + 0.2 + 0.1)]


def test_two_good_hits_stand_above_one_that_is_a_little_better() -> None:
    assert [one for one, _ in rank_sessions(hits(("a", 0.9), ("b", 0.8), ("b", 0.7)))] == ["b", "a"]


def test_many_poor_hits_never_outrank_one_that_answers() -> None:
    assert rank_sessions(hits(("a", 0.9), *[("b", 0.4)] * 150))[0][0] == "a"


def test_what_belongs_to_no_session_is_left_out() -> None:
    assert rank_sessions(hits(("", 0.9), ("a", 0.1))) == [("a", 0.1)]
    assert rank_sessions([]) == []


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1)), max_size=40), st.randoms())
def test_the_order_of_the_hits_does_not_matter(scored: list[tuple[str, float]], chance: Random) -> None:
    ranked = rank_sessions(hits(*scored))
    shuffled = list(scored)
    chance.shuffle(shuffled)
    assert dict(rank_sessions(hits(*shuffled))) == dict(ranked)
    assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)
    assert {session for session, _ in ranked} == {session for session, _ in scored}
