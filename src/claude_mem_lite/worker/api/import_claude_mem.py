"""API of imports of claude-mem's database: known sessions, then sessions, prompts and summaries, and observations, in
batches of one transaction each.

All texts are foreign: secrets and private passages are removed, and texts that give orders to an agent wait in
quarantine, a summary or a prompt as a note."""

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Literal, cast

from pydantic import AwareDatetime, Field

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import Ambiguous, MemoryLiteError, NotFound
from claude_mem_lite.event_names import CLAUDE_MEM, IMPORTED_PROMPT, IMPORTED_SUMMARY, is_past
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import MAX_TITLE_LENGTH, TRUST, JsonObject, JsonValue, Memory, Session, SessionSummary
from claude_mem_lite.responses.imports import ImportedRows, ImportedSessions, KnownOfClaudeMem, KnownSession
from claude_mem_lite.safety.clean_import import without_private
from claude_mem_lite.safety.injection import looks_like_an_attack, looks_like_instructions
from claude_mem_lite.safety.own_blocks import without_own_blocks
from claude_mem_lite.safety.redact import redact_json
from claude_mem_lite.store import imported_sessions as foreign
from claude_mem_lite.store import memories, sessions, tombstones
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.text import one_line, within
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.api import transfer as lines
from claude_mem_lite.worker.api.routing import Body, Router, Running, wait
from claude_mem_lite.worker.services import Services

_HELD_BACK = "Held back from an import of claude-mem: "
_SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
router = Router(prefix="/api/import/claude-mem")


class Question(Body):
    sessions: list[str]
    names: list[str]


class PastSession(Body):
    id: str = Field(min_length=1)
    name: str
    project: str = Field(min_length=1)
    root: str
    cwd: str
    status: Literal["completed", "failed", "interrupted"]
    started_at: AwareDatetime
    ended_at: AwareDatetime | None
    is_chosen: bool = False


class Sessions(Body):
    sessions: list[PastSession]


class Summary(Body):
    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    notes: str = ""
    next_steps: list[str] = Field(default_factory=list)
    files_read: list[str] = Field(default_factory=list)
    files_edited: list[str] = Field(default_factory=list)


class PastSaid(Body):
    name: str
    session: str
    project: str
    at: AwareDatetime
    prompt_id: str = ""
    text: str = ""
    title: str = ""
    summary: Summary | None = None


class SaidThings(Body):
    said: list[PastSaid]


class Observation(Body):
    key: list[str]
    memory: dict[str, object]


class Observations(Body):
    observations: list[Observation]


@dataclass(slots=True)
class ResponseCounts:
    """Counts of the rows of a request."""

    imported: int = 0
    known: int = 0
    forgotten: int = 0
    quarantined: int = 0
    redacted: int = 0

    def response(self, rows: Iterable[Memory | Session | None]) -> ImportedRows:
        """Return the counts, with the project of the stored memory or session of each row."""
        projects = tuple(row.project if row else "" for row in rows)
        return ImportedRows(self.imported, self.known, self.forgotten, self.quarantined, self.redacted, projects)


@frozen
class CleanText:
    """Prompt or summary as stored, and the quarantined note in its place."""

    said: foreign.ImportedText
    redacted: bool
    held_back: Memory | None


@router.post("/known")
def known(asked: Question, services: Running) -> KnownOfClaudeMem:
    """Return the stored and the forgotten sessions, and the projects whose names are unique."""
    found: dict[str, KnownSession] = {}
    imported: dict[str, KnownSession] = {}
    with closing(services.readers.open()) as db:
        for id_ in asked.sessions:
            session = sessions.find(db, id_)
            if session is not None:
                known_as = imported if session.source == CLAUDE_MEM else found
                known_as[id_] = KnownSession(session.project, session.cwd)
        named = {name: project for name in asked.names if (project := _project(db, name))}
        forgotten = tuple(id_ for id_ in asked.sessions if tombstones.is_buried(db, id_))
    return KnownOfClaudeMem(found, imported, named, forgotten)


@router.post("/sessions")
def take_sessions(given: Sessions, services: Running) -> ImportedSessions:
    """Store new sessions, and move sessions whose project is known by now."""

    def store(db: sqlite3.Connection) -> list[str]:
        with atomic(db):
            return [_put(db, session) for session in given.sessions]

    outcomes = wait(services.writes.execute_write(store))
    return ImportedSessions(outcomes.count("new"), outcomes.count("moved"))


@router.post("/said")
def take_said(given: SaidThings, services: Running) -> ImportedRows:
    """Store new prompts and summaries."""
    read = [_read(said) for said in given.said]

    def store(db: sqlite3.Connection) -> ImportedRows:
        counts = ResponseCounts()
        wanted = [text for text in read if not tombstones.is_buried(db, text.said.session, text.said.turn)]
        counts.forgotten = len(read) - len(wanted)
        with atomic(db):
            for text in wanted:
                if text.held_back is None:
                    _take(db, text, counts, services)
        held = [
            remember.ImportedMemory(_placed(db, text.held_back), ()) for text in wanted if text.held_back is not None
        ]
        taken = remember.import_memories(db, held, services.clock())
        counts.quarantined = taken.imported
        counts.known += taken.known
        counts.forgotten += taken.forgotten
        return counts.response(sessions.find(db, text.said.session) for text in read)

    return wait(services.writes.execute_write(store))


