"""The benchmark of questions about the past: its labels, and how outcomes become figures."""

import re

from benchmarks.questions import Outcome, Question, all_figures, questions


def test_labels_are_questions_with_patterns_that_compile() -> None:
    known = questions()
    closed = [one for one in known if one.pattern]
    assert len(closed) >= 60
    assert len(known) - len(closed) >= 20
    assert all(one.text.endswith("?") for one in known)
    assert all(re.compile(one.pattern) for one in closed)
    assert len({(one.project, one.text) for one in known}) == len(known)


def test_a_question_is_answered_by_a_text_that_matches_in_any_case() -> None:
    question = Question("shop", "Which flag?", r"--no-cache")
    assert question.is_answered_by("Use --NO-CACHE here")
    assert not question.is_answered_by("Use nothing")
    assert not Question("shop", "Which port?", "").is_answered_by("any")


def test_outcomes_are_counted_by_project_and_in_all() -> None:
    closed, unknown = Question("shop", "Which flag?", "--fast"), Question("shop", "Which port?", "")
    outcomes = [
        Outcome(closed, by_search=0, by_chunks=3, given="use --fast", tokens=30),
        Outcome(closed, by_search=4, by_chunks=None, given="", tokens=0),
        Outcome(unknown, by_search=None, by_chunks=None, given="", tokens=0),
        Outcome(Question("", "How tall?", ""), by_search=None, by_chunks=None, given="", tokens=0),
        Outcome(Question("", "How far?", ""), by_search=None, by_chunks=None, given="something", tokens=20),
    ]
    figures = {figure.name: figure for figure in all_figures(outcomes)}
    assert figures["all projects: answered by the first hit of search"].value == 0.5
    assert figures["all projects: answered by one of the first 5 hits of search"].value == 1.0
    assert figures["shop: answered by one of the first 5 hits of raw chunks"].value == 0.5
    assert figures["all projects: answered by the prompt context"].value == 0.5
    assert figures["all projects: silent where nothing answers"].value == 1.0
    assert figures["all projects: answered by the prompt context"].holds()
    assert figures["shop: answered by the prompt context"].floor is None
    assert figures["general knowledge: silent"].value == 0.5
