"""The copy of the hook program in the home."""

import subprocess
from pathlib import Path

import pytest

from claude_mem_lite import hook_program
from claude_mem_lite.install.interpreter import base_interpreter
from claude_mem_lite.paths import Home


def test_the_copy_keeps_an_event_by_itself(home: Home, tmp_path: Path) -> None:
    hook_program.make(home)
    home.hook_python.symlink_to(base_interpreter())
    command = [str(home.hook_python), "-I", "-S", str(home.hook_program), "Stop"]
    ran = subprocess.run(command, input=b"{}", env={"HOME": str(tmp_path)}, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert [path.read_bytes() for path in home.spool_new.iterdir()] == [b"{}"]


@pytest.mark.parametrize("change", ["old", "missing"])
def test_a_copy_that_differs_is_brought_up_to_date(home: Home, change: str) -> None:
    hook_program.make(home)
    kernel = home.hook_program.with_name("kernel.py")
    if change == "old":
        kernel.write_text("old = True\n")
    else:
        kernel.unlink()
    assert not hook_program.is_current(home)
    hook_program.make(home)
    assert hook_program.is_current(home)


def test_a_copy_that_is_current_is_left_alone(home: Home) -> None:
    hook_program.make(home)
    before = home.hook_program.stat().st_mtime_ns
    hook_program.make(home)
    assert home.hook_program.stat().st_mtime_ns == before


def test_there_is_no_copy_before_it_is_made(home: Home) -> None:
    assert not hook_program.is_current(home)
