"""The page by keyboard alone."""

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, expect

from tests.e2e.page.serving import DECISION


def test_search_by_the_slash(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("local day")
    expect(page.locator("#results a[data-item], #results .item a").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#query")).not_to_be_focused()


def test_from_item_to_item_and_in(page: Page) -> None:
    items = page.locator("a[data-item]")
    page.keyboard.press("j")
    expect(items.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(items.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(items.nth(0)).to_be_focused()
    address = items.nth(0).get_attribute("href") or "nowhere"
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"{address}$"))
    expect(page.get_by_role("heading", level=1)).not_to_have_text("What is remembered")


def test_items_are_selected_by_key(page: Page) -> None:
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("x")
    expect(page.locator("input.select:checked")).to_have_count(2)
    expect(page.locator(".selected")).to_contain_text("2 selected")
    page.keyboard.press("x")
    expect(page.locator("input.select:checked")).to_have_count(1)
    page.locator("input.select:checked").focus()
    page.keyboard.press("Enter")  # as in a list, no answer to anything
    expect(page.locator(".selected")).to_contain_text("1 selected")
    expect(page.locator("#news")).to_have_text("")
    page.keyboard.press("x")
    expect(page.locator("input.select:checked")).to_have_count(0)
    page.keyboard.press("j")
    expect(page.locator("a[data-item]").nth(1)).to_be_focused()


def test_a_question_is_answered_by_keys(page: Page) -> None:
    page.locator("a[data-item]", has_text=DECISION).press("Enter")
    forget = page.get_by_role("button", name="Forget…")
    forget.press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("h")  # what is behind the question stays where it is
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(forget).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_contain_text(DECISION)


def test_to_every_page(page: Page) -> None:
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))  # the second key must follow the first soon
    for key, path in {
        "c": "/context",
        "p": "/projects",
        "t": "/team",
        "q": "/quarantine",
        "e": "/evaluation",
        "x": "/experiment",
        "h": "/health",
        "s": "/search",
        "f": "/",
    }.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(rf"{path}$"))
        expect(page.locator('header nav a[aria-current="page"]')).to_have_attribute("href", path)


def test_light_and_dark_and_the_list_of_keys(page: Page) -> None:
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.keyboard.press("t")
    expect(page.locator("#theme")).to_have_text("Theme: auto")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("h")  # what is behind the list stays where it is
    expect(page).to_have_url(re.compile("/$"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_the_first_tab_leads_past_the_header(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_a_filter_is_chosen_key_by_key(page: Page) -> None:
    kind = page.locator("#kind")
    kind.focus()
    for _ in range(3):
        before = page.url
        page.keyboard.press("ArrowDown")
        expect(page).not_to_have_url(before)
        expect(kind).to_be_focused()
    expect(kind).not_to_have_value("")


def test_a_date_is_typed_digit_by_digit(page: Page) -> None:
    page.get_by_text("More", exact=True).press("Enter")
    page.locator("#since").focus()
    page.keyboard.type("01312026")
    expect(page).to_have_url(re.compile("since=2026-01-31"))


def test_enter_stays_in_the_box(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type("local day")
    page.keyboard.press("Enter")
    expect(page.locator("#results a[data-item]").first).to_be_visible()
    expect(page.locator("#query")).to_be_focused()


def test_after_saving_the_keyboard_is_in_the_page(page: Page) -> None:
    page.locator("a[data-item]", has_text=DECISION).click()
    page.get_by_text("Edit", exact=True).click()
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator("#news")).not_to_have_text("")
    expect(page.locator("main")).to_be_focused()
