"""Database of claude-mem, another product, as values: sessions, and rows of prompts, observations and summaries.

All schema versions are read, by the columns present. Values are read with care, because SQLite lets any column hold any
type. `skipped_tables` lists the tables that are not imported, with reasons. Reads only."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from claude_mem_lite.agents.claude_code import NOTIFICATION
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.export_format import MAX_MEMORY_LENGTH
from claude_mem_lite.importers.transcript_entries import EPOCH, read_time, sane
from claude_mem_lite.safety.redact import rules_for
from claude_mem_lite.values import frozen

# Times are in milliseconds; smaller values would be before 1973 and count as seconds.
_MIN_MS = 10**11
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_MAX_NAME_LENGTH = 1_000
Row = Mapping[str, object]


def to_text(value: object) -> str:
    """Return a value as text without characters that a memory may not hold; '' for null."""
    if value is None:
        return ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    # Lone surrogates come in through JSON.
    return text.replace("\x00", "").encode("utf-8", "replace").decode().strip()


@lru_cache(maxsize=4096)
def clean_name(value: str) -> str:
    """Return the name of a session or project without control characters and known secrets. Equal names stay equal."""
    visible = _INVISIBLE.sub("", rules_for("").known_out(value))  # colours first: they end in letters
    return rules_for(visible).known_out(visible)[:_MAX_NAME_LENGTH].strip()


def first_text(row: Row, *names: str) -> str:
    """Return the first non-empty column: columns were renamed over time."""
    return next((text for name in names if (text := to_text(row.get(name)))), "")


def to_list(value: object) -> tuple[str, ...]:
    """Return a list stored as JSON; other text is split into lines."""
    written = to_text(value)
    if not written:
        return ()
    try:
        value_read: object = json.loads(written)
    except (ValueError, RecursionError):
        return lines_of(written)
    if isinstance(value_read, list):
        texts = (item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value_read)
        return tuple(dict.fromkeys(filter(None, map(to_text, texts))))
    return () if value_read is None else lines_of(to_text(value_read))


def lines_of(text: str) -> tuple[str, ...]:
    """Return the non-empty lines of a text without list markers."""
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line))


def to_int(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | bytes):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def row_time(row: Row, name: str) -> datetime | None:
    """Return a time stored as a number (`_epoch`) or as text; None for an impossible time."""
    return _time_of_epoch(to_int(row.get(f"{name}_epoch"))) or read_time(to_text(row.get(name)))


def _time_of_epoch(epoch: int | None) -> datetime | None:
    if epoch is None or epoch <= 0:
        return None
    try:
        return sane(EPOCH + timedelta(milliseconds=epoch if epoch >= _MIN_MS else epoch * 1000))
    except OverflowError:
        return None


RowKind = Literal["observation", "summary", "prompt"]
# Tables of each kind of row, by all names over time.
TABLES: Mapping[RowKind, tuple[str, ...]] = {
    "prompt": ("user_prompts",),
    "summary": ("session_summaries", "overviews"),
    "observation": ("observations", "memories", "memory_items"),
}
_SESSION_TABLES = ("sdk_sessions", "sessions", "server_sessions")
_SESSION_ID = ("content_session_id", "claude_session_id", "session_id")
_MEMORY_ID = ("memory_session_id", "sdk_session_id", "session_id", "server_session_id")
# Maximum of a row: the limit of a memory, minus room for names.
MAX_ROW_LENGTH = MAX_MEMORY_LENGTH - 100_000
_SUMMARY_TEXTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_OBSERVATION_TEXTS = ("title", "subtitle", "narrative", "text")


@frozen
class ClaudeMemSession:
    """Session of an agent."""

    id: str
    """The agent's own id, if known."""
    project: str
    """Name of a folder, or of a repository and its worktree: `shop/feature-x`."""
    status: str = ""
    title: str = ""
    cwd: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None


@frozen
class ClaudeMemRow:
    """Row that can be imported, with its text columns and list columns."""

    kind: RowKind
    table: str
    number: int
    session: str
    project: str
    at: datetime
    prompt_number: int
    """Number of the prompt in the session; 0 if unknown."""
    texts: Mapping[str, str]
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@frozen
class SkippedRow:
    """Row, or rest of a table, that cannot be imported."""

    kind: RowKind
    what: str
    reason: str


