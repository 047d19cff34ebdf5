"""Where events go when the home takes none, and that nothing is trusted there which is not ours."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from tests.hook.conftest import LAUNCHER, PYTHON, Hooks, Worker, reply

Mounts = Callable[[str, dict[str, str]], "subprocess.CompletedProcess[str]"]
Listen = Callable[..., Worker]


def spoil_spool(home: Home) -> None:
    """Make a home in which nothing can be kept."""
    home.root.mkdir()
    (home.root / "spool").touch()


def events_in(place: Path) -> list[bytes]:
    return [file.read_bytes() for file in place.iterdir()]


def test_a_spool_that_is_a_file_sends_events_to_the_first_fallback_place(hooks: Hooks, home: Home) -> None:
    spoil_spool(home)
    assert hooks.run("Stop", payload=b"kept") == b""
    place = home.fallback_spools()[0]
    assert events_in(place) == [b"kept"]
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in place.iterdir()] == [0o600]


def test_a_home_that_is_a_file_sends_events_to_the_first_fallback_place(hooks: Hooks, home: Home) -> None:
    home.root.touch()
    assert hooks.run("SessionStart", payload=b"kept") == b""
    assert events_in(home.fallback_spools()[0]) == [b"kept"]


def test_a_home_below_a_dangling_link_sends_events_to_the_first_fallback_place(hooks: Hooks, home: Home) -> None:
    home.root.symlink_to("/nonexistent/place")
    assert hooks.run("Stop", payload=b"kept") == b""
    assert events_in(home.fallback_spools()[0]) == [b"kept"]


def test_the_place_of_a_home_with_odd_spelling_is_the_one_the_worker_looks_into(
    hooks: Hooks, home: Home, user: Path
) -> None:
    spoil_spool(home)
    hooks.run("Stop", payload=b"kept", CLAUDE_MEM_LITE_HOME=f"{user}//./data/")
    assert events_in(home.fallback_spools()[0]) == [b"kept"]


@pytest.mark.parametrize("first", ["a link", "open to others", "a file"])
def test_a_fallback_place_that_is_not_private_is_passed_over(hooks: Hooks, home: Home, user: Path, first: str) -> None:
    spoil_spool(home)
    place, second = home.fallback_spools()[:2]
    if first == "a link":
        (user / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(user / "elsewhere")
    elif first == "a file":
        place.touch(mode=0o700)
    else:
        place.mkdir()
        place.chmod(0o750)
    hooks.run("Stop", payload=b"kept")
    assert events_in(second) == [b"kept"]
    assert first == "a file" or events_in(place) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_a_fallback_place_of_another_user_is_passed_over(hooks: Hooks, home: Home) -> None:
    spoil_spool(home)
    place, second = home.fallback_spools()[:2]
    place.mkdir(mode=0o700)
    os.chown(place, 12345, 12345)
    hooks.run("Stop", payload=b"kept")
    assert (events_in(place), events_in(second)) == ([], [b"kept"])


def test_a_full_disk_sends_events_to_a_fallback_place_and_leaves_nothing_half_written(
    hooks: Hooks, home: Home, user: Path, in_own_mounts: Mounts
) -> None:
    home.make()
    (user / "payload").write_bytes(b"x" * 300_000)
    script = f"""
        mount -t tmpfs -o size=64k tmpfs '{home.root}'
        '{PYTHON}' -I -S '{LAUNCHER}' Stop <'{user}/payload'
        find '{home.root}' -type f"""
    done = in_own_mounts(script, hooks.environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert events_in(home.fallback_spools()[0]) == [b"x" * 300_000]


def test_a_read_only_home_sends_events_to_a_fallback_place_and_starts_no_worker(
    hooks: Hooks, home: Home, user: Path, in_own_mounts: Mounts
) -> None:
    home.make()
    (user / "worker").write_text(f"#!/bin/sh\ntouch {user}/started\n")
    (user / "worker").chmod(0o700)
    script = f"""
        mount -t tmpfs tmpfs '{home.root}'
        mkdir -p '{home.spool_tmp}' '{home.spool_new}'
        touch '{home.start_lock}'
        ln -s '{user}/worker' '{home.worker_python}'
        mount -o remount,ro '{home.root}'
        echo kept | '{PYTHON}' -I -S '{LAUNCHER}' SessionStart
        cat '{home.start_lock}'"""
    done = in_own_mounts(script, hooks.environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert events_in(home.fallback_spools()[0]) == [b"kept\n"]
    assert not (user / "started").exists()


def test_a_full_home_with_its_lock_at_hand_still_starts_no_worker(hooks: Hooks, home: Home) -> None:
    spoil_spool(home)
    home.start_lock.touch()
    home.worker_python.symlink_to("/bin/true")
    hooks.run("Stop")
    assert home.start_lock.read_bytes() == b""


def test_the_worker_is_told_the_name_of_an_event_in_a_fallback_place(hooks: Hooks, home: Home, listen: Listen) -> None:
    worker = listen(reply("204 No Content", b""))
    home.spool_new.rmdir()
    home.spool_tmp.rmdir()
    home.spool_new.parent.rmdir()
    home.spool_new.parent.touch()
    hooks.run("PostToolUse", payload=b"kept")
    (file,) = home.fallback_spools()[0].iterdir()
    assert worker.requests[0].headers["X-Spool"] == file.name
    assert worker.requests[0].body == b""


@pytest.mark.parametrize("event", ["Stop", "PostToolUse"])
def test_the_payload_goes_to_the_worker_when_it_can_be_kept_nowhere(
    hooks: Hooks, home: Home, listen: Listen, event: str
) -> None:
    spoil_spool(home)
    (home.root / "spool").rename(home.root / "not-a-folder")
    worker = listen(reply("200 OK", b"{}"))
    for folder in (home.spool_new, home.spool_tmp, home.spool_new.parent):
        folder.rmdir()
    (home.root / "not-a-folder").rename(home.root / "spool")
    for place in home.fallback_spools():
        if place.parent.is_dir():
            place.touch()
    payload = b'{"text": "%b"}' % (b"x" * 1_000_000)
    assert hooks.run(event, payload=payload) == (b"{}" if event == "PostToolUse" else b"")
    (request,) = worker.requests
    assert request.body == payload
    assert "X-Spool" not in request.headers
