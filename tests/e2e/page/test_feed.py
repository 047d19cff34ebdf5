"""The feed in a real browser: by session and turn, filtered, live."""

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.page.seeded_machine import GARDEN, OLD, RETIRED, USED
from tests.e2e.page.serving import DECISION, FIX, PHONES, Served, empty_machine, opened, serving, window

LINES = "a[data-item]"


def test_what_was_remembered_is_shown_by_session_and_turn(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("What is remembered")
    session = page.locator(".session", has_text=FIX)
    expect(session.locator(".asked", has_text="simpler to store local time")).to_have_count(1)
    turn = session.locator(".turn", has=page.locator(".asked", has_text="simpler to store local time"))
    expect(turn.locator(LINES, has_text=DECISION)).to_have_count(1)


def test_a_filter_leaves_only_what_it_asks_for(page: Page) -> None:
    page.get_by_label("Kind").select_option("decision")
    expect(page).to_have_url(re.compile(r"kind=decision"))
    expect(page.locator(".item .kind").first).to_have_text("decision")
    assert set(page.locator(f"{LINES} .kind").all_text_contents()) == {"decision"}
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Since").fill("2099-01-01")
    expect(page.locator(".empty")).to_contain_text("Nothing fits what you chose")
    page.get_by_role("link", name="Show everything").click()
    expect(page.locator(LINES).nth(2)).to_be_visible()


def test_the_feed_can_be_that_of_a_project_a_status_or_a_time(browser: Browser, past: Served) -> None:
    with opened(browser, past) as page:
        lines = page.locator(LINES)
        expect(lines).to_have_count(4)
        page.locator("#project").select_option(GARDEN.project)
        expect(page).to_have_url(re.compile("project="))
        expect(lines).to_have_text(re.compile(OLD))
        page.get_by_text("More", exact=True).click()
        page.locator("#status").select_option("retired")
        expect(page).to_have_url(re.compile("status=retired"))
        expect(lines).to_have_text(re.compile(RETIRED))
        page.locator("#status").select_option("any")
        expect(lines).to_have_count(2)
        page.locator("#project").select_option("*")
        expect(lines).to_have_count(7)
        page.locator("#until").fill(f"{datetime.now(UTC) - timedelta(days=5):%Y-%m-%d}")
        expect(page).to_have_url(re.compile("until="))
        expect(lines).to_have_count(2)
        expect(lines.filter(has_text=USED)).to_have_count(0)
        page.locator("#until").fill(f"{datetime.now(UTC) - timedelta(days=60):%Y-%m-%d}")
        expect(page.locator(".empty")).to_contain_text("Nothing fits what you chose")


def test_a_choice_outlives_a_reload_and_the_way_back(page: Page, served: Served) -> None:
    served.import_memories({"kind": "failure", "title": "The export test fails in winter", "origin": "command"})
    page.get_by_text("More", exact=True).click()
    page.locator("#origin").select_option("command")
    expect(page).to_have_url(re.compile("origin=command"))
    expect(page.locator(".item")).to_contain_text(["from command"])
    page.reload()
    expect(page.locator("#origin")).to_have_value("command")
    page.go_back()
    expect(page.locator("#origin")).to_have_value("")


def test_it_begins_with_the_project_of_the_folder(page: Page, served: Served) -> None:
    served.import_memories({"kind": "gotcha", "title": "The elsewhere door sticks", "project": "/elsewhere"})
    page.reload()
    expect(page.locator("#project option:checked")).to_contain_text(served.machine.project.name)
    expect(page.locator(LINES, has_text=DECISION)).to_have_count(1)
    expect(page.locator(LINES, has_text="elsewhere door")).to_have_count(0)
    page.locator("#project").select_option("*")
    expect(page.locator(LINES, has_text="elsewhere door")).to_have_count(1)
    page.reload()
    expect(page.locator(LINES, has_text="elsewhere door")).to_have_count(1)


def test_on_a_phone_the_feed_scrolls_on_and_its_filters_stay_in_reach(browser: Browser, busy: Served) -> None:
    trees = ({"kind": "gotcha", "title": f"Tree {n} bears {n * n} pears", "project": "/orchard"} for n in range(120))
    busy.import_memories(*trees)
    with opened(browser, busy, "/?project=/orchard", size=PHONES["small phone"]) as page:
        lines = page.locator(LINES)
        expect(lines).to_have_count(50)
        expect(page.get_by_role("link", name="Filters")).to_be_hidden()
        for count in (100, 120):
            lines.last.scroll_into_view_if_needed()
            expect(lines).to_have_count(count)
        expect(page.get_by_role("link", name="Show older ones")).to_have_count(0)
        titles = lines.all_text_contents()
        assert len(set(titles)) == 120
        page.get_by_role("link", name="Filters").click()
        expect(page.locator("#kind")).to_be_in_viewport(ratio=1)


def test_a_part_of_the_feed_that_did_not_come_can_be_asked_for_again(browser: Browser, busy: Served) -> None:
    beds = ({"kind": "gotcha", "title": f"Bed {n} takes {n * n} bulbs", "project": "/bulbs"} for n in range(60))
    busy.import_memories(*beds)
    with window(browser, busy) as page:
        page.route("**/part/*before=*", lambda route: route.abort())
        page.goto(f"{busy.address}/?project=/bulbs")
        lines = page.locator(LINES)
        expect(lines).to_have_count(50)
        lines.last.scroll_into_view_if_needed()
        expect(page.locator("#news")).to_contain_text("The server of this page is gone")
        page.unroute("**/part/*before=*")
        page.get_by_role("link", name="Show older ones").click()
        expect(lines).to_have_count(60)


def test_several_are_selected_and_retired_and_that_is_undone(page: Page, served: Served) -> None:
    expect(page.locator("#live")).to_have_text("live")
    titles = ["Dust the scales on Fridays", "Dust the shelves on Mondays"]
    for title in titles:
        served.machine.run("remember", "gotcha", title)
    for title in titles:
        expect(page.locator(LINES, has_text=title)).to_have_count(1)
    bar = page.locator(".selected")
    expect(bar).to_be_hidden()
    for title in titles:
        page.get_by_role("checkbox", name=f"Select: {title}").check()
    expect(bar).to_contain_text("2 selected")
    served.machine.run("remember", "gotcha", "Dust nothing on Sundays")  # the list comes anew, the boxes stay checked
    expect(page.locator(LINES, has_text="Dust nothing")).to_have_count(1)
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Retire").click()
    expect(page.locator("#news")).to_contain_text("Retired 2 memories")
    for title in titles:
        expect(page.locator(LINES, has_text=title)).to_have_count(0)
    expect(bar).to_be_hidden()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    undo.press("Enter")
    for title in titles:
        expect(page.locator(LINES, has_text=title)).to_have_count(1)
    expect(page.locator("#news")).to_contain_text("2 memories are active again")


def test_a_selection_is_cleared(page: Page) -> None:
    page.locator("input.select").first.check()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("input.select:checked")).to_have_count(0)
    expect(page.locator(".selected")).to_be_hidden()


