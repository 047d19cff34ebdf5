"""Tests of `evaluation/sightings.py` and `evaluation/recording.py`: the checkout as a session found it."""

from datetime import timedelta
from pathlib import Path

from claude_mem_lite.evaluation.recording import read_recording
from claude_mem_lite.evaluation.sightings import tree_at, write_tree
from claude_mem_lite.timestamps import utc_now
from tests.support.past_sessions import LONG_AGO, SHOP, Json, PastSession


def written(id_: str, day: int, text: str) -> PastSession:
    session = PastSession(id_, LONG_AGO + timedelta(days=day)).prompt("write it")
    session.calls("Write", {"file_path": f"{SHOP}/a.py", "content": text})
    record: Json = {"filePath": f"{SHOP}/a.py", "content": text, "structuredPatch": [], "originalFile": None}
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
