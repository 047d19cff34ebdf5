"""`claude-mem-lite ui` as a process: the link, the file for the browser, and how it ends."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.running import Machine, open_machine, wait_until

COMMAND = Path(sys.executable).with_name("claude-mem-lite")
# Stands for a browser: notes what it is asked to open, and what it can read there.
BROWSER = """#!/bin/sh
echo "$@" > "$SEEN.command"
cp "${1#file://}" "$SEEN.page"
"""


@contextmanager
def page_of(machine: Machine, *arguments: str, **more: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    process = subprocess.Popen(
        [str(COMMAND), "ui", *arguments],
        env=machine.environment({"PYTHONUNBUFFERED": "1", **more}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert re.fullmatch(r"The page is at http://127\.0\.0\.1:\d+/#[\w-]{43}\n", first), first
            yield process, first.split()[-1]
        finally:
            if process.poll() is None:
                process.kill()


def entered(link: str) -> str:
    """The token that a browser gets for a link."""
    address, _, code = link.partition("/#")
    told = json.dumps({"code": code}).encode()
    asked = urllib.request.Request(f"{address}/enter", told, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        token: str = json.load(answer)["token"]
    return token


def part(link: str, token: str | None = None) -> str:
    """The feed, as a browser gets it that opens a link."""
    headers = {"Authorization": f"Bearer {token or entered(link)}"}
    with urllib.request.urlopen(urllib.request.Request(f"{link.partition('#')[0]}part/", headers=headers)) as answer:
        text: str = answer.read().decode()
    return text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_serves_until_it_is_told_to_end_and_leaves_nothing(served: Machine, number: signal.Signals) -> None:
    with page_of(served, "--no-open") as (process, link):
        assert "Nothing is remembered yet" in part(link)
        process.send_signal(number)
        assert process.wait(timeout=30) == 0
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        assert lines[0] == "Press Ctrl-C to end it."
        assert [line.partition("http")[0] for line in lines[1:]] == ["Opened. For another browser: "]
    assert list(served.home.root.glob("ui*")) == []


def test_a_link_opens_it_once_and_the_next_one_is_printed(served: Machine) -> None:
    with page_of(served, "--no-open") as (process, link):
        token = entered(link)
        assert token not in link
        with pytest.raises(urllib.error.HTTPError, match="403"):
            entered(link)
        assert process.stdout is not None
        assert process.stdout.readline() == "Press Ctrl-C to end it.\n"
        again = process.stdout.readline().split()[-1]
        assert again != link
        assert entered(again) == token
        assert "Nothing is remembered yet" in part(link, token)


def test_a_machine_on_which_nothing_was_done_yet_gets_a_page_that_says_what_to_do() -> None:
    with open_machine() as machine:
        shutil.rmtree(machine.home.root)
        with page_of(machine, "--no-open") as (_, link):
            assert "claude-mem-lite install" in part(link)


def test_the_browser_gets_a_file_that_only_the_user_can_read(served: Machine, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o700)
    seen = tmp_path / "seen"
    with page_of(served, BROWSER=f"{browser} %s", SEEN=str(seen)) as (process, link):
        token = link.partition("#")[2]
        read = Path(f"{seen}.page")
        wait_until(lambda: read.exists() and token in read.read_text(), "the browser has read the page")
        (file,) = served.home.root.glob("ui-*.html")
        assert token not in Path(f"{seen}.command").read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert not file.exists()


def test_two_pages_have_two_tokens(served: Machine) -> None:
    with page_of(served, "--no-open") as (_, one), page_of(served, "--no-open") as (_, other):
        assert "Nothing" in part(one)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            part(one, entered(other))


def test_a_browser_that_stays_in_front_holds_up_nothing(served: Machine, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nexec sleep 60\n")
    browser.chmod(0o700)
    with page_of(served, BROWSER=f"{browser} %s") as (process, link):
        assert "Nothing is remembered yet" in part(link)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    assert list(served.home.root.glob("ui*")) == []


def test_it_ends_at_once_while_the_worker_does_not_answer(served: Machine) -> None:
    with page_of(served, "--no-open") as (process, link):
        token = entered(link)
        os.kill(served.worker_pid(), signal.SIGSTOP)
        try:
            waiting = threading.Thread(target=lambda: _ended(link, token), daemon=True)
            waiting.start()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 0
            assert process.stdout is not None
            assert "Traceback" not in process.stdout.read()
        finally:
            os.kill(served.worker_pid(), signal.SIGCONT)


def _ended(link: str, token: str) -> None:
    with suppress(OSError, http.client.HTTPException):
        part(link, token)


def test_a_worker_that_ended_is_started_again(served: Machine) -> None:
    with page_of(served, "--no-open") as (_, link):
        served.stop_worker()
        assert "Nothing is remembered yet" in part(link)


def test_a_port_that_is_taken_is_told(served: Machine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [COMMAND, "ui", "--no-open", "--port", port],
            env=served.environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert f"port {port} cannot be used" in done.stderr
    assert "--port" in done.stderr
    assert len(done.stderr.splitlines()) == 1
