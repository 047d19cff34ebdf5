"""Manifests made to be slow: steps, sizes and memory are looked at, not seconds."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite import project_config
from claude_mem_lite.code.git.safe_files import read_bytes
from claude_mem_lite.code.manifests import facts, manifest_files, role
from claude_mem_lite.code.manifests.facts import read_facts
from claude_mem_lite.code.manifests.manifest_files import LARGEST_BYTES, ManifestFolder
from claude_mem_lite.project_config import is_modest
from tests.docs.pages import ROOT
from tests.support.regex_steps import Steps

MODULES = (facts, role, manifest_files, project_config)
PATTERNS = {one.pattern for module in MODULES for one in vars(module).values() if isinstance(one, re.Pattern)}
UNITS = (
    " ", "\t", "\n", "a", "a ", "a.", "a/", "a-", "/", "-", ".", "(", "[", '"', "'", "\\", '\\"""\n', "\\'''\n", "=",
    ":", "implementation", "implementation ", "implementation('", "gem ", "gem 'a", "find_package", "find_package( ",
    "project ", "module ", "go ", "require a/a ", "description ", "description= ", "<artifactId> ", "<artifactId>a",
    "<description>", "<description>a", "a[", "@a ", ", and ", "to a, ", "be ", "the tests ", "user ",
)  # fmt: skip
LENGTH = 100
MEMORY = 1024 * 1024 * 1024


def filled(unit: str, size: int = LARGEST_BYTES) -> str:
    return (unit * (size // len(unit) + 1))[:size]


@pytest.fixture
def deep_stack() -> Iterator[None]:
    """The matcher that counts goes one call deeper for each character."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_twice_the_text_takes_a_pattern_about_twice_the_steps(pattern: str) -> None:
    steps = Steps(pattern)
    for unit in UNITS:
        for lead in ("", "implementation", "a"):
            once, twice = (steps.over(lead + filled(unit, length)) for length in (LENGTH, 2 * LENGTH))
            assert twice <= 2.5 * once + 100, (lead, unit, once, twice)


@pytest.mark.parametrize(
    "text",
    [
        "[project]\n",
        'a = "1.2.3.4.5.6.7.8.9.10.11"  # a.b.c.d.e.f.g.h.i.j.k\n',
        "a = '''\n" + "[a.b]\n" * 400 + "'''\n",
        'a = """' + '""\\"""\\""" a.b.c.d.e.f.g.h.i.j.k' + '"""""\n',
        'a = ["x.y", "z"]\nb.c.d.e.f = {g = 1.5}\n' + "[a.b.c]\nd=1\n" * 200,
        (ROOT / "pyproject.toml").read_text(),
    ],
)
def test_toml_as_people_write_it_is_read(text: str) -> None:
    assert is_modest(text)


@pytest.mark.parametrize(
    "text",
    [
        filled("a.") + "a=1",
        filled('"!" . ') + "a=1",
        "x = {" + "a." * 9 + "a = 1}",
        "['" + "']['".join("aaa") + "'" + ".a" * 9 + "]",
        "\n".join(f"[a{number}]" for number in range(301)),
        "\n".join(f"k{number}=1" for number in range(4001)),
        "a = [" + "1," * 4001 + "]",
        "a = " + "[" * 21,
        "a = " + "{b=" * 21,
        '"a" = 1\n"" = 2\n' + "[" * 21,
    ],
)
def test_toml_that_would_take_long_is_not(tmp_path: Path, text: str) -> None:
    assert not is_modest(text)
    (tmp_path / "pyproject.toml").write_text(text)
    assert not ManifestFolder(str(tmp_path)).table("pyproject.toml")


HOSTILE = {
    "keys": {"pyproject.toml": filled("a.", LARGEST_BYTES - 3) + "a=1", "Cargo.toml": filled("a.", 40_000) + "a=1"},
    "quoted keys": {"pyproject.toml": filled('"!".', LARGEST_BYTES - 4) + "a=1"},
    "headers": {"pyproject.toml": "[" + filled("a.", LARGEST_BYTES - 2) + "]"},
    "tables": {"pyproject.toml": "\n".join(f"[a.{number}]" for number in range(6_500))},
    "gradle": {"build.gradle": "implementation" + filled(" ", 250_000)},
    "names": {"requirements.txt": "\n".join(f"a{number}" for number in range(36_000))},
    "packages": {"package.json": json.dumps({"dependencies": {f"a{number}": 1 for number in range(17_000)}})},
    "artifacts": {"pom.xml": "<project>" + "<dependency><artifactId>a</artifactId></dependency>" * 20_000},
    "readme": {"README.md": "# a" + filled(" ", 60_000) + "x"},
}


@pytest.mark.parametrize("files", HOSTILE.values(), ids=HOSTILE)
def test_what_stops_others_is_read_in_little_memory_and_time(tmp_path: Path, files: dict[str, str]) -> None:
    """Minutes or gigabytes for what reads it as it comes; ours ends at once, and the limits are far from it."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    code = f"""
import resource, sys
if sys.platform == "linux":
    resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
from claude_mem_lite.code.manifests.facts import read_facts
read_facts(sys.argv[1])
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)


def test_of_a_great_many_names_the_first_are_told(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("\n".join(f"a{number}" for number in range(9_000)))
    told = ", ".join(f"a{number}" for number in range(10))
    assert [fact.line for fact in read_facts(str(tmp_path))] == [f"Main dependencies: {told} and many more"]


def test_a_bounded_piece_of_a_folder_is_read_and_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: dict[str, int] = {}

    def counted(folder: Path, name: str, limit: int) -> bytes | None:
        found = read_bytes(folder, name, limit)
        assert name not in read
        read[name] = len(found or b"")
        return found

    monkeypatch.setattr(manifest_files, "read_bytes", counted)
    for name in (*manifest_files.MANIFESTS, *manifest_files.READMES):
        (tmp_path / name).write_text(filled("a\n", 300_000))
    read_facts(str(tmp_path))
    assert sum(read.values()) <= 512 * 1024 + len(read)
    assert all(size <= 64 * 1024 + 1 for name, size in read.items() if name != "package.json")


def test_of_a_long_file_the_first_lines_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("a" * 300 + "\n" + filled("a\n", 300_000))
    assert ManifestFolder(str(tmp_path)).lines("Makefile") == ["a" * 200, *["a"] * 1_999]
