"""The plugin's hooks as the client runs them: a shell with the command of hooks.json, in homes ready and not."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from claude_mem_lite import hook_program
from claude_mem_lite.install import plugin
from claude_mem_lite.paths import Home
from tests.support.running import Machine, link_interpreters, wait_until

PAYLOAD = b'{"hook_event_name":"Stop","session_id":"s-1"}'
SHELLS = [name for name in ("dash", "bash", "zsh", "busybox") if shutil.which(name)]
PROGRAM = Path(sys.executable).parent / "claude-mem-lite"


@dataclass(frozen=True)
class Plugin:
    """A copy of the plugin, as the client keeps one, for a user who has programs only in his own `bin`."""

    folder: Path
    home: Home
    user: Path

    def run(self, event: str, shell: str = "sh", **more: str) -> bytes:
        """What the hook printed; it must have ended well and without a word on stderr."""
        program = [shutil.which(shell) or shell, *(["sh"] if shell == "busybox" else [])]
        done = subprocess.run(
            [*program, "-c", self.command(event)],
            input=PAYLOAD,
            capture_output=True,
            env={**self.environment(), **more},
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def command(self, event: str) -> str:
        told = json.loads((plugin.FOLDER / "hooks" / "hooks.json").read_text())
        command = told["hooks"][event][0]["hooks"][0]["command"]
        assert isinstance(command, str)
        return command

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.user / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.user),
            "CLAUDE_MEM_LITE_HOME": str(self.home.root),
            "CLAUDE_PLUGIN_ROOT": str(self.folder),
            "CLAUDE_PLUGIN_DATA": str(self.marks),
        }

    @property
    def marks(self) -> Path:
        return self.user / "plugin data"

    def provide(self, program: str) -> None:
        """Have a program of our name on the path."""
        path = self.user / "bin" / "claude-mem-lite"
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\n{program}\n")
        path.chmod(0o700)

    def kept(self) -> list[bytes]:
        return [path.read_bytes() for path in self.home.spool_new.iterdir()]


@pytest.fixture
def installed(home: Home, user: Path) -> Plugin:
    folder = user / 'a "copy" of $HOME'
    shutil.copytree(plugin.FOLDER, folder)
    return Plugin(folder, home, user)


@pytest.fixture
def ready(installed: Plugin) -> Plugin:
    """The same with a data folder that is ready, but for a worker."""
    installed.home.make()
    link_interpreters(installed.home)
    installed.home.worker_python.unlink()
    hook_program.make(installed.home)
    return installed


@pytest.fixture
def ended(home: Home, user: Path) -> Iterator[None]:
    """Whatever a test starts on the home is ended after it."""
    yield
    Machine(home, home, user).end()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hook_of_the_plugin_keeps_the_event(ready: Plugin, shell: str) -> None:
    assert ready.run("Stop", shell) == b""
    assert ready.kept() == [PAYLOAD]


def test_without_the_variable_the_home_is_in_the_users_own_folder(ready: Plugin) -> None:
    ready.home.root.rename(ready.user / ".claude-mem-lite")
    assert ready.run("SessionEnd", CLAUDE_MEM_LITE_HOME="") == b""
    kept = list((ready.user / ".claude-mem-lite" / "spool" / "new").iterdir())
    assert [path.name.rpartition("-")[2] for path in kept] == ["SessionEnd"]


def test_a_hook_of_a_plugin_that_was_just_removed_ends_without_a_word(ready: Plugin) -> None:
    shutil.rmtree(ready.folder)
    assert ready.run("UserPromptSubmit") == b""


@pytest.mark.parametrize("part", ["py", "claude_mem_lite/hook/hook.py"])
def test_a_home_that_lost_a_part_fails_no_prompt(ready: Plugin, part: str) -> None:
    (ready.home.root / part).unlink()
    assert ready.run("UserPromptSubmit") == b""


def test_the_first_hook_has_the_home_made_and_hands_it_the_event(installed: Plugin, ended: None) -> None:
    installed.provide(f'exec "{PROGRAM}" "$@"')
    assert installed.run("SessionStart") == b""
    machine = Machine(installed.home, installed.home, installed.user)
    wait_until(lambda: bool(machine.rows()), "the event to be taken in")
    (row,) = machine.rows()
    assert (row.name.rpartition("-")[2], row.payload) == ("SessionStart", PAYLOAD.decode())
    assert installed.home.worker_python.readlink().parent == Path(sys.executable).parent
    assert not installed.home.installs.exists(), "no settings are touched"
    assert not (installed.user / ".claude").exists()
    assert not installed.marks.exists()


def test_nothing_is_made_while_it_is_switched_off(installed: Plugin) -> None:
    installed.provide("exit 1")
    installed.home.make()
    installed.home.off_switch.touch()
    assert installed.run("SessionStart") == b""
    assert not installed.marks.exists()


def test_nothing_is_made_or_told_for_a_client_that_we_started_ourselves(installed: Plugin) -> None:
    assert installed.run("SessionStart", CLAUDE_MEM_LITE_INTERNAL="1") == b""
    assert not installed.marks.exists()
    assert not installed.home.root.exists()


def test_a_person_without_the_program_is_told_once_a_day_when_a_session_starts(installed: Plugin) -> None:
    assert installed.run("UserPromptSubmit") == b""
    told = json.loads(installed.run("SessionStart"))
    assert list(told) == ["systemMessage"]
    assert "pipx install ." in told["systemMessage"]
    assert installed.run("SessionStart") == b""
    [mark] = installed.marks.iterdir()
    mark.rename(installed.marks / "told-2026-01-01")
    assert b"systemMessage" in installed.run("SessionStart")
    assert len(list(installed.marks.iterdir())) == 1
    assert not installed.home.root.exists()


def test_a_program_that_fails_is_not_started_with_every_hook_and_the_person_is_told(installed: Plugin) -> None:
    calls = installed.user / "calls"
    installed.provide(f'echo "$@" >> "{calls}"; exit 1')
    installed.run("SessionStart")
    wait_until(lambda: installed.marks.is_dir() and any(installed.marks.iterdir()), "the failure to be noted")
    assert b"claude-mem-lite doctor" in installed.run("SessionStart")
    assert installed.run("UserPromptSubmit") == b""
    assert calls.read_text() == "plugin --prepare\n"


def test_a_home_of_somebody_else_is_not_used(installed: Plugin) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder to somebody else")
    installed.provide("exit 1")
    installed.home.make()
    (installed.home.root / "py").symlink_to(shutil.which("false") or "/bin/false")
    (installed.home.root / "claude_mem_lite" / "hook").mkdir(parents=True)
    (installed.home.root / "claude_mem_lite" / "hook" / "hook.py").touch()
    os.chown(installed.home.root, 12345, 12345)
    assert installed.run("SessionStart") == b""
    assert not installed.marks.exists()


def test_the_program_is_run_with_what_it_was_given(installed: Plugin) -> None:
    installed.provide("printf '%s|' \"$@\"")
    line = ["sh", str(installed.folder / "scripts" / "run.sh"), "remember", "rule", "it's $HOME"]
    variables = {key: value for key, value in installed.environment().items() if key != "CLAUDE_PLUGIN_ROOT"}
    done = subprocess.run(line, env=variables, capture_output=True, text=True, check=True)
    assert done.stdout == "remember|rule|it's $HOME|"


def test_without_the_program_a_command_says_how_to_get_it(installed: Plugin) -> None:
    line = ["sh", str(installed.folder / "scripts" / "run.sh"), "mcp"]
    done = subprocess.run(line, env=installed.environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "pipx install ." in done.stderr
