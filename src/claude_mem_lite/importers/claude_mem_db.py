"""What claude-mem, another product, has kept in its database, as values: sessions, and row by row what was asked,
observed and summed up in them. All its schemas are read, by the columns that are there. Reads only.

Which tables of claude-mem's database hold something that is not imported, and why.

The values of claude-mem's rows, read with care: SQLite lets any column hold anything, and versions differ."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from claude_mem_lite.agents.injected_markup import NOTIFICATION
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.export_format import MAX_MEMORY_LENGTH
from claude_mem_lite.importers.transcript_entries import EPOCH, read_time, sane
from claude_mem_lite.safety.redact import rules_for

# Times are in milliseconds; what is less would be before 1973 and is taken for seconds.
_MIN_MS = 10**11
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_MAX_NAME_LENGTH = 1_000
Row = Mapping[str, object]


def written(value: object) -> str:
    """A value as text without what a memory may not hold; nothing for null."""
    if value is None:
        return ""
    given = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    # The half of a character comes in by way of JSON.
    return given.replace("\x00", "").encode("utf-8", "replace").decode().strip()


@lru_cache(maxsize=4096)
def name_of(value: str) -> str:
    """What tells a session or a project apart, without control characters and secrets of a known form. All rows that
    name it name it so, so what belongs together stays so."""
    seen = _UNSEEN.sub("", rules_for("").known_out(value))  # colours first: they end in letters
    return rules_for(seen).known_out(seen)[:_MAX_NAME_LENGTH].strip()


def first(row: Row, *names: str) -> str:
    """The first of these columns that says something: columns were renamed over time."""
    return next((found for name in names if (found := written(row.get(name)))), "")


def listed(value: object) -> tuple[str, ...]:
    """A list that is kept as JSON; what is none is read line by line."""
    given = written(value)
    if not given:
        return ()
    try:
        found: object = json.loads(given)
    except (ValueError, RecursionError):
        return lines_of(given)
    if isinstance(found, list):
        texts = (item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in found)
        return tuple(dict.fromkeys(filter(None, map(written, texts))))
    return () if found is None else lines_of(written(found))


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text that say something, without what marks them as items of a list."""
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line))


def number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | bytes):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def moment(row: Row, name: str) -> datetime | None:
    """The time that is kept as a number under one name and as text under another; None for what cannot be true."""
    return _of_number(number(row.get(f"{name}_epoch"))) or read_time(written(row.get(name)))


def _of_number(epoch: int | None) -> datetime | None:
    if epoch is None or epoch <= 0:
        return None
    try:
        return sane(EPOCH + timedelta(milliseconds=epoch if epoch >= _MIN_MS else epoch * 1000))
    except OverflowError:
        return None


