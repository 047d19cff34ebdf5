"""Tests of `evaluation/checkouts.py`: a folder inside a checkout is no checkout of its own."""

import json
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.evaluation.checkouts import checkouts_of
from claude_mem_lite.evaluation.in_process_worker import served
from claude_mem_lite.evaluation.recording import read_recording
from claude_mem_lite.evaluation.session_walk import Walk
from claude_mem_lite.evaluation.sightings import tree_at
from claude_mem_lite.store import sessions
from claude_mem_lite.timestamps import utc_now
from tests.support.past_sessions import LONG_AGO, SHOP, Json, PastSession


@pytest.mark.parametrize(
    ("folder", "checkout"),
    [
        (f"{SHOP}/ui", SHOP),
        (f"{SHOP}/ui/src", SHOP),
        (f"{SHOP}-old/ui", f"{SHOP}-old/ui"),
        (f"{SHOP}/.worktrees/dev/export", f"{SHOP}/.worktrees/dev/export"),
        (f"{SHOP}/.claude/worktrees/export", f"{SHOP}/.claude/worktrees/export"),
        (f"{SHOP}/.claude/worktrees/export/ui", f"{SHOP}/.claude/worktrees/export"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_a_folder_is_a_part_of_the_folder_around_it_and_a_worktree_is_not(folder: str, checkout: str) -> None:
    folders = {SHOP, f"{SHOP}/.claude/worktrees/export", "/", folder}
    assert checkouts_of(folders, is_one_project=True)[folder] == checkout


def test_folders_of_several_projects_are_told_apart_by_git_alone(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    shop = str(tmp_path.resolve() / "shop")
    folders = [str(tmp_path), shop, f"{shop}/ui", f"{SHOP}/ui", SHOP]
    found = checkouts_of(folders, is_one_project=False)
    assert found == {**{folder: folder for folder in folders}, f"{shop}/ui": shop}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A list of two sessions: one edits a file from the checkout, the other from a folder in it."""
    (tmp_path / "sessions").mkdir()
    listed = []
    for day, (folder, file) in enumerate(((SHOP, "ui/a.ts"), (f"{SHOP}/ui", "ui/b.ts"), (SHOP, "c.ts"))):
        at = LONG_AGO + timedelta(days=day)
        session = PastSession(f"s{day}", at, folder).prompt("write it")
        session.calls("Write", {"file_path": f"{SHOP}/{file}", "content": "x\n"})
        record: Json = {"filePath": f"{SHOP}/{file}", "content": "x\n", "structuredPatch": [], "originalFile": None}
        session.gets("written", record).says("Done.").write(tmp_path / "sessions")
        listed.append({"session": f"s{day}", "started": at.isoformat(), "files": [file]})
    (tmp_path / "sessions.json").write_text(json.dumps(listed))
    return tmp_path


def test_files_have_their_paths_from_the_checkout_in_whatever_folder_a_session_works(recorded: Path) -> None:
    recording = read_recording([recorded], utc_now())
    past = [recording.past[listed.id] for listed in recording.listed]
    assert [session.root for session in past] == [SHOP] * 3
    assert tree_at(past[2], past[:2])[0] == {"ui/a.ts": "x\n", "ui/b.ts": "x\n"}


def test_a_walk_stores_the_paths_from_the_checkout(recorded: Path, tmp_path: Path) -> None:
    walk = Walk(read_recording([recorded], utc_now()), tmp_path / "walk")
    with served(walk.home, walk.clock) as services:
        walk.go_to(utc_now())
        with closing(services.readers.open()) as db:
            stored = [sessions.find(db, listed.id) for listed in walk.listed]
    edited = [session.summary.files_edited for session in stored if session]
    assert edited == [("ui/a.ts",), ("ui/b.ts",), ("c.ts",)]
