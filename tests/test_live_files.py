"""Files and processes of tests: what comes and goes during a walk neither fails it nor hides in it."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import live_files


@pytest.fixture
def restless(tmp_path: Path) -> Iterator[Path]:
    """A folder in which another one comes and goes, with files in it, beside a file that stays."""
    folder, is_over = tmp_path / "restless", threading.Event()
    folder.mkdir()
    (folder / "stays").write_bytes(b"here")

    def come_and_go() -> None:
        while not is_over.is_set():
            (folder / "passing" / "deep").mkdir(parents=True)
            (folder / "passing" / "deep" / "file").write_bytes(b"there")
            (folder / "passing" / "deep" / "file").unlink()
            (folder / "passing" / "deep").rmdir()
            (folder / "passing").rmdir()

    mover = threading.Thread(target=come_and_go)
    mover.start()
    yield folder
    is_over.set()
    mover.join()


def test_what_disappears_during_a_walk_does_not_fail_it(restless: Path) -> None:
    for _ in range(200):
        assert live_files.contents(restless)[restless / "stays"] == b"here"
        assert stat.S_ISREG(live_files.modes(restless)[restless / "stays"])


def test_links_are_told_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"words")
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    assert live_files.files_with(tmp_path, b"none of it", b"ord") == [tmp_path / "folder" / "file"]
    assert stat.S_ISLNK(live_files.modes(tmp_path)[tmp_path / "link"])


@pytest.mark.skipif(not live_files.PROC.is_dir(), reason="this system tells nothing of processes by files")
def test_processes_are_told_with_their_parents_and_their_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()", "zanzibarium"], stdin=subprocess.PIPE) as child:
        assert child.pid in live_files.children(os.getpid())
        assert not live_files.is_zombie(child.pid)
        assert any(b"zanzibarium" in line for line in live_files.command_lines())
