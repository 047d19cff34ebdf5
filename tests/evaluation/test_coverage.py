"""Tests of `evaluation/coverage.py` and `evaluation/measurement.py` on values that can be counted by hand."""

import math
from datetime import timedelta

import pytest

from claude_mem_lite.evaluation.coverage import (
    Files,
    ShownText,
    newest_sessions,
    precision,
    product_selection,
    sample,
)
from claude_mem_lite.evaluation.failures import RepeatedFailure
from claude_mem_lite.evaluation.intervals import Measured, bootstrapped, mean_difference, mean_share
from claude_mem_lite.evaluation.measurement import MIN_SESSIONS, PRODUCT, ProjectWalk, measure, unused_memories
from claude_mem_lite.evaluation.prompt_use import JudgedPrompt, judge, rates
from claude_mem_lite.evaluation.recording import ListedSession
from claude_mem_lite.evaluation.session_walk import ContextLine, SessionStart
from claude_mem_lite.evaluation.trigger_walk import Answer, AnsweredPrompt, AnswerItem, PromptTrigger
from claude_mem_lite.event_names import new_name
from claude_mem_lite.importers.transcript_turns import TranscriptEvent, TranscriptTurn
from tests.support.past_sessions import LONG_AGO


def listed(id_: str, day: int, *files: str) -> ListedSession:
    return ListedSession(id_, LONG_AGO + timedelta(days=day), frozenset(files))


SESSIONS = [
    listed("a", 0, "src/cart.py", "README.md"),
    listed("b", 20, "src/user.py", "README.md"),
    listed("c", 40, "web/cart.py", "README.md"),
    listed("d", 60, "src/cart.py"),
]
RARE, USUAL = math.log(4 / 1), math.log(4 / 3)


def start(session: ListedSession, *lines: ContextLine, text: str = "") -> SessionStart:
    variants = {"smaller": ("x" * 8, lines[:1])}
    return SessionStart(session, text, lines, is_same=True, variants=variants, headlines={}, newest=())


def memory(id_: str, *files: str) -> ContextLine:
    return ContextLine("project knowledge", f"- {id_}", id_, frozenset(files))


def prompt(
    session: ListedSession, *items: AnswerItem, tool: str = "Read", offered: tuple[bool, ...] = ()
) -> AnsweredPrompt:
    events = (TranscriptEvent(new_name("PostToolUse", session.started_at), {"tool_name": tool}),)
    turn = TranscriptTurn(session.id, "t", "", session.started_at, "/", events)
    failures = tuple(RepeatedFailure(f"fix{number}", is_offered) for number, is_offered in enumerate(offered))
    answer = Answer(items, 30 if items else 0)
    return AnsweredPrompt(PromptTrigger(session.started_at, 0, session, turn, 0), answer, failures)


def test_a_file_that_few_sessions_touch_weighs_more() -> None:
    files = Files(SESSIONS)
    touched = ["src/user.py", "README.md"]
    assert files.coverage(touched, frozenset({"src/user.py"})) == pytest.approx(RARE / (RARE + USUAL))
    assert files.coverage(touched, frozenset({"README.md"})) == pytest.approx(USUAL / (RARE + USUAL))


def test_a_text_names_a_file_by_an_end_that_no_other_file_has() -> None:
    files = Files(SESSIONS)
    assert files.readable("see cart.py and user.py") == {"src/user.py"}
    assert files.readable("see web/cart.py") == {"web/cart.py"}


@pytest.mark.parametrize("layer", ["changed code", "function map"])
def test_a_line_about_functions_stands_for_the_files_that_it_names(layer: str) -> None:
    line = ContextLine(layer, "- web/cart.py: total()", "a", None)
    assert product_selection(Files(SESSIONS), "", [line]).files == {"web/cart.py"}


def test_a_line_about_a_session_stands_for_all_its_files() -> None:
    line = ContextLine("sessions", "- mended the cart", "a", None)
    assert product_selection(Files(SESSIONS), "", [line]).files == SESSIONS[0].files


def test_the_newest_sessions_are_the_last_ones_before_the_start() -> None:
    select = newest_sessions(Files(SESSIONS), [session.id for session in SESSIONS], 1)
    assert select(start(SESSIONS[2])).files == SESSIONS[1].files


def test_a_source_in_several_lines_of_a_layer_is_one_item_with_the_files_of_all() -> None:
    lines = [ContextLine("function map", f"- {file}: total()", "a", None) for file in ("web/cart.py", "src/user.py")]
    (item,) = product_selection(Files(SESSIONS), "", lines).items
    assert item == {"web/cart.py", "src/user.py"}


def test_items_of_the_session_itself_do_not_count_and_those_of_later_sessions_are_of_no_use() -> None:
    judged = judge(SESSIONS[1], True, ["a", "b", "c", "elsewhere"], {session.id: session for session in SESSIONS})
    assert judged.useful == (True, False, False)


