"""The page of lessons, and what the user decides there."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.client.client import Client
from claude_mem_lite.ui.pages import lists
from claude_mem_lite.ui.server import make_app
from tests.support.lesson_stories import stories
from tests.support.running import Json, Machine, leave, open_machine, payload
from tests.ui.conftest import PORT, TOKEN
from tests.ui.html_checks import faults

FIRST, SECOND = stories(2)


@pytest.fixture
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def page(machine: Machine) -> TestClient:
    headers = {"authorization": f"Bearer {TOKEN}"}
    return TestClient(make_app(Client(machine.home), TOKEN, PORT), base_url=f"http://127.0.0.1:{PORT}", headers=headers)


def say(machine: Machine, session: str, prompt: str) -> None:
    cwd = str(machine.user_home)
    leave(machine.home, payload("UserPromptSubmit", session, cwd, prompt=prompt))
    leave(machine.home, payload("Stop", session, cwd, last_assistant_message="Done."))
    machine.drain()


def listed(page: TestClient) -> str:
    answer = page.get("/part/lessons")
    assert answer.status_code == 200, answer.text
    return answer.text


def do(page: TestClient, name: str, **given: Json) -> str:
    answer = page.post(f"/do/{name}", json=given)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["message"])


def test_without_any_it_says_what_a_lesson_is(page: TestClient) -> None:
    assert "No lesson was learned yet." in listed(page)


def test_what_is_unsure_is_shown_with_its_keys_and_decided_about(machine: Machine, page: TestClient) -> None:
    say(machine, "s-1", FIRST.said)
    say(machine, "s-2", SECOND.said)
    html = listed(page)
    assert all(f'data-key="{key}"' in html for key in "ade")
    assert faults(html) == []
    first, second = (
        next(one["id"] for one in machine.get("/api/lessons")["unsure"] if one["sentence"] == story.said)
        for story in (FIRST, SECOND)
    )

    assert FIRST.said in do(page, "accept_lesson", ids=[first])
    do(page, "dismiss_lesson", ids=[second])
    html = listed(page)
    assert "stated by the user" in html
    assert SECOND.said not in html

    do(page, "edit_lesson", id=first, text=FIRST.saved)
    assert [one["summary"] for one in machine.get("/api/lessons")["learned"]] == [FIRST.saved]
    assert page.post("/do/edit_lesson", json={"id": first, "text": " "}).status_code == 409


def test_a_question_is_no_rule_before_it_is_worded_as_one(machine: Machine, page: TestClient) -> None:
    say(machine, "s-1", "Why don't we use only the standard library for all of our dates")
    (unsure,) = machine.get("/api/lessons")["unsure"]

    refused = page.post("/do/accept_lesson", json={"ids": [unsure["id"]]})
    assert (refused.status_code, "is a question" in refused.text, "*Edit*" in refused.text) == (409, True, True)

    do(page, "edit_lesson", id=unsure["id"], text=FIRST.saved)
    assert [one["summary"] for one in machine.get("/api/lessons")["learned"]] == [FIRST.saved]


def test_lessons_beyond_the_limit_of_the_page_are_counted(
    machine: Machine, page: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "_MAX_LESSONS", 1)
    say(machine, "s-1", FIRST.said)
    say(machine, "s-2", SECOND.said)
    first, second = machine.get("/api/lessons")["unsure"]
    assert "1 more sentence:" in listed(page)

    for one, story in ((first, FIRST), (second, SECOND)):
        do(page, "edit_lesson", id=one["id"], text=story.saved)
    assert "1 older lesson not shown" in listed(page)


def test_nothing_is_decided_without_the_token(machine: Machine, page: TestClient) -> None:
    say(machine, "s-1", FIRST.said)
    (unsure,) = machine.get("/api/lessons")["unsure"]
    refused = page.post("/do/dismiss_lesson", json={"ids": [unsure["id"]]}, headers={"authorization": "Bearer no"})
    assert refused.status_code == 401
    assert len(machine.get("/api/lessons")["unsure"]) == 1
