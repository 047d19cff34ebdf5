"""What must not be possible: asking without the token, from elsewhere, or by another site; and nothing leaks."""

import http.client
import json
import re
import signal
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from demo.machine import CommandFailed
from playwright.sync_api import Browser, Page, Request, expect

from tests.e2e.page.serving import DECISION, Served, filled_machine, opened, serving, window
from tests.support import live_files
from tests.support.running import wait_until

JSON = {"content-type": "application/json"}
DATA = (
    "/part/",
    "/part/search?query=day",
    "/part/context",
    "/part/health",
    "/part/projects",
    "/part/quarantine",
    "/events",
)
SCRIPT = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">'


def ask(served: Served, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> tuple[int, str]:
    """The status and the beginning of an answer, asked as by any program of this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    try:
        connection.request(method, path, body or None, {"host": f"127.0.0.1:{served.port}", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read(4_000).decode("utf-8", "replace") if path != "/events" else ""
    finally:
        connection.close()


def key(served: Served) -> dict[str, str]:
    return {"authorization": f"Bearer {served.token}"}


@pytest.mark.parametrize("path", DATA)
def test_without_the_token_nothing_is_told(served: Served, path: str) -> None:
    for headers in ({}, {"authorization": "Bearer wrong"}, {"cookie": f"claude-mem-lite={served.token}"}):
        assert ask(served, "GET", path, headers)[0] == 401
    assert ask(served, "GET", path, key(served))[0] == 200


def test_the_shell_needs_no_token_and_tells_nothing(served: Served) -> None:
    for path in ("/", "/memories/anything", "/static/app.js", "/static/style.css"):
        status, text = ask(served, "GET", path, {})
        assert status == 200
        assert "Sunday" not in text
        assert served.token not in text


def test_a_name_that_was_made_to_point_here_is_refused(served: Served) -> None:
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", ""):
        assert ask(served, "GET", "/part/", {**key(served), "host": host})[0] == 403


def test_pages_of_other_sites_are_refused(served: Served) -> None:
    foreign = {**key(served), **JSON, "origin": "https://evil.example"}
    assert ask(served, "POST", "/do/forget", foreign, b"{}")[0] == 403
    assert ask(served, "GET", "/part/", {**key(served), "sec-fetch-site": "cross-site"})[0] == 403
    form = {**key(served), "content-type": "application/x-www-form-urlencoded"}
    assert ask(served, "POST", "/do/forget", form, b"id=a")[0] == 415


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/..%2f..%2fpyproject.toml",
        "/static/%2e%2e/%2e%2e/etc/passwd",
        "/static//etc/passwd",
        "/static/shell.html%00.js",
        "/../../../../etc/passwd",
    ],
)
def test_no_path_leads_to_a_file(served: Served, path: str) -> None:
    status, text = ask(served, "GET", path, key(served))
    assert status in (200, 404)
    assert "root:" not in text
    assert "import " not in text.replace('type="module"', "")


def test_an_id_is_no_path(served: Served) -> None:
    for id_ in ("..%2f..%2fetc", "%00", "a" * 5_000, "'%20or%201=1--"):
        status, text = ask(served, "GET", f"/part/memories/{id_}", key(served))
        assert status in (400, 404, 409, 414, 502)
        assert "Traceback" not in text


def test_it_listens_on_loopback_alone(served: Served) -> None:
    listening = [
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and int(line.split()[1].rpartition(":")[2], 16) == served.port
    ]
    assert listening == [f"0100007F:{served.port:04X}"]


def test_a_cross_site_form_changes_nothing(browser: Browser, served: Served, tmp_path: Path) -> None:
    """A page of somebody else's posts to the server, as a browser lets it."""
    evil = tmp_path / "evil.html"
    evil.write_text(
        f'<form id=f method=post enctype="text/plain" action="{served.address}/do/retire">'
        """<input name='{"id":"' value='x"}'></form><script>f.submit()</script>"""
    )
    context = browser.new_context()
    page = context.new_page()
    answers: list[int] = []
    page.on("response", lambda one: answers.append(one.status) if "/do/" in one.url else None)
    page.goto(evil.as_uri())
    page.wait_for_url(f"{served.address}/**")
    context.close()
    assert answers
    assert all(status in (401, 403, 415) for status in answers)


def test_another_site_can_neither_read_nor_frame_it(browser: Browser, served: Served, tmp_path: Path) -> None:
    evil = tmp_path / "evil.html"
    evil.write_text(f'<iframe src="{served.address}/"></iframe>')
    context = browser.new_context()
    page = context.new_page()
    page.goto(evil.as_uri())
    read = page.evaluate(
        """async (address) => { try { return (await fetch(address + "/part/")).status } catch { return "refused" } }""",
        served.address,
    )
    frame = page.frames[-1]
    assert read == "refused"
    assert frame.locator("header").count() == 0
    context.close()


def test_script_in_a_memory_is_shown_and_never_run(browser: Browser, served: Served) -> None:
    served.machine.run("remember", "note", f"Beware of {SCRIPT} in titles")
    with opened(browser, served) as page:
        line = page.locator("a[data-item]", has_text="Beware of")
        expect(line).to_contain_text("<script>window.hacked = 1</script>")
        line.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Beware of")
        page.goto(f"{served.address}/search?query=beware")
        expect(page.locator("#results")).to_contain_text("Beware of")
        assert page.evaluate("window.hacked") is None
        assert page.locator("main script, main img").count() == 0


def test_a_memory_of_five_megabytes_does_no_harm(browser: Browser, served: Served, tmp_path: Path) -> None:
    huge = json.dumps({"kind": "note", "title": "A huge one", "summary": "tea " * 1_300_000})
    (tmp_path / "huge.jsonl").write_text(huge + "\n")
    with pytest.raises(CommandFailed, match="longer than"):
        served.machine.run("import", "jsonl", str(tmp_path / "huge.jsonl"))
    # Nothing lets one in; if one is there all the same, it is shown.
    served.machine.run("remember", "note", "A huge one about tea")
    with closing(sqlite3.connect(served.machine.home / "memory.db")) as db, db:
        db.execute(
            "update memories set summary = ?, detail = ? where title like 'A huge one%'", ("tea " * 1_300_000,) * 2
        )
    with opened(browser, served, "/search?query=huge") as page:
        page.locator("#results a", has_text="A huge one").first.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("A huge one")
        assert len(page.locator("main").inner_html()) < 200_000


def test_the_token_is_in_no_referrer_address_or_log(browser: Browser, served: Served) -> None:
    asked: list[Request] = []
    context = browser.new_context()
    page = context.new_page()
    page.on("request", lambda one: asked.append(one))
    link = served.link()
    page.goto(link)
    page.wait_for_selector("a[data-item]")
    page.locator("a[data-item]").first.click()
    expect(page).to_have_url(re.compile("/memories/"))
    assert "#" not in page.url
    assert asked
    wait_until(lambda: served.link() != link, "the next link is printed")
    for request in asked:
        assert served.token not in request.url.partition("#")[0]
        assert "referer" not in request.all_headers()
    context.close()
    assert served.files_with_token() == []
    assert not any(served.token in line for line in served.printed)
    assert not any(served.token.encode() in line for line in live_files.command_lines())


def test_a_wrong_link_is_told_what_to_do(browser: Browser, served: Served) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{served.address}/#{'x' * 43}")
    expect(page.locator("main .problem")).to_contain_text("Run claude-mem-lite ui for another.")
    expect(page.locator("#live")).to_have_text("locked")
    context.close()


def test_a_link_is_worth_nothing_once_it_was_used(browser: Browser, served: Served) -> None:
    link = served.link()
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    expect(page.locator("a[data-item]").first).to_be_visible()
    page.goto("about:blank")
    page.goto(link)  # who has entered stays in
    expect(page.locator("a[data-item]").first).to_be_visible()
    context.close()
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    expect(page.locator("main .problem")).to_contain_text("This link was used: each link opens the page once.")
    context.close()


def test_no_link_of_another_site_locks_anybody_out(browser: Browser, served: Served) -> None:
    with window(browser, served) as page:
        page.goto(f"{served.address}/#{'x' * 43}")
        expect(page.locator("a[data-item]").first).to_be_visible()


def test_the_browser_keeps_no_word_of_what_is_remembered(page: Page) -> None:
    """Titles and addresses stay in its history, whatever is forgotten later."""
    page.locator("a[data-item]", has_text=DECISION).click()
    expect(page.locator("h1")).to_contain_text(DECISION)
    expect(page).to_have_title("A memory · claude-mem-lite")
    page.get_by_role("link", name="What Claude sees", exact=True).click()
    page.locator("#prompt").fill("why do we keep UTC in the database?")
    expect(page.locator("#tried")).to_contain_text(DECISION)
    assert "keep" not in page.url


def test_many_tabs_are_all_alive(browser: Browser, served: Served) -> None:
    """A browser has six connections to a server; one stream for each tab would take them all."""
    with window(browser, served) as first:
        tabs = [first, *(first.context.new_page() for _ in range(8))]
        for tab in tabs:
            tab.goto(f"{served.address}/")
            expect(tab.locator("a[data-item]").first).to_be_visible()
            expect(tab.locator("#live")).to_have_text("live")
        served.machine.run("remember", "rule", "Weigh the tea twice before it is packed")
        for tab in tabs:
            expect(tab.locator("a[data-item]", has_text="Weigh the tea twice")).to_have_count(1)
        tabs[0].close()  # another one reads the stream now
        served.machine.run("remember", "rule", "Seal the tins by hand in December")
        for tab in tabs[1:]:
            expect(tab.locator("a[data-item]", has_text="Seal the tins")).to_have_count(1)


@pytest.fixture
def own() -> Iterator[Served]:
    with filled_machine() as machine, serving(machine) as one:
        yield one


def test_the_page_says_when_its_server_has_ended(browser: Browser, own: Served) -> None:
    with window(browser, own) as page:
        page.goto(f"{own.address}/search")
        page.wait_for_selector("#query")
        own.process.send_signal(signal.SIGINT)
        assert own.process.wait(timeout=30) == 0
        expect(page.locator("#live")).to_have_text("not connected")
        page.locator("#query").fill("day")
        expect(page.locator("#news")).to_contain_text("run claude-mem-lite ui again")
        page.get_by_role("link", name="Health").click()
        expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
    assert list(own.machine.home.glob("ui*")) == []