@router.post("/observations")
def take_observations(given: Observations, services: Running) -> ImportedRows:
    """Store new observations as memories; stored memories stay unchanged."""
    batch = lines.Batch(project="unknown", at=services.clock(), lines=[])
    with closing(services.readers.open()) as db:
        read = []
        for observation in given.observations:
            id_ = short_id(CLAUDE_MEM, *observation.key)
            read.append(lines.read(db, lines.Line(memory={**observation.memory, "id": id_}), batch))
        buried = [tombstones.is_buried(db, line.given.memory.session) for line in read]
    # The id stands for the content, so there is nothing to compare.
    wanted = [
        remember.ImportedMemory(line.given.memory, ()) for line, gone in zip(read, buried, strict=True) if not gone
    ]
    held = {line.memory.id for line in wanted if line.memory.status == "quarantined"}

    def store(db: sqlite3.Connection) -> ImportedRows:
        new = {id_ for id_ in held if memories.find(db, id_) is None}
        taken = remember.import_memories(db, wanted, services.clock())
        quarantined = sum(memories.find(db, id_) is not None for id_ in new)
        gone = taken.forgotten + sum(buried)
        redacted = sum(line.cleaned for line in read)
        counts = ResponseCounts(taken.imported - quarantined, taken.known, gone, quarantined, redacted)
        return counts.response(memories.find(db, line.given.memory.id) for line in read)

    return wait(services.writes.execute_write(store))


def _project(db: sqlite3.Connection, name: str) -> str:
    try:
        found = lookup.named(db, name)
    except (NotFound, Ambiguous):
        return ""
    return "" if found == name else found  # an id equal to the name may come from an earlier import


def _put(db: sqlite3.Connection, given: PastSession) -> str:
    project = lookup.adopt(db, given.project, given.root, given.started_at)
    session = foreign.ForeignSession(**{**given.model_dump(exclude={"root"}), "project": project})
    inside = f"{given.root.rstrip(os.sep)}{os.sep}" if given.root else ""
    return foreign.put(db, session, lambda file: file.removeprefix(inside))


def _read(given: PastSaid) -> CleanText:
    """Return a prompt or summary without secrets, private passages and injected context."""
    if not is_past(given.name) or not given.name.endswith((IMPORTED_PROMPT, IMPORTED_SUMMARY)):
        raise MemoryLiteError(f"{given.name!r} is not the name of something that claude-mem kept")
    before: JsonObject = {
        "text": without_own_blocks(given.text),
        "title": given.title,
        "summary": cast("JsonValue", given.summary.model_dump()) if given.summary else None,
    }
    after = cast("Mapping[str, JsonValue]", redact_json(without_private(before)))
    clean = PastSaid.model_validate({**given.model_dump(), **after})
    prose = _prose(clean.summary) if clean.summary else ""
    summary = _summary(clean.summary, clean.title) if clean.summary else None
    said = foreign.ImportedText(clean.name, clean.session, clean.at, clean.prompt_id, clean.text, prose, summary)
    # A prompt is probably the user's own word; a summary may repeat the text of a page.
    reason = looks_like_instructions(f"{clean.title}\n{prose}") if prose else looks_like_an_attack(clean.text)
    return CleanText(said, after != before, _held_back(clean, prose or clean.text) if reason else None)


def _take(db: sqlite3.Connection, text: CleanText, counts: ResponseCounts, services: Services) -> None:
    if foreign.is_known(db, text.said):
        counts.known += 1
    else:
        foreign.add(db, text.said, services.clock())
        counts.imported += 1
        counts.redacted += text.redacted


def _held_back(given: PastSaid, text: str) -> Memory:
    return Memory(
        id=short_id(CLAUDE_MEM, given.name),
        kind="note",
        title=within(_HELD_BACK + one_line(text), MAX_TITLE_LENGTH),
        summary=text,
        created_at=given.at,
        last_seen_at=given.at,
        scope=f"project:{given.project}",
        project=given.project,
        status="quarantined",
        session=given.session,
        origin="import",
        trust=TRUST["import"],
        made_by=CLAUDE_MEM,
    )


def _placed(db: sqlite3.Connection, memory: Memory) -> Memory:
    """Return a memory with the present id of its project."""
    project = marks.current_id(db, memory.project)
    return replace(memory, project=project, scope=f"project:{project}")


def _prose(summary: Summary) -> str:
    """Return a summary as one text, for search and reading."""
    values = {name: getattr(summary, name) for name in _SUMMARY_PARTS}
    parts = {name: "\n".join(value) if isinstance(value, list) else value for name, value in values.items()}
    return "\n".join(f"{name.replace('_', ' ').capitalize()}: {part}" for name, part in parts.items() if part)


def _summary(given: Summary, title: str) -> SessionSummary:
    about = title or given.request or given.completed or given.learned or given.notes
    return SessionSummary(
        headline=within(one_line(about), MAX_TITLE_LENGTH),
        request=given.request,
        investigated=given.investigated,
        learned=given.learned,
        completed=given.completed,
        next_steps=tuple(given.next_steps),
        files_read=tuple(given.files_read),
        files_edited=tuple(given.files_edited),
        notes=given.notes,
    )