def test_times_are_local_and_whole_on_hover(page: Page) -> None:
    time = page.locator(".item time").first
    expect(time).to_have_text(re.compile(r"^(today|yesterday|\d{1,2} \w{3}) \d\d:\d\d$"))
    expect(time).to_have_attribute("title", re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d$"))


def test_from_a_memory_to_its_session_and_back(page: Page) -> None:
    page.locator(LINES, has_text=DECISION).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(DECISION)
    page.locator("main a[href^='/sessions/']").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(FIX)
    page.locator("main a", has_text=DECISION).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(DECISION)


def test_what_comes_is_shown_as_it_comes(page: Page, served: Served) -> None:
    expect(page.locator("#live")).to_have_text("live")
    served.machine.run("remember", "rule", "Round prices half up, as the till does")
    expect(page.locator(LINES, has_text="Round prices half up")).to_have_count(1)


def test_nothing_moves_under_who_reads_further_down(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 1200, "height": 500})
    expect(page.locator("#live")).to_have_text("live")
    page.evaluate("scrollTo({top: 2000, behavior: 'instant'})")
    assert page.evaluate("scrollY") > 300
    read = page.locator(LINES).last
    place = read.evaluate("(one) => Math.round(one.getBoundingClientRect().y)")
    served.machine.run("remember", "rule", "Label every parcel with its weight in grams")
    offer = page.get_by_role("button", name="Something new is here")
    expect(offer).to_be_in_viewport()
    assert abs(read.evaluate("(one) => Math.round(one.getBoundingClientRect().y)") - place) <= 2
    expect(page.locator(LINES, has_text="weight in grams")).to_have_count(0)
    offer.click()
    expect(page.locator(LINES, has_text="weight in grams")).to_have_count(1)


def test_a_list_that_comes_late_takes_the_focus_from_nobody(page: Page, served: Served) -> None:
    expect(page.locator("#live")).to_have_text("live")
    held: list[Route] = []
    page.route(re.compile("only=list"), lambda route: held.append(route))
    with page.expect_request(re.compile("only=list")):
        served.machine.run("remember", "rule", "Weigh the oolong before the mint")
    page.keyboard.press("j")
    focused = page.locator(LINES).first
    expect(focused).to_be_focused()
    held[0].continue_()
    expect(page.get_by_role("button", name="Something new is here")).to_be_visible()
    expect(focused).to_be_focused()
    page.unroute_all(behavior="wait")


def test_the_way_back_leads_to_where_one_was(page: Page) -> None:
    page.set_viewport_size({"width": 1200, "height": 500})
    last = page.locator(LINES).last
    last.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    assert place > 0
    last.click()
    expect(page.locator("h1")).not_to_have_text("What is remembered")
    page.wait_for_function("scrollY === 0")
    page.go_back()
    expect(page.locator("h1")).to_have_text("What is remembered")
    page.wait_for_function("(place) => scrollY === place", arg=place)


def test_a_message_goes_with_what_it_was_about(page: Page) -> None:
    page.locator(LINES, has_text=DECISION).click()
    page.get_by_role("button", name="Confirm: it holds").click()
    expect(page.locator("#news")).to_contain_text("Confirmed")
    page.get_by_role("link", name="Health").click()
    expect(page.locator("h1")).to_have_text("Health")
    expect(page.locator("#news")).to_have_text("")


def test_an_address_that_is_none_says_so(browser: Browser, served: Served) -> None:
    with window(browser, served) as page:
        page.goto(f"{served.address}/nonsense")
        expect(page.locator("main .problem")).to_contain_text("There is no such page.")


def test_an_empty_home_says_what_to_do(browser: Browser) -> None:
    with empty_machine() as machine, serving(machine) as served, opened(browser, served) as page:
        expect(page.locator(".empty")).to_contain_text("Nothing is remembered yet")
        expect(page.locator(".empty")).to_contain_text("claude-mem-lite install")
