"""What doctor finds out about the machine: its disk, and which installation the worker is of."""

import shutil
import sys
from collections import namedtuple
from pathlib import Path

import pytest

import claude_mem_lite
from claude_mem_lite.install.doctor.home_checks import FULL_DISK_BYTES, LOW_DISK_BYTES, check_disk
from claude_mem_lite.install.doctor.machine_checks import check_worker_python
from claude_mem_lite.paths import Home

Usage = namedtuple("Usage", ["total", "used", "free"])


@pytest.mark.parametrize(
    ("free", "state", "next_step"),
    [
        (LOW_DISK_BYTES, "ok", ""),
        (LOW_DISK_BYTES - 1, "warn", "make room"),
        (FULL_DISK_BYTES, "warn", "make room"),
        (FULL_DISK_BYTES - 1, "fail", "make room, or move the data folder with CLAUDE_MEM_LITE_HOME"),
    ],
)
def test_a_disk_that_is_nearly_full_is_told(
    home: Home, monkeypatch: pytest.MonkeyPatch, free: int, state: str, next_step: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2**40, 2**40 - free, free))
    check = check_disk(home)
    assert (check.state, check.found, check.next_step) == (state, f"{free // 2**20:,} MiB free", next_step)


def test_a_worker_of_another_installation_is_a_warning(home: Home, tmp_path: Path) -> None:
    home.worker_python.symlink_to(sys.executable)
    assert check_worker_python(home).state == "ok"

    package = tmp_path / "elsewhere" / "claude_mem_lite"
    package.mkdir(parents=True)
    shutil.copy(claude_mem_lite.__file__, package)
    other = tmp_path / "python"
    other.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -I -c "import sys; sys.path.insert(0, \'{package.parent}\'); $3"\n'
    )
    other.chmod(0o700)
    home.worker_python.unlink()
    home.worker_python.symlink_to(other)
    check = check_worker_python(home)
    assert (check.state, check.found) == ("warn", f"{other} is of another installation than this program")
