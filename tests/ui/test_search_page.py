"""Tests of `ui/pages/lists.py`: the page that searches, what it finds, what it says when it finds nothing, and how it
explains a score."""

from html import unescape

import pytest
from starlette.testclient import TestClient

from tests.support.running import Json, Machine, leave, turn
from tests.ui.conftest import browser_of
from tests.ui.html_checks import faults

SCRIPT = "<script>alert('search')</script>"


ZOO = "/srv/zoo"


@pytest.fixture(scope="module")
def told(served: Machine) -> Json:
    """Two memories in two projects, and sessions in which something was said."""
    for given in (*turn("s-search", "Why do narwhals need a timeout?"), *turn("s-zoo", "Feed them", cwd=ZOO)):
        leave(served.home, given)
    kept = [
        served.post("/api/memories", {"kind": "gotcha", "text": f"Narwhals time out {SCRIPT}", "cwd": "/"}),
        served.post("/api/memories", {"kind": "note", "scope": "project", "text": "Narwhals are cached", "cwd": ZOO}),
    ]
    served.drain()
    return kept


def shown(page: TestClient, **query: str) -> str:
    answer = page.get("/part/search", params=query)
    assert answer.status_code == 200, answer.text
    assert faults(answer.text) == []
    return answer.text


def test_before_anything_is_typed_it_says_what_can_be_searched(page: TestClient) -> None:
    html = shown(page)
    assert "as you type" in html
    assert 'data-live="results"' in html
    assert 'id="query"' in html


def test_memories_and_what_was_said_are_found(page: TestClient, told: Json) -> None:
    html = shown(page, query="narwhals timeout")
    assert f'href="/memories/{told[0]["id"]}"' in html
    assert 'href="/sessions/s-search"' in html
    assert "said in a session, word for word" in html


def test_each_score_is_explained(page: TestClient, told: Json) -> None:
    html = shown(page, query="narwhals cached")
    assert f'<details id="why-{told[1]["id"]}"' in html
    assert "<summary>Why it was found: score " in html
    assert "<li>words " in html


def test_a_query_that_nothing_answers_shows_the_nearest_as_such(page: TestClient, told: Json) -> None:
    html = shown(page, query="cached pancakes for breakfast on tuesdays in winter", only="results")
    assert "data-told>Nothing certain; nearest:<" in html
    assert told[1]["id"] in html
    assert "Nothing certain" not in shown(page, query="narwhals cached", only="results")


def test_more_results_can_be_asked_for(page: TestClient, served: Machine) -> None:
    lines = [
        {"memory": {"kind": "note", "id": f"otter{number}", "title": f"Otter {number} swims"}} for number in range(30)
    ]
    given = {"project": "/srv/otters", "at": "2026-03-01T12:00:00+00:00", "lines": lines, "trust": True}
    served.post("/api/import/memories", given)
    html = shown(page, query="otter")
    assert "25 or more found" in html
    assert html.count('href="/memories/otter') == 25
    more = unescape(html.partition("Show up to")[0].rpartition('href="')[2].partition('"')[0])
    whole = page.get(f"/part{more}").text
    assert all(f'href="/memories/otter{number}"' in whole for number in range(30))
    assert "or more found" not in whole


def test_while_one_types_only_the_results_are_sent(page: TestClient, told: Json) -> None:
    html = shown(page, query="narwhals", only="results")
    assert told[0]["id"] in html
    assert "<form" not in html
    assert "<h1" not in html
    assert "data-told" in html


def test_choices_narrow_it(page: TestClient, told: Json) -> None:
    assert told[1]["id"] not in shown(page, query="narwhals", kind="gotcha", only="results")
    assert told[1]["id"] in shown(page, query="narwhals", project=ZOO, only="results")
    assert told[1]["id"] not in shown(page, query="narwhals", project="/", only="results")
    assert told[0]["id"] not in shown(page, query="narwhals", status="retired", only="results")
    assert told[0]["id"] in shown(page, query="narwhals", status="any", only="results")


def test_it_begins_with_the_project_of_the_folder(served: Machine, told: Json) -> None:
    here = browser_of(served, folder=ZOO)
    html = shown(here, query="narwhals cached")
    assert told[1]["id"] in html
    assert 'found in zoo, the best first</span> · <a href="/search?query=narwhals+cached&amp;project=%2A">' in html
    assert "s-search" not in html
    assert "s-search" in shown(here, query="narwhals timeout", project="*")


def test_a_choice_that_nobody_offered_is_none(page: TestClient, told: Json) -> None:
    assert told[0]["id"] in shown(page, query="narwhals", kind="whale", status="dead", limit="-1", only="results")


def test_when_nothing_is_found_it_says_what_to_try(page: TestClient) -> None:
    html = shown(page, query="zzqqxy", kind="rule")
    assert "Nothing is found." in html
    assert 'href="/search?query=zzqqxy&amp;project=%2A"' in html


@pytest.mark.parametrize("query", [SCRIPT, '"', "a AND (", "*", "%00", "x" * 5_000, "日本語", '"><img src=x>'])
def test_any_query_is_shown_harmlessly(page: TestClient, told: Json, query: str) -> None:
    html = shown(page, query=query)
    assert "<img" not in html


def test_script_in_a_title_is_shown_as_text(page: TestClient, told: Json) -> None:
    html = shown(page, query="narwhals alert")
    assert "&lt;script&gt;" in html
