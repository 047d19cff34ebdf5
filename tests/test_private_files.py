"""Tests of `private_files.py`: files for the user alone that are replaced whole."""

import stat
from pathlib import Path

import pytest

from claude_mem_lite import private_files


def test_a_file_is_replaced_and_closed_to_other_users_whatever_was_there(tmp_path: Path) -> None:
    path = tmp_path / "api-key"
    path.write_text("older")
    path.chmod(0o644)
    path.with_name("api-key.new").write_text("left by a run that was killed")
    private_files.replace(path, b"newer")
    assert path.read_bytes() == b"newer"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.with_name("api-key.new").exists()


def test_a_link_in_place_of_the_file_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "api-key"
    target.write_text("of somebody else")
    path.symlink_to(target)
    private_files.replace(path, b"newer")
    assert (target.read_text(), path.read_bytes(), path.is_symlink()) == ("of somebody else", b"newer", False)


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        private_files.replace(tmp_path / "nowhere" / "api-key", b"")


def test_a_write_that_fails_leaves_the_former_content_and_no_rest(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "api-key"
    path.mkdir(parents=True)  # no file can take its place
    with pytest.raises(OSError, match="api-key"):
        private_files.replace(path, b"newer")
    assert [one.name for one in path.parent.iterdir()] == ["api-key"]
