"""What Claude sees, in a real browser: the text, the budget, why, and a prompt to try."""

import re

from playwright.sync_api import Browser, expect

from tests.e2e.page.serving import DECISION, Served, opened


def test_the_text_is_what_a_session_would_be_told(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/context") as page:
        shown = str(page.locator("#injected").text_content())
        told = served.machine.run("context")
        assert DECISION.lower() in shown.lower()
        assert [line for line in shown.splitlines() if line.startswith("##")] == [
            line for line in told.splitlines() if line.startswith("##")
        ]


def test_budget_and_preset_change_it(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/context") as page:
        expect(page.locator("#start")).to_contain_text("of 2,000 tokens")
        before = len(str(page.locator("#injected").text_content()))
        page.get_by_text("More", exact=True).click()
        page.locator("#budget").fill("200")
        page.locator("#budget").blur()
        expect(page.locator("#start")).to_contain_text("of 200 tokens")
        assert len(str(page.locator("#injected").text_content())) < before
        page.locator("#preset").select_option(index=2)
        expect(page).to_have_url(re.compile("preset="))
        chosen = page.locator("#preset").input_value()
        expect(page.locator("#start")).to_contain_text(f"preset {chosen}")


def test_every_layer_and_item_has_its_reason(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/context?budget=200") as page:
        expect(page.get_by_role("columnheader", name="Layer")).to_be_visible()
        expect(page.get_by_role("rowheader", name="handoff")).to_be_visible()
        page.locator("#left-out > summary").click()
        out = page.locator("#left-out .item")
        expect(out.first).to_be_visible()
        reasons = out.locator(".why").all_text_contents()
        assert len(reasons) == out.count() > 0
        assert all(re.match(r"[a-z ]+: \S", one) for one in reasons)


def test_a_prompt_can_be_tried(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/context") as page:
        page.locator("#prompt").fill(f"why do we {DECISION}, and convert only in reports?")
        expect(page.locator("#tried pre")).to_contain_text(DECISION)
        page.locator("#prompt").fill("hello")
        expect(page.locator("#tried .empty")).to_contain_text("This prompt gets no memory")


def test_it_follows_what_is_remembered(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/context") as page:
        expect(page.locator("#live")).to_have_text("live")
        served.machine.run("remember", "convention", "Name every migration after its day")
        expect(page.locator("#injected")).to_contain_text("Name every migration after its day")
