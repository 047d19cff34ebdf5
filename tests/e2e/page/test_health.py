"""Health in a real browser: the queue with its errors, the model, backups, and plots."""

import re

from playwright.sync_api import Browser, expect

from tests.e2e.page.seeded_machine import TOKENS
from tests.e2e.page.serving import Served, opened
from tests.support.running import spool_name


def test_an_error_is_told_and_can_be_tried_again(browser: Browser, served: Served) -> None:
    (served.machine.home / "spool" / "new" / spool_name("Stop")).write_bytes(b"no JSON at all")
    with opened(browser, served, "/health") as page:
        row = page.locator("table tbody tr", has_text="Stop")
        expect(row).to_contain_text("JSON")
        row.get_by_role("button", name="Try again").click()
        expect(page.locator("#news")).to_have_text("1 event put back to work.")


def test_worker_queue_and_model_are_told(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/health") as page:
        main = page.locator("main")
        expect(main).to_contain_text("Running since")
        expect(main).to_contain_text("Rules write the notes without a model: nothing is sent and nothing is spent")
        expect(page.get_by_role("columnheader", name="Waiting")).to_be_visible()


def test_a_backup_can_be_made(browser: Browser, served: Served) -> None:
    folder = served.machine.home / "backups"
    before = set(folder.glob("memory-*.db"))  # a worker that has nothing to do makes one by itself
    with opened(browser, served, "/health") as page:
        page.get_by_role("button", name="Make one now").click()
        expect(page.locator("#news")).to_contain_text("Backup made")
        expect(page.locator("main")).to_contain_text(" kept, the last made")
    assert set(folder.glob("memory-*.db")) > before


def test_plots_can_be_read_as_numbers(browser: Browser, past: Served) -> None:
    with opened(browser, past, "/health") as page:
        for title in ("Sessions", "Memories by kind", "Memories by project"):
            chart = page.locator(".charts > *", has=page.get_by_role("heading", name=title, exact=True))
            expect(chart.locator("svg")).to_be_visible()
            chart.locator("summary").click()
            expect(chart.locator("table tbody tr").first).to_be_visible()
        chart = page.locator(".charts > *", has=page.get_by_role("heading", name="Sessions", exact=True))
        rows = chart.locator("table tbody tr")
        expect(rows).to_have_count(30)
        page.locator("#days").select_option("90")
        expect(page).to_have_url(re.compile("days=90"))
        expect(rows).to_have_count(90)


def test_the_verdict_comes_first(browser: Browser, past: Served) -> None:
    with opened(browser, past, "/health") as page:
        first = page.locator("#now > *").first
        expect(first).to_contain_text("All is well.")


def test_what_was_given_used_saved_and_spent_is_told_by_day(browser: Browser, past: Served) -> None:
    numbers: dict[str, list[str | re.Pattern[str]]] = {
        "How often memories were given": ["1"],
        "Outcomes of what was given": ["1", "1", "0"],
        "Share that was used, at least": ["50%"],
        "Tokens given": [str(TOKENS)],
        "Tokens given and saved at starts": [str(TOKENS), re.compile(r"[1-9]\d*")],
        "Spent on models": ["$0.25"],
        "Tokens of models": ["2,000", "300"],
    }
    with opened(browser, past, "/health") as page:
        for title, told in numbers.items():
            chart = page.locator(".charts > *", has=page.get_by_role("heading", name=title, exact=True))
            expect(chart.locator("svg")).to_have_count(0)  # one day is no plot
            expect(chart.locator("table tbody tr").last.locator("td")).to_have_text(told)


def test_what_is_stored_adds_up(browser: Browser, past: Served) -> None:
    with opened(browser, past, "/health") as page:
        expect(page.locator("main")).to_contain_text("7 memories (4 of them active, 0 today)")
        for title in ("Memories by kind", "Memories by project"):
            chart = page.locator(".charts > *", has=page.get_by_role("heading", name=title, exact=True))
            chart.locator("summary").click()
            assert sum(map(int, chart.locator("table tbody td").all_text_contents())) == 4
