"""Files that were asked for a moment ago are known without a question, as long as they are what they were."""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness import cache_tables
from claude_mem_lite.code.freshness.cache_tables import ReadFile
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.file_reader import RecentFiles
from claude_mem_lite.code.freshness.working_tree import FileState
from claude_mem_lite.code.syntax.changes import Symbol

STATE = FileState(1, 2, 3)
LATER_NS = 10**19


def file_of(path: str, symbols: int) -> ReadFile:
    return ReadFile(path, STATE, tuple(Symbol(f"f{at}", "function", "", at, at, "") for at in range(symbols)))


def known_of(known: RecentFiles, *paths: str) -> set[str]:
    return set(known.find("/shop", dict.fromkeys(paths, STATE)))


@pytest.fixture
def cache(tmp_path: Path) -> CodeCache:
    return CodeCache(tmp_path / "code.db", lambda: LATER_NS)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that code.db is asked for."""
    paths_asked: list[str] = []
    ask = cache_tables.known_files

    def noted(db: sqlite3.Connection, root: str, paths: Sequence[str]) -> dict[str, ReadFile]:
        paths_asked.extend(paths)
        return ask(db, root, paths)

    monkeypatch.setattr(cache_tables, "known_files", noted)
    return paths_asked


def read(cache: CodeCache, root: Path, path: str = "a.py") -> list[str] | None:
    """The names in a file, as somebody who waits asks for them."""
    found = cache.read(str(root), [path], keeps_time=True)[path]
    return [symbol.name for symbol in found.symbols or ()] if found else None


def test_those_that_nobody_asked_for_for_longest_make_room() -> None:
    known = RecentFiles(max_symbols=10)
    known.store("/shop", [file_of("a.py", 4), file_of("b.py", 4)])
    assert known_of(known, "a.py", "c.py") == {"a.py"}
    assert known.find("/other", {"a.py": STATE}) == {}
    known.store("/shop", [file_of("c.py", 4)])
    assert known_of(known, "a.py", "b.py", "c.py") == {"a.py", "c.py"}
    known.store("/shop", [file_of("large.py", 50)])
    assert known_of(known, "a.py", "c.py", "large.py") == {"a.py", "c.py"}, "what has no room at all takes none"
    known.drop("/shop", ["a.py"])
    known.store("/shop", [file_of("b.py", 4)])
    assert known_of(known, "a.py", "b.py", "c.py") == {"b.py", "c.py"}
    assert known.find("/shop", {"b.py": FileState(1, 2, 4), "c.py": None}) == {}, "they changed, or are gone"


def test_a_file_is_asked_for_once_while_it_stays_the_same(tmp_path: Path, cache: CodeCache, asked: list[str]) -> None:
    file = tmp_path / "a.py"
    file.write_text("def one(): pass\n")
    assert [read(cache, tmp_path) for _ in range(4)] == [["one"]] * 4
    assert len(asked) == 2, "for what is not known, and for what was just read"
    file.write_text("def two(): pass\ndef three(): pass\n")
    assert read(cache, tmp_path) == ["two", "three"]
    file.unlink()
    assert read(cache, tmp_path) is None


def test_what_was_forgotten_or_let_go_is_asked_for_again(tmp_path: Path, cache: CodeCache, asked: list[str]) -> None:
    (tmp_path / "a.py").write_text("def one(): pass\n")
    for _ in range(2):
        read(cache, tmp_path)
    for drop in (cache.clear, cache.release):
        drop()
        asked.clear()
        assert read(cache, tmp_path) == ["one"]
        assert asked == ["a.py"]


def test_what_others_learned_of_a_file_stays(tmp_path: Path, cache: CodeCache) -> None:
    """The calls in a changed file are read by somebody else while a context knows the file as it was."""
    root, file = str(tmp_path), tmp_path / "a.py"
    file.write_text("def one(): pass\n")
    for _ in range(2):
        read(cache, tmp_path)
    file.write_text("def two(): one()\n")
    cache.read_calls(root, ["a.py"])
    assert read(cache, tmp_path) == ["two"]
    with cache.reading() as db:
        assert cache_tables.known_states(db, root)["a.py"][1], "its calls are known still"


def test_what_could_not_be_kept_is_kept_the_next_time(
    tmp_path: Path, cache: CodeCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("def one(): pass\n")

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(cache_tables, "store_files", full)
        assert read(cache, tmp_path) == ["one"]
    assert read(cache, tmp_path) == ["one"]
    with cache.reading() as db:
        assert set(cache_tables.known_states(db, str(tmp_path))) == {"a.py"}, "others look for code there"


def test_a_file_that_is_deleted_after_it_was_seen_is_missing(tmp_path: Path, cache: CodeCache) -> None:
    file = tmp_path / "a.py"
    file.write_text("def one(): pass\n")
    found = os.stat(file)
    seen = FileState(found.st_ino, found.st_ctime_ns, found.st_size)
    file.unlink()
    assert cache.read(str(tmp_path), ["a.py"], keeps_time=True, seen={"a.py": seen}) == {"a.py": None}
