"""Checkpoints that the worker makes itself: when a log has grown, with another mark, and never into another file."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files, open_files
from claude_mem_lite.db.checkpoints import MAX_FRAMES, Checkpoints
from claude_mem_lite.db.connection import Watched, empty_log, open_for_writing, open_to_hold
from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.db.open_files import OpenFiles
from claude_mem_lite.paths import Home


class Opened:
    """Both databases of a home, as a worker has them."""

    def __init__(self, home: Home, stack: ExitStack) -> None:
        self.home = home
        self.databases: dict[Path, Watched] = {}
        after = stack.enter_context(ExitStack())
        for path in (home.memory_db, home.inbox_db):
            db = stack.enter_context(closing(open_for_writing(path, Watched)))
            assert isinstance(db, Watched)
            db.execute("create table words (word text)")
            self.databases[path] = db
        self.files = after.enter_context(closing(OpenFiles(home)))
        self.checkpoints = after.enter_context(closing(Checkpoints(self.files, self.databases)))
        self.memory = self.databases[home.memory_db]

    def fill_log(self) -> None:
        (page,) = self.memory.execute("pragma page_size").fetchone()
        self.memory.execute("insert into words values (zeroblob(?))", (page * MAX_FRAMES,))

    def words_in_file(self) -> int:
        """How many words the file has without its log."""
        alone = self.home.root / "alone"
        shutil.copy(self.home.memory_db, alone)
        with closing(sqlite3.connect(alone)) as db:
            tables = db.execute("select count(*) from sqlite_master").fetchone()[0]
            return int(db.execute("select count(*) from words").fetchone()[0]) if tables else 0


@pytest.fixture
def opened(home: Home) -> Iterator[Opened]:
    with ExitStack() as stack:
        yield Opened(home, stack)


def test_a_log_is_brought_into_its_database_when_it_has_grown_and_not_before(opened: Opened) -> None:
    opened.memory.execute("insert into words values ('first')")
    opened.checkpoints.make_due()
    assert opened.words_in_file() == 0
    opened.fill_log()
    assert opened.words_in_file() == 0
    opened.checkpoints.make_due()
    assert opened.words_in_file() == 2
    assert opened.files.trouble() == ""


def test_each_checkpoint_leaves_another_mark_in_the_file(opened: Opened) -> None:
    marks = []
    for _ in range(3):
        opened.checkpoints.make_all()
        marks.append(opened.memory.execute("pragma user_version").fetchone()[0])
        assert opened.files.trouble() == ""
    assert len(set(marks)) == 3


def test_a_mark_that_another_program_has_written_into_the_log_is_replaced(opened: Opened) -> None:
    with closing(open_for_writing(opened.home.memory_db)) as db:
        db.execute("pragma user_version=5")
    opened.checkpoints.make_all()
    assert opened.files.trouble() == ""
    assert opened.memory.execute("pragma user_version").fetchone()[0] != 5


def test_a_copy_made_before_a_checkpoint_is_seen_after_it(opened: Opened) -> None:
    opened.checkpoints.make_all()
    opened.memory.execute("insert into words values ('first')")
    copy = opened.home.root / "copy"
    backup_files.copy(opened.home.memory_db, copy)
    opened.memory.execute("insert into words values ('second')")
    opened.checkpoints.make_all()
    shutil.copy(copy, opened.home.memory_db)
    assert opened.files.is_overwritten(opened.home.memory_db)


def test_no_page_of_a_log_gets_into_a_file_that_was_overwritten(opened: Opened) -> None:
    older = opened.home.root / "older"
    backup_files.copy(opened.home.memory_db, older)
    opened.checkpoints.make_all()
    opened.fill_log()
    shutil.copy(older, opened.home.memory_db)
    for checkpoint in (opened.checkpoints.make_due, lambda: empty_log(opened.memory)):
        with pytest.raises(sqlite3.DatabaseError, match=r"memory\.db was overwritten") as raised:
            checkpoint()
        assert is_damage(raised.value)
    assert opened.home.memory_db.read_bytes() == older.read_bytes()


def test_closing_leaves_a_log_as_it_is_while_another_connection_holds_it(home: Home) -> None:
    with closing(open_for_writing(home.memory_db)) as db:
        db.execute("create table words (word text)")
        db.execute("pragma wal_checkpoint")
        db.execute("insert into words values ('first')")
        holding = open_to_hold(home.memory_db)
        before = home.memory_db.read_bytes()
    holding.close()
    assert home.memory_db.read_bytes() == before
    with closing(open_for_writing(home.memory_db)) as db:
        assert db.execute("select word from words").fetchone()[0] == "first"


def test_a_changed_schema_is_told_once(opened: Opened) -> None:
    assert opened.checkpoints.changed_schemas() == []
    with closing(open_for_writing(opened.home.memory_db)) as db:
        db.execute("drop table words")
    assert opened.checkpoints.changed_schemas() == [opened.memory]
    assert opened.checkpoints.changed_schemas() == []


def test_a_worker_that_ends_leaves_another_mark(home: Home) -> None:
    with closing(open_for_writing(home.memory_db)) as db:
        marks = [db.execute("pragma user_version").fetchone()[0]]
        for _ in range(2):
            open_files.renew_mark(db)
            marks.append(db.execute("pragma user_version").fetchone()[0])
    assert len(set(marks)) == 3
