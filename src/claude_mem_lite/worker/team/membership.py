"""Membership of this home in a team: set-up of the database, invitations, joining, the key, leaving.

The API imports this module when a command needs it: it imports the driver of PostgreSQL."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TypeVar

from claude_mem_lite.code.git.project_identity import normalise_remote
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.responses.team import (
    TeamInit,
    TeamInvitation,
    TeamLeft,
    TeamMember,
    TeamMembers,
    TeamRevoked,
)
from claude_mem_lite.store import memories, team_heads
from claude_mem_lite.store import team as tables
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.team import members, server_schema
from claude_mem_lite.team.address import Address, load_address, parse_address, save_address
from claude_mem_lite.team.connection import TimedConnection, administration
from claude_mem_lite.team.entry import project_key
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.seal import Seal, load_seal, make_key, read_key, save_key
from claude_mem_lite.team.server import Greeting, TeamServer
from claude_mem_lite.team.sync import open_seal, refuse_other_team
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.worker.services import Services
from claude_mem_lite.worker.team.scheduler import new_id

Result = TypeVar("Result")
_IN_NO_TEAM = ("this home is in no team", "join one with `claude-mem-lite team join`")
_NO_REMOTE = "a project is shared by its git remote, and there is none"


def init(services: Services, url: str, *, sealed: bool, deadline: Deadline) -> TeamInit:
    """Set up the team's database, and keep the administrator's address in the home."""
    address = parse_address(url)
    key = make_key() if sealed else ""
    with administration(address, deadline) as connection:
        done = server_schema.set_up(connection, services.clock(), read_key(key).make_check() if key else None)
    if sealed and not done.is_sealed:
        raise MemoryLiteError(
            "this database has a team that is not sealed, and sealing it later would leave readable memories there",
            "make another database for a sealed team",
        )
    save_address(services.home.team_admin_address, address)
    is_new = bool(done.applied) and done.is_sealed and sealed
    if is_new:
        save_key(services.home.team_key, key)
    return TeamInit(done.team, done.applied, done.has_vectors, done.is_sealed, key if is_new else "")


def invite(
    services: Services, name: str, projects: Sequence[str], *, url: str, new_password: bool, deadline: Deadline
) -> TeamInvitation:
    """Give a member access to projects. The address is in the response and nowhere else."""
    address = _administrators_address(services, url)
    with administration(address, deadline) as connection:
        seal = _seal_of_administrator(services, connection)
        remotes = tuple(dict.fromkeys(remote_of(services, project) for project in projects))
        named = [(key_of(remote, seal), remote) for remote in remotes]
        made = members.invite(connection, name, named, address, new_password=new_password)
    return TeamInvitation(name, made.address.url() if made.address else "", remotes)


def revoke(services: Services, name: str, *, url: str, deadline: Deadline) -> TeamRevoked:
    """Take all access from a member."""
    with administration(_administrators_address(services, url), deadline) as connection:
        if not members.revoke(connection, name):
            raise NotFound(f"there is no member {name} with access", "`claude-mem-lite team members` lists all")
    return TeamRevoked(name)


def all_members(services: Services, *, url: str, deadline: Deadline) -> TeamMembers:
    """Return all members with their projects."""
    with administration(_administrators_address(services, url), deadline) as connection:
        found = members.members(connection)
    return TeamMembers(
        tuple(
            TeamMember(
                member.name,
                member.projects,
                time_to_text(member.invited_at),
                time_to_text(member.revoked_at) if member.revoked_at else None,
                member.devices,
                time_to_text(member.synchronised_at) if member.synchronised_at else None,
            )
            for member in found
        )
    )


def join(services: Services, url: str, *, deadline: Deadline) -> None:
    """Log in with an invitation, keep its address, and give this home a device id. Shares nothing."""
    address = parse_address(url)
    with TeamServer.connect(address, deadline) as server:
        greeting = server.greeting()
    with closing(services.readers.open()) as db:
        present = tables.device(db)
    if present is not None and present.author != greeting.member:
        raise MemoryLiteError(
            f"this home is {present.author}'s device of a team",
            "leave that team first: `claude-mem-lite team leave`",
        )
    refuse_other_team(greeting, present)
    save_address(services.home.team_address, address)
    device = present or tables.Device(new_id(), greeting.member, new_id(), "", services.clock())
    write(services, lambda db: tables.put_device(db, replace(device, team=greeting.team)))


def set_key(services: Services, written: str, *, deadline: Deadline) -> None:
    """Check the key of a sealed team against the server, then keep it."""
    address_of(services)  # first: outside of a team no key can be right
    seal = read_key(written)
    greeting = greet(services, deadline)
    if not greeting.is_sealed:
        raise MemoryLiteError("the team is not sealed, so it needs no key", "nothing has to be done")
    open_seal(greeting, lambda: seal)
    save_key(services.home.team_key, written)


def leave(services: Services, *, purge: bool, deadline: Deadline) -> TeamLeft:
    """Remove address, key and received memories from this home; `purge`: also from the team what this device sent."""
    with closing(services.readers.open()) as db:
        device = tables.device(db)
    if device is None and not services.home.team_address.exists():
        raise MemoryLiteError("this home is in no team", "there is nothing to leave")
    with ExitStack() as held:
        if purge:  # a synchronisation between both steps would send again under a new device id
            held.enter_context(services.team.held(deadline.left_s()))
        purged = _purge(services, device.id, deadline) if purge and device is not None else 0
        forgotten = _clear(services)
    services.team.reset()
    services.render_all()
    return TeamLeft(purged, forgotten)


def _clear(services: Services) -> int:
    """Remove everything of the team from this home; return the number of received memories."""

    def clear(db: sqlite3.Connection) -> int:
        gone = received_ids(db)
        memories.remove(db, gone, services.clock())
        team_heads.clear(db)
        return len(gone)

    forgotten = write(services, clear)
    for path in (services.home.team_address, services.home.team_key):
        path.unlink(missing_ok=True)
    return forgotten


def _purge(services: Services, device: str, deadline: Deadline) -> int:
    try:
        with TeamServer.connect(address_of(services), deadline) as server:
            return server.remove_device(device)
    except TeamError as error:
        raise MemoryLiteError(
            f"nothing was removed, and this home is still in the team: {error.message}",
            f"{error.next_step}; or leave without --purge, and what you shared stays there",
        ) from None


def received_ids(db: sqlite3.Connection, key: str | None = None) -> list[str]:
    """Return the ids of the stored memories of teammates, of one project key or of all."""
    found = (memories.find(db, head.memory) for head in team_heads.received(db, key))
    return [memory.id for memory in found if memory is not None and memory.origin == "team"]


def greet(services: Services, deadline: Deadline) -> Greeting:
    """Log in to the server and return the state of the team."""
    with TeamServer.connect(address_of(services), deadline) as server:
        return greeting_of(services, server)


def greeting_of(services: Services, server: TeamServer) -> Greeting:
    """Return the state of the team. TeamError `other_team`: the server is not that of this home's team."""
    greeting = server.greeting()
    with closing(services.readers.open()) as db:
        refuse_other_team(greeting, tables.device(db))
    return greeting


