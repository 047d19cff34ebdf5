"""What the hook keeps, under which name, and that nothing makes it fail."""

import os
import re
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from claude_mem_lite.event_names import time_of
from claude_mem_lite.paths import Home
from tests.hook.conftest import GUARD_S, LAUNCHER, PYTHON, Hooks

ODD_PAYLOADS = {
    "nothing": b"",
    "broken JSON": b'{"hook_event_name": "Stop", ',
    "NUL bytes": b'{"a": "\0\0"}\0',
    "invalid UTF-8": b'{"a": "\xff\xfe\xc3"}',
    "deep nesting": b"[" * 100_000,
    "50 MB": b"0123456789abcdef" * (50 * 65536),
}


@pytest.mark.parametrize("payload", ODD_PAYLOADS.values(), ids=ODD_PAYLOADS.keys())
def test_any_payload_is_kept_as_it_came_and_nothing_is_printed(hooks: Hooks, payload: bytes) -> None:
    assert hooks.run("PostToolUse", payload=payload) == b""
    assert [file.read_bytes() for file in hooks.kept()] == [payload]


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "NeverHeardOf"])
def test_every_event_is_kept(hooks: Hooks, event: str) -> None:
    assert hooks.run(event, payload=b'{"n":1}') == b""
    assert [file.read_bytes() for file in hooks.kept()] == [b'{"n":1}']


def test_a_closed_stdin_counts_as_an_empty_payload(hooks: Hooks) -> None:
    line = f"exec '{PYTHON}' -I -S '{LAUNCHER}' Stop <&-"
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, env=hooks.environment(), timeout=GUARD_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [file.read_bytes() for file in hooks.kept()] == [b""]


def test_all_standard_descriptors_may_be_closed(hooks: Hooks) -> None:
    line = f"exec '{PYTHON}' -I -S '{LAUNCHER}' Stop <&- >&- 2>&-"
    done = subprocess.run(["sh", "-c", line], env=hooks.environment(), timeout=GUARD_S, check=False)
    assert done.returncode == 0
    assert [file.read_bytes() for file in hooks.kept()] == [b""]


def test_a_stdin_that_does_not_block_is_read_to_its_end(hooks: Hooks) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with subprocess.Popen(hooks.command("Stop"), stdin=reading, env=hooks.environment()) as hook:
        os.close(reading)
        for _ in range(4):
            os.write(writing, b"x" * 100_000)
        os.close(writing)
        assert hook.wait(GUARD_S) == 0
    assert [file.stat().st_size for file in hooks.kept()] == [400_000]


def test_a_stdin_that_cannot_be_read_counts_as_an_empty_payload(hooks: Hooks) -> None:
    unreadable = os.open("/dev/null", os.O_WRONLY)
    done = subprocess.run(
        hooks.command("Stop"),
        stdin=unreadable,
        capture_output=True,
        env=hooks.environment(),
        timeout=GUARD_S,
        check=False,
    )
    os.close(unreadable)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [file.read_bytes() for file in hooks.kept()] == [b""]


def test_the_name_is_time_process_random_and_event(hooks: Hooks) -> None:
    hooks.run("PostToolUse")
    (file,) = hooks.kept()
    assert re.fullmatch(r"\d{20}-\d+-[0-9a-f]{8}-PostToolUse", file.name)
    assert abs(time_of(file.name).timestamp() - file.stat().st_mtime) < 3600


