"""Tests of `team/local_paths.py`: home folders and user names leave no text, paths of the project stay readable."""

import pytest

from claude_mem_lite.team.local_paths import LocalPaths, is_inside

PATHS = LocalPaths("/srv/people/ana", ("/srv/people/ana/shop", "/code/shop"))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("see /home/ana/notes.txt", "see ~/notes.txt"),
        ("see /home/ana", "see ~"),
        ("(/Users/ana/x)", "(~/x)"),
        ("/root/.ssh/config and /root", "~/.ssh/config and ~"),
        (r"C:\Users\ana\app", r"~\app"),
        (r"in C:\\Users\\ana\\app", r"in ~\\app"),
        ("c:/users/ana/app", "~/app"),
        (r"C:\Users\Ana Maria\app", r"~\app"),
        (r"D:\Documents and Settings\ana\app", r"~\app"),
        ("/mnt/c/Users/ana/app", "~/app"),
        ("/c/Users/ana/app", "~/app"),
        ("/var/home/ana/app", "~/app"),
        ("/export/home/ana/app", "~/app"),
        ("file:///home/ana/app", "file:~/app"),
        ("host:/home/ana/app", "host:~/app"),
        ("PATH=/home/ana/bin:/home/ana/.local/bin", "PATH=~/bin:~/.local/bin"),
        ("%2Fhome%2Fana%2Fapp", "~%2Fapp"),
        ("/run/media/ana/stick", "~/stick"),
        ("~ana/app", "~/app"),
        ("~/.claude/projects/-home-ana-shop/x", "~/.claude/projects/~-shop/x"),
        ("/srv/people/ana/other", "~/other"),
        ("/srv/people/ana/shop/src/a.py", "src/a.py"),
        ("cd /srv/people/ana/shop", "cd ."),
        ("/code/shop/src/a.py and /code/shopping", "src/a.py and /code/shopping"),
        (".claude/worktrees/fix-login/src/a.py", "src/a.py"),
        ("in /code/shop/.claude/worktrees/fix-login/src/a.py:12", "in src/a.py:12"),
        (".worktrees/fix-login/src/a.py", "src/a.py"),
    ],
)
def test_a_home_is_cut_and_a_checkout_made_relative(text: str, cut: str) -> None:
    assert PATHS.out_of(text) == cut


@pytest.mark.parametrize(
    "text",
    [
        "src/home/index.ts",
        "https://example.org/home/list",
        "GET /users/12 answers 404",
        "/etc/hosts and /usr/lib/python3",
        "a/root/b",
        "docs/.claude/worktrees/x/y and .claude/worktrees",
        "the ratio is 3/4",
        "100% sure",
    ],
)
def test_other_paths_stay(text: str) -> None:
    assert PATHS.out_of(text) == text


def test_files_are_relative_or_dropped() -> None:
    files = ["src/a.py", "/code/shop/b.py", "/home/ana/c.py", "/etc/passwd", "~/d", "../e", r"C:\x\f.py", "a/../../g"]
    assert [PATHS.file(file) for file in files] == ["src/a.py", "b.py", "", "", "", "", "", ""]


@pytest.mark.parametrize("path", ["", "/a", "~/a", "..", "a/../b", r"a\..\b", "C:/a", "file:a", r"\\host\a"])
def test_a_path_out_of_its_folder_is_not_inside(path: str) -> None:
    assert not is_inside(path)


def test_a_short_home_is_no_pattern() -> None:
    assert LocalPaths("/", ("/", "")).out_of("a / b /etc/x") == "a / b /etc/x"
