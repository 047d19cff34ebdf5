"""Starting a worker: once, and once more when the first one met damage."""

import fcntl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claude_mem_lite.client.worker_process import ensure_worker
from claude_mem_lite.errors import WorkerUnavailable
from claude_mem_lite.paths import Home
from tests.support.fake_worker import fake_worker
from tests.support.running import WAIT_S, wait_until


def worker_that(home: Home, tmp_path: Path, does: str) -> Path:
    """A program in the place of the worker's interpreter; the file that has a line for each of its starts."""
    starts = tmp_path / "starts"
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho >> {starts}\n{does}\n")
    program.chmod(0o700)
    home.worker_python.symlink_to(program)
    return starts


@pytest.mark.parametrize(("does", "times"), [("exit 1", 1), ('touch "$CLAUDE_MEM_LITE_HOME/suspect"; exit 1', 2)])
def test_a_worker_that_met_damage_is_started_once_more(home: Home, tmp_path: Path, does: str, times: int) -> None:
    starts = worker_that(home, tmp_path, does)
    with pytest.raises(WorkerUnavailable, match="the worker did not start"):
        ensure_worker(home)
    assert len(starts.read_text().splitlines()) == times


def test_a_worker_that_found_another_one_about_to_end_is_started_once_more(home: Home, tmp_path: Path) -> None:
    """The first one ends with 0 while the home is held, as beside a worker that has begun to end."""
    does = f"""[ "$(wc -l < {tmp_path}/starts)" = 1 ] || exit 1
        while [ ! -e {tmp_path}/freed ]; do :; done"""
    starts = worker_that(home, tmp_path, does)
    with home.worker_lock.open("w") as lock, ThreadPoolExecutor(1) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        asked = pool.submit(ensure_worker, home)
        wait_until(starts.exists, "the first start")
        fcntl.flock(lock, fcntl.LOCK_UN)
        (tmp_path / "freed").touch()
        with pytest.raises(WorkerUnavailable, match="the worker did not start"):
            asked.result(WAIT_S)
    assert len(starts.read_text().splitlines()) == 2


def test_where_one_answers_none_is_started(home: Home, tmp_path: Path) -> None:
    starts = worker_that(home, tmp_path, "exit 1")
    home.suspect.touch()
    with fake_worker(home):
        ensure_worker(home)
    assert not starts.exists()
