"""Tests of `evaluation/sightings.py` and `evaluation/recording.py`: the checkout as a session found it."""

from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.evaluation.recording import read_recording
from claude_mem_lite.evaluation.sightings import tree_at, write_tree
from claude_mem_lite.timestamps import utc_now
from tests.support.past_sessions import LONG_AGO, SHOP, Json, PastSession


def written(id_: str, day: int, text: str, file: str = f"{SHOP}/a.py") -> PastSession:
    session = PastSession(id_, LONG_AGO + timedelta(days=day)).prompt("write it")
    session.calls("Write", {"file_path": file, "content": text})
    record: Json = {"filePath": file, "content": text, "structuredPatch": [], "originalFile": None}
    return session.gets("written", record).says("Done.")


def test_a_session_finds_files_as_earlier_sessions_left_them(tmp_path: Path) -> None:
    written("a", 0, "first\n").write(tmp_path)
    written("b", 1, "second\n").write(tmp_path)
    PastSession("c", LONG_AGO + timedelta(days=2)).prompt("look").says("Seen.").write(tmp_path)
    recording = read_recording([tmp_path], utc_now())
    past = [recording.past[listed.id] for listed in recording.listed]
    assert tree_at(past[2], past[:2]) == ({"a.py": "second\n"}, frozenset())


def test_a_removed_file_is_gone_from_the_checkout(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/b.py": "x"}, {})
    write_tree(tmp_path, {"c.py": "y"}, {"a/b.py": "x"})
    assert not (tmp_path / "a" / "b.py").exists()
    assert (tmp_path / "c.py").read_text() == "y"


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("//etc/hosts", "etc/hosts"),
        ("/src/./b.py", "src/b.py"),
        ("/..", ""),
        ("/a/../../b.py", ""),
        ("/.git/config", ""),
        ("/.GIT/HEAD", ""),
        ("/a\0b", ""),
    ],
)
def test_no_path_of_a_transcript_leads_out_of_the_checkout(tmp_path: Path, path: str, named: str) -> None:
    written("a", 0, "first\n", SHOP + path).write(tmp_path)
    written("b", 1, "second\n").write(tmp_path)
    recording = read_recording([tmp_path], utc_now())
    past = [recording.past[listed.id] for listed in recording.listed]
    tree, _ = tree_at(past[1], past[:1])
    assert tree.keys() - {"a.py"} == ({named} if named else set())


def test_a_file_whose_name_is_taken_or_refused_is_left_out(tmp_path: Path) -> None:
    root, tree = tmp_path / "checkout", {"a": "x", "a/b.py": "x", "c": "x", "n" * 300: "x", "\ud800": "x"}
    write_tree(root, tree, {})
    assert sorted(path.name for path in root.iterdir()) == ["a", "c"]
    write_tree(root, {"c/d.py": "y"}, tree)
    assert [path.name for path in root.rglob("*")] == ["c", "d.py"]


def seen(folder: Path, *sessions: PastSession) -> dict[str, str]:
    """The checkout that the last of these sessions finds."""
    for session in sessions:
        session.write(folder)
    recording = read_recording([folder], utc_now())
    past = [recording.past[listed.id] for listed in recording.listed]
    tree, _ = tree_at(past[-1], past[:-1])
    return dict(tree)


def later(day: int = 5) -> PastSession:
    return PastSession("z", LONG_AGO + timedelta(days=day)).prompt("look").says("Seen.")


@pytest.mark.parametrize("command", ["rm a.py", "cd . && git rm -q a.py", "mv a.py b.py", "git mv a.py b.py"])
def test_a_file_that_a_command_removed_is_gone(tmp_path: Path, command: str) -> None:
    gone = PastSession("b", LONG_AGO + timedelta(days=1)).prompt("remove it").runs(command, "").says("Done.")
    assert seen(tmp_path, written("a", 0, "first\n"), gone, later()) == {}


def test_a_file_that_could_not_be_read_is_gone(tmp_path: Path) -> None:
    failed = PastSession("b", LONG_AGO + timedelta(days=1)).prompt("read it")
    failed.calls("Read", {"file_path": f"{SHOP}/a.py"}).gets("File does not exist.", "Error", error=True).says("Gone.")
    assert seen(tmp_path, written("a", 0, "first\n"), failed, later()) == {}


@pytest.mark.parametrize(("lines", "expected"), [(2, {"a.py": "x\ny\n"}), (3, {})])
def test_a_whole_read_shows_a_file_and_a_part_does_not(tmp_path: Path, lines: int, expected: dict[str, str]) -> None:
    file = {"filePath": f"{SHOP}/a.py", "content": "x\ny\n", "startLine": 1, "numLines": 2, "totalLines": lines}
    reading = PastSession("a").prompt("read it").calls("Read", {"file_path": f"{SHOP}/a.py"})
    assert seen(tmp_path, reading.gets("x", {"file": file}).says("Read."), later()) == expected


@pytest.mark.parametrize(("everywhere", "expected"), [(True, "y y\n"), (False, "y x\n")])
def test_an_edit_replaces_the_first_place_or_all(tmp_path: Path, everywhere: bool, expected: str) -> None:
    edit = PastSession("a").prompt("edit it").calls("Edit", {"file_path": f"{SHOP}/a.py"})
    record: Json = {"filePath": f"{SHOP}/a.py", "oldString": "x", "newString": "y", "structuredPatch": []}
    edit.gets("edited", {**record, "originalFile": "x x\n", "replaceAll": everywhere}).says("Done.")
    assert seen(tmp_path, edit, later()) == {"a.py": expected}


def test_a_file_is_as_last_seen_on_whatever_branch(tmp_path: Path) -> None:
    other = written("b", 1, "of the branch\n")
    for line in other.lines:
        line["gitBranch"] = "feature"
    assert seen(tmp_path, written("a", 0, "of main\n"), other, later()) == {"a.py": "of the branch\n"}


def test_an_edit_that_failed_touched_no_file(tmp_path: Path) -> None:
    session = PastSession("a").prompt("edit it").calls("Edit", {"file_path": f"{SHOP}/a.py"})
    session.gets("String to replace not found", "Error", error=True).says("It failed.").write(tmp_path)
    assert [listed.files for listed in read_recording([tmp_path], utc_now()).listed] == [frozenset()]
