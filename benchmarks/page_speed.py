"""`python -m benchmarks.page_speed [--home FOLDER]`: how quick the page is among 100,000 memories, in a real browser.

The home is that of `benchmarks.scale` (scale_home.py), in a copy. `claude-mem-lite ui` serves it, and Chromium opens
each page in a window of its own, so that nothing is in its cache. Told is when the browser first painted, by its own
clock, and when the content stood there; both are counted from the beginning of the navigation. Beside them stands the
shell alone, which holds no data: what a page takes longer than that is ours. A search is timed from the last key to the
results, with the pause of 0.12 s that the page makes so as not to search for every letter; the pause is told apart.
The same pages are opened in a window of a phone (390 x 844, touch) whose
processor is four times as slow, by the throttle of Chromium's own protocol. There the feed is also scrolled on to
1,000 memories: told is how long a further part takes from the scroll to its lines.
With `--home` the home is kept there, and used again. Needs Chromium (CHROMIUM names another than the system's)."""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from benchmarks.figures import Figure, keep, p95
from benchmarks.product import temporary_folder
from benchmarks.scale_home import fill
from benchmarks.scale_queries import queries
from benchmarks.synthetic import Language
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker, stop_worker
from claude_mem_lite.paths import Home

SIZE = 100_000
TIMES = 20
SEARCHES = 60
_CHROMIUMS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
PARTS = 19
"""Parts of the feed that are added to its first one by scrolling: 1,000 memories in all."""
_SLOWER = 4
_PHONE = {"width": 390, "height": 844}
_QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
_PAGES = {"the feed": "/", "what Claude sees": "/context", "health": "/health", "search, nothing typed yet": "/search"}
_MAX_MS = 60_000
_WAITING = """() => {
  window.filled = new Promise((done) => {
    const results = document.getElementById("results");
    new MutationObserver((_, watching) => { watching.disconnect(); done(performance.now()); })
      .observe(results, {childList: true, subtree: true});
  });
}"""
_GROWN = """(count) => new Promise((done) => {
  const began = performance.now(), lines = () => document.querySelectorAll("a[data-item]").length;
  const look = () => (lines() > count ? setTimeout(done, 0, performance.now() - began) : requestAnimationFrame(look));
  scrollTo(0, document.body.scrollHeight);
  look();
})"""
_PAINTED = """() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now()"""


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.page_speed")
    options.add_argument("--home", type=Path, metavar="FOLDER")
    given = options.parse_args(arguments)
    with temporary_folder() as scratch:
        filled = (given.home or scratch) / str(SIZE)
        fill(filled, SIZE)
        with _served(filled, scratch / "page") as link, _browser() as browser:
            address, _, code = link.partition("/#")
            figures = list(measured(browser, address, _entered(address, code)))
    return keep("page_speed", "How quick the page is", figures, "python -m benchmarks.page_speed")


