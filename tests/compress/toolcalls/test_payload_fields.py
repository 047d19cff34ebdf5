"""Paths as seen from the root of a checkout, wherever in it the agent works."""

import pytest

from claude_mem_lite.compress.toolcalls.payload_fields import Folder

ROOT = "/home/dev/shop"


@pytest.mark.parametrize(
    ("inside", "given", "seen"),
    [
        ("", f"{ROOT}/src/a.py", "src/a.py"),
        ("", "src/a.py", "src/a.py"),
        ("", "./src/a.py", "src/a.py"),
        ("", "src/../a.py", "a.py"),
        ("", "/etc/hosts", "/etc/hosts"),
        ("", "../other/a.py", "../other/a.py"),
        ("", "~/notes.md", "~/notes.md"),
        ("", f"{ROOT}-two/a.py", f"{ROOT}-two/a.py"),
        ("packages/web", f"{ROOT}/packages/web/src/a.ts", "packages/web/src/a.ts"),
        ("packages/web", f"{ROOT}/packages/api/a.ts", "packages/api/a.ts"),
        ("packages/web", "src/a.ts", "packages/web/src/a.ts"),
        ("packages/web", "../api/a.ts", "packages/api/a.ts"),
        ("packages/web", "../../../elsewhere.ts", "../../../elsewhere.ts"),
    ],
)
def test_a_path_is_told_from_the_root_whatever_the_working_folder(inside: str, given: str, seen: str) -> None:
    folder = Folder(f"{ROOT}/{inside}".rstrip("/"), inside)
    assert folder.name(given) == seen


def test_without_a_working_folder_a_path_stays_as_it_is() -> None:
    assert Folder("").name("src/a.py") == "src/a.py"


def test_a_text_tells_paths_from_the_root_too() -> None:
    folder = Folder(f"{ROOT}/packages/web", "packages/web")
    assert folder.shorten(f"see {ROOT}/packages/web/a.ts and {ROOT}/go.mod") == "see packages/web/a.ts and go.mod"
