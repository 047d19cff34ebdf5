"""Members and entries of a team for tests: invitations, connections, entries of a memory."""

from datetime import datetime

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.entry import Entry, Op, hash_of
from claude_mem_lite.team.members import invite
from claude_mem_lite.team.server import OutgoingEntry, TeamServer
from tests.support.postgres import NOW, Database

SHOP, SECRET = "a" * 32, "b" * 32
PATIENCE_S = 60.0


def invited(database: Database, name: str, *projects: str) -> Address:
    """Invite a member to projects, `SHOP` if none is named; the address to join with."""
    with database.connect() as connection:
        pairs = [(key, f"project {key[0]}") for key in projects or (SHOP,)]
        address = invite(connection, name, pairs, database.address).address
    assert address is not None
    return address


def connected(address: Address, seconds: float = PATIENCE_S) -> TeamServer:
    return TeamServer.connect(address, Deadline.after(seconds))


def joined(database: Database, name: str, *projects: str, device: str = "") -> TeamServer:
    """Connect a new member with a registered device, named like the member if no name is given."""
    server = connected(invited(database, name, *projects))
    server.register_device(device or f"{name}-device", "token-0")
    return server


def entry(
    seq: int,
    memory: str = "m1",
    *,
    author: str = "ana",
    rev: int = 1,
    op: Op = "put",
    body: str | None = None,
    project: str = SHOP,
    device: str = "",
    at: datetime = NOW,
) -> Entry:
    """Make an entry of a memory; a `put` has a body."""
    text = (body or f'{{"title": "{memory} {rev}"}}') if op == "put" else None
    return Entry(
        project, device or f"{author}-device", seq, f"{author}:{memory}", rev, op, text, hash_of(text), author, at
    )


def outgoing(*entries: Entry) -> list[OutgoingEntry]:
    return [OutgoingEntry(one, one.body or "") for one in entries]
