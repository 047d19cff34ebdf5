"""Tests of connections for writing."""

from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic, open_for_writing, unsynced

_FULL, _NORMAL = 2, 1


def test_commits_wait_for_the_disk_except_in_an_unsynced_block(tmp_path: Path) -> None:
    with closing(open_for_writing(tmp_path / "some.db")) as db:
        assert db.execute("pragma synchronous").fetchone()[0] == _FULL
        with unsynced(db), atomic(db):
            db.execute("create table kept (one)")
            assert db.execute("pragma synchronous").fetchone()[0] == _NORMAL
        assert db.execute("pragma synchronous").fetchone()[0] == _FULL


def test_commits_wait_for_the_disk_again_after_an_error(tmp_path: Path) -> None:
    with closing(open_for_writing(tmp_path / "some.db")) as db:
        with pytest.raises(ZeroDivisionError), unsynced(db), atomic(db):
            raise ZeroDivisionError
        assert db.execute("pragma synchronous").fetchone()[0] == _FULL
