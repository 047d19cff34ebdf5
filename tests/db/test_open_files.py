"""Files that were replaced under a worker: seen while it runs, and by the next one from what it left."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.open_files import OpenFiles, foreign_logs
from claude_mem_lite.paths import Home


@pytest.fixture
def files(home: Home) -> Iterator[OpenFiles]:
    """Both databases open, with something in their logs."""
    with ExitStack() as stack:
        for path in (home.memory_db, home.inbox_db):
            db = stack.enter_context(closing(open_for_writing(path)))
            db.execute("create table words (word text)")
            db.execute("pragma wal_checkpoint")
            db.execute("insert into words values ('first')")
        made = OpenFiles(home)
        made.write_record(home.open_files, "")
        stack.callback(made.close)
        assert made.trouble() == ""
        yield made


def replace_by_copy(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.rename(path)


def remove(path: Path) -> None:
    path.unlink()


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("name", ["memory.db", "inbox.db", "memory.db-wal", "inbox.db-wal", "memory.db-shm"])
@pytest.mark.parametrize("damage", [replace_by_copy, remove, put_folder])
def test_a_file_that_is_not_the_one_that_was_opened_is_named(
    home: Home, files: OpenFiles, name: str, damage: Callable[[Path], None]
) -> None:
    damage(home.root / name)
    assert files.trouble() == f"{name} was {'removed' if damage is remove else 'replaced'}"
    assert not files.is_home_replaced()


@pytest.mark.parametrize("name", ["memory.db", "inbox.db"])
def test_a_database_that_was_cut_is_named(home: Home, files: OpenFiles, name: str) -> None:
    with (home.root / name).open("r+b") as file:
        file.truncate(100)
    assert files.trouble() == f"{name} was cut"


@pytest.mark.parametrize("name", ["memory.db", "inbox.db"])
def test_an_older_copy_that_was_written_into_the_open_file_is_named_and_its_log_foreign(
    home: Home, files: OpenFiles, name: str
) -> None:
    path = home.root / name
    backup_files.copy(path, home.root / "older")
    with closing(open_for_writing(path)) as db:
        files.mark_anew(path, db)
        db.execute("pragma wal_checkpoint(passive)")
    assert files.trouble() == ""
    files.rewrite_record()
    assert foreign_logs(path, home.open_files) == []
    shutil.copy(home.root / "older", path)
    assert files.is_overwritten(path)
    assert files.trouble() == f"{name} was overwritten"
    assert [log.name for log in foreign_logs(path, home.open_files)] == [f"{name}-wal", f"{name}-shm"]


def test_a_compacted_copy_that_was_written_into_the_open_file_is_named(home: Home, files: OpenFiles) -> None:
    """Its pages stand elsewhere, so that it is no base for the log."""
    with closing(open_for_writing(home.memory_db)) as db:
        db.execute("vacuum into ?", (str(home.root / "compacted"),))
    shutil.copy(home.root / "compacted", home.memory_db)
    assert files.is_overwritten(home.memory_db)


def test_a_file_that_is_overwritten_by_what_it_holds_is_no_trouble(home: Home, files: OpenFiles) -> None:
    shutil.copy(home.memory_db, home.root / "same")
    shutil.copy(home.root / "same", home.memory_db)
    assert files.trouble() == ""


def test_a_journal_that_somebody_put_beside_a_database_is_named_and_foreign(home: Home, files: OpenFiles) -> None:
    journal = home.root / "inbox.db-journal"
    journal.write_bytes(b"x")
    assert files.trouble() == "inbox.db-journal was put beside its database"
    assert foreign_logs(home.inbox_db, home.open_files) == [journal]
    assert foreign_logs(home.memory_db, home.open_files) == []


def test_a_log_that_is_emptied_is_no_trouble(home: Home, files: OpenFiles) -> None:
    with closing(open_for_writing(home.memory_db)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    assert files.trouble() == ""


def test_a_home_that_was_moved_or_replaced_is_named(home: Home, files: OpenFiles) -> None:
    home.root.rename(home.root.with_name("away"))
    assert files.is_home_replaced()
    home.root.mkdir()
    assert files.trouble() == f"{home.root} was moved or replaced"


def test_the_log_of_a_database_that_was_replaced_is_foreign_to_the_one_in_its_place(
    home: Home, files: OpenFiles
) -> None:
    assert foreign_logs(home.memory_db, home.open_files) == []
    replace_by_copy(home.memory_db)
    found = foreign_logs(home.memory_db, home.open_files)
    assert [path.name for path in found] == ["memory.db-wal", "memory.db-shm"]
    assert foreign_logs(home.inbox_db, home.open_files) == []


def test_the_logs_of_a_home_that_was_copied_as_a_whole_belong_to_its_databases(home: Home, files: OpenFiles) -> None:
    copy = Home(home.root.with_name("copy"))
    shutil.copytree(home.root, copy.root)
    assert foreign_logs(copy.memory_db, copy.open_files) == []


@pytest.mark.parametrize("record", [b"", b"no json", b"[]", b'{"memory.db-wal": "x"}'])
def test_without_a_record_that_can_be_read_only_what_is_no_file_is_foreign(
    home: Home, files: OpenFiles, record: bytes
) -> None:
    home.open_files.write_bytes(record)
    replace_by_copy(home.memory_db)
    put_folder(home.root / "inbox.db-wal")
    assert foreign_logs(home.memory_db, home.open_files) == []
    assert [path.name for path in foreign_logs(home.inbox_db, home.open_files)] == ["inbox.db-wal"]
