"""Databases of OpenCode that are damaged or made to harm (`importers/opencode_db.py`)."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.importers.opencode_db import opened
from claude_mem_lite.importers.opencode_session import sessions_in, stored_messages
from tests.support import agent_files as made

ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c) select x from c where x < 0"


def _changed(database: Path, script: str) -> Path:
    with closing(sqlite3.connect(database)) as db:
        db.executescript(script)
    return database


@pytest.mark.parametrize("table", ["session", "message", "part"])
def test_a_view_in_place_of_a_table_is_refused(tmp_path: Path, table: str) -> None:
    path = _changed(made.opencode_database(tmp_path), f"drop table {table}; create view {table} as {ENDLESS}")
    with pytest.raises(sqlite3.DatabaseError, match=f"no table {table}"):
        sessions_in(path)


def test_a_query_without_end_is_given_up(tmp_path: Path) -> None:
    with (
        opened(made.opencode_database(tmp_path), max_read_s=0) as db,
        pytest.raises(sqlite3.OperationalError, match="longer than 0 s"),
    ):
        db.rows(ENDLESS)


def test_ctrl_c_ends_a_query(tmp_path: Path) -> None:
    path = made.opencode_database(tmp_path)
    program = f"""
from pathlib import Path
from claude_mem_lite.importers.opencode_db import opened
with opened(Path({str(path)!r})) as db:
    try:
        print("reads", flush=True)
        db.rows({ENDLESS!r})
    except KeyboardInterrupt:
        print("stopped")
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "reads\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() == "stopped\n"


def test_a_text_that_is_computed_without_measure_is_refused(tmp_path: Path) -> None:
    computed = "directory text generated always as (hex(zeroblob(40000000))) virtual"
    session = f"create table session (id text, {computed}, parent_id text, time_created integer)"
    path = made.opencode_database(tmp_path)
    _changed(path, f"drop table session; {session}; insert into session (id, time_created) values ('ses_o1', 1)")
    with pytest.raises(sqlite3.DataError, match="too big"):
        sessions_in(path)


def test_a_text_that_is_no_utf_8_hides_no_other_session(tmp_path: Path) -> None:
    path = made.opencode_database(tmp_path)
    _changed(path, "insert into session select cast(x'fffe' as text), directory, parent_id, 1 from session")
    assert {one.id for one in sessions_in(path)} == {"ses_o1", "\ufffd\ufffd"}


@pytest.mark.parametrize("is_open", [True, False])
def test_reading_leaves_no_file_beside_the_database(tmp_path: Path, is_open: bool) -> None:
    path = _changed(made.opencode_database(tmp_path), "pragma journal_mode = wal")
    with closing(sqlite3.connect(path)) as client:
        client.execute("update session set directory = '/elsewhere'")
        client.commit()
        if not is_open:
            client.close()
        before = sorted(os.listdir(path.parent))
        assert [one.cwd for one in sessions_in(path)] == ["/elsewhere"]
        assert list(stored_messages(path, "ses_o1", []))
        assert sorted(os.listdir(path.parent)) == before
