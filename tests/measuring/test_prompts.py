"""How what prompts are given is counted, and what the worker is asked when it is timed."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from benchmarks.prompt_speed_asked import Checkouts, all_asked
from benchmarks.prompts_floors import held_out, highest_floor, score_floor
from benchmarks.prompts_raw import RawText
from benchmarks.silence import Heard, Prompt, hearing_figures, own_prompts, silence_figures
from benchmarks.silent_prompts import REAL
from benchmarks.synthetic import HUGE_PROJECT, SMALL_PROJECT, Language, project_id
from benchmarks.transcripts import RawTurn

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.evaluation.prompt_use import JudgedPrompt, is_useful, judge, rates, with_edits
from claude_mem_lite.evaluation.recording import ListedSession

START = datetime(2026, 1, 5, tzinfo=UTC)


def session(id_: str, hours: int, *files: str) -> ListedSession:
    return ListedSession(id_, START + timedelta(hours=hours), frozenset(files))


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (session("before", 0, "a.py", "b.py"), True),
        (session("before", 0, "b.py"), False),
        (session("before", 2, "a.py"), False),
        (session("before", 0), False),
    ],
    ids=["earlier and a common file", "earlier and no common file", "later", "earlier without files"],
)
def test_an_item_is_of_use_when_an_earlier_session_touched_a_common_file(other: ListedSession, expected: bool) -> None:
    now = session("now", 1, "a.py", "c.py")
    assert is_useful(now, other.id, {"now": now, other.id: other}) is expected


def test_an_item_of_the_same_session_does_not_count_and_one_of_no_session_is_of_no_use() -> None:
    now, before = session("now", 1, "a.py"), session("before", 0, "a.py")
    known = {"now": now, "before": before}
    assert judge(now, True, ["before", "now", ""], known) == JudgedPrompt("now", True, (True, False))
    assert judge(now, False, ["now"], known) == JudgedPrompt("now", False, ())


def test_precision_is_over_items_and_the_share_over_prompts() -> None:
    judged = [
        JudgedPrompt("a", True, (True, True, False)),
        JudgedPrompt("a", True, ()),
        JudgedPrompt("b", False, (False,)),
    ]
    measured = rates(judged)
    assert (measured.prompts, measured.answered, measured.items, measured.useful) == (3, 2, 4, 2)
    assert (round(measured.share, 3), measured.precision) == (0.667, 0.5)
    assert rates(with_edits(judged, True)).precision == 2 / 3
    assert rates(with_edits(judged, False)).precision == 0.0
    assert with_edits(judged, None) == judged


def test_the_interval_is_wide_when_few_sessions_have_many_prompts() -> None:
    drawn = random.Random(3)
    useful = [drawn.random() < 0.7 for _ in range(400)]
    apart = rates([JudgedPrompt(str(number), True, (one,)) for number, one in enumerate(useful)])
    together = rates([JudgedPrompt(str(one), True, (one,)) for one in useful])
    assert apart.low < apart.precision < apart.high
    assert together.high - together.low > 3 * (apart.high - apart.low)


def test_all_items_of_a_drawn_session_count() -> None:
    sessions = [str(number) for number in range(40)]
    useful = [JudgedPrompt(id_, True, (True,)) for id_ in sessions[:20] for _ in range(3)]
    measured = rates([*useful, *(JudgedPrompt(id_, True, (False,)) for id_ in sessions[20:])])
    assert measured.low < measured.precision == 0.75 < measured.high


def test_nothing_given_is_no_precision_and_no_error() -> None:
    measured = rates([JudgedPrompt("a", True, ()), JudgedPrompt("b", True, ())])
    assert (measured.share, measured.precision, measured.low, measured.high) == (0.0, 0.0, 0.0, 1.0)
    assert rates([]).share == 0.0


def test_the_highest_floor_is_the_strictest_that_still_speaks_often_enough() -> None:
    floors, shares = (1.0, 2.0, 3.0), (0.5, 0.2, 0.05)
    assert highest_floor(floors, shares, 0.2) == 1
    assert highest_floor(floors, shares, 0.05) == 2
    assert highest_floor(floors, shares, 0.6) is None


def test_a_floor_is_laid_where_the_wanted_share_is_above_it() -> None:
    scores = [float(one) for one in range(100)]
    floor = score_floor(scores, 0.18)
    assert sum(score >= floor for score in scores) == 18


@pytest.mark.parametrize("is_split", [True, False])
def test_raw_text_finds_chunks_by_words_and_knows_their_sessions(is_split: bool) -> None:
    index = RawText(is_split=is_split)
    assert index.best("anything") == []
    index.add([RawTurn("a", "retry the upload with a longer backoff"), RawTurn("b", "paint the fence")])
    (found,) = index.best("what about the backoff of uploads?")
    assert found.session == "a"
    assert found.score > 0
    assert index.best("?!") == []


def test_there_are_enough_prompts_that_need_no_memory_and_enough_of_them_are_real() -> None:
    own, real = list(own_prompts()), sum(map(len, REAL.values()))
    assert len({one.text for one in own}) == len(own)
    assert real >= 75
    assert len(own) + real >= 150


def test_silence_is_judged_over_all_prompts_and_hearing_by_answers() -> None:
    answered = [(Prompt("talk", str(one), ""), one == 0) for one in range(40)]
    whole, group = silence_figures(answered)
    assert (whole.value, whole.holds()) == (0.025, False)
    assert group.name == "of that talk"
    answers, itself = hearing_figures([Heard(True, True), Heard(True, False), Heard(False, False)])
    assert (answers.value, answers.holds(), itself.value) == (0.667, True, 0.333)


def test_the_same_is_asked_each_time_and_half_of_it_in_each_project(tmp_path: Path) -> None:
    language, checkouts = Language(), Checkouts(tmp_path)
    asked = list(all_asked(language, checkouts, 600, 40, 8, "test"))
    assert asked == list(all_asked(language, checkouts, 600, 40, 8, "test"))
    prompts = [one for one in asked if one.kind == "prompt"]
    assert len(prompts) == 40
    assert all(3 <= one.words <= 61 for one in prompts)
    assert sum(one.is_common for one in prompts) == 10
    projects = {one.place: find_location(json.loads(one.payload)["cwd"]).project for one in asked}
    assert projects == {"huge": project_id(HUGE_PROJECT), "small": project_id(SMALL_PROJECT)}
    assert {kind: sum(one.kind == kind for one in asked) for kind in ("file", "failure", "passed")} == {
        "file": 8,
        "failure": 8,
        "passed": 8,
    }


def test_a_floor_is_chosen_by_the_other_sessions() -> None:
    """The loud one speaks at both floors, so the quiet one is judged at the high one, and the other way round."""
    low = [JudgedPrompt("loud", True, (True, False)), JudgedPrompt("quiet", True, (False,))]
    high = [JudgedPrompt("loud", True, (True,)), JudgedPrompt("quiet", True, ())]
    kept = held_out([low, high], [1.0, 2.0], 0.5, folds=2)
    assert kept == [JudgedPrompt("loud", True, (True, False)), JudgedPrompt("quiet", True, ())]


def test_where_the_others_choose_no_floor_nothing_is_judged() -> None:
    silent = [JudgedPrompt("a", True, ()), JudgedPrompt("b", True, ())]
    assert held_out([silent], [1.0], 0.5, folds=2) == []
