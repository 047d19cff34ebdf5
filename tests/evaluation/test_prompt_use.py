"""Tests of `evaluation/prompt_use.py`: which items are of use, and how sure the share is."""

from datetime import timedelta

from claude_mem_lite.evaluation.prompt_use import JudgedPrompt, judge, rates
from claude_mem_lite.evaluation.recording import ListedSession
from tests.support.past_sessions import LONG_AGO

SESSIONS = {
    id_: ListedSession(id_, LONG_AGO + timedelta(days=day), frozenset(files))
    for id_, day, files in (("a", 0, {"x.py"}), ("b", 1, {"y.py"}), ("c", 2, {"x.py"}), ("d", 3, {"x.py"}))
}


def test_an_item_is_of_use_if_its_session_was_earlier_and_touched_a_file_of_this_one() -> None:
    judged = judge(SESSIONS["c"], True, ("a", "b", "d", "unknown"), SESSIONS)
    assert judged.useful == (True, False, False, False)


def test_items_of_the_own_session_do_not_count() -> None:
    assert judge(SESSIONS["c"], True, ("c", "a"), SESSIONS).useful == (True,)


def test_counts_are_over_prompts_and_over_items() -> None:
    found = rates([JudgedPrompt("a", True, (True, False, False)), JudgedPrompt("b", True, ())])
    assert (found.prompts, found.answered, found.items, found.useful) == (2, 1, 3, 1)


def test_prompts_of_one_session_are_drawn_together() -> None:
    together = rates([JudgedPrompt("a", True, (True,))] * 20 + [JudgedPrompt("b", True, (False,))] * 20)
    apart = rates([JudgedPrompt(str(at), True, (at < 20,)) for at in range(40)])
    assert (together.low, together.high) == (0.0, 1.0)
    assert 0.3 < apart.low < 0.5 < apart.high < 0.7
