"""Search in a real browser: as one types, with reasons."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.serving import DECISION, Served, opened

RESULTS = "#results"


def test_results_come_as_one_types(page: Page) -> None:
    page.get_by_role("link", name="Search", exact=True).click()
    page.locator("#query").press_sequentially("why do we keep UTC", delay=20)
    first = page.locator(f"{RESULTS} a[data-item]").first
    expect(first).to_contain_text(DECISION)
    expect(page).to_have_url(re.compile(r"query=why"))
    page.locator("#query").fill("weather on the moon zzzqqq")
    expect(page.locator(RESULTS)).not_to_contain_text(DECISION)


def test_every_score_can_be_explained(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/search?query=keep+UTC+in+the+database") as page:
        hit = page.locator(f"{RESULTS} .item").first
        hit.locator("summary").click()
        expect(hit.locator("details")).to_contain_text("words")
        expect(hit.locator("details")).to_contain_text(re.compile(r"recency 0\.\d\d"))


def test_a_kind_narrows_it_and_the_address_keeps_it(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/search?query=local+day") as page:
        page.get_by_text("More", exact=True).click()
        page.locator("#kind").select_option("handoff")
        expect(page.locator(f"{RESULTS} a[data-item] .kind").first).to_have_text("handoff")
        page.reload()
        expect(page.locator("#query")).to_have_value("local day")
        expect(page.locator(f"{RESULTS} a[data-item] .kind").first).to_have_text("handoff")


def test_nothing_typed_and_nothing_found_say_what_to_do(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/search") as page:
        assert len(page.locator(RESULTS).inner_text()) > 40
        page.locator("#query").fill("zzzqqq")
        expect(page.locator(f"{RESULTS} .empty")).to_be_visible()
