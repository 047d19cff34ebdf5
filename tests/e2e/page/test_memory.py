"""A memory in a real browser: read, edited, pinned, confirmed, retired, replaced, forgotten and taken back."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.past import VERSIONS
from tests.e2e.page.serving import DECISION, FIX, Served, opened, window

NEWS = "#news"
HEADING = "h1"


@pytest.fixture
def note(browser: Browser, served: Served, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of a memory of this test's own."""
    title = f"Parcels of {request.node.name} leave at noon"
    served.machine.run("remember", "rule", title)
    with opened(browser, served, f"/memories/{stored(served, title)['id']}") as page:
        expect(page.locator(HEADING)).to_have_text(title)
        yield page


def stored(served: Served, title: str) -> dict[str, object]:
    """A memory as the command line knows it, whatever its status."""
    listed = served.machine.run(
        "list", "--json", "--all-projects", *(f"--status={one}" for one in ("active", "retired", "superseded"))
    )
    return next(one for one in json.loads(listed) if one["title"].startswith(title))


def forget(page: Page) -> None:
    """Forget the memory of a page, as asked."""
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget", exact=True).click()


def test_all_of_it_is_told(browser: Browser, served: Served) -> None:
    with opened(browser, served) as page:
        page.locator("a[data-item]", has_text=FIX).click()
        facts = page.locator("dl.facts")
        expect(facts.first).to_contain_text("assistant")
        expect(facts.first).to_contain_text("main at")
        expect(page.locator("main")).to_contain_text("The code it tells of")
        expect(page.locator("main")).to_contain_text("teashop/reports.py")
        expect(page.locator("main")).to_contain_text("Where it was given")
        expect(page.locator("main a[href*='#given-']").first).to_be_visible()


def test_from_a_receipt_to_the_session_it_was_given_to(browser: Browser, served: Served) -> None:
    with opened(browser, served) as page:
        page.locator("a[data-item]", has_text=DECISION).click()
        page.locator("main a[href*='#given-']").first.click()
        expect(page).to_have_url(re.compile("/sessions/"))
        expect(page.locator("main details.given[open]").first).to_contain_text(DECISION)


def test_edit(note: Page, served: Served) -> None:
    note.get_by_text("Edit", exact=True).click()
    note.locator("#edit-title").fill("Parcels leave at one")
    note.locator("#edit-text").fill("Since the spring, parcels leave at one.")
    note.locator("#edit-kind").select_option("gotcha")
    note.get_by_role("button", name="Save").click()
    expect(note.locator(HEADING)).to_have_text("Parcels leave at one")
    told = stored(served, "Parcels leave at one")
    assert (told["kind"], told["summary"]) == ("gotcha", "Since the spring, parcels leave at one.")


def test_pin_and_unpin(note: Page, served: Served) -> None:
    note.get_by_role("button", name="Pin", exact=True).click()
    expect(note.get_by_role("button", name="Unpin")).to_be_visible()
    assert stored(served, str(note.locator(HEADING).text_content()))["pinned"]
    note.get_by_role("button", name="Unpin").click()
    expect(note.get_by_role("button", name="Pin", exact=True)).to_be_visible()


def test_retire_and_confirm(note: Page, served: Served) -> None:
    note.get_by_text("Retire, and say why").click()
    note.locator("#retire-reason").fill("the carrier changed")
    note.locator("#retire").get_by_role("button", name="Retire").click()
    expect(note.locator("main .problem")).to_contain_text("the carrier changed")
    title = str(note.locator(HEADING).text_content())
    assert stored(served, title)["status"] == "retired"
    note.get_by_role("button", name="Confirm: it holds again").click()
    expect(note.locator("main .problem")).to_have_count(0)
    assert stored(served, title)["status"] == "active"


def test_replace_by_what_holds_now(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    note.get_by_text("Replace", exact=True).click()
    note.locator("#replace-text").fill("Parcels leave whenever the van is full")
    note.get_by_role("button", name="Replace by this").click()
    expect(note.locator(NEWS)).not_to_have_text("")
    old, new = stored(served, title), stored(served, "Parcels leave whenever the van is full")
    assert (old["status"], old["superseded_by"]) == ("superseded", new["id"])
    note.goto(f"{served.address}/memories/{old['id']}")
    note.locator("main .problem a", has_text="whenever the van is full").click()
    expect(note.locator("main")).to_contain_text("It replaced")


def test_retire_at_once_and_undo(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    note.locator("#retire-now").click()
    expect(note.locator("main .problem")).to_contain_text("It is given to nobody")
    assert stored(served, title)["status"] == "retired"
    note.get_by_role("button", name="Undo").click()
    expect(note.locator("main .problem")).to_have_count(0)
    assert stored(served, title)["status"] == "active"


def test_forgetting_asks_and_takes_no_for_an_answer(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    note.get_by_role("button", name="Forget…").click()
    question = note.get_by_role("dialog", name="Forget this memory?")
    for told in ("the memory", "receipts", "backups that hold it", "Undo brings back the memory alone"):
        expect(question).to_contain_text(told)
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_be_hidden()
    assert stored(served, title)["status"] == "active"
    note.get_by_role("button", name="Forget…").click()
    question.get_by_role("button", name="Retire instead").click()
    expect(question).to_be_hidden()
    expect(note.locator(NEWS)).to_contain_text("Retired")
    assert stored(served, title)["status"] == "retired"


def test_forget_and_undo(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    forget(note)
    expect(note.locator(NEWS)).to_contain_text("You can undo it until you close or reload this tab")
    assert title not in served.machine.run("list", "--json")
    note.get_by_role("button", name="Undo").click()
    expect(note.get_by_role("button", name="Forget…")).to_be_visible()
    assert title in served.machine.run("list", "--json")


def test_older_versions_go_with_a_memory_and_come_back_with_it(browser: Browser, past: Served) -> None:
    before = [stored(past, title) for title in VERSIONS]
    newest = before[-1]
    with opened(browser, past, f"/memories/{newest['id']}") as page:
        expect(page.locator("main")).to_contain_text(VERSIONS[-2])
        forget(page)
        expect(page.locator(NEWS)).to_contain_text("You can undo it until you close or reload this tab")
        assert not any(VERSIONS[0].encode() in path.read_bytes() for path in past.machine.home.rglob("*.db"))
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Forget…")).to_be_visible()
        page.locator("main a", has_text=VERSIONS[-2]).first.click()
        expect(page.locator(HEADING)).to_contain_text(VERSIONS[-2])
        expect(page.locator("main .problem a")).to_have_text(VERSIONS[-1])
    after = [stored(past, title) for title in VERSIONS]
    kept = ("id", "status", "superseded_by")
    assert [[one[name] for name in kept] for one in after] == [[one[name] for name in kept] for one in before]


def test_what_was_forgotten_stays_so_once_the_page_is_left(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    forget(note)
    expect(note.get_by_role("button", name="Undo")).to_be_visible()
    note.goto(f"{served.address}/search?query=parcels")
    expect(note.locator("#results")).not_to_contain_text(title)
    assert title not in served.machine.run("list", "--json")
    assert not any(title.encode() in path.read_bytes() for path in served.machine.home.rglob("*.db"))


def test_a_memory_that_is_not_there_says_so(browser: Browser, served: Served) -> None:
    with window(browser, served) as page:
        page.goto(f"{served.address}/memories/zzzzzzzz")
        expect(page.locator("main .problem")).to_contain_text("zzzzzzzz")
