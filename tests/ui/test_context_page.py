"""The page of what Claude sees: the context of a start with its budget and reasons, and a prompt to try."""

import html as escaping
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from tests.support.running import Json, Machine, leave, payload, turn
from tests.ui.conftest import browser_of
from tests.ui.html_checks import faults

AT = "2026-03-01T12:00:00+00:00"
NAME = '"><img src=x>shop'


@pytest.fixture(scope="module")
def project(served: Machine) -> str:
    """A project with a session and something to remember, whose very name would do harm."""
    folder = served.home.root.parent / NAME.replace("/", "")
    folder.mkdir()
    for given in turn("s-seen", "Move the carts", cwd=str(folder)):
        leave(served.home, given)
    leave(served.home, payload("SessionEnd", "s-seen", str(folder), reason="other"))
    remember(served, str(folder), "Carts live in SQLite <script>alert(1)</script>", "decision")
    served.drain()
    return str(folder)


def remember(machine: Machine, cwd: str, text: str, kind: str) -> Json:
    return machine.post("/api/memories", {"kind": kind, "text": text, "cwd": cwd, "scope": "project"})


def shown(page: TestClient, **query: str) -> str:
    answer = page.get("/part/context", params=query)
    assert answer.status_code == 200, answer.text
    assert faults(answer.text) == []
    assert "<img" not in answer.text
    return answer.text


def test_the_text_is_shown_as_it_would_be_given(served: Machine, page: TestClient, project: str) -> None:
    html = shown(page, project=project)
    given = served.get(f"/api/context?{urlencode({'cwd': project})}")
    assert given["context"] in escaping.unescape(html)
    assert "&gt;&lt;img src=x&gt;shop</option>" in html
    assert "preset balanced" in html


def test_the_project_seen_last_is_shown_unless_another_is_chosen(page: TestClient, project: str) -> None:
    html = shown(page)
    assert f'<option value="{escaping.escape(project)}" selected>' in html.replace("&#34;", "&quot;")


def test_a_project_that_is_not_there_is_told_so_and_no_other_is_shown(page: TestClient, project: str) -> None:
    html = shown(page, project="/nowhere/at/all<img>")
    assert "There is no project “/nowhere/at/all&lt;img&gt;”." in html
    assert 'id="injected"' not in html
    assert ">choose another</option>" in html
    assert "shop</option>" in html


def test_a_project_without_a_folder_is_told_so_and_counted(served: Machine, page: TestClient, project: str) -> None:
    lines = [{"memory": {"kind": "note", "id": "fromafar1", "title": "Kept elsewhere", "summary": "It came along"}}]
    served.post("/api/import/memories", {"project": "example.com/afar", "at": AT, "lines": lines, "trust": True})
    assert "No session has worked in afar yet" in shown(page, project="example.com/afar")
    assert "1 project is not in this list" in shown(page, project=project)


def test_the_budget_is_told_by_layer(page: TestClient, project: str) -> None:
    html = shown(page, project=project)
    assert '<svg class="budget"' in html
    for layer in ("handoff", "sessions", "project", "universal", "language", "changed code", "observations"):
        assert f"{layer}</th>" in html
    assert "nothing to say" in html


def test_each_item_says_why_it_is_in_or_out(page: TestClient, project: str) -> None:
    assert '<span class="why">holds in project</span>' in shown(page, project=project)
    small = shown(page, project=project, budget="60")
    assert "no room" in small
    assert "1 candidate was left out" in small or " candidates were left out" in small
    (row,) = [one for one in small.split("<tr>") if " project</th>" in one]
    assert [one.partition("<")[0] for one in row.split(">") if one[:1].isdigit()][-3:] == ["0", "1", "1 no room"]
    assert "Nothing fits into this budget" in small


def test_lines_without_a_score_show_what_places_them(page: TestClient, project: str) -> None:
    html = shown(page, project=project)
    assert '<p class="quiet">newest first: 1 of 1 (' in html
    assert re.search(
        r"use 1, the floor of the layer is over 0; value [\d.]+ = own [\d.]+ \+ files [\d.]+; "
        r"\d+ tokens, [\d.]+ a thousand, the floor of value a thousand tokens is [\d.]+</p>",
        html,
    )
    assert '<p class="quiet">score 0.' in html


def test_what_a_layer_may_take_is_shown_where_shares_decide(page: TestClient, project: str) -> None:
    by_value, by_shares = (shown(page, project=project, preset=name) for name in ("balanced", "layers"))
    assert "May take" not in by_value
    assert "Lines are chosen by their value" in by_value
    assert "May take" in by_shares
    assert "A layer may take more than that" in by_shares


def test_a_sentence_comes_before_the_numbers(page: TestClient, project: str) -> None:
    start = shown(page, project=project, only="start")
    sentence = re.search(r"A new session here would get \d items before you type anything: ", start)
    assert sentence
    assert sentence.start() < start.index('id="injected"') < start.index("of 2,000 tokens")


def test_it_begins_with_the_project_of_the_folder(served: Machine, project: str) -> None:
    other = served.home.root.parent / "other"
    other.mkdir(exist_ok=True)
    for given in turn("s-other", "Paint the doors", cwd=str(other)):
        leave(served.home, given)
    remember(served, str(other), "Doors are painted green", "decision")
    served.drain()
    for folder in (project, str(other)):
        html = shown(browser_of(served, folder=folder)).replace("&#34;", "&quot;")
        assert f'<option value="{escaping.escape(folder)}" selected>' in html


def test_preset_and_budget_can_be_tried(page: TestClient, project: str) -> None:
    html = shown(page, project=project, preset="codes", budget="700")
    assert "preset codes" in html
    assert "of 700 tokens" in html
    assert "block+next" in html
    assert "2,000 tokens" in shown(page, project=project, budget="many")
    assert page.get("/part/context", params={"project": project, "preset": "none-such"}).status_code == 502


def test_what_changes_is_fetched_alone(page: TestClient, project: str) -> None:
    whole = shown(page, project=project, preset="codes")
    assert whole.count("data-fresh=") == 1
    assert "preset=codes&amp;only=start" in whole
    assert whole.index("Try a prompt") < whole.index("What is in, and why") < whole.index("The budget")
    start = shown(page, project=project, only="start")
    assert "The budget" in start
    assert "What is in, and why" in start
    assert "<form" not in start


def test_a_prompt_is_given_something_or_told_why_not(served: Machine, page: TestClient, project: str) -> None:
    silent = shown(page, project=project, prompt="hello", only="results")
    assert "This prompt gets no memory: " in silent
    helped = shown(page, project=project, prompt="Where do the carts live, in SQLite?", only="results")
    assert "--- memory (" in helped
    assert "</span> given" in helped
    assert "A candidate is given from a score of " in helped
    assert "data-asked>prompt 5 = 5 × 1 (carts, live, sqlite, sq, lite); the floor is 1</p>" in helped
    assert served.get("/api/receipts?all_projects=true")["receipts"] == []


def test_a_prompt_stays_in_its_box(page: TestClient, project: str) -> None:
    html = shown(page, project=project, prompt="</textarea><script>alert(2)</script>")
    assert "&lt;/textarea&gt;" in html


def test_when_memory_is_off_it_says_so(served: Machine, page: TestClient, project: str) -> None:
    switch: Path = served.home.off_switch
    switch.touch()
    try:
        assert "Memory is switched off" in shown(page, project=project)
    finally:
        switch.unlink()
