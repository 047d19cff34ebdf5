"""The page of lessons in a real browser: each key does to the item in focus what its button does."""

import json
import re
from collections.abc import Iterator

import pytest
from demo.machine import Machine
from demo.recording import Recorded
from playwright.sync_api import Browser, Locator, Page, expect

from claude_mem_lite.models import JsonObject
from tests.e2e.page.serving import Served, go, opened, serving
from tests.support.lesson_stories import stories

STORIES = stories(3)


def event(machine: Machine, session: str, told: dict[str, str]) -> Recorded:
    name = "UserPromptSubmit" if "prompt" in told else "Stop"
    payload: JsonObject = {"hook_event_name": name, "session_id": session, "cwd": str(machine.project), **told}
    return Recorded(json.dumps(payload), payload)


@pytest.fixture(scope="module")
def said() -> Iterator[Served]:
    """A machine on which the user has said three things that may be lessons."""
    with Machine() as machine:
        machine.make_project({machine.project / "README.md": "# Shop"})
        machine.install()
        for number, story in enumerate(STORIES):
            for told in ({"prompt": story.said}, {"last_assistant_message": "Done."}):
                machine.hook(event(machine, f"lesson-{number}", told))
        machine.run("worker", "drain", "--timeout", "50")
        with serving(machine) as one:
            yield one


@pytest.fixture
def lessons(browser: Browser, said: Served) -> Iterator[Page]:
    with opened(browser, said) as page:
        go(page, "l")
        expect(page).to_have_url(re.compile("/lessons$"))
        yield page


def item(page: Page, text: str) -> Locator:
    return page.locator(".item", has_text=text)


def focus(page: Page, text: str) -> None:
    item(page, text).locator("a[data-item]").first.focus()


def learned(served: Served) -> list[str]:
    return [one["summary"] for one in json.loads(served.machine.run("lessons", "--json"))["learned"]]


def test_a_accepts_the_item_in_focus(lessons: Page, said: Served) -> None:
    words = STORIES[0].said
    focus(lessons, words)
    lessons.keyboard.press("a")
    expect(lessons.locator("#news")).to_contain_text("Accepted")
    expect(item(lessons, words)).to_contain_text("stated by the user")
    assert f"{words}." in learned(said)


def test_d_dismisses_it(lessons: Page, said: Served) -> None:
    words = STORIES[1].said
    focus(lessons, words)
    lessons.keyboard.press("d")
    expect(lessons.locator("#news")).to_contain_text("Dismissed")
    expect(item(lessons, words)).to_have_count(0)
    assert f"{words}." not in learned(said)


def test_e_opens_its_words_and_saves_what_was_typed(lessons: Page, said: Served) -> None:
    words = STORIES[2].said
    focus(lessons, words)
    lessons.keyboard.press("e")
    box = item(lessons, words).locator("textarea")
    expect(box).to_be_focused()
    lessons.keyboard.press("ControlOrMeta+a")
    lessons.keyboard.type("Deploy adds nothing that a reader has to undo")  # keys of the page are letters here
    expect(box).to_have_value("Deploy adds nothing that a reader has to undo")
    lessons.keyboard.press("Tab")
    lessons.keyboard.press("Enter")
    expect(lessons.locator("#news")).to_contain_text("Saved")
    assert "Deploy adds nothing that a reader has to undo" in learned(said)


def test_without_an_item_in_focus_the_keys_do_nothing(lessons: Page, said: Served) -> None:
    before = learned(said)
    for key in "ade":
        lessons.keyboard.press(key)
    expect(lessons.locator("#news")).to_have_text("")
    assert learned(said) == before
