"""The page of evaluation: the last report, and how to make one."""

import json

from starlette.testclient import TestClient

from tests.support.running import Machine
from tests.ui.html_checks import faults

START = {"coverage": {"mean": 0.53, "low": 0.4, "high": 0.6}, "tokens": 500.0}
FIGURES = {
    "sessions": 20,
    "with_files": 18,
    "is_enough": True,
    "starts": {
        "claude-mem-lite": START,
        "nothing": {"coverage": {"mean": 0.0, "low": 0.0, "high": 0.0}, "tokens": 0.0},
    },
    "prompts": {"prompts": 9, "answered": 3, "items": 4, "useful": 3, "low": 0.1, "high": 0.9},
    "failures_repeated": 2,
    "failures_offered": 1,
}
PROJECT = {
    "name": "<shop>",
    "is_partial": False,
    "not_walked": 1,
    "whole": FIGURES,
    "months": {"2026-03": FIGURES},
    "unused": [{"id": "abc", "title": "Carts <b>", "given": 3}],
}


def test_without_a_report_the_page_says_how_to_make_one(page: TestClient, served: Machine) -> None:
    served.home.evaluation.unlink(missing_ok=True)
    answer = page.get("/part/evaluation")
    assert faults(answer.text) == []
    assert "claude-mem-lite eval" in answer.text


def test_the_last_report_is_drawn_with_its_numbers(page: TestClient, served: Machine) -> None:
    report = {"made_at": "2026-05-01T00:00:00+00:00", "projects": [PROJECT]}
    served.home.evaluation.write_text(json.dumps(report))
    try:
        shown = page.get("/part/evaluation").text
    finally:
        served.home.evaluation.unlink()
    assert faults(shown) == []
    assert "<svg" in shown
    assert "&lt;shop&gt;" in shown
    assert "53.0%" in shown
    assert "3 of 4 items of use" in shown
    assert "Carts &lt;b&gt;" in shown
    assert "0.0% of the touched files covered, with 0 tokens" in shown


def test_problems_of_the_walk_and_the_interval_of_known_fixes_are_shown(page: TestClient, served: Machine) -> None:
    whole = {**FIGURES, "failures_share": {"mean": 0.5, "low": 0.095, "high": 0.905}}
    project = {**PROJECT, "whole": whole, "problems": {"layer failed": 3, "a text was not parsed in time": 1}}
    served.home.evaluation.write_text(json.dumps({"made_at": "2026-05-01T00:00:00+00:00", "projects": [project]}))
    try:
        shown = page.get("/part/evaluation").text
    finally:
        served.home.evaluation.unlink()
    assert faults(shown) == []
    assert "problems: layer failed (3), a text was not parsed in time (1)." in shown
    assert "1 would have been given the fix (95 % interval: 9.5% to 90.5%)" in shown