RowKind = Literal["observation", "summary", "prompt"]
# Where each kind of row is kept, by the names of the tables over time.
TABLES: Mapping[RowKind, tuple[str, ...]] = {
    "prompt": ("user_prompts",),
    "summary": ("session_summaries", "overviews"),
    "observation": ("observations", "memories", "memory_items"),
}
_OF_SESSIONS = ("sdk_sessions", "sessions", "server_sessions")
_SESSION_ID = ("content_session_id", "claude_session_id", "session_id")
_MEMORY_ID = ("memory_session_id", "sdk_session_id", "session_id", "server_session_id")
# What one memory may have at most, with room for what it is called by.
MAX_ROW_LENGTH = MAX_MEMORY_LENGTH - 100_000
_SUMMED_UP = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_TOLD = ("title", "subtitle", "narrative", "text")


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session of an agent."""

    id: str
    """The agent's own, as far as it is known."""
    project: str
    """The name of a folder, or of a repository and its worktree: `shop/feature-x`."""
    status: str = ""
    title: str = ""
    cwd: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeptRow:
    """One row that can be imported. `values` are texts, and lists where the columns hold lists."""

    kind: RowKind
    table: str
    number: int
    session: str
    project: str
    at: datetime
    prompt_number: int
    """Which prompt of its session it belongs to; 0 when that is not known."""
    texts: Mapping[str, str]
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A row, or the rest of a table, that cannot be imported."""

    kind: RowKind
    what: str
    reason: str


class Kept:
    """An open database of claude-mem."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        try:
            self.tables = {
                str(row["name"]): {
                    str(column["name"]) for column in db.execute(f"pragma table_info({_quoted(row[0])})")
                }
                for row in db.execute("select name from sqlite_master where type = 'table'")
            }
            self.version = self._version()
            self._check()
            self._projects = self._server_projects()
            self.sessions: dict[str, KeptSession] = {}
            """By the agent's own id."""
            self._by_other_id: dict[tuple[str, str], str] = {}
            self._read_sessions()
        except sqlite3.DatabaseError as error:
            raise MemoryLiteError(f"the database of claude-mem cannot be read: {error}") from None

    def count(self, kind: RowKind) -> int:
        """How many rows there are of a kind; as many as can be told of a damaged table."""
        return sum(self.count_of(table) for table in TABLES[kind] if self._has(table))

    def count_of(self, table: str) -> int:
        """How many rows of a table are to be taken."""
        return self._count(f"select count(*) from {_quoted(table)} {_condition(table)}")

    def count_all(self, table: str) -> int:
        return self._count(f"select count(*) from {_quoted(table)}")

    def rows(self, kind: RowKind) -> Iterator[KeptRow | NotTaken]:
        """Every row of a kind, in the order in which they were stored, or why it cannot be taken."""
        for table in TABLES[kind]:
            if self._has(table):
                yield from self._rows(kind, table)

    def _rows(self, kind: RowKind, table: str) -> Iterator[KeptRow | NotTaken]:
        read = 0
        try:
            for row in self._all(table):
                read = number(row["rowid"]) or read
                yield self._read(kind, table, read, row)
        except sqlite3.DatabaseError as error:
            yield NotTaken(kind, f"{table} after row {read:,}", f"the rest cannot be read: {error}")

    def _all(self, table: str) -> Iterator[Row]:
        """Row by row: of a damaged table, those before the damage are read."""
        query = f"select rowid as rowid, * from {_quoted(table)} {_condition(table)} order by rowid"
        for row in self._db.execute(query):
            yield {name: row[name] for name in row.keys()}  # noqa: SIM118  a Row iterates over its values

    def _read(self, kind: RowKind, table: str, id_: int, row: Row) -> KeptRow | NotTaken:
        session = self._session_of(table, row)
        known = self.sessions.get(session)
        project = name_of(first(row, "merged_into_project", "project")) or self._server_project(row)
        at = moment(row, "created_at") or (known.started_at if known else None)
        texts, lists = _content(kind, row)
        named = f"{table} {id_:,}"
        if not any(texts.values()):
            return NotTaken(kind, named, "it is empty")
        if kind == "prompt" and texts["text"].startswith(NOTIFICATION):
            return NotTaken(kind, named, "it is the notification of a background task, no prompt")
        if _length(texts, lists) > MAX_ROW_LENGTH:
            return NotTaken(kind, named, f"it is longer than {MAX_ROW_LENGTH:,} characters")
        if at is None:
            return NotTaken(kind, named, "it has no date that could be true")
        return KeptRow(
            kind=kind,
            table=table,
            number=id_,
            session=session,
            project=project or (known.project if known else "") or "unknown",
            at=at,
            prompt_number=number(row.get("prompt_number")) or 0,
            texts=texts,
            lists=lists,
        )

    def _session_of(self, table: str, row: Row) -> str:
        """The agent's own id of the session that a row belongs to, or the one by which claude-mem knows it."""
        if row.get("session_db_id") is not None:
            found = self._by_other_id.get(("row", written(row["session_db_id"])))
            if found:
                return found
        direct = first(row, "content_session_id", "claude_session_id")
        if direct:
            return name_of(direct)
        other = first(row, *_MEMORY_ID)
        space = "server" if table == "memory_items" else "memory"
        return self._by_other_id.get((space, other)) or name_of(other)

    def _read_sessions(self) -> None:
        folders = self._folders()
        for table in _OF_SESSIONS:
            if not self._has(table):
                continue
            for row in self._all(table):
                memory_id = first(row, "memory_session_id", "sdk_session_id", "session_id")
                id_ = name_of(first(row, *_SESSION_ID) or memory_id or written(row.get("id")))
                if not id_:
                    continue
                self._by_other_id[("server" if table == "server_sessions" else "row", written(row.get("id")))] = id_
                if memory_id:
                    self._by_other_id[("memory", memory_id)] = id_
                project = name_of(written(row.get("project"))) or self._server_project(row)
                self.sessions.setdefault(id_, _session(id_, project, row, folders.get(id_, "")))

    def _folders(self) -> dict[str, str]:
        """Where sessions worked, from the calls of tools that are kept or wait."""
        found: dict[str, str] = {}
        for table in ("tool_uses", "pending_messages"):
            if not {"content_session_id", "cwd"} <= self.tables.get(table, set()):
                continue
            rows = self._db.execute(
                f"select content_session_id, cwd, min(id) from {table} where cwd <> '' group by content_session_id"
            )
            for row in rows:
                found.setdefault(name_of(written(row[0])), name_of(written(row[1])))
        return found

    def _server_projects(self) -> dict[str, str]:
        if not {"id", "name"} <= self.tables.get("projects", set()):
            return {}
        return {written(row["id"]): name_of(written(row["name"])) for row in self._all("projects")}

    def _server_project(self, row: Row) -> str:
        return self._projects.get(written(row.get("project_id")), "")

    def _count(self, query: str) -> int:
        try:
            (found,) = self._db.execute(query).fetchone()
        except sqlite3.DatabaseError:
            return 0
        return int(found)

    def _has(self, table: str) -> bool:
        columns = self.tables.get(table, set())
        if table in ("memories", "sessions"):  # what it was called at first; others call theirs so too
            return {"session_id", "project", "created_at_epoch"} <= columns
        return bool(columns)

    def _version(self) -> int:
        """The newest of the changes that its schema says to have had; 0 when it says nothing."""
        if "version" not in self.tables.get("schema_versions", set()):
            return 0
        (found,) = self._db.execute("select max(version) from schema_versions").fetchone()
        return number(found) or 0

    def _check(self) -> None:
        if {"tombstones", "memories"} <= set(self.tables):
            raise MemoryLiteError(
                "this is a database of claude-mem-lite itself", "`claude-mem-lite export` brings memories out of it"
            )
        if not any(self._has(table) for tables in TABLES.values() for table in tables):
            raise MemoryLiteError("this database has none of claude-mem's tables", "name the file claude-mem.db")


