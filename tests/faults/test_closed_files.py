"""Files and folders of a home that their own user may not read or write: commands name the cause, `doctor --fix` mends
it, and what hooks saw meanwhile is remembered."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from claude_mem_lite.install.hook_config import hook_command
from claude_mem_lite.paths import Home
from tests.faults.losses import prompts
from tests.support.running import WAIT_S, Machine, cannot, payload, wait_until

ASK = "count the plums"


@pytest.fixture
def bound(machine: Machine) -> Iterator[Machine]:
    """A machine whose programs obey the modes of files, as those of root do not otherwise."""
    prefix: tuple[str, ...] = ()
    if os.getuid() == 0:
        if shutil.which("setpriv") is None:
            cannot("needs setpriv to obey the modes of files")
        prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    made = replace(machine, prefix=prefix)
    made.run("remember", "note", "Plums are blue")
    made.run("worker", "stop")
    yield made
    made.home.root.chmod(0o700)
    for path in made.home.root.iterdir():
        if not path.is_symlink():
            with suppress(FileNotFoundError):  # a worker that ends takes its socket and logs along
                path.chmod(0o700)


def checks(machine: Machine, *arguments: str, status: int) -> dict[str, tuple[str, str]]:
    told = json.loads(machine.run("doctor", *arguments, "--json", status=status).stdout)
    found = told["checks"] if isinstance(told, dict) else told
    return {one["name"]: (one["state"], one["found"]) for one in found}


@pytest.mark.parametrize(("name", "mode"), [("memory.db", 0o400), ("inbox.db", 0o000)])
def test_a_database_that_is_closed_is_named_and_opened_again(bound: Machine, name: str, mode: int) -> None:
    path = bound.home.root / name
    path.chmod(mode)
    cause = f"{path} cannot be read and written by you (mode {mode:03o})"
    refused = bound.run("status", status=1).stderr
    assert refused.startswith(f"claude-mem-lite: {cause}; run `claude-mem-lite doctor --fix`")
    assert checks(bound, status=1)[name] == ("fail", cause)

    assert checks(bound, "--fix", status=1)[name][0] == "ok"  # 1: nothing is installed here
    assert path.stat().st_mode & 0o777 == 0o600
    assert "Plums are blue" in bound.run("search", "plums").stdout


def test_a_log_that_is_closed_is_opened_again_with_its_database(bound: Machine) -> None:
    log = bound.home.root / "memory.db-shm"
    log.touch(mode=0o400)
    assert f"{log} cannot be read and written by you (mode 400)" in bound.run("status", status=1).stderr
    bound.run("doctor", "--fix", status=1)
    assert "Plums are blue" in bound.run("search", "plums").stdout


@pytest.mark.parametrize("mode", [0o000, 0o500])
def test_a_home_that_is_closed_is_named_and_opened_again(bound: Machine, mode: int) -> None:
    bound.home.root.chmod(mode)
    assert f"(mode {mode:03o})" in bound.run("status", status=1).stderr
    found = checks(bound, status=1)
    assert found["data folder"] == ("fail", f"{bound.home.root} is closed to yourself (mode {mode:03o})")
    assert checks(bound, "--fix", status=1)["data folder"][0] == "ok"
    assert "Plums are blue" in bound.run("search", "plums").stdout


@pytest.mark.parametrize(
    ("mode", "fate", "kept"), [(0o000, "nothing is captured", set()), (0o500, "events wait", {ASK})]
)
def test_what_becomes_of_events_while_the_home_is_closed_is_told_as_it_is(
    bound: Machine, mode: int, fate: str, kept: set[str]
) -> None:
    (bound.user_home / ".claude").mkdir()
    bound.run("install")
    bound.home.root.chmod(mode)
    assert bound.run("status", status=1).stderr.endswith(f"run `claude-mem-lite doctor --fix`; until then {fate}\n")
    assert f"run `claude-mem-lite doctor --fix`; until then {fate}\n" in bound.run("doctor", status=1).stdout
    command = hook_command(bound.home, "UserPromptSubmit")
    asked = json.dumps(payload("UserPromptSubmit", prompt=ASK))
    ran = subprocess.run(
        [*bound.prefix, "/bin/sh", "-c", command],
        input=asked.encode(),
        env=bound.environment(),
        capture_output=True,
        timeout=WAIT_S,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    bound.run("doctor", "--fix")
    bound.run("worker", "drain")
    assert prompts(bound.home) == kept


def test_a_folder_in_a_folder_that_is_closed_is_opened_too(bound: Machine) -> None:
    bound.home.spool_new.chmod(0o000)
    bound.home.spool_new.parent.chmod(0o000)
    assert checks(bound, status=1)["permissions"][0] == "fail"
    assert checks(bound, "--fix", status=1)["permissions"][0] == "ok"
    assert bound.home.spool_new.stat().st_mode & 0o777 == 0o700


def test_a_worker_whose_database_is_closed_while_it_runs_ends_and_its_events_wait(bound: Machine) -> None:
    process = bound.start_worker()
    bound.home.memory_db.chmod(0o000)
    bound.hook("UserPromptSubmit", payload("UserPromptSubmit", prompt=ASK))
    wait_until(lambda: process.poll() is not None, "the worker to end")
    refused = bound.run("worker", "drain", status=1).stderr
    assert refused.startswith(f"claude-mem-lite: {bound.home.memory_db} cannot be read and written by you (mode 000)")
    bound.run("doctor", "--fix", status=1)
    bound.run("worker", "drain")
    assert prompts(bound.home) == {ASK}


@pytest.mark.parametrize("command", [("status",), ("remember", "note", "x")])
def test_a_home_whose_link_leads_nowhere_is_named(machine: Machine, command: tuple[str, ...]) -> None:
    away = machine.home.root.with_name("disk")
    machine.home.root.rename(away)
    machine.home.root.symlink_to(away)
    away.rename(away.with_name("unmounted"))
    try:
        refused = machine.run(*command, status=1).stderr
        assert refused.startswith(
            f"claude-mem-lite: {machine.home.root} is a link to {away}, which is not there; mount"
        )
        assert checks(machine, status=1)["data folder"][0] == "fail"
    finally:
        away.with_name("unmounted").rename(away)


def test_a_home_in_a_folder_that_is_not_there_is_named(machine: Machine) -> None:
    missing = Home(Path("/mnt/no-such-disk/memory"))
    refused = replace(machine, home=missing, view=missing).run("status", status=1).stderr
    assert "the data folder should be in /mnt/no-such-disk, which is not there; mount" in refused


def test_a_home_that_hooks_use_and_is_not_there_is_named(machine: Machine) -> None:
    (machine.user_home / ".claude").mkdir()
    machine.run("install")
    machine.home.root.rename(machine.home.root.with_name("unmounted"))
    try:
        refused = machine.run("status", status=1).stderr
        settings = machine.user_home / ".claude" / "settings.json"
        assert f"{machine.home.root} is not there, though the hooks in {settings} use it; mount the disk" in refused
    finally:
        machine.home.root.with_name("unmounted").rename(machine.home.root)


def test_a_home_that_never_was_is_to_be_installed(machine: Machine) -> None:
    never = Home(machine.home.root.with_name("never"))
    told = replace(machine, home=never, view=never).run("status").stdout
    assert told == "Nothing is stored here yet; run `claude-mem-lite install`.\n"
