"""Every page in both themes, wide and on two phones: nothing sticks out or is cut, and axe-core finds no fault."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.screens import PAGES
from tests.e2e.page.serving import DECISION, PHONES, WIDE, Served, empty_machine, opened, serving

AXE = Path(__file__).parents[3] / ".e2e/axe/node_modules/axe-core/axe.min.js"
SCREENSHOTS = os.environ.get("SCREENSHOTS")  # read here: no test sees the environment
SIZES = {"wide": WIDE, **PHONES}
LOOKS = [(theme, width) for theme in ("light", "dark") for width in SIZES]
CUT = """() => [...document.querySelectorAll("header *, main *")].filter((one) => {
  const isScrolled = getComputedStyle(one).overflowX !== "visible" && one.clientWidth > 1;
  return isScrolled && !one.matches("select, input") && one.scrollWidth > one.clientWidth + 1;
}).map((one) => one.outerHTML.slice(0, 200))"""
"""What is cut at its right edge, or has to be scrolled sideways."""
SMALL = """() => [...document.querySelectorAll("a[href], button, summary, input, select, textarea")].filter((one) => {
  const {width, height} = one.getBoundingClientRect();
  const isInText = one.matches("a:not(.item > a)") && one.parentElement.textContent.trim() !== one.textContent.trim();
  const isShort = height < 24 || (width < 24 && !one.matches("a"));  // a name of three letters is narrow
  return one.checkVisibility() && !isInText && isShort;
}).map((one) => one.outerHTML.slice(0, 200))"""
"""Targets below 24 px. axe-core lets a smaller one pass if nothing is near it, which depends on fonts and on titles."""
TWICE = {"width": WIDE["width"] // 2, "height": WIDE["height"] // 2}
"""The wide window when its page is shown at 200 %."""
LEFT_EDGES = """(p) => {
  const words = document.createRange();
  words.selectNode(p.firstChild);
  return [words.getBoundingClientRect().left, p.querySelector("code").getBoundingClientRect().left];
}"""
FONTS = {"low": (86, 24), "tall": (120, 40)}
"""Ascent and descent in per cent of the size: a link in a line is as high as both together."""
FONT = """([ascent, descent]) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`@font-face { font-family: other; src: local("DejaVu Sans"), local("Arial"), local("Helvetica");
    ascent-override: ${ascent}%; descent-override: ${descent}%; line-gap-override: 0%; }
    body { font-family: other, sans-serif; }`);
  document.adoptedStyleSheets = [sheet];
  return document.fonts.ready.then(() => undefined);
}"""


@pytest.fixture(scope="module")
def firsts(browser: Browser, busy: Served) -> dict[str, str]:
    """The addresses of a memory, of a session and of one of its turns, of the session after it, and of a guard."""
    with opened(browser, busy) as page:
        memory = page.locator("a[data-item]", has_text=DECISION).get_attribute("href")
        session = page.locator(".session", has_text=DECISION).locator("h2 a").get_attribute("href")
    assert memory is not None
    assert session is not None
    with opened(browser, busy, session) as page:
        turn = page.locator('a[href^="/turns/"]').first.get_attribute("href")
    assert turn is not None
    guards = json.loads(busy.machine.run("guards", "--json"))
    guard = next(one["id"] for one in guards["guards"] if one["status"] == "active")
    return {
        "/memories/1st": memory,
        "/memories/1st?all=1": f"{memory}?all=1",
        "/sessions/1st": session,
        "/sessions/later": f"/sessions/{busy.later}",
        "/turns/1st": turn,
        "/guards/1st": f"/guards/{guard}",
    }


def faults(page: Page) -> list[str]:
    """What axe-core finds, with its rule for the size of targets, which is off by default, and small targets."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run({rules: {'target-size': {enabled: true}}})")
    small = [f"small: {one}" for one in page.evaluate(SMALL)]
    return small + [f"{one['id']}: {node['html']}" for one in found["violations"] for node in one["nodes"]]


def open_all(page: Page) -> None:
    """Open everything that can be opened."""
    page.locator("main details").evaluate_all("(all) => all.forEach((one) => (one.open = true))")


def fits(page: Page) -> None:
    """Nothing sticks out of the window, is cut, or has to be scrolled sideways."""
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate(CUT) == []


def keep(page: Page, path: str, look: str) -> None:
    """Keep a picture for whoever wants to look, in the folder that SCREENSHOTS names."""
    if SCREENSHOTS:
        name = "".join(char if char.isalnum() else "-" for char in path).strip("-") or "feed"
        page.screenshot(path=f"{SCREENSHOTS}/{name}-{look}.png", full_page=True)


