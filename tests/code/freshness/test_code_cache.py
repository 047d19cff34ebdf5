"""What source files hold, from code.db or read anew."""

import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.code_cache import CodeCache, FileCode
from claude_mem_lite.code.freshness.working_tree import LARGEST_BYTES
from claude_mem_lite.deadline import PAST

RENEW = "class Session:\n    def renew(self, token):\n        return token\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CodeCache]:
    made = CodeCache(tmp_path / "code.db", a_while_later)
    yield made
    made.release()


def test_a_file_tells_its_symbols(root: Path, cache: CodeCache) -> None:
    (root / "src" / "auth.py").write_text(RENEW)
    code = cache.read(str(root), ["src/auth.py"])["src/auth.py"]
    assert code is not None
    assert names(code) == ["Session", "Session.renew"]


def test_what_is_unchanged_comes_from_the_cache(root: Path, tmp_path: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    assert read(cache, root, "auth.py") == ["Session", "Session.renew"]
    cache.release()
    doctored = sqlite3.connect(tmp_path / "code.db")
    doctored.execute("update symbols set name = 'FromTheCache' where name = 'Session'")
    doctored.commit()
    doctored.close()
    assert read(cache, root, "auth.py") == ["FromTheCache", "Session.renew"]


def test_what_was_kept_is_there_when_the_database_is_opened_again(root: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    before = cache.read(str(root), ["auth.py"])
    cache.release()
    assert cache.read(str(root), ["auth.py"]) == before


def test_a_change_is_noticed_even_when_size_and_time_of_the_content_stay(root: Path, cache: CodeCache) -> None:
    file = root / "auth.py"
    file.write_text("def one(): pass\n")
    assert read(cache, root, "auth.py") == ["one"]
    times = file.stat()
    file.write_text("def two(): pass\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert read(cache, root, "auth.py") == ["two"]


def test_a_change_within_the_same_tick_of_the_clock_is_noticed(root: Path, tmp_path: Path) -> None:
    cache = CodeCache(tmp_path / "code.db")
    file = root / "auth.py"
    for number in range(50):
        file.write_text(f"def f{number:02}(): pass\n")
        assert read(cache, root, "auth.py") == [f"f{number:02}"]
    cache.release()


def test_a_file_put_in_the_place_of_another_is_read_anew(root: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text("def one(): pass\n")
    assert read(cache, root, "auth.py") == ["one"]
    (root / "new.py").write_text("def two(): pass\n")
    (root / "new.py").rename(root / "auth.py")
    assert cache.read(str(root), ["auth.py", "new.py"])["new.py"] is None
    assert read(cache, root, "auth.py") == ["two"]


def test_a_deleted_file_is_no_file_and_is_dropped(root: Path, tmp_path: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    read(cache, root, "auth.py")
    (root / "auth.py").unlink()
    assert cache.read(str(root), ["auth.py", "never.py"]) == {"auth.py": None, "never.py": None}
    assert rows(tmp_path / "code.db", "files") == rows(tmp_path / "code.db", "symbols") == 0


def test_a_file_of_no_known_language_has_no_symbols(root: Path, cache: CodeCache) -> None:
    (root / "notes.txt").write_text("def not_code(): pass")
    code = cache.read(str(root), ["notes.txt"])["notes.txt"]
    assert code is not None
    assert code.symbols is None


def test_a_file_over_the_limit_is_there_but_not_read(root: Path, cache: CodeCache) -> None:
    (root / "huge.py").write_text("def f(): pass\n" + "#" * LARGEST_BYTES)
    code = cache.read(str(root), ["huge.py"])["huge.py"]
    assert code is not None
    assert code.symbols is None


def test_nothing_is_read_when_time_is_up(root: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    assert cache.read(str(root), ["auth.py"], deadline=PAST) == {}


def test_a_root_that_is_not_there_tells_nothing_of_its_files(root: Path, cache: CodeCache) -> None:
    assert cache.read(str(root / "unmounted"), ["auth.py"]) == {}


@pytest.mark.parametrize(
    "path",
    ["../outside.py", "src/../../outside.py", "linked/outside.py", "link.py", "pipe.py", "src", "", ".", "a\x00b.py"],
)
def test_what_is_no_plain_file_within_the_root_is_no_such_file(path: str, root: Path, cache: CodeCache) -> None:
    (root.parent / "outside.py").write_text("def secret(): pass\n")
    (root / "linked").symlink_to(root.parent)
    (root / "link.py").symlink_to(root.parent / "outside.py")
    os.mkfifo(root / "pipe.py")
    assert cache.read(str(root), [path]) == {path: None}


def test_an_absolute_path_is_no_such_file(root: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    absolute = str(root / "auth.py")
    assert cache.read(str(root), [absolute]) == {absolute: None}


def test_a_name_that_is_no_text_is_no_such_file(root: Path, cache: CodeCache) -> None:
    assert cache.read(str(root), ["\udcff.py", "/".join("a" * 5000)]) == {"\udcff.py": None, "/".join("a" * 5000): None}


def test_secrets_in_signatures_are_not_kept(root: Path, tmp_path: Path, cache: CodeCache) -> None:
    key = "AKIA" + "Q3EGRIZ7QWERTY5A"
    (root / "auth.py").write_text(f'def connect(key="{key}"):\n    return key\n')
    code = cache.read(str(root), ["auth.py"])["auth.py"]
    assert code is not None
    assert code.symbols
    assert "redacted" in code.symbols[0].signature
    cache.release()
    assert key.encode() not in (tmp_path / "code.db").read_bytes()


@pytest.mark.parametrize("damage", [b"this was never a database" * 100, b"SQLite format 3\x00" + b"\x07" * 8000])
def test_a_damaged_database_is_made_anew(damage: bytes, root: Path, tmp_path: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    (tmp_path / "code.db").write_bytes(damage)
    assert read(cache, root, "auth.py") == ["Session", "Session.renew"]
    assert rows(tmp_path / "code.db", "files") == 1


def test_a_database_of_another_version_is_made_anew(root: Path, tmp_path: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    old = sqlite3.connect(tmp_path / "code.db")
    old.execute("create table symbols (old text)")
    old.execute("pragma user_version=1")
    old.close()
    assert read(cache, root, "auth.py") == ["Session", "Session.renew"]
    assert rows(tmp_path / "code.db", "files") == 1


def test_code_is_read_even_where_nothing_can_be_kept(root: Path, tmp_path: Path) -> None:
    (root / "auth.py").write_text(RENEW)
    cache = CodeCache(tmp_path / "no such folder" / "code.db")
    assert read(cache, root, "auth.py") == ["Session", "Session.renew"]


def test_only_the_user_can_read_the_database(root: Path, tmp_path: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    read(cache, root, "auth.py")
    assert stat.S_IMODE((tmp_path / "code.db").stat().st_mode) == 0o600


def test_a_cleared_cache_leaves_nothing_on_disk_and_can_be_used_again(
    root: Path, tmp_path: Path, cache: CodeCache
) -> None:
    (root / "auth.py").write_text(RENEW)
    read(cache, root, "auth.py")
    cache.clear()
    assert list(tmp_path.glob("code.db*")) == []
    read(cache, root, "auth.py")
    assert rows(tmp_path / "code.db", "files") == 1


def test_checkouts_that_are_gone_are_dropped_when_the_database_is_opened(
    root: Path, tmp_path: Path, cache: CodeCache
) -> None:
    (root / "auth.py").write_text(RENEW)
    read(cache, root, "auth.py")
    cache.release()
    root.rename(tmp_path / "elsewhere")
    cache.read(str(tmp_path / "elsewhere"), ["never.py"])
    assert rows(tmp_path / "code.db", "files") == 0


def a_while_later() -> int:
    """A clock for which no file was changed just now."""
    return time.time_ns() + 1_000_000_000


def read(cache: CodeCache, root: Path, path: str) -> list[str]:
    code = cache.read(str(root), [path])[path]
    assert code is not None
    return names(code)


def names(code: FileCode) -> list[str]:
    assert code.symbols is not None
    return [symbol.name for symbol in code.symbols]


def rows(database: Path, table: str) -> int:
    db = sqlite3.connect(database)
    try:
        return int(db.execute(f"select count(*) from {table}").fetchone()[0])
    finally:
        db.close()


def test_private_passages_of_a_file_are_in_no_signature(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('def call(number="<private>0171 555</private>"):\n    return number\n')
    cache = CodeCache(tmp_path / "code.db")
    found = cache.read(str(tmp_path), ["a.py"])["a.py"]
    assert found is not None
    assert found.symbols is not None
    assert [symbol.signature for symbol in found.symbols] == ['def call(number="[private]")']
    cache.release()
    assert b"0171" not in (tmp_path / "code.db").read_bytes()


def test_a_database_that_somebody_deleted_is_made_anew_for_whoever_reads_it(
    root: Path, tmp_path: Path, cache: CodeCache
) -> None:
    (root / "auth.py").write_text(RENEW)
    read(cache, root, "auth.py")
    for file in tmp_path.glob("code.db*"):
        file.unlink()
    with cache.reading() as db:
        assert db.execute("select count(*) from symbols").fetchone()[0] == 0
    assert read(cache, root, "auth.py") == ["Session", "Session.renew"]
    assert rows(tmp_path / "code.db", "files") == 1


def test_a_cache_that_cannot_be_removed_is_emptied(root: Path, tmp_path: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    read(cache, root, "auth.py")
    (tmp_path / "code.db-wal").unlink(missing_ok=True)
    cache.release()
    (tmp_path / "code.db-wal").mkdir()  # nothing but a folder of that name keeps even root from deleting it
    cache.clear()
    (tmp_path / "code.db-wal").rmdir()
    assert read(cache, root, "auth.py") == ["Session", "Session.renew"]


def test_a_body_is_found_in_its_own_checkout_only(root: Path, tmp_path: Path, cache: CodeCache) -> None:
    (root / "auth.py").write_text(RENEW)
    code = cache.read(str(root), ["auth.py"])["auth.py"]
    assert code is not None
    assert code.symbols is not None
    assert cache.find_body(str(root), code.symbols[1].body) == [("auth.py", "Session.renew")]
    assert cache.find_body(str(tmp_path), code.symbols[1].body) == []


def test_whoever_waits_loads_no_grammar_that_takes_longer_than_the_time_left(tmp_path: Path) -> None:
    (tmp_path / "auth.ts").write_text("export function renew() {}\n")
    code = """
import sys
from pathlib import Path
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.deadline import Deadline
root, stopped = sys.argv[1], Deadline.after(0.03, lambda: 0.0)
cache = CodeCache(Path(root, "code.db"))
print(list(cache.read(root, ["auth.ts"], stopped, keeps_time=True)), end=" ")
print(list(cache.read(root, ["auth.ts"], stopped)), end=" ")
cache.clear()
print(list(cache.read(root, ["auth.ts"], stopped, keeps_time=True)))
cache.release()
"""
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert told.stdout == "[] ['auth.ts'] ['auth.ts']\n"