def test_names_sort_in_the_order_the_hooks_ran(hooks: Hooks) -> None:
    for number in range(5):
        hooks.run("Stop", payload=b"%d" % number)
    assert [file.read_bytes() for file in hooks.kept()] == [b"0", b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize(
    ("argument", "event"),
    [
        ("../../etc/passwd", "etcpasswd"),
        ("Größe_1", "Gre_1"),
        ("x" * 60, "x" * 40),
        ("a b\r\nX: y", "abXy"),
        ("", "unknown"),
        ("//", "unknown"),
    ],
)
def test_an_event_name_is_cleaned_before_it_becomes_part_of_a_file_name(
    hooks: Hooks, argument: str, event: str
) -> None:
    hooks.run(argument)
    assert [file.name.split("-", 3)[3] for file in hooks.kept()] == [event]


def test_an_event_without_a_name_is_kept_as_unknown(hooks: Hooks) -> None:
    hooks.run()
    assert [file.name.split("-", 3)[3] for file in hooks.kept()] == ["unknown"]


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_files_and_folders_are_private_under_any_umask(hooks: Hooks, home: Home, umask: int) -> None:
    subprocess.run(
        hooks.command("Stop"), input=b"{}", env=hooks.environment(), umask=umask, timeout=GUARD_S, check=True
    )
    (file,) = hooks.kept()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    folders = [home.root, home.spool_new.parent, home.spool_new, home.spool_tmp]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 4


def test_nothing_is_left_in_the_folder_of_unfinished_files(hooks: Hooks, home: Home) -> None:
    hooks.run("Stop")
    assert list(home.spool_tmp.iterdir()) == []


def test_a_missing_half_of_the_spool_is_made_again(hooks: Hooks, home: Home) -> None:
    home.make()
    home.spool_new.rmdir()
    hooks.run("Stop", payload=b"kept")
    assert [file.read_bytes() for file in hooks.kept()] == [b"kept"]
    assert list(home.spool_tmp.iterdir()) == []


def test_nothing_is_kept_while_the_off_switch_is_there(hooks: Hooks, home: Home) -> None:
    home.make()
    home.off_switch.touch()
    assert hooks.run("Stop", payload=b"x" * 1_000_000) == b""
    assert hooks.kept() == []


def test_hooks_note_when_it_was_off_and_nothing_else(hooks: Hooks, home: Home) -> None:
    home.make()
    home.off_switch.touch()
    before = time.time_ns()
    for _ in range(2):
        hooks.run("UserPromptSubmit", payload=b'{"prompt": "a secret of mine"}')
    (file,) = home.pauses.iterdir()
    first, last, state = file.read_text().split()
    assert before <= int(first) < int(last) <= time.time_ns()
    assert (state, file.name) == ("off", f"{home.off_switch.stat().st_mtime_ns:020d}")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_folder_with_the_users_own_files_and_one_called_off_is_left_alone(hooks: Hooks, home: Home) -> None:
    home.root.mkdir(mode=0o700)
    for name in ("off", "thesis"):
        (home.root / name).touch()
    hooks.run("Stop")
    assert sorted(path.name for path in home.root.iterdir()) == ["off", "thesis"]


def test_sessions_that_the_product_starts_itself_are_ignored(hooks: Hooks, home: Home) -> None:
    assert hooks.run("Stop", payload=b"x" * 1_000_000, CLAUDE_MEM_LITE_INTERNAL="1") == b""
    assert not home.root.exists()


def test_an_empty_internal_variable_means_nothing(hooks: Hooks) -> None:
    environment = hooks.environment() | {"CLAUDE_MEM_LITE_INTERNAL": ""}
    subprocess.run(hooks.command("Stop"), input=b"{}", env=environment, timeout=GUARD_S, check=True)
    assert len(hooks.kept()) == 1


@pytest.mark.parametrize("kernel", [None, "this is no Python", "raise SystemExit(2)"])
def test_a_launcher_without_a_working_kernel_ends_well_and_silent(hooks: Hooks, user: Path, kernel: str | None) -> None:
    shutil.copy(LAUNCHER, user / "hook.py")
    if kernel is not None:
        (user / "kernel.py").write_text(kernel)
    command = hooks.command("Stop", launcher=user / "hook.py")
    done = subprocess.run(
        command, input=b"{}", capture_output=True, env=hooks.environment(), timeout=GUARD_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_interrupt_while_the_payload_is_coming_ends_well_and_silent(hooks: Hooks) -> None:
    hook = hooks.start("Stop")
    assert hook.stdin
    hook.stdin.write(b"x" * 1_000_000)  # more than a pipe holds: when this returns, the hook is reading
    hook.send_signal(signal.SIGINT)
    out, err = hook.communicate(timeout=GUARD_S)
    assert (hook.returncode, out, err) == (0, b"", b"")


def test_a_project_module_named_like_one_of_ours_is_not_imported(hooks: Hooks, user: Path) -> None:
    for name in ("kernel", "json", "posix", "_socket", "private"):
        (user / f"{name}.py").write_text("open('trapped', 'w')")
    hooks.run("Stop", payload=b'{"prompt": "<private>x</private>"}', PYTHONPATH=str(user))
    assert not (user / "trapped").exists()
    assert len(hooks.kept()) == 1