def _content(kind: RowKind, row: Row) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    if kind == "prompt":
        return {"text": written(row.get("prompt_text"))}, {}
    if kind == "summary":
        texts = {name: written(row.get(name)) for name in _SUMMED_UP}
        texts["completed"] = texts["completed"] or written(row.get("content"))
        return texts, {name: listed(row.get(name)) for name in ("files_read", "files_edited")}
    words = written(row.get("keywords"))
    lists = {
        "facts": listed(row.get("facts")),
        "concepts": listed(row.get("concepts")) or tuple(filter(None, map(str.strip, words.split(",")))),
        "files": (
            *listed(row.get("files_modified")),
            *listed(row.get("files_touched")),
            *listed(row.get("files_read")),
        ),
    }
    told = {name: written(row.get(name)) for name in _TOLD}
    if any(told.values()):
        told |= {"type": written(row.get("type")), "model": written(row.get("generated_by_model"))}
    return told, lists


def _length(texts: Mapping[str, str], lists: Mapping[str, tuple[str, ...]]) -> int:
    """As `memory_lines` counts, but for names."""
    return sum(len(one) + 1 for found in (texts.values(), *lists.values()) for one in found)


def _session(id_: str, project: str, row: Row, cwd: str) -> KeptSession:
    return KeptSession(
        id=id_,
        project=project,
        status=written(row.get("status")),
        title=first(row, "custom_title", "title"),
        cwd=cwd,
        started_at=moment(row, "started_at") or moment(row, "created_at"),
        ended_at=moment(row, "completed_at"),
    )


def _condition(table: str) -> str:
    # What was taken over from observations is there already; the rest was kept by a server of its own.
    return (
        "where legacy_observation_id is null and kind in ('observation', 'manual')" if table == "memory_items" else ""
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# Its own bookkeeping, and what is read along with the rows that are imported.
_NOTHING_TO_TAKE = re.compile(
    r"sqlite_\w+|schema_versions|\w+_fts(?:_\w+)?|sync_\w+|telegram_\w+|sdk_sessions|sessions|server_sessions|"
    r"streaming_sessions|projects|teams|team_members|api_keys|audit_log|memory_sources|file_context_injections"
)
_REASONS = {
    "tool_uses": "raw tool calls; what came of them is in the observations",
    "pending_messages": "not worked on by claude-mem yet",
    "observation_queue": "not worked on by claude-mem yet",
    "transcript_events": "raw events; `import transcripts` reads the transcripts themselves",
    "agent_events": "raw events; what came of them is in the observations",
    "diagnostics": "messages about claude-mem itself",
    "memory_items": "copies of what is in its other tables",
}


@dataclass(frozen=True, slots=True)
class LeftTable:
    table: str
    rows: int
    reason: str


def left_tables(kept: Kept) -> list[LeftTable]:
    """Every table with rows that nobody takes."""
    taken = {table for tables in TABLES.values() for table in tables} - {"memory_items"}
    left = []
    for table in sorted(kept.tables):
        if table in taken or _NOTHING_TO_TAKE.fullmatch(table):
            continue
        rows = kept.count_all(table) - (kept.count_of(table) if table == "memory_items" else 0)
        if rows:
            left.append(LeftTable(table, rows, _REASONS.get(table, "a table that this version does not know")))
    return left
