"""Files that were asked for a moment ago are known without a question, as long as they are what they were."""

from pathlib import Path

import pytest

from claude_mem_lite.code.values import Symbol
from claude_mem_lite.codebase import recent, tables
from claude_mem_lite.codebase.cache import CodeCache, FileCode
from claude_mem_lite.codebase.recent import RecentFiles
from claude_mem_lite.codebase.tables import ReadFile

LATER_NS = 10**19


def file_of(path: str, symbols: int) -> ReadFile:
    return ReadFile(path, None, tuple(Symbol(f"f{at}", "function", "", at, at, "") for at in range(symbols)))


def names(found: FileCode | None) -> list[str]:
    assert found is not None
    assert found.symbols is not None
    return [symbol.name for symbol in found.symbols]


def test_those_known_longest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "_MOST_SYMBOLS", 10)
    known = RecentFiles()
    known.keep("/shop", [file_of("a.py", 4), file_of("b.py", 4)])
    assert set(known.find("/shop", ["a.py", "b.py", "c.py"])) == {"a.py", "b.py"}
    assert known.find("/other", ["a.py"]) == {}
    known.keep("/shop", [file_of("a.py", 2)])
    known.keep("/shop", [file_of("c.py", 4)])
    assert set(known.find("/shop", ["a.py", "b.py", "c.py"])) == {"a.py", "c.py"}
    known.keep("/shop", [file_of("large.py", 50)])
    assert known.find("/shop", ["a.py", "c.py", "large.py"]) == {}, "what has no room at all is not kept"
    known.keep("/shop", [file_of("a.py", 9)])
    assert set(known.find("/shop", ["a.py"])) == {"a.py"}


def test_a_file_is_asked_for_once_and_read_again_when_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def known_files(db: object, root: str, paths: list[str]) -> dict[str, ReadFile]:
        asked.extend(paths)
        return {}

    (tmp_path / "a.py").write_text("def one(): pass\n")
    cache = CodeCache(tmp_path / "code.db", lambda: LATER_NS)
    assert names(cache.read(str(tmp_path), ["a.py"])["a.py"]) == ["one"]
    monkeypatch.setattr(tables, "known_files", known_files)
    assert names(cache.read(str(tmp_path), ["a.py"], keeps_time=True)["a.py"]) == ["one"]
    assert asked == []
    (tmp_path / "a.py").write_text("def two(): pass\ndef three(): pass\n")
    assert names(cache.read(str(tmp_path), ["a.py"], keeps_time=True)["a.py"]) == ["two", "three"]
    cache.clear()
    assert names(cache.read(str(tmp_path), ["a.py"])["a.py"]) == ["two", "three"]
    assert asked == ["a.py"], "what was forgotten is nowhere"
    cache.let_go()
