"""Which folder the hook takes for its home."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from claude_mem_lite.paths import Home
from tests.hook.conftest import GUARD_S, LAUNCHER, PYTHON, Hooks


def events_in(root: Path) -> int:
    return len(list(Home(root).spool_new.iterdir()))


def test_the_variable_names_the_home(hooks: Hooks, user: Path) -> None:
    hooks.run("Stop", CLAUDE_MEM_LITE_HOME=str(user / "deep" / "er"))
    assert events_in(user / "deep" / "er") == 1


def test_a_relative_home_starts_from_the_current_folder(hooks: Hooks, user: Path) -> None:
    hooks.run("Stop", CLAUDE_MEM_LITE_HOME="./there//data/")
    assert events_in(user / "there" / "data") == 1


def test_the_folder_of_the_py_link_is_the_home_when_the_variable_is_not_set(hooks: Hooks, user: Path) -> None:
    chosen = Home(user / "chosen")
    chosen.make()
    chosen.hook_python.symlink_to(PYTHON)
    command = hooks.command("Stop", python=str(chosen.hook_python))
    environment = hooks.environment(CLAUDE_MEM_LITE_HOME="")
    subprocess.run(command, input=b"{}", env=environment, cwd="/", timeout=GUARD_S, check=True)
    assert events_in(chosen.root) == 1


def test_the_default_lies_in_the_users_folder(hooks: Hooks, user: Path) -> None:
    hooks.run("Stop", CLAUDE_MEM_LITE_HOME="")
    assert events_in(user / ".claude-mem-lite") == 1


def test_without_any_variable_the_user_database_is_asked(
    hooks: Hooks, user: Path, in_own_mounts: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    (user / "passwd").write_text(f"root:x:0:0::{user}:/bin/sh\n")
    script = f"mount --bind {user}/passwd /etc/passwd; unset HOME; '{PYTHON}' -I -S '{LAUNCHER}' Stop </dev/null"
    done = in_own_mounts(script, hooks.environment(CLAUDE_MEM_LITE_HOME=""))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert events_in(user / ".claude-mem-lite") == 1


def test_a_home_name_that_is_no_utf8_works(user: Path) -> None:
    environment = {b"CLAUDE_MEM_LITE_HOME": bytes(user) + b"/\xff\xfe"}
    subprocess.run([PYTHON, "-I", "-S", str(LAUNCHER), "Stop"], input=b"{}", env=environment, check=True)
    assert events_in(user / "\udcff\udcfe") == 1
