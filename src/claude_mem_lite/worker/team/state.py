"""State of the team on this device, for `team status` and the page; with a login to the server if asked."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import field, replace

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.responses.team import ParkedEntry, TeamAuthor, TeamProject, TeamStatus
from claude_mem_lite.store import team as tables
from claude_mem_lite.store import team_heads
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.team import outbox, replica
from claude_mem_lite.team.entry import Entry
from claude_mem_lite.team.reasons import TeamError, next_step_of
from claude_mem_lite.team.seal import Seal, load_seal
from claude_mem_lite.team.server import TeamServer
from claude_mem_lite.team.sync import open_seal
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.services import Services
from claude_mem_lite.worker.team.membership import address_of, greeting_of, key_of

_MAX_PARKED = 50


@frozen
class _Login:
    """Result of a login to the server."""

    is_reached: bool = False
    is_sealed: bool = False
    granted: Mapping[str, str] = field(default_factory=dict)
    """Names of the granted projects by key."""
    positions: Mapping[tuple[str, str], int] = field(default_factory=dict)
    seal: Seal | None = None
    code: str = ""
    message: str = ""
    next_step: str = ""


def team_status(services: Services, *, check: bool, deadline: Deadline) -> TeamStatus:
    """Return the state of the team; `check`: log in to the server now."""
    with closing(services.readers.open()) as db:
        device = tables.device(db)
    if device is None:
        return TeamStatus()
    login = _log_in(services, deadline) if check else _last_round(services)
    state = services.team.state
    with closing(services.readers.open()) as db:
        return TeamStatus(
            is_joined=True,
            member=device.author,
            device=device.id,
            is_sealed=login.is_sealed or services.home.team_key.exists(),
            has_key=services.home.team_key.exists(),
            reached=login.is_reached,
            code=login.code,
            message=login.message,
            next_step=login.next_step,
            waiting_out=tables.count_waiting(db),
            waiting_in=_waiting_in(db, device.id, login.positions),
            parked=_parked(db),
            projects=_projects(db, login),
            authors=tuple(
                TeamAuthor(count.author, count.memories, time_to_text(count.last_at))
                for count in team_heads.authors(db)
            ),
            last_sync_at=time_to_text(state.succeeded_at) if state.succeeded_at else None,
            last_failure_at=time_to_text(state.failed_at) if state.failed_at else None,
        )


def _log_in(services: Services, deadline: Deadline) -> _Login:
    """Log in, and check the key of a sealed team."""
    is_reached = is_sealed = False
    try:
        with TeamServer.connect(address_of(services), deadline) as server:
            greeting = greeting_of(services, server)
            is_reached, is_sealed = True, greeting.is_sealed
            seal = open_seal(greeting, lambda: load_seal(services.home.team_key))
            return _Login(True, greeting.is_sealed, greeting.projects, server.positions(), seal)
    except MemoryLiteError as error:
        return replace(_failed(error), is_reached=is_reached, is_sealed=is_sealed)


def _failed(error: MemoryLiteError) -> _Login:
    code = error.code if isinstance(error, TeamError) else "failed"
    return _Login(code=code, message=error.message, next_step=error.next_step)


def _last_round(services: Services) -> _Login:
    """Return the result of the last synchronisation, or why the next one cannot begin; asks no server."""
    try:
        address_of(services)
        load_seal(services.home.team_key)
    except MemoryLiteError as error:
        return _failed(error)
    state = services.team.state
    return _Login(code=state.code, message=state.message, next_step=state.next_step)


def _waiting_in(db: sqlite3.Connection, own: str, positions: Mapping[tuple[str, str], int]) -> int:
    cursors, shared = tables.cursors(db), tables.shared_keys(db)
    return sum(
        max(last - cursors.get((project, device), 0), 0)
        for (project, device), last in positions.items()
        if device != own and project in shared
    )


def _parked(db: sqlite3.Connection) -> tuple[ParkedEntry, ...]:
    out = [_parked_entry(entry, reason, "out") for entry, reason in outbox.parked(db)]
    received = [_parked_entry(entry, reason, "in") for entry, reason in replica.parked(db)]
    return (*out, *received)[:_MAX_PARKED]


def _parked_entry(entry: Entry, reason: str, direction: str) -> ParkedEntry:
    return ParkedEntry(entry.uid, direction, entry.device, entry.seq, entry.author, reason, next_step_of(reason))


def _projects(db: sqlite3.Connection, login: _Login) -> tuple[TeamProject, ...]:
    shares = {share.key: share for share in tables.shares(db)}
    here = {key_of(remote, login.seal): project for remote, project in marks.remotes(db).items()}
    counts = team_heads.counts_by_project(db)
    found = []
    for key in sorted({*login.granted, *shares}):
        share = shares.get(key)
        project = share.project if share else here.get(key, "")
        found.append(
            TeamProject(
                name=lookup.name_of(db, project) if project else login.granted.get(key, ""),
                project=project,
                key=key,
                is_granted=key in login.granted,
                is_shared=share is not None,
                handoffs=share is not None and share.handoffs,
                sent=counts.get(key, (0, 0))[0],
                received=counts.get(key, (0, 0))[1],
            )
        )
    return tuple(found)
