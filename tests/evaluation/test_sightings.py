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
