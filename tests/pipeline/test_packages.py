"""What we publish: a wheel with every file of the package and no other, and an sdist that makes the same wheel."""

import tarfile
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

from claude_mem_lite import __version__
from tests.docs.pages import ROOT
from tests.pipeline.wheels import PROGRAMS, build, wheel_of_this_run

INFO = f"claude_mem_lite-{__version__}.dist-info"
IN_THE_SDIST = (
    ".claude-plugin/marketplace.json",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "constraints.txt",
    "demo/session.jsonl",
    "docs/architecture.md",
    "pyproject.toml",
    "tests/conftest.py",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of_this_run(tmp_path_factory)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(build("sdist", tmp_path_factory.mktemp("sdist"))) as sdist:
        sdist.extractall(folder, filter="data")
    return folder / f"claude_mem_lite-{__version__}"


def contents(wheel: Path) -> dict[str, int]:
    """The files of a wheel with their checksums."""
    with zipfile.ZipFile(wheel) as opened:
        return {entry.filename: entry.CRC for entry in opened.infolist()}


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    package = ROOT / "src"
    files = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    packed = {name for name in contents(wheel) if not name.startswith(INFO)}
    assert packed == {str(path.relative_to(package)) for path in files}
    assert {"claude_mem_lite/plugin/.mcp.json", "claude_mem_lite/plugin/.claude-plugin/plugin.json"} <= packed


def test_the_wheel_names_both_programs_and_the_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        entry_points = ConfigParser()
        entry_points.read_string(opened.read(f"{INFO}/entry_points.txt").decode())
        assert set(entry_points["console_scripts"]) == set(PROGRAMS)
        assert f"{INFO}/licenses/LICENSE" in opened.namelist()


def test_the_sdist_holds_what_is_needed_to_build_test_and_read(unpacked: Path) -> None:
    assert [name for name in IN_THE_SDIST if not (unpacked / name).is_file()] == []
    assert not (unpacked / ".venv").exists()


def test_the_sdist_builds_the_same_wheel(unpacked: Path, wheel: Path, tmp_path: Path) -> None:
    again = build("wheel", tmp_path / "again", unpacked)
    assert contents(again) == contents(wheel)