class ClaudeMemDatabase:
    """Open database of claude-mem."""

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
            self.sessions: dict[str, ClaudeMemSession] = {}
            """By the agent's own id."""
            self._by_other_id: dict[tuple[str, str], str] = {}
            self._read_sessions()
        except sqlite3.DatabaseError as error:
            raise MemoryLiteError(f"the database of claude-mem cannot be read: {error}") from None

    def count(self, kind: RowKind) -> int:
        """Return the number of rows of a kind; the readable number for a corrupt table."""
        return sum(self.count_of(table) for table in TABLES[kind] if self._has(table))

    def count_of(self, table: str) -> int:
        """Return the number of rows of a table to import."""
        return self._count(f"select count(*) from {_quoted(table)} {_condition(table)}")

    def count_all(self, table: str) -> int:
        return self._count(f"select count(*) from {_quoted(table)}")

    def rows(self, kind: RowKind) -> Iterator[ClaudeMemRow | SkippedRow]:
        """Yield every row of a kind in stored order, or the reason for leaving a row out."""
        for table in TABLES[kind]:
            if self._has(table):
                yield from self._rows(kind, table)

    def _rows(self, kind: RowKind, table: str) -> Iterator[ClaudeMemRow | SkippedRow]:
        read = 0
        try:
            for row in self._all(table):
                read = to_int(row["rowid"]) or read
                yield self._read(kind, table, read, row)
        except sqlite3.DatabaseError as error:
            yield SkippedRow(kind, f"{table} after row {read:,}", f"the rest cannot be read: {error}")

    def _all(self, table: str) -> Iterator[Row]:
        """Yield the rows one by one: the rows of a corrupt table are read up to the corruption."""
        query = f"select rowid as rowid, * from {_quoted(table)} {_condition(table)} order by rowid"
        for row in self._db.execute(query):
            yield {name: row[name] for name in row.keys()}  # noqa: SIM118  a Row iterates over its values

    def _read(self, kind: RowKind, table: str, id_: int, row: Row) -> ClaudeMemRow | SkippedRow:
        session = self._session_of(table, row)
        known = self.sessions.get(session)
        project = clean_name(first_text(row, "merged_into_project", "project")) or self._server_project(row)
        at = row_time(row, "created_at") or (known.started_at if known else None)
        texts, lists = _content(kind, row)
        label = f"{table} {id_:,}"
        if not any(texts.values()):
            return SkippedRow(kind, label, "it is empty")
        if kind == "prompt" and texts["text"].startswith(NOTIFICATION):
            return SkippedRow(kind, label, "it is the notification of a background task, no prompt")
        if _length(texts, lists) > MAX_ROW_LENGTH:
            return SkippedRow(kind, label, f"it is longer than {MAX_ROW_LENGTH:,} characters")
        if at is None:
            return SkippedRow(kind, label, "it has no date that could be true")
        return ClaudeMemRow(
            kind=kind,
            table=table,
            number=id_,
            session=session,
            project=project or (known.project if known else "") or "unknown",
            at=at,
            prompt_number=to_int(row.get("prompt_number")) or 0,
            texts=texts,
            lists=lists,
        )

    def _session_of(self, table: str, row: Row) -> str:
        """Return the agent's own id of a row's session, else claude-mem's id."""
        if row.get("session_db_id") is not None:
            known = self._by_other_id.get(("row", to_text(row["session_db_id"])))
            if known:
                return known
        direct = first_text(row, "content_session_id", "claude_session_id")
        if direct:
            return clean_name(direct)
        memory_id = first_text(row, *_MEMORY_ID)
        space = "server" if table == "memory_items" else "memory"
        return self._by_other_id.get((space, memory_id)) or clean_name(memory_id)

    def _read_sessions(self) -> None:
        folders = self._folders()
        for table in _SESSION_TABLES:
            if not self._has(table):
                continue
            for row in self._all(table):
                memory_id = first_text(row, "memory_session_id", "sdk_session_id", "session_id")
                id_ = clean_name(first_text(row, *_SESSION_ID) or memory_id or to_text(row.get("id")))
                if not id_:
                    continue
                self._by_other_id[("server" if table == "server_sessions" else "row", to_text(row.get("id")))] = id_
                if memory_id:
                    self._by_other_id[("memory", memory_id)] = id_
                project = clean_name(to_text(row.get("project"))) or self._server_project(row)
                self.sessions.setdefault(id_, _session(id_, project, row, folders.get(id_, "")))

    def _folders(self) -> dict[str, str]:
        """Return the working folders of sessions, from stored and pending tool calls."""
        folders: dict[str, str] = {}
        for table in ("tool_uses", "pending_messages"):
            if not {"content_session_id", "cwd"} <= self.tables.get(table, set()):
                continue
            rows = self._db.execute(
                f"select content_session_id, cwd, min(id) from {table} where cwd <> '' group by content_session_id"
            )
            for row in rows:
                folders.setdefault(clean_name(to_text(row[0])), clean_name(to_text(row[1])))
        return folders

    def _server_projects(self) -> dict[str, str]:
        if not {"id", "name"} <= self.tables.get("projects", set()):
            return {}
        return {to_text(row["id"]): clean_name(to_text(row["name"])) for row in self._all("projects")}

    def _server_project(self, row: Row) -> str:
        return self._projects.get(to_text(row.get("project_id")), "")

    def _count(self, query: str) -> int:
        try:
            (value,) = self._db.execute(query).fetchone()
        except sqlite3.DatabaseError:
            return 0
        return int(value)

    def _has(self, table: str) -> bool:
        columns = self.tables.get(table, set())
        if table in ("memories", "sessions"):  # early table names, which other programs use too
            return {"session_id", "project", "created_at_epoch"} <= columns
        return bool(columns)

    def _version(self) -> int:
        """Return the newest schema version; 0 if none is recorded."""
        if "version" not in self.tables.get("schema_versions", set()):
            return 0
        (value,) = self._db.execute("select max(version) from schema_versions").fetchone()
        return to_int(value) or 0

    def _check(self) -> None:
        if {"tombstones", "memories"} <= set(self.tables):
            raise MemoryLiteError(
                "this is a database of claude-mem-lite itself", "`claude-mem-lite export` brings memories out of it"
            )
        if not any(self._has(table) for tables in TABLES.values() for table in tables):
            raise MemoryLiteError("this database has none of claude-mem's tables", "name the file claude-mem.db")


