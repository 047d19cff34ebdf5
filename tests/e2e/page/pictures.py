"""`python -m tests.e2e.page.pictures`: the pictures of the page in docs/images, made anew from the recorded session."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.page.serving import DECISION, NARROW, filled_machine, opened, running_browser, serving

IMAGES = Path(__file__).parents[3] / "docs" / "images"
RULE = "Round prices half up, as the till does"
PROMPT = "why do we keep UTC in the database, and convert only in reports?"


def main() -> None:
    with filled_machine() as machine, running_browser() as browser:
        machine.run("remember", "rule", RULE)
        with serving(machine) as served:
            with opened(browser, served, size={"width": 1100, "height": 760}) as page:
                page.locator("a[data-item]", has_text=RULE).click()
                page.get_by_role("button", name="Pin", exact=True).click()
                expect(page.get_by_role("button", name="Unpin")).to_be_visible()
                page.get_by_role("link", name="Feed").click()
                expect(page.locator(".flag.pin")).to_be_visible()
                keep(page, "feed")
                page.set_viewport_size({"width": NARROW["width"], "height": NARROW["height"]})
                page.locator("a[data-item]", has_text=DECISION).click()
                expect(page.locator("h1")).to_contain_text(DECISION)
                keep(page, "memory")
            with opened(browser, served, "/context", size={"width": 1100, "height": 900}, theme="dark") as page:
                page.locator("#prompt").fill(PROMPT)
                expect(page.locator("#tried pre")).to_contain_text(DECISION)
                keep(page, "context")


def keep(page: Page, name: str) -> None:
    expect(page.locator("#live")).to_have_text("live")
    page.screenshot(path=IMAGES / f"{name}.png")
    print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
