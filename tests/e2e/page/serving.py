"""A machine with a recorded session in it, the page's server on it as a user starts it, and a real browser."""

import json
import os
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from demo import recording
from demo.machine import COMMAND, Machine
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support import live_files
from tests.support.running import wait_until

CHROMIUMS = (
    os.environ.get("CHROMIUM", ""),  # read here: no test sees the environment
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
)
# Without these it looks for its maker's servers at every start.
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
START_S = 60.0
DECISION = "Keep UTC in the database"
"""Words of the decision that the recorded session leaves."""
FIX = "sales_by_day took the day straight from placed_at"
"""Words of the fix that it leaves; its session has the same headline."""
WIDE, NARROW = {"width": 1200, "height": 900}, {"width": 400, "height": 800}
PHONES = {"phone": {"width": 390, "height": 844}, "small phone": {"width": 360, "height": 740}}


@dataclass(frozen=True, slots=True)
class Served:
    """The page's server, with the machine behind it."""

    machine: Machine
    address: str
    token: str
    process: "subprocess.Popen[str]"
    printed: list[str]

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    def link(self) -> str:
        """The link that opens the page the next time: each is good for one."""
        return next(line.split()[-1] for line in reversed(self.printed) if "/#" in line)

    @property
    def later(self) -> str:
        """The session that came after the recorded one."""
        found: list[dict[str, str]] = json.loads(self.machine.run("receipts", "--json"))
        return found[0]["session"]

    def import_memories(self, *memories: Mapping[str, str]) -> None:
        """Import memories from a file of lines."""
        file = self.machine.root / "memories.jsonl"
        file.write_text("".join(f"{json.dumps(memory)}\n" for memory in memories))
        self.machine.run("import", "jsonl", str(file))

    def files_with_token(self) -> list[str]:
        """The files below the machine's root that hold the token."""
        return [str(path) for path in live_files.files_with(self.machine.root, self.token.encode())]


@contextmanager
def filled_machine() -> Iterator[Machine]:
    """A machine on which the recorded session was worked through, by its hooks."""
    with Machine() as machine:
        events = recording.load(recording.BUNDLED, machine.project)
        machine.make_project(recording.files_at_start(events))
        machine.install()
        for event in events:
            if edited := recording.file_after(event):
                machine.write(*edited)
            machine.hook(event)
        machine.run("worker", "drain", "--timeout", "50")
        machine.hook(recording.next_start(events))  # another session is given what this one left
        machine.run("worker", "drain", "--timeout", "50")
        yield machine


@contextmanager
def empty_machine() -> Iterator[Machine]:
    """A machine on which nothing was done yet."""
    with Machine() as machine:
        machine.user.mkdir()
        machine.project.mkdir()
        yield machine


@contextmanager
def serving(machine: Machine, *arguments: str) -> Iterator[Served]:
    """`claude-mem-lite ui` on a machine, as a process of its own."""
    process = subprocess.Popen(
        [str(COMMAND), "ui", "--no-open", *arguments],
        cwd=machine.project,
        env={**machine.environment(), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    late = threading.Timer(START_S, process.kill)
    late.start()
    with process.stdout as told:
        first = told.readline()
        late.cancel()
        printed = [first]
        reading = threading.Thread(target=lambda: printed.extend(told), daemon=True)
        reading.start()
        try:
            assert first.startswith("The page is at http://127.0.0.1:"), first
            address, _, code = first.split()[-1].partition("/#")
            served = Served(machine, address, enter(address, code), process, printed)
            wait_until(lambda: len(printed) == 3, "the next link is printed")
            yield served
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(timeout=START_S)
            reading.join(timeout=START_S)


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A real Chromium without a window, which reaches nothing but loopback."""
    found = next((path for path in CHROMIUMS if Path(path).is_file()), None)
    assert found, "Chromium is not here: run `make e2e`, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


def enter(address: str, code: str) -> str:
    """The token, as the page gets it for the code in its link."""
    told, headers = json.dumps({"code": code}).encode(), {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}/enter", told, headers), timeout=30) as answer:
        token: str = json.load(answer)["token"]
    return token


def go(page: Page, key: str) -> None:
    """Press the two keys that lead to a page while its clock stands: the second must follow the first soon."""
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))
    page.keyboard.press("g")
    page.keyboard.press(key)
    page.clock.resume()


@contextmanager
def window(browser: Browser, served: Served, *, size: Mapping[str, int] = WIDE, theme: str = "light") -> Iterator[Page]:
    """A window of a browser that has entered before."""
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        color_scheme="dark" if theme == "dark" else "light",
    )
    context.add_init_script(f"localStorage.setItem('claude-mem-lite', '{served.token}')")
    try:
        yield context.new_page()
    finally:
        context.close()


@contextmanager
def opened(
    browser: Browser, served: Served, path: str = "/", *, size: Mapping[str, int] = WIDE, theme: str = "light"
) -> Iterator[Page]:
    """The page in a window of its own; it must not complain of anything."""
    complaints: list[str] = []
    with window(browser, served, size=size, theme=theme) as page:
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda one: complaints.append(one.text) if one.type == "error" else None)
        page.on("request", lambda one: complaints.append(one.url) if not one.url.startswith(served.address) else None)
        page.goto(f"{served.address}{path}")
        page.wait_for_selector("main:not([aria-busy])")
        yield page
    assert complaints == [], "the page complains, or asks another server"