def _content(kind: RowKind, row: Row) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    if kind == "prompt":
        return {"text": to_text(row.get("prompt_text"))}, {}
    if kind == "summary":
        texts = {name: to_text(row.get(name)) for name in _SUMMARY_TEXTS}
        texts["completed"] = texts["completed"] or to_text(row.get("content"))
        return texts, {name: to_list(row.get(name)) for name in ("files_read", "files_edited")}
    words = to_text(row.get("keywords"))
    lists = {
        "facts": to_list(row.get("facts")),
        "concepts": to_list(row.get("concepts")) or tuple(filter(None, map(str.strip, words.split(",")))),
        "files": (
            *to_list(row.get("files_modified")),
            *to_list(row.get("files_touched")),
            *to_list(row.get("files_read")),
        ),
    }
    texts = {name: to_text(row.get(name)) for name in _OBSERVATION_TEXTS}
    if any(texts.values()):
        texts |= {"type": to_text(row.get("type")), "model": to_text(row.get("generated_by_model"))}
    return texts, lists


def _length(texts: Mapping[str, str], lists: Mapping[str, tuple[str, ...]]) -> int:
    """Return the length as in `export_format`, without names."""
    return sum(len(text) + 1 for values in (texts.values(), *lists.values()) for text in values)


def _session(id_: str, project: str, row: Row, cwd: str) -> ClaudeMemSession:
    return ClaudeMemSession(
        id=id_,
        project=project,
        status=to_text(row.get("status")),
        title=first_text(row, "custom_title", "title"),
        cwd=cwd,
        started_at=row_time(row, "started_at") or row_time(row, "created_at"),
        ended_at=row_time(row, "completed_at"),
    )


def _condition(table: str) -> str:
    # Items copied from observations exist already; the rest was stored by claude-mem's server.
    return (
        "where legacy_observation_id is null and kind in ('observation', 'manual')" if table == "memory_items" else ""
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# claude-mem's bookkeeping, and tables that are read along with imported rows.
_INTERNAL_TABLES = re.compile(
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


@frozen
class SkippedTable:
    table: str
    rows: int
    reason: str


def skipped_tables(database: ClaudeMemDatabase) -> list[SkippedTable]:
    """Return every table with rows that are not imported."""
    imported = {table for tables in TABLES.values() for table in tables} - {"memory_items"}
    skipped = []
    for table in sorted(database.tables):
        if table in imported or _INTERNAL_TABLES.fullmatch(table):
            continue
        rows = database.count_all(table) - (database.count_of(table) if table == "memory_items" else 0)
        if rows:
            skipped.append(SkippedTable(table, rows, _REASONS.get(table, "a table that this version does not know")))
    return skipped
