"""Connections for reading that are kept open: given once at a time, and never one that tells of another file."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_reading, open_for_writing
from claude_mem_lite.db.read_pool import MAX_IDLE, Readers


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "words.db"
    with closing(open_for_writing(path)) as db:
        db.execute("create table words (word text)")
        db.execute("insert into words values ('first')")
    return path


@pytest.fixture
def readers(database: Path) -> Iterator[Readers]:
    with closing(Readers(database)) as made:
        yield made


def words(db: sqlite3.Connection) -> list[str]:
    return [row["word"] for row in db.execute("select word from words")]


def test_a_closed_one_is_given_again(readers: Readers) -> None:
    first = readers.open()
    first.close()
    second = readers.open()
    assert second is first
    assert words(second) == ["first"]
    second.close()


def test_one_in_use_is_nobody_elses(readers: Readers) -> None:
    with closing(readers.open()) as one, closing(readers.open()) as other:
        assert one is not other


def test_one_that_is_closed_twice_is_given_once(readers: Readers) -> None:
    once = readers.open()
    once.close()
    once.close()
    with closing(readers.open()) as one, closing(readers.open()) as other:
        assert one is not other


def test_a_kept_one_sees_what_was_written_since(readers: Readers, database: Path) -> None:
    readers.open().close()
    with closing(open_for_writing(database)) as writer:
        writer.execute("insert into words values ('second')")
    with closing(readers.open()) as db:
        assert words(db) == ["first", "second"]


def test_one_in_a_transaction_is_not_kept(readers: Readers) -> None:
    db = readers.open()
    db.execute("begin")
    words(db)
    db.close()
    with closing(readers.open()) as another:
        assert another is not db
    with pytest.raises(sqlite3.ProgrammingError):
        words(db)


@pytest.mark.parametrize("apart", [False, True], ids=["kept", "apart"])
def test_none_is_opened_of_a_file_that_was_replaced(database: Path, tmp_path: Path, apart: bool) -> None:
    noted: list[str] = []
    with closing(Readers(database, lambda: noted.append("damage"))) as readers:
        readers.open().close()
        other = tmp_path / "other.db"
        shutil.copy(database, other)
        other.replace(database)
        with pytest.raises(sqlite3.DatabaseError, match=r"words\.db was removed or replaced"):
            readers.open_apart() if apart else readers.open()
    assert noted == ["damage"]


def test_reading_makes_no_database_where_one_was_removed(readers: Readers, database: Path) -> None:
    readers.open().close()
    database.unlink()
    with pytest.raises(sqlite3.DatabaseError, match="removed"):
        readers.open()
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        open_for_reading(database)
    assert not database.exists()


def test_they_cannot_write(readers: Readers) -> None:
    with closing(readers.open()) as db, pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("insert into words values ('second')")


def test_those_that_rest_are_let_go(readers: Readers) -> None:
    resting, used = readers.open(), readers.open()
    resting.close()
    readers.release()
    with pytest.raises(sqlite3.ProgrammingError):
        words(resting)
    assert words(used) == ["first"]
    used.close()


def test_no_more_are_kept_than_are_used_side_by_side(readers: Readers) -> None:
    opened = [readers.open() for _ in range(MAX_IDLE + 1)]
    for db in opened:
        db.close()
    with pytest.raises(sqlite3.ProgrammingError):
        words(opened[-1])


def test_after_the_end_none_is_kept(readers: Readers) -> None:
    late = readers.open()
    readers.close()
    assert words(late) == ["first"]
    late.close()
    with pytest.raises(sqlite3.ProgrammingError):
        words(late)


@pytest.mark.parametrize("name", ["a b", "50%", "what?", "a#b", "ü", "\udcff"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "words.db"
    path.parent.mkdir()
    for given in (path, Path(f"/{path}")):
        with closing(open_for_writing(given)) as db:
            db.execute("create table if not exists words (word text)")
        with closing(open_for_reading(given)) as db:
            assert words(db) == []
    assert [one.name for one in path.parent.iterdir()] == ["words.db"]
