"""Tests of `evaluation/walk_folder.py`: names of the same words in every run, and what a killed walk has left."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from claude_mem_lite.evaluation.walk_folder import remove_left_folders, walk_folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def _make_old(folder: Path) -> None:
    os.utime(folder, (0, 0))


def test_walks_at_the_same_time_have_folders_of_their_own(temporary: Path) -> None:
    with walk_folder() as first:
        _make_old(first)
        with walk_folder() as second:
            assert first.name != second.name
            assert sorted(first.name.split("-")) == sorted(second.name.split("-"))
            assert first.stat().st_mode & 0o777 == 0o700
    assert list(temporary.iterdir()) == []


def test_the_folder_of_a_killed_walk_is_removed_by_the_next(temporary: Path) -> None:
    left = temporary / f"claude-mem-lite-walk-{os.getuid()}-a-b-c-d-e"
    (left / "checkout").mkdir(parents=True)
    (left / "checkout" / ".env").write_text("TOKEN=x")
    _make_old(left)
    with walk_folder() as folder:
        assert folder == left
        assert list(folder.iterdir()) == []


def test_the_folders_of_killed_walks_are_removed_under_any_name_after_seconds(temporary: Path) -> None:
    left = temporary / f"claude-mem-lite-walk-{os.getuid()}-e-d-c-b-a"
    left.mkdir()
    os.utime(left, (0, time.time() - 60))
    with walk_folder() as folder:
        assert list(temporary.iterdir()) == [folder]


def test_the_folder_of_a_walk_that_goes_on_is_not_removed(temporary: Path) -> None:
    with walk_folder() as folder:
        _make_old(folder)
        assert remove_left_folders() == 0
        assert list(temporary.iterdir()) == [folder]


def test_a_folder_that_was_just_made_and_a_link_are_left_alone(temporary: Path) -> None:
    name = f"claude-mem-lite-walk-{os.getuid()}"
    (temporary / f"{name}-a-b-c-d-e").mkdir()
    kept = temporary / "kept"
    kept.mkdir()
    _make_old(kept)
    (temporary / f"{name}-a-b-c-e-d").symlink_to(kept)
    with walk_folder() as folder:
        assert folder.name == f"{name}-a-b-d-c-e"
    assert sorted(path.name for path in temporary.iterdir()) == [f"{name}-a-b-c-d-e", f"{name}-a-b-c-e-d", "kept"]
