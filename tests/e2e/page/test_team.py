"""The pages of a team in a real browser, with a real PostgreSQL behind them."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.screens import TEAM_PAGES
from tests.e2e.page.serving import opened
from tests.e2e.page.team_machine import DAMAGED, OWN, RECEIVED, TILL_RULE, TeamPage, damage, team_page
from tests.e2e.page.test_layout import FONT, FONTS, LOOKS, SIZES, faults, fits, keep, open_all


@pytest.fixture(scope="module")
def joined() -> Iterator[TeamPage]:
    with team_page() as one:
        yield one


@pytest.fixture
def team(browser: Browser, joined: TeamPage) -> Iterator[Page]:
    with opened(browser, joined.served, "/team") as page:
        yield page


@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("path", TEAM_PAGES)
def test_a_page_of_the_team_fits_and_has_no_fault(
    browser: Browser, joined: TeamPage, path: str, theme: str, width: str
) -> None:
    with opened(browser, joined.served, path, size=SIZES[width], theme=theme) as page:
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        open_all(page)
        keep(page, path, f"{theme}-{width}")
        fits(page)
        assert faults(page) == []


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize("path", TEAM_PAGES)
def test_targets_of_the_team_are_large_enough_in_any_font(
    browser: Browser, joined: TeamPage, path: str, font: str
) -> None:
    with opened(browser, joined.served, path) as page:
        open_all(page)
        page.evaluate(FONT, FONTS[font])
        assert faults(page) == []


def test_members_are_listed_with_devices_and_their_last_synchronisation(team: Page) -> None:
    for name in ("ana", "ben"):
        member = team.locator(".item", has=team.locator("strong", has_text=re.compile(f"^{name}$")))
        expect(member).to_contain_text("1 device · last synchronised")


def test_what_a_teammate_shared_is_one_click_away(team: Page) -> None:
    team.get_by_role("link", name="All that teammates shared with you").click()
    expect(team.locator("a[data-item]")).to_have_count(1)
    expect(team.locator("main")).to_contain_text(RECEIVED)
    expect(team.locator("main")).to_contain_text("from ana")


def test_a_body_is_shown_as_it_is_sent(team: Page) -> None:
    team.get_by_role("link", name="See exactly what goes").click()
    expect(team).to_have_url(re.compile("/team/preview$"))
    item = team.locator(".item", has_text=OWN)
    item.locator("summary").click()
    expect(item.locator("pre")).to_contain_text(f'"title": "{OWN}"')


def test_an_entry_that_cannot_be_read_is_parked_and_tried_again(team: Page, joined: TeamPage) -> None:
    expect(team.locator("main")).to_contain_text("From ana, not applied: bad_hash")
    team.get_by_role("button", name="Try parked entries again").click()
    expect(team.locator("#news")).to_contain_text("1 entry is still parked")
    damage(joined.database, DAMAGED, is_whole=True)
    team.get_by_role("button", name="Try parked entries again").click()
    expect(team.locator("#news")).to_contain_text("applied 1; 0 entries are still parked")
    expect(team.locator("main")).to_contain_text("ana: 2 memories")


def test_a_project_is_shared_and_taken_back_after_a_question(team: Page) -> None:
    till = team.locator(".item", has=team.locator("a[data-item]", has_text="till"))
    till.get_by_label("open work too").check()
    till.get_by_role("button", name="Share with the team").click()
    expect(team.locator("#news")).to_contain_text("till is shared with the team: 1 memory is considered")
    expect(till).to_contain_text("shared with open work")
    team.get_by_role("button", name="Synchronise now").click()
    expect(till).to_contain_text("1 memory sent")
    till.get_by_role("button", name="Stop sharing…").click()
    question = team.get_by_role("dialog")
    expect(question).to_contain_text("taken back from the team")
    assert faults(team) == []
    question.get_by_role("button", name="Cancel").click()
    expect(till).to_contain_text("1 memory sent")
    till.get_by_role("button", name="Stop sharing…").click()
    question.get_by_role("button", name="Stop sharing").click()
    expect(team.locator("#news")).to_contain_text("till is not shared any more")
    expect(till.get_by_role("button", name="Share with the team")).to_be_visible()
    till.get_by_role("link", name="what would go").click()
    expect(team.locator("main")).to_contain_text(TILL_RULE)
    expect(team.locator(".item", has_text=TILL_RULE)).to_contain_text("would go")


def test_a_memory_is_kept_from_the_team_on_its_page(team: Page) -> None:
    team.get_by_role("link", name="teashop").click()
    team.locator("a[data-item]", has_text=OWN).click()
    expect(team.locator("main")).to_contain_text("It goes to the team.")
    team.get_by_role("button", name="Keep from the team").click()
    expect(team.locator("#news")).to_contain_text("It stays here, and is taken back if it was sent.")
    team.get_by_role("button", name="Share with the team").click()
    expect(team.locator("main")).to_contain_text("It goes to the team, as you chose.")