def _entered(address: str, code: str) -> str:
    """The token, as the page gets it for the code in its link."""
    told, headers = json.dumps({"code": code}).encode(), {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{address}/enter", told, headers)) as answer:
        token: str = json.load(answer)["token"]
    return token


def measured(browser: Browser, address: str, token: str) -> Iterator[Figure]:
    """Every figure, told as soon as it is known."""
    shell = [_opened(browser, address, "/")[0] for _ in range(TIMES)]
    yield _told("the shell alone, without a token: first paint", shell)
    for name, path in _PAGES.items():
        times = [_opened(browser, address + path, path, token) for _ in range(TIMES)]
        painted, filled = [one[0] for one in times], [one[1] for one in times]
        yield _told(f"{name}: first paint", painted, of=statistics.median(shell))
        yield _told(f"{name}: its content", filled, of=statistics.median(shell))
    yield from _on_phone(browser, address, token)
    yield _told(
        "search as one types: results after the last key, the pause of 120 ms included",
        _searches(browser, address, token),
    )


def _on_phone(browser: Browser, address: str, token: str) -> Iterator[Figure]:
    shell = [_opened(browser, address, "/", is_phone=True)[0] for _ in range(TIMES)]
    yield _told("phone, the shell alone, without a token: first paint", shell)
    for name, path in _PAGES.items():
        times = [_opened(browser, address + path, path, token, is_phone=True) for _ in range(TIMES)]
        painted, filled = [one[0] for one in times], [one[1] for one in times]
        yield _told(f"phone, {name}: first paint", painted, of=statistics.median(shell))
        yield _told(f"phone, {name}: its content", filled, of=statistics.median(shell))
    context = _window(browser, token, is_phone=True)
    try:
        page = _new_page(context, is_phone=True)
        page.goto(address)
        page.wait_for_selector("a[data-item]", timeout=_MAX_MS)
        parts = [float(page.evaluate(_GROWN, page.locator("a[data-item]").count())) for _ in range(PARTS)]
    finally:
        context.close()
    yield _told("phone, the feed scrolled on to 1,000 memories: a further part", parts)


def _told(name: str, times: Sequence[float], of: float | None = None) -> Figure:
    ratio = f"; median {statistics.median(times) / of:.2f} of the shell's first paint" if of else ""
    note = f"p50 {statistics.median(times):.0f}, most {max(times):.0f} of {len(times)}{ratio}"
    figure = Figure(f"{SIZE:,} memories, {name}, p95", round(p95(times), 1), "ms", note=note)
    print(figure.line(), flush=True)
    return figure


def _opened(
    browser: Browser, address: str, path: str, token: str = "", *, is_phone: bool = False
) -> tuple[float, float]:
    """When the browser first painted, and when the content stood there."""
    context = _window(browser, token, is_phone=is_phone)
    try:
        page = _new_page(context, is_phone=is_phone)
        page.goto(address)
        page.wait_for_selector("main:not([aria-busy])", timeout=_MAX_MS)
        filled = page.evaluate("performance.now()")
        if token and page.locator("main .problem").count():
            raise SystemExit(f"{path} does not work: {page.locator('main').inner_text()}")
        return float(page.evaluate(_PAINTED)), float(filled)
    finally:
        context.close()


def _new_page(context: BrowserContext, *, is_phone: bool) -> Page:
    page = context.new_page()
    if is_phone:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
    return page


def _window(browser: Browser, token: str, *, is_phone: bool = False) -> BrowserContext:
    """A window with nothing in its cache, of a browser that was let in before."""
    if is_phone:
        size = ViewportSize(width=_PHONE["width"], height=_PHONE["height"])
        context = browser.new_context(viewport=size, device_scale_factor=3, is_mobile=True, has_touch=True)
    else:
        context = browser.new_context()
    if token:
        context.add_init_script(f"localStorage.setItem('claude-mem-lite', '{token}')")
    return context


def _searches(browser: Browser, address: str, token: str) -> list[float]:
    context = _window(browser, token)
    try:
        page = context.new_page()
        page.goto(f"{address}/search")
        page.wait_for_selector("#query", timeout=_MAX_MS)
        asked = [one.text for one in queries(Language(), SEARCHES + 5, 1, SIZE)]
        return [_search(page, text) for text in asked][5:]  # the first ones load what search needs
    finally:
        context.close()


def _search(page: Page, text: str) -> float:
    page.locator("#query").fill(text[:-1])
    page.wait_for_timeout(1_000)
    page.evaluate(_WAITING)
    began = page.evaluate("performance.now()")
    page.locator("#query").press_sequentially(text[-1])
    return float(page.evaluate("window.filled")) - float(began)


@contextmanager
def _served(filled: Path, folder: Path) -> Iterator[str]:
    """The link of `claude-mem-lite ui` on a copy of a filled home."""
    home = Home(folder / "home")
    home.make()
    shutil.copy(Home(filled).memory_db, home.memory_db)
    home.worker_python.symlink_to(sys.executable)
    ensure_worker(home)
    command = [str(Path(sys.executable).with_name("claude-mem-lite")), "ui", "--no-open"]
    environment = {**os.environ, "CLAUDE_MEM_LITE_HOME": str(home.root), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()
        stop_worker(Client(home))


@contextmanager
def _browser() -> Iterator[Browser]:
    found = next((path for path in (os.environ.get("CHROMIUM", ""), *_CHROMIUMS) if Path(path).is_file()), None)
    if found is None:
        raise SystemExit("Chromium is not here: install it, or set CHROMIUM to its path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(_QUIET))
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
