"""Starting a worker: once, and once more when the first one met damage."""

from pathlib import Path

import pytest

from claude_mem_lite.errors import WorkerUnavailable
from claude_mem_lite.paths import Home
from claude_mem_lite.worker_start import ensure_worker
from tests.unit.fake_worker import fake_worker


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


def test_where_one_answers_none_is_started(home: Home, tmp_path: Path) -> None:
    starts = worker_that(home, tmp_path, "exit 1")
    home.suspect.touch()
    with fake_worker(home):
        ensure_worker(home)
    assert not starts.exists()
