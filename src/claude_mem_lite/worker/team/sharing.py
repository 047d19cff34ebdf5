"""Sharing of projects and memories with the team: share, unshare, preview, choices, repair, search on the server.

The API imports this module when a command needs it: it imports the driver of PostgreSQL."""

import os
import sqlite3
from contextlib import closing

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.knowledge.quarantine import checked_save
from claude_mem_lite.models import Location, Memory
from claude_mem_lite.responses.team import (
    HeldBack,
    PreviewedMemory,
    TeamChoice,
    TeamHitRow,
    TeamHits,
    TeamPreview,
    TeamRepaired,
    TeamShared,
)
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories, team_heads, tombstones
from claude_mem_lite.store import team as tables
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.store.team import Choice, Share
from claude_mem_lite.team import outbox, received, replica
from claude_mem_lite.team.body import memory_of, read_body
from claude_mem_lite.team.entry import Entry, is_name
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.seal import load_seal
from claude_mem_lite.team.server import TeamHit, TeamServer
from claude_mem_lite.team.sync import open_seal
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.worker.services import Services
from claude_mem_lite.worker.team.membership import (
    address_of,
    greet,
    greeting_of,
    key_of,
    received_ids,
    refuse_outside_team,
    remote_of,
    write,
)

_MAX_PREVIEWED = 1_000


def share(services: Services, project: str, *, handoffs: bool, deadline: Deadline) -> TeamShared:
    """Share a project, if the server grants it to this member; its memories are considered at the next
    synchronisation. A folder without any memory becomes a project, so that a new member receives from the first day."""
    location = _locate(services, project)
    shared = _share_of(services, location, project, handoffs=handoffs, deadline=deadline)
    if services.team.is_excluded(shared.project) or (location.root and services.settings.excludes(location.root)):
        raise MemoryLiteError(
            f"{project} is excluded by the settings, so nothing of it is shared",
            "take it out of `exclude` first",
        )

    def begin(db: sqlite3.Connection) -> int:
        if not marks.is_known(db, location.project):
            marks.note(db, location, services.clock())
        return tables.share(db, shared)

    marked = write(services, begin)
    services.team.request()
    return _shared(services, shared, is_shared=True, marked=marked)


def unshare(services: Services, project: str) -> TeamShared:
    """Stop sharing a project: take back what was sent, and remove what was received."""
    location = _locate(services, project)
    with closing(services.readers.open()) as db:
        shared = next((known for known in tables.shares(db) if known.project == location.project), None)
    if shared is None:
        raise MemoryLiteError(f"{project} is not shared", "`claude-mem-lite team status` lists the shared projects")

    def end(db: sqlite3.Connection) -> None:
        outbox.withdraw(db, project=shared.key, now=services.clock())
        gone = received_ids(db, shared.key)
        memories.remove(db, gone, services.clock())
        tables.drop_marks(db, gone)
        team_heads.clear_received(db, shared.key)
        tables.drop_cursors(db, shared.key)
        tables.unshare(db, shared.project)

    write(services, end)
    services.render_all()
    services.team.request()
    return _shared(services, shared, is_shared=False)


def preview(services: Services, project: str, *, deadline: Deadline) -> TeamPreview:
    """Return everything that would leave this device: of all shared projects, or of one, shared or not."""
    location = _locate(services, project) if project else None
    with closing(services.readers.open()) as db:
        known = tables.shares(db)
    chosen = next((share for share in known if location and share.project == location.project), None)
    if location is not None and chosen is None:
        chosen = _share_of(services, location, project, handoffs=False, deadline=deadline, needs_grant=False)
    with closing(services.readers.open()) as db:
        found = outbox.preview(
            db, [chosen] if chosen else known, is_excluded=services.team.is_excluded, limit=_MAX_PREVIEWED
        )
    return TeamPreview(
        tuple(
            PreviewedMemory(
                body.memory.id, body.memory.project, body.memory.kind, body.memory.title, body.body, body.is_sent
            )
            for body in found.would_send
        ),
        tuple(HeldBack(held.code, held.reason, held.memories, held.examples) for held in found.held_back),
        found.more,
    )


def choose(services: Services, memory_id: str, choice: Choice) -> TeamChoice:
    """Share one memory by hand, or keep it here; a memory that may never go is refused with the reason."""

    def record(db: sqlite3.Connection) -> TeamChoice:
        if choice == "share":
            refuse_outside_team(db)
        memory = memories.get(db, memory_id)
        if choice == "keep" and memory.origin == "team":
            raise MemoryLiteError(
                f"{memory.id} was made on another machine, so this one cannot keep it from the team",
                "run `keep` on that machine; `claude-mem-lite forget` removes the memory here",
            )
        tables.choose(db, memory.id, choice)
        verdict = outbox.decide_one(db, memory, is_excluded=services.team.is_excluded)
        reason = verdict.reason if choice == "share" and not verdict.may_go else ""
        if reason:
            tables.choose(db, memory.id, None)
        return TeamChoice(memory.id, memory.title, choice, reason)

    chosen = write(services, record)
    services.team.request()
    return chosen


def choice(services: Services, memory_id: str) -> TeamChoice:
    """Return the user's choice about one memory, and the reason why the memory stays here if it does."""
    with closing(services.readers.open()) as db:
        memory = memories.get(db, memory_id)
        verdict = outbox.decide_one(db, memory, is_excluded=services.team.is_excluded)
        reason = "" if verdict.may_go else verdict.reason
        return TeamChoice(memory.id, memory.title, tables.choice_of(db, memory.id) or "", reason)


