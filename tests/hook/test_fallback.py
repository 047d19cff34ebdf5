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


def test_the_worker_is_told_the_name_of_an_event_in_a_fallback_place(
    patient: Hooks, home: Home, listen: Listen
) -> None:
    worker = listen(reply("204 No Content", b""))
    home.spool_new.rmdir()
    home.spool_tmp.rmdir()
    home.spool_new.parent.rmdir()
    home.spool_new.parent.touch()
    patient.run("PostToolUse", payload=b"kept")
    (file,) = home.fallback_spools()[0].iterdir()
    assert worker.requests[0].headers["X-Spool"] == file.name
    assert worker.requests[0].body == b""


@pytest.mark.parametrize("event", ["Stop", "PostToolUse"])
def test_the_payload_goes_to_the_worker_when_it_can_be_kept_nowhere(
    patient: Hooks, home: Home, listen: Listen, event: str
) -> None:
    worker = listen(reply("200 OK", b"{}"))
    for folder in (home.spool_new, home.spool_tmp, home.spool_new.parent):
        folder.rmdir()
    (home.root / "spool").touch()
    for place in home.fallback_spools():
        if place.parent.is_dir():
            place.touch()
    payload = b'{"text": "%b"}' % (b"x" * 1_000_000)
    assert patient.run(event, payload=payload) == (b"{}" if event == "PostToolUse" else b"")
    (request,) = worker.requests
    assert request.body == payload
    assert "X-Spool" not in request.headers


def plant(home: Home, user: Path) -> None:
    """Fill a home with all that makes a hook run a program, ask a worker and print a context."""
    home.make()
    (user / "planted").write_text(f"#!/bin/sh\ntouch {user}/started\n")
    (user / "planted").chmod(0o755)
    home.worker_python.symlink_to(user / "planted")
    home.rendered_for("/p").write_text('/p\n{}\n{"hookSpecificOutput": {}}')


def give_away(path: Path) -> None:
    os.chown(path, 12345, 12345, follow_symlinks=False)


def is_left_alone(hooks: Hooks, home: Home, user: Path) -> bool:
    """Whether a session start keeps its event beside the home, prints nothing and starts nobody."""
    payload = b'{"cwd": "/p", "source": "startup"}'
    printed = hooks.run("SessionStart", payload=payload)
    started = (user / "started").exists() or home.start_lock.exists()
    return (printed, events_in(home.fallback_spools()[0]), hooks.kept(), started) == (b"", [payload], [], False)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_a_home_of_another_user_is_left_alone(hooks: Hooks, home: Home, user: Path) -> None:
    plant(home, user)
    give_away(home.root)
    assert is_left_alone(hooks, home, user)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a link to somebody else")
def test_another_users_link_to_a_folder_of_ours_is_not_followed(hooks: Hooks, home: Home, user: Path) -> None:
    plant(Home(user / "other"), user)
    home.root.symlink_to(user / "other")
    give_away(home.root)
    assert is_left_alone(hooks, home, user)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_a_link_of_ours_to_another_users_folder_is_left_alone(hooks: Hooks, home: Home, user: Path) -> None:
    plant(Home(user / "other"), user)
    give_away(user / "other")
    home.root.symlink_to(user / "other")
    assert is_left_alone(hooks, home, user)


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777, 0o702, 0o720])
def test_a_home_that_others_can_write_to_is_left_alone(hooks: Hooks, home: Home, user: Path, mode: int) -> None:
    plant(home, user)
    home.root.chmod(mode)
    assert is_left_alone(hooks, home, user)


def test_a_worker_in_a_home_that_others_can_write_to_is_not_asked(hooks: Hooks, home: Home, listen: Listen) -> None:
    worker = listen(reply("200 OK", b"{}"))
    home.root.chmod(0o777)
    assert hooks.run("SessionStart", payload=b"kept") == b""
    worker.stop()
    assert worker.connections == 0
    assert events_in(home.fallback_spools()[0]) == [b"kept"]


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755])
def test_a_home_that_others_can_at_most_read_is_used(hooks: Hooks, home: Home, mode: int) -> None:
    home.make()
    home.root.chmod(mode)
    hooks.run("Stop", payload=b"kept")
    assert [file.read_bytes() for file in hooks.kept()] == [b"kept"]


def test_a_link_of_ours_to_a_folder_of_ours_is_used(hooks: Hooks, home: Home, user: Path) -> None:
    (user / "other").mkdir()
    home.root.symlink_to(user / "other")
    hooks.run("Stop", payload=b"kept")
    assert [file.read_bytes() for file in hooks.kept()] == [b"kept"]


def test_the_off_switch_counts_in_a_home_that_is_not_ours_alone(hooks: Hooks, home: Home) -> None:
    home.make()
    home.root.chmod(0o777)
    home.off_switch.touch()
    hooks.run("Stop")
    assert not home.fallback_spools()[0].exists()


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_folder_with_the_users_own_files_is_left_as_it_is(hooks: Hooks, home: Home, mode: int) -> None:
    home.root.mkdir()
    (home.root / "thesis").write_text("long work")
    home.root.chmod(mode)
    assert hooks.run("SessionStart", payload=b"kept") == b""
    assert os.listdir(home.root) == ["thesis"]
    assert stat.S_IMODE(home.root.stat().st_mode) == mode
    assert events_in(home.fallback_spools()[0]) == [b"kept"]


@pytest.mark.parametrize("name", ["memory.db", "installs", "worker-py", "config.toml", "rendered"])
def test_a_home_that_lost_its_spool_gets_another(hooks: Hooks, home: Home, name: str) -> None:
    home.root.mkdir(mode=0o700)
    (home.root / name).touch()
    hooks.run("Stop", payload=b"kept")
    assert [file.read_bytes() for file in hooks.kept()] == [b"kept"]


def test_the_folder_of_our_name_is_ours_whatever_is_in_it(hooks: Hooks, user: Path) -> None:
    (user / ".claude-mem-lite").mkdir(mode=0o700)
    (user / ".claude-mem-lite" / "notes").touch()
    hooks.run("Stop", CLAUDE_MEM_LITE_HOME="")
    assert len(list((user / ".claude-mem-lite" / "spool" / "new").iterdir())) == 1
