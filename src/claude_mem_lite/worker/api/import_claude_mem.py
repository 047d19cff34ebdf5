"""The API that an import of claude-mem's database comes in by: what is known of its sessions, then its sessions, what
was said in them, and its observations, in batches that are each stored whole.

Everything is foreign text: secrets and private spans are taken out, and what gives orders to an agent waits in
quarantine, a summary or a prompt as a note."""

import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Literal, cast

from pydantic import AwareDatetime, Field

from claude_mem_lite.compress.prose.clean import without_own_blocks
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import Ambiguous, MemoryLiteError, NotFound
from claude_mem_lite.event_names import is_past
from claude_mem_lite.knowledge import transfer
from claude_mem_lite.models import MAX_TITLE_LENGTH, TRUST, JsonObject, JsonValue, Memory, SessionSummary
from claude_mem_lite.safety.clean_import import without_private
from claude_mem_lite.safety.injection import looks_like_an_attack, looks_like_instructions
from claude_mem_lite.safety.redact import redact_json
from claude_mem_lite.store import imported_sessions as foreign
from claude_mem_lite.store import memories, sessions, tombstones
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.text import one_line, within
from claude_mem_lite.worker.api import transfer as lines
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Running, wait
from claude_mem_lite.worker.loop import Loop

_HELD_BACK = "Held back from an import of claude-mem: "
_TOLD = ("request", "investigated", "learned", "completed", "next_steps", "notes")
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
class Counts:
    """What became of the rows of a request."""

    imported: int = 0
    known: int = 0
    forgotten: int = 0
    quarantined: int = 0
    redacted: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of them, and in which project each is now; '' where it is not there."""

    counts: Counts
    projects: list[str]


@dataclass(frozen=True, slots=True)
class Read:
    """What was said as it is stored, or as it is held back in its place."""

    said: foreign.ImportedText
    redacted: bool
    held_back: Memory | None


@router.post("/known")
def known(asked: Question, loop: Running) -> dict[str, object]:
    """Those of the sessions that are there, with their projects and folders, and those that only an earlier import
    brought; those that were forgotten, and the projects that are the only ones of a name."""
    found: dict[str, dict[str, str]] = {}
    imported: dict[str, dict[str, str]] = {}
    with closing(loop.readers.open()) as db:
        for id_ in asked.sessions:
            there = sessions.find(db, id_)
            if there is not None:
                known_as = imported if there.source == foreign.SOURCE else found
                known_as[id_] = {"project": there.project, "cwd": there.cwd}
        named = {name: project for name in asked.names if (project := _project(db, name))}
        forgotten = [id_ for id_ in asked.sessions if tombstones.is_buried(db, id_)]
    return {"sessions": found, "imported": imported, "projects": named, "forgotten": forgotten}


@router.post("/sessions")
def take_sessions(given: Sessions, loop: Running) -> dict[str, object]:
    """Record those of the sessions that are new, or whose project is known by now."""

    def store(db: sqlite3.Connection) -> list[str]:
        with atomic(db):
            return [_put(db, one) for one in given.sessions]

    outcomes = wait(loop.call(store))
    return {"imported": outcomes.count("new"), "moved": outcomes.count("moved")}


@router.post("/said")
def take_said(given: SaidThings, loop: Running) -> dict[str, object]:
    """Store those of the prompts and summaries that are new."""
    read = [_read(one) for one in given.said]

    def store(db: sqlite3.Connection) -> Stored:
        counts = Counts()
        wanted = [one for one in read if not tombstones.is_buried(db, one.said.session, one.said.turn)]
        counts.forgotten = len(read) - len(wanted)
        with atomic(db):
            for one in wanted:
                if one.held_back is None:
                    _take(db, one, counts, loop)
        held = [transfer.Given(_placed(db, one.held_back), ()) for one in wanted if one.held_back is not None]
        taken = transfer.take_in(db, held, loop.clock())
        counts.quarantined = taken.imported
        counts.known += taken.known
        counts.forgotten += taken.forgotten
        there = [sessions.find(db, one.said.session) for one in read]
        return Stored(counts, [one.project if one else "" for one in there])

    return _told_of(wait(loop.call(store)))


@router.post("/observations")
def take_observations(given: Observations, loop: Running) -> dict[str, object]:
    """Store those of the observations that are new, as memories; nothing that is there is changed."""
    batch = lines.Batch(project="unknown", at=loop.clock(), lines=[])
    with closing(loop.readers.open()) as db:
        read = []
        for one in given.observations:
            id_ = short_id(foreign.SOURCE, *one.key)
            read.append(lines.read(db, lines.Line(memory={**one.memory, "id": id_}), batch))
        buried = [tombstones.is_buried(db, one.given.memory.session) for one in read]
    # The id stands for the content, so there is nothing to compare.
    wanted = [transfer.Given(one.given.memory, ()) for one, gone in zip(read, buried, strict=True) if not gone]
    held = {one.memory.id for one in wanted if one.memory.status == "quarantined"}

    def store(db: sqlite3.Connection) -> Stored:
        new = {id_ for id_ in held if memories.find(db, id_) is None}
        taken = transfer.take_in(db, wanted, loop.clock())
        quarantined = sum(memories.find(db, id_) is not None for id_ in new)
        gone = taken.forgotten + sum(buried)
        counts = Counts(taken.imported - quarantined, taken.known, gone, quarantined, sum(one.cleaned for one in read))
        there = [memories.find(db, one.given.memory.id) for one in read]
        return Stored(counts, [one.project if one else "" for one in there])

    return _told_of(wait(loop.call(store)))


def _told_of(stored: Stored) -> dict[str, object]:
    return {**asdict(stored.counts), "projects": stored.projects}


def _project(db: sqlite3.Connection, name: str) -> str:
    try:
        found = lookup.named(db, name)
    except (NotFound, Ambiguous):
        return ""
    return "" if found == name else found  # by its own name it may be one that an earlier import made


def _put(db: sqlite3.Connection, given: PastSession) -> str:
    project = lookup.adopt(db, given.project, given.root, given.started_at)
    session = foreign.ForeignSession(
        given.id,
        given.name,
        project,
        given.cwd,
        given.status,
        given.started_at,
        given.ended_at,
        given.is_chosen,
    )
    inside = f"{given.root.rstrip(os.sep)}{os.sep}" if given.root else ""
    return foreign.put(db, session, lambda file: file.removeprefix(inside))


def _read(given: PastSaid) -> Read:
    """It without secrets, private spans and context of our own."""
    if not is_past(given.name) or not given.name.endswith((foreign.PROMPT, foreign.SUMMARY)):
        raise MemoryLiteError(f"{given.name!r} is not the name of something that claude-mem kept")
    before: JsonObject = {
        "text": without_own_blocks(given.text),
        "title": given.title,
        "summary": cast("JsonValue", given.summary.model_dump()) if given.summary else None,
    }
    hidden = json.loads(without_private(json.dumps(before).encode()))
    after = cast("Mapping[str, JsonValue]", redact_json(hidden))
    clean = PastSaid.model_validate({**given.model_dump(), **after})
    told = _told(clean.summary) if clean.summary else ""
    summary = _summary(clean.summary, clean.title) if clean.summary else None
    said = foreign.ImportedText(clean.name, clean.session, clean.at, clean.prompt_id, clean.text, told, summary)
    # A prompt is the user's own word, as far as anybody can tell; a summary may repeat what a page said.
    reason = looks_like_instructions(f"{clean.title}\n{told}") if told else looks_like_an_attack(clean.text)
    return Read(said, after != before, _held_back(clean, told or clean.text) if reason else None)


def _take(db: sqlite3.Connection, one: Read, counts: Counts, loop: Loop) -> None:
    if foreign.is_known(db, one.said):
        counts.known += 1
    else:
        foreign.add(db, one.said, loop.clock())
        counts.imported += 1
        counts.redacted += one.redacted


def _held_back(given: PastSaid, text: str) -> Memory:
    return Memory(
        id=short_id(foreign.SOURCE, given.name),
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
        made_by=foreign.SOURCE,
    )


def _placed(db: sqlite3.Connection, memory: Memory) -> Memory:
    """Return a memory in the project that goes by its id now."""
    project = marks.current_id(db, memory.project)
    return replace(memory, project=project, scope=f"project:{project}")


def _told(summary: Summary) -> str:
    """A summary as one text that can be found and read."""
    parts = {name: "\n".join(value) if isinstance(value := getattr(summary, name), list) else value for name in _TOLD}
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
