"""A memory in a real browser: read, edited, pinned, confirmed, retired, replaced, and forgotten after a delay."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.seeded_machine import VERSIONS, machine_with_a_past
from tests.e2e.page.serving import DECISION, FIX, Served, opened, serving, window
from tests.support import live_files
from tests.support.running import wait_until

NEWS = "#news"
PENDING = "#pending"
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
    """Forget the memory of a page, as asked, on a clock that the test moves."""
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget", exact=True).click()
    expect(page.locator(PENDING)).to_have_text("Forgotten in 10 s · Undo")


def test_all_of_it_is_told(browser: Browser, served: Served) -> None:
    with opened(browser, served) as page:
        page.locator("a[data-item]", has_text=FIX).click()
        facts = page.locator("dl.facts")
        expect(facts.first).to_contain_text("assistant")
        expect(facts.first).to_contain_text("main at")
        expect(page.locator("main")).to_contain_text("Its code")
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
    expect(note.locator("main .problem")).to_contain_text("No session gets it")
    assert stored(served, title)["status"] == "retired"
    note.get_by_role("button", name="Undo").click()
    expect(note.locator("main .problem")).to_have_count(0)
    assert stored(served, title)["status"] == "active"


def test_forgetting_asks_and_takes_no_for_an_answer(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    note.get_by_role("button", name="Forget…").click()
    question = note.get_by_role("dialog", name="Forget this memory?")
    for told in ("the memory", "receipts", "backups that hold it", "You have ten seconds to undo that"):
        expect(question).to_contain_text(told)
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_be_hidden()
    assert stored(served, title)["status"] == "active"
    note.get_by_role("button", name="Forget…").click()
    question.get_by_role("button", name="Retire instead").click()
    expect(question).to_be_hidden()
    expect(note.locator(NEWS)).to_contain_text("Retired")
    assert stored(served, title)["status"] == "retired"


def is_stored(served: Served, title: str) -> bool:
    """Return whether any database still holds a title."""
    return any(path.suffix == ".db" for path in live_files.files_with(served.machine.home, title.encode()))


def test_forget_waits_and_is_undone_until_it_is_sent(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    forget(note)
    expect(note.locator(PENDING).get_by_role("button", name="Undo")).to_be_focused()
    note.clock.run_for(9_000)
    expect(note.locator(PENDING)).to_have_text("Forgotten in 1 s · Undo")
    note.get_by_role("button", name="Undo").click()
    expect(note.locator(PENDING)).to_be_hidden()
    note.clock.run_for(60_000)
    expect(note.locator(NEWS)).to_contain_text("nothing was erased")
    assert stored(served, title)["status"] == "active"


@pytest.fixture
def own_past() -> Iterator[Served]:
    """A server with a past of this test's own: what it forgets, other tests count."""
    with machine_with_a_past() as machine, serving(machine) as one:
        yield one


def test_forget_is_sent_after_the_delay_with_older_versions(browser: Browser, own_past: Served) -> None:
    newest = stored(own_past, VERSIONS[-1])
    with opened(browser, own_past, f"/memories/{newest['id']}") as page:
        expect(page.locator("main")).to_contain_text(VERSIONS[-2])
        forget(page)
        page.clock.run_for(10_000)
        expect(page.locator(NEWS)).to_have_text("Forgotten for good.")
        expect(page.locator(PENDING)).to_be_hidden()
        expect(page).to_have_url(f"{own_past.address}/")
        assert not any(is_stored(own_past, title) for title in VERSIONS[:-1])
        assert VERSIONS[-1] not in own_past.machine.run("list", "--json", "--all-projects")


def test_the_delay_goes_on_while_other_pages_are_read(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    forget(note)
    note.get_by_role("link", name="Search", exact=True).click()
    note.locator("#query").fill("something that is typed")
    expect(note.locator(PENDING)).to_contain_text("Undo")
    note.clock.run_for(10_000)
    expect(note.locator(NEWS)).to_have_text("Forgotten for good.")
    expect(note.locator("#query")).to_have_value("something that is typed")
    assert not is_stored(served, title)


def test_forget_is_sent_at_once_when_the_page_is_left(note: Page, served: Served) -> None:
    title = str(note.locator(HEADING).text_content())
    forget(note)
    note.goto(f"{served.address}/search?query=parcels")
    wait_until(lambda: not is_stored(served, title), "the memory to be forgotten")
    assert title not in served.machine.run("list", "--json")


def test_a_memory_that_is_not_there_says_so(browser: Browser, served: Served) -> None:
    with window(browser, served) as page:
        page.goto(f"{served.address}/memories/zzzzzzzz")
        expect(page.locator("main .problem")).to_contain_text("zzzzzzzz")