def test_prompts_with_edits_and_failures_with_an_offered_fix_are_counted_apart() -> None:
    prompts = [
        prompt(SESSIONS[2], AnswerItem("m1", "a"), AnswerItem("m2", "d"), tool="Edit", offered=(True, False)),
        prompt(SESSIONS[2], AnswerItem("m1", "a"), offered=(False,)),
        prompt(SESSIONS[3]),
    ]
    empty = listed("e", 80)
    starts = [start(SESSIONS[2], text="x" * 40), start(SESSIONS[3], text="y" * 400), start(empty)]
    measured = measure(ProjectWalk([*SESSIONS, empty], starts, prompts))
    found, edited = measured.prompts, measured.prompts_with_edits
    assert (found.prompts, found.answered, found.items, found.useful) == (3, 2, 3, 2)
    assert (edited.prompts, edited.answered, edited.items, edited.useful) == (1, 1, 2, 1)
    assert (measured.failures_repeated, measured.failures_offered) == (3, 1)
    assert measured.tokens_per_prompt == 20.0
    assert (measured.sessions, measured.with_files) == (3, 2)
    assert measured.starts[PRODUCT].max_tokens > measured.starts[PRODUCT].tokens


def test_sessions_without_files_do_not_make_enough() -> None:
    starts = [start(SESSIONS[3])] * (MIN_SESSIONS - 1)
    empty = listed("e", 80)
    assert not measure(ProjectWalk([*SESSIONS, empty], [*starts, start(empty)], [])).is_enough
    assert measure(ProjectWalk(SESSIONS, starts + starts[:1], [])).is_enough


def test_an_item_is_of_use_if_it_concerns_a_touched_file() -> None:
    assert precision(frozenset({"a"}), [frozenset({"a", "b"}), frozenset({"b"}), frozenset()]) == pytest.approx(1 / 3)
    assert precision(frozenset({"a"}), []) is None


def test_sessions_without_files_count_for_tokens_alone() -> None:
    starts = [start(listed("e", 80)), start(SESSIONS[3])]
    shown = sample(Files(SESSIONS), starts, lambda _: ShownText("x" * 40, frozenset({"src/cart.py"}), ()))
    assert (shown.covered, len(shown.tokens)) == ([1.0], 2)


def test_the_interval_has_95_of_100_means() -> None:
    measured = bootstrapped([0.0, 1.0] * 50)
    assert measured.mean == 0.5
    assert (measured.low, measured.high) == pytest.approx((0.4, 0.6), abs=0.02)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_the_interval_of_equal_shares_has_a_width_that_shrinks_with_their_number(value: float) -> None:
    few, many = mean_share([value] * 4), mean_share([value] * 100)
    assert few.mean == many.mean == value
    assert few.low <= many.low <= value <= many.high <= few.high
    assert many.low < many.high


def test_without_values_all_is_possible() -> None:
    assert mean_share([]) == Measured(0.0, 0.0, 1.0)
    assert mean_difference([]) == Measured(0.0, -1.0, 1.0)


def test_a_difference_that_never_was_may_still_come() -> None:
    measured = mean_difference([0.0] * 12)
    assert (measured.mean, measured.low, measured.high) == pytest.approx((0.0, -0.2425, 0.2425), abs=1e-4)


def test_prompts_without_an_item_of_use_have_an_interval_over_sessions() -> None:
    judged = [JudgedPrompt(f"s{number // 2}", True, (False,)) for number in range(24)]
    assert (rates(judged).low, rates(judged).high) == pytest.approx((0.0, 0.2425), abs=1e-4)


def test_a_memory_that_was_of_use_once_is_not_unused() -> None:
    walked = ProjectWalk(
        SESSIONS,
        [
            start(SESSIONS[2], memory("m1", "src/user.py"), memory("m2", "web/cart.py")),
            start(SESSIONS[3], memory("m2")),
        ],
        [prompt(SESSIONS[3], AnswerItem("m3", "b"), AnswerItem("m4", "a"))],
    )
    titles = {"m1": "one", "m2": "two", "m3": "three", "m4": "four"}
    assert [(each.id, each.title, each.given) for each in unused_memories(walked, titles)] == [
        ("m1", "one", 1),
        ("m3", "three", 1),
    ]


def test_a_month_has_the_starts_and_prompts_of_its_sessions() -> None:
    walked = ProjectWalk(SESSIONS, [start(session) for session in SESSIONS], [prompt(one) for one in SESSIONS])
    assert walked.months() == ["2026-03", "2026-04", "2026-05"]
    assert [
        (month.sessions, month.prompts.prompts) for month in (measure(walked, each) for each in walked.months())
    ] == [
        (2, 2),
        (1, 1),
        (1, 1),
    ]


def test_a_variant_differs_by_its_own_figures_minus_those_of_the_product() -> None:
    walked = ProjectWalk(SESSIONS, [start(SESSIONS[3], memory("m1"), memory("m2", "src/cart.py"), text="y" * 400)])
    measured = measure(walked)
    assert measured.differences["smaller"].coverage.mean == -1.0
    assert measured.differences["smaller"].tokens.mean == (
        measured.starts["smaller"].tokens - measured.starts[PRODUCT].tokens
    )
    assert measured.differences["smaller"].tokens.mean < 0


def test_a_session_without_files_says_nothing_about_memories() -> None:
    empty = listed("e", 80)
    walked = ProjectWalk([*SESSIONS, empty], [start(empty, memory("m1", "a"))], [prompt(empty, AnswerItem("m2", "a"))])
    assert unused_memories(walked, {"m1": "one", "m2": "two"}) == []


def test_the_share_of_items_of_use_has_an_interval_over_sessions() -> None:
    judged = [JudgedPrompt(f"s{number // 2}", True, (number // 2 % 2 == 0,)) for number in range(200)]
    assert (rates(judged).low, rates(judged).high) == pytest.approx((0.4, 0.6), abs=0.02)