def repair(services: Services, *, deadline: Deadline) -> TeamRepaired:
    """Send parked entries again, fetch damaged ones again, and try to apply all received ones that are parked."""
    with TeamServer.connect(address_of(services), deadline) as server:
        seal = open_seal(greeting_of(services, server), lambda: load_seal(services.home.team_key))
        with closing(services.readers.open()) as db:
            damaged = [entry for entry, reason in replica.parked(db) if reason == "bad_hash"]
        fetched = [_fetch_again(server, entry) for entry in damaged]
    local, now = services.team.local(), services.clock()
    again = [entry for entry in fetched if entry is not None]
    applied = local.write(lambda db: replica.apply(db, again, seal=seal, now=now))
    retried = local.write(lambda db: replica.retry_parked(db, seal=seal, now=now))
    requeued = write(services, outbox.requeue_parked)
    with closing(services.readers.open()) as db:
        still = len(replica.parked(db))
    services.render_all()
    services.team.request()
    return TeamRepaired(requeued, applied.applied + retried.applied, still)


def search(services: Services, query: str, limit: int, *, deadline: Deadline) -> TeamHits:
    """Search the memories of all granted projects on the server; not those that the user forgot here. The server of a
    sealed team reads nothing, so there the memories that were received are searched."""
    address = address_of(services)
    if load_seal(services.home.team_key) is not None:
        return TeamHits(_received_hits(services, query, limit), is_sealed=True)
    with TeamServer.connect(address, deadline) as server:
        greeting = greeting_of(services, server)
        open_seal(greeting, lambda: None)
        vector = services.team.vector_of(query) if greeting.has_vectors else None
        found = server.search(query, vector, limit)
    with closing(services.readers.open()) as db:
        rows = [_hit_row(db, hit, greeting.projects.get(hit.project, "")) for hit in found]
    return TeamHits(tuple(row for row in rows if row is not None))


def _locate(services: Services, project: str) -> Location:
    """Return the location of a project that the user named. MemoryLiteError: this home is in no team, or there is
    neither such a project nor such a folder."""
    with closing(services.readers.open()) as db:
        refuse_outside_team(db)
        if _is_folder(project):
            return lookup.locate(db, project)
        try:
            return lookup.location_of(db, lookup.find(db, project))
        except NotFound as error:
            raise NotFound(
                error.message, "give the folder of your clone, or a name of `claude-mem-lite projects`"
            ) from None


def _share_of(
    services: Services,
    location: Location,
    named: str,
    *,
    handoffs: bool,
    deadline: Deadline,
    needs_grant: bool = True,
) -> Share:
    remote = remote_of(services, named)
    greeting = greet(services, deadline)
    key = key_of(remote, open_seal(greeting, lambda: load_seal(services.home.team_key)))
    if needs_grant and key not in greeting.projects:
        raise TeamError("no_grant", remote)
    return Share(location.project, remote, key, handoffs, services.clock())


def _is_folder(project: str) -> bool:
    """Return whether the user named a folder: a name is never a folder, whatever the worker's own folder holds."""
    return os.path.isabs(project) and os.path.isdir(project)


def _shared(services: Services, shared: Share, *, is_shared: bool, marked: int = 0) -> TeamShared:
    with closing(services.readers.open()) as db:
        name = lookup.name_of(db, shared.project)
    return TeamShared(shared.project, name, shared.remote, is_shared, shared.handoffs, marked)


def _fetch_again(server: TeamServer, entry: Entry) -> Entry | None:
    found = server.fetch(entry.project, entry.device, entry.seq - 1, 1)
    return found[0] if found and found[0].seq == entry.seq else None


def _received_hits(services: Services, query: str, limit: int) -> tuple[TeamHitRow, ...]:
    """Return the hits among the received memories that are stored here."""
    with closing(services.readers.open()) as db:
        found = services.search.search(db, query, Filters(origins=("team",)), services.clock(), limit)
        remotes = {share.project: share.remote for share in tables.shares(db)}
        return tuple(
            _received_row(db, hit.found, remotes.get(hit.found.project, ""), hit.score)
            for hit in found
            if isinstance(hit.found, Memory)
        )


def _received_row(db: sqlite3.Connection, memory: Memory, project: str, score: float) -> TeamHitRow:
    head = team_heads.of_memory(db, memory.id, memory.author)
    return TeamHitRow(
        head.uid if head else "",
        memory.id,
        project,
        memory.kind,
        memory.title,
        memory.summary,
        memory.author,
        time_to_text(memory.created_at),
        round(score, 4),
        memory.facts,
    )


def _hit_row(db: sqlite3.Connection, hit: TeamHit, project: str) -> TeamHitRow | None:
    """Return a hit for the user, with its text as a receiver would store it; None for a memory that the user forgot
    here, for a body that cannot be read, and for one that would wait in quarantine: agents read the answer too."""
    head = team_heads.find(db, hit.uid)
    here = memories.find(db, head.memory) if head and head.memory else None
    if head is not None and here is None and (head.state == "forgotten" or tombstones.is_buried(db, head.memory)):
        return None
    try:
        memory = checked_save(memory_of(read_body(hit.body), received.id_of(hit.uid), "", hit.author))
    except TeamError:
        return None
    if memory.status == "quarantined" or not is_name(hit.author):
        return None
    return TeamHitRow(
        hit.uid,
        here.id if here else "",
        project,
        memory.kind,
        memory.title,
        memory.summary,
        hit.author,
        time_to_text(memory.created_at),
        round(hit.score, 4),
        memory.facts,
    )
