"""Health in a real browser: the queue with its errors, the model, backups, and plots."""

import re

from playwright.sync_api import Browser, expect

from tests.e2e.page.serving import Served, opened
from tests.running import spool_name


def test_an_error_is_told_and_can_be_tried_again(browser: Browser, served: Served) -> None:
    (served.machine.home / "spool" / "new" / spool_name("Stop")).write_bytes(b"no JSON at all")
    with opened(browser, served, "/health") as page:
        row = page.locator("table tbody tr", has_text="Stop")
        expect(row).to_contain_text("JSON", timeout=15_000)
        row.get_by_role("button", name="Try again").click()
        expect(page.locator("#news")).to_have_text("1 event put back to work.")


def test_worker_queue_and_model_are_told(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/health") as page:
        main = page.locator("main")
        expect(main).to_contain_text("Running since")
        expect(main).to_contain_text("Rules tell what a session came to, without any model")
        expect(page.get_by_role("columnheader", name="Waiting")).to_be_visible()


def test_a_backup_can_be_made(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/health") as page:
        page.get_by_role("button", name="Make one now").click()
        expect(page.locator("main")).to_contain_text("1 kept, the last of", timeout=15_000)
    assert len(list((served.machine.home / "backups").glob("memory-*.db"))) == 1


def test_plots_can_be_read_as_numbers(browser: Browser, served: Served) -> None:
    with opened(browser, served, "/health") as page:
        for title in ("New memories", "Sessions", "Memories by kind", "Memories by project"):
            chart = page.locator(".charts > *", has_text=title).first
            expect(chart.locator("svg")).to_be_visible()
            chart.locator("summary").click()
            expect(chart.locator("table tbody tr").first).to_be_visible()
        chart = page.locator(".charts > *", has_text="New memories").first
        rows = chart.locator("table tbody tr")
        expect(rows).to_have_count(30)
        page.locator("#days").select_option("90")
        expect(page).to_have_url(re.compile("days=90"))
        expect(rows).to_have_count(90)