def address_of(services: Services) -> Address:
    """Return the address of this member. MemoryLiteError: this home is in no team."""
    address = load_address(services.home.team_address, os.environ)
    if address is None:
        raise MemoryLiteError(*_IN_NO_TEAM)
    return address


def refuse_outside_team(db: sqlite3.Connection) -> None:
    """Raise MemoryLiteError if this home has joined no team."""
    if tables.device(db) is None:
        raise MemoryLiteError(*_IN_NO_TEAM)


def remote_of(services: Services, project: str) -> str:
    """Return the normalised remote of a project that the user named: a folder, a name, an id or a remote."""
    with closing(services.readers.open()) as db:
        if os.path.isabs(project):
            location = lookup.locate(db, project)
            remotes = [location.remote, *marks.marks(db, location.project, "remote")]
        else:
            try:
                remotes = marks.marks(db, lookup.find(db, project), "remote")
            except NotFound:
                remotes = [normalise_remote(project) or (project if project.count("/") >= 2 else "")]
    found = next((remote for remote in remotes if remote), "")
    if not found:
        raise MemoryLiteError(f"{_NO_REMOTE}: {project}", "add a remote, or give one: github.com/OWNER/NAME")
    return found


def key_of(remote: str, seal: Seal | None) -> str:
    """Return the key of a project in this team."""
    return seal.project_key(remote) if seal else project_key(remote)


def write(services: Services, work: Callable[[sqlite3.Connection], Result]) -> Result:
    """Run a write in one transaction in the job thread and wait for the result."""

    def run(db: sqlite3.Connection) -> Result:
        with atomic(db):
            return work(db)

    return services.team.local().write(run)


def _administrators_address(services: Services, url: str) -> Address:
    if url:
        return parse_address(url)
    address = load_address(services.home.team_admin_address, {})
    if address is None:
        raise MemoryLiteError(
            "this home has no administrator's address",
            "run `claude-mem-lite team init` first, or give --url",
        )
    return address


def _seal_of_administrator(services: Services, connection: TimedConnection) -> Seal | None:
    """Return the seal that names projects in a sealed team: keys of projects are made with the team key."""
    row = connection.execute("select is_sealed, key_check from claude_mem_lite.team").fetchone()
    if row is None:
        raise TeamError("not_set_up")
    is_sealed, check = row
    if not is_sealed:
        return None
    seal = load_seal(services.home.team_key)
    if seal is None:
        raise TeamError("no_key")
    if not seal.opens_check(check):
        raise TeamError("wrong_key")
    return seal