@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_and_has_no_fault(
    browser: Browser, busy: Served, firsts: dict[str, str], path: str, theme: str, width: str
) -> None:
    with opened(browser, busy, firsts.get(path, path), size=SIZES[width], theme=theme) as page:
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        keep(page, path, f"{theme}-{width}")
        fits(page)
        assert faults(page) == []


@pytest.mark.parametrize("path", PAGES)
def test_targets_are_large_enough_in_any_font(
    browser: Browser, busy: Served, firsts: dict[str, str], path: str
) -> None:
    with opened(browser, busy, firsts.get(path, path)) as page:
        open_all(page)
        for measures in FONTS.values():
            page.evaluate(FONT, measures)
            assert faults(page) == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_at_twice_its_size_fits_and_leaves_room_below_its_header(
    browser: Browser, busy: Served, firsts: dict[str, str], path: str
) -> None:
    with opened(browser, busy, firsts.get(path, path), size=TWICE) as page:
        keep(page, path, "twice")
        fits(page)
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        if page.evaluate("scrollY") > TWICE["height"] / 2:
            expect(page.locator("header")).not_to_be_in_viewport()


def test_a_text_runs_in_the_direction_of_its_script(browser: Browser, busy: Served) -> None:
    busy.import_memories({"kind": "decision", "title": "القرار الأول", "summary": "نستخدم `reports.py` فقط."})
    with opened(browser, busy) as page:
        summary = page.locator(".item", has_text="القرار الأول").locator("p").first
        first, code = summary.evaluate(LEFT_EDGES)
        assert first > code, "the first word stands right of the last ones"


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_questions_selections_and_the_menu_fit_and_have_no_fault(
    browser: Browser, busy: Served, firsts: dict[str, str], theme: str, width: str
) -> None:
    with opened(browser, busy, firsts["/memories/1st"], size=SIZES[width], theme=theme) as page:
        page.get_by_role("button", name="Forget…").click()
        keep(page, "/forget", f"{theme}-{width}")
        assert faults(page) == []
    with opened(browser, busy, size=SIZES[width], theme=theme) as page:
        page.locator("input.select").first.check()
        page.get_by_text("More", exact=True).click()
        keep(page, "/selected", f"{theme}-{width}")
        fits(page)
        assert faults(page) == []
        if width != "wide":
            page.get_by_role("button", name="Menu").click()
            keep(page, "/menu", f"{theme}-{width}")
            fits(page)
            assert faults(page) == []


@pytest.mark.parametrize("width", [600, 800, 1000, 1100, 1152, 1160, 1200])
def test_every_page_of_the_menu_is_in_sight(browser: Browser, served: Served, width: int) -> None:
    with opened(browser, served, "/guards", size={"width": width, "height": 900}) as page:
        keep(page, "/guards", str(width))
        for entry in page.locator("header nav a").all():
            expect(entry).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("width", PHONES)
def test_on_a_phone_every_page_is_two_touches_away(browser: Browser, busy: Served, width: str) -> None:
    with opened(browser, busy, size=PHONES[width]) as page:
        menu, entries = page.get_by_role("button", name="Menu"), page.locator("header nav a")
        for at in range(entries.count()):
            expect(entries.nth(at)).to_be_hidden()
            menu.click()
            expect(entries.nth(at)).to_be_in_viewport(ratio=1)
            path = entries.nth(at).get_attribute("href") or "nowhere"
            entries.nth(at).click()
            expect(entries.nth(at)).to_have_attribute("aria-current", "page")
            expect(page).to_have_url(f"{busy.address}{path}")
            expect(menu).to_have_attribute("aria-expanded", "false")


def test_escape_closes_the_menu(browser: Browser, busy: Served) -> None:
    with opened(browser, busy, size=PHONES["phone"]) as page:
        menu = page.get_by_role("button", name="Menu")
        menu.press("Enter")
        expect(page.get_by_role("link", name="Experiment")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Experiment")).to_be_hidden()


@pytest.mark.parametrize("path", [path for path in PAGES if "1st" not in path and "later" not in path])
def test_an_empty_home_is_explained_on_every_page(browser: Browser, nothing: Served, path: str) -> None:
    with opened(browser, nothing, path, size=PHONES["small phone"]) as page:
        keep(page, path, "empty")
        assert len(page.locator("main").inner_text()) > 60
        fits(page)
        assert faults(page) == []


@pytest.fixture(scope="module")
def nothing() -> Iterator[Served]:
    with empty_machine() as machine, serving(machine) as one:
        yield one
