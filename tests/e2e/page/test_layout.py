"""Every page in both themes, wide and narrow: nothing sticks out, and axe-core finds no serious fault."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.serving import DECISION, NARROW, WIDE, Served, empty_machine, opened, serving

AXE = Path(__file__).parents[3] / ".e2e/axe/node_modules/axe-core/axe.min.js"
PAGES = (
    "/",
    "/search",
    "/search?query=local+day",
    "/context",
    "/projects",
    "/team",
    "/quarantine",
    "/health",
    "/guards",
    "/lessons",
    "/evaluation",
    "/memories/1st",
    "/memories/1st?all=1",
    "/sessions/1st",
    "/turns/1st",
)
SCREENSHOTS = os.environ.get("SCREENSHOTS")  # read here: no test sees the environment
LOOKS = [("light", "wide"), ("dark", "wide"), ("light", "narrow"), ("dark", "narrow")]


@pytest.fixture(scope="module")
def firsts(browser: Browser, served: Served) -> dict[str, str]:
    """The addresses of a memory, of a session and of one of its turns."""
    with opened(browser, served) as page:
        memory = page.locator("a[data-item]", has_text=DECISION).get_attribute("href")
        session = page.locator(".session", has_text=DECISION).locator("h2 a").get_attribute("href")
    assert memory is not None
    assert session is not None
    with opened(browser, served, session) as page:
        turn = page.locator('a[href^="/turns/"]').first.get_attribute("href")
    assert turn is not None
    whole = f"{memory}?all=1"
    return {"/memories/1st": memory, "/memories/1st?all=1": whole, "/sessions/1st": session, "/turns/1st": turn}


def faults(page: Page) -> list[str]:
    """What axe-core finds that is serious or worse."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run()")
    return [
        f"{one['id']}: {node['html']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def keep(page: Page, path: str, look: str) -> None:
    """Keep a picture for whoever wants to look, in the folder that SCREENSHOTS names."""
    if SCREENSHOTS:
        name = "".join(char if char.isalnum() else "-" for char in path).strip("-") or "feed"
        page.screenshot(path=f"{SCREENSHOTS}/{name}-{look}.png", full_page=True)


@pytest.mark.parametrize(("theme", "width"), LOOKS)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_and_has_no_serious_fault(
    browser: Browser, served: Served, firsts: dict[str, str], path: str, theme: str, width: str
) -> None:
    size = WIDE if width == "wide" else NARROW
    with opened(browser, served, firsts.get(path, path), size=size, theme=theme) as page:
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        keep(page, path, f"{theme}-{width}")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert faults(page) == []


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_questions_and_selections_have_no_serious_fault(
    browser: Browser, served: Served, firsts: dict[str, str], theme: str, width: str
) -> None:
    size = WIDE if width == "wide" else NARROW
    with opened(browser, served, firsts["/memories/1st"], size=size, theme=theme) as page:
        page.get_by_role("button", name="Forget…").click()
        keep(page, "/forget", f"{theme}-{width}")
        assert faults(page) == []
    with opened(browser, served, size=size, theme=theme) as page:
        page.locator("input.select").first.check()
        page.get_by_text("More", exact=True).click()
        keep(page, "/selected", f"{theme}-{width}")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert faults(page) == []


@pytest.mark.parametrize("width", [600, 800, 1000, 1100, 1152, 1160, 1200])
def test_every_page_of_the_menu_is_in_sight(browser: Browser, served: Served, width: int) -> None:
    with opened(browser, served, "/guards", size={"width": width, "height": 900}) as page:
        keep(page, "/guards", str(width))
        for entry in page.locator("header nav a").all():
            expect(entry).to_be_in_viewport(ratio=1)


def test_in_a_narrow_window_the_pages_are_one_row(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/health", size=NARROW) as page:
        tops = page.locator("header nav a").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)")
        assert len(set(tops)) == 1
        expect(page.locator('header nav a[aria-current="page"]')).to_be_in_viewport()


@pytest.mark.parametrize("path", ["/", "/search", "/context", "/projects", "/team", "/quarantine", "/health"])
def test_an_empty_home_is_explained_on_every_page(browser: Browser, nothing: Served, path: str) -> None:
    with opened(browser, nothing, path, size=NARROW) as page:
        keep(page, path, "empty")
        assert len(page.locator("main").inner_text()) > 60
        assert faults(page) == []


@pytest.fixture(scope="module")
def nothing() -> Iterator[Served]:
    with empty_machine() as machine, serving(machine) as one:
        yield one
