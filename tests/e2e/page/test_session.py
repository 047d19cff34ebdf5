"""A session in a real browser: its summary, its turns, and what it was given."""

from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.seeded_machine import IGNORED, LATER, SESSION, SUMMARY, USED
from tests.e2e.page.serving import DECISION, Served, opened


def test_summary_turns_and_memories(page: Page) -> None:
    page.locator(".session", has_text=DECISION).locator("h2 a").click()
    main = page.locator("main")
    expect(page.get_by_role("heading", level=2, name="Summary")).to_be_visible()
    for part in ("Asked for", "Learned", "Done", "Decided", "Next steps", "Files changed", "Files read"):
        expect(page.get_by_role("heading", level=3, name=part)).to_be_visible()
    expect(main).to_contain_text("teashop/reports.py")
    asked = page.locator(".turn h3.asked").all_text_contents()
    assert [one[1:6] for one in asked] == ["Mirja", "Good.", "Makes"]
    page.locator(".turn", has_text="simpler to store").get_by_role("link", name="all of it").click()
    expect(main).to_contain_text("because the payment provider's webhooks send UTC")


def test_what_it_was_given_and_why(browser: Browser, served: Served) -> None:
    with opened(browser, served, f"/sessions/{served.later}") as page:
        given = page.locator("details.given").first
        expect(given.locator("summary")).to_contain_text("tokens")
        expect(given).to_contain_text(DECISION)
        expect(given.get_by_role("columnheader", name="Outcome")).to_be_visible()
        expect(given.locator("tbody tr").first).to_contain_text("not known yet")


def test_every_part_of_a_summary_is_told_under_its_heading(browser: Browser, past: Served) -> None:
    parts = {
        "Asked for": SUMMARY.request,
        "Looked into": SUMMARY.investigated,
        "Learned": SUMMARY.learned,
        "Done": SUMMARY.completed,
        "Decided": SUMMARY.key_decisions[0],
        "Next steps": SUMMARY.next_steps[0],
        "Files changed": SUMMARY.files_edited[0],
        "Files read": SUMMARY.files_read[0],
        "Notes": SUMMARY.notes,
    }
    with opened(browser, past, f"/sessions/{SESSION}") as page:
        expect(page.get_by_role("heading", level=1)).to_have_text(SUMMARY.headline)
        for heading, said in parts.items():
            found = page.get_by_role("heading", level=3, name=heading, exact=True)
            expect(found).to_be_visible()
            expect(found.locator("xpath=following-sibling::*[1]")).to_have_text(said)


def test_what_came_of_what_it_was_given(browser: Browser, past: Served) -> None:
    with opened(browser, past, f"/sessions/{LATER}") as page:
        expect(page.locator("main")).to_contain_text("2 items in 1 context, 1 of them used.")
        given = page.locator("details.given")
        expect(given.locator("summary")).to_contain_text("1 used")
        for title, outcome in ((USED, "used"), (IGNORED, "ignored")):
            expect(given.locator("tbody tr", has_text=title).locator("td").last).to_have_text(outcome)
