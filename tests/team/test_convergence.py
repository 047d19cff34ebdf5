"""Tests of `team/replica.py` and `team/outbox.py` together: in whatever order entries arrive, and however often, all
replicas end equal."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import forget
from claude_mem_lite.store import memories
from claude_mem_lite.team.entry import Entry
from tests.support.fakes import NOW
from tests.support.team_homes import Log, TeamHome, home_in

DEVICES = ("device-a", "device-b", "device-c")
# Sentences that neither repeat nor contradict each other.
TITLES = (
    "Invoices are rounded per line",
    "Caches live beside their owners",
    "Migrations run inside transactions",
    "Avatars come from gravatar",
    "Tokens expire at midnight",
    "Workers restart after deployments",
    "Currencies carry their exponent",
    "Logs rotate by size",
    "Queues drain before shutdown",
    "Themes inherit from defaults",
)
Change = tuple[int, int, bool, int, int]


class Seen(NamedTuple):
    """Memory of the team, as a replica has it."""

    head: tuple[object, ...]
    title: str
    summary: str
    status: str


@contextmanager
def homes(folder: Path, *members: tuple[str, str]) -> Iterator[list[TeamHome]]:
    with ExitStack() as stack:
        made = [home_in(folder, author, device) for author, device in members]
        for home in made:
            stack.enter_context(closing(home.db))
        yield made


def seen(home: TeamHome) -> dict[str, Seen]:
    """The heads of a replica with their memories, without what only this device knows."""
    found = {}
    for row in home.db.execute("select uid from team_heads").fetchall():
        head = home.head(row["uid"])
        memory = memories.find(home.db, head.memory) if head.memory else None
        body = json.loads(head.body) if head.body else None
        values = (memory.title, memory.summary, memory.status) if memory else ("", "", "")
        found[head.uid] = Seen((head.rev, head.device, head.op, str(body)), *values)
    return found


def entries_of(changes: Sequence[Change]) -> list[Entry]:
    """The logs of devices of one author that change the same memories."""
    logs = {device: Log("ana", device) for device in DEVICES}
    revs: dict[tuple[str, str], int] = {}
    entries = []
    for device_number, memory, is_delete, step, words in changes:
        device, uid = DEVICES[device_number], f"ana:{memory}"
        rev = revs[device, uid] = revs.get((device, uid), 0) + step
        log = logs[device]
        # Each memory has sentences of its own.
        title = TITLES[memory * 3 + words]
        put = (
            log.put(uid, rev, title=title, summary=f"{title} by {device}.", facts=[], files=[])
            if not is_delete
            else None
        )
        entries.append(put or log.delete(uid, rev))
    return entries


CHANGES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans(), st.integers(1, 2), st.integers(0, 2)),
    min_size=1,
    max_size=10,
)


@settings(max_examples=60)
@given(changes=CHANGES, data=st.data())
def test_entries_in_any_order_and_number_leave_all_replicas_equal(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Change], data: st.DataObject
) -> None:
    entries = entries_of(changes)
    orders = [data.draw(st.permutations(entries)) for _ in range(2)]
    repeated = data.draw(st.lists(st.sampled_from(entries), max_size=4))
    cut = data.draw(st.integers(0, len(entries)))
    with homes(tmp_path_factory.mktemp("replicas"), ("ben", "one"), ("ben", "two"), ("cat", "three")) as replicas:
        replicas[0].receive(entries)
        replicas[1].receive(orders[0][:cut])
        replicas[1].receive([*repeated, *orders[0][cut:]])
        for entry in [*orders[1], *repeated]:
            replicas[2].receive([entry])
        states = [seen(replica) for replica in replicas]
    assert states[0] == states[1] == states[2]


class Step(NamedTuple):
    """One act of a person at one of the devices, or the delivery of a log to another device."""

    act: str
    home: int
    number: int


STEPS = st.lists(
    st.builds(
        Step, st.sampled_from(("make", "edit", "edit", "forget", "sync", "sync")), st.integers(0, 2), st.integers(0, 9)
    ),
    min_size=2,
    max_size=14,
)


@settings(max_examples=60)
@given(steps=STEPS)
def test_devices_of_one_author_that_edit_and_forget_the_same_memories_end_equal(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    folder = tmp_path_factory.mktemp("devices")
    with homes(folder, *(("ana", device) for device in DEVICES), ("ben", "device-o")) as team:
        logs: list[list[Entry]] = [[] for _ in team]
        for number, step in enumerate(steps):
            _act(team, logs, step, number)
        assert _is_quiet(team, logs)
        states = [seen(home) for home in team]
    assert [{uid: state.head for uid, state in found.items()} for found in states[1:]] == [
        {uid: state.head for uid, state in states[0].items()}
    ] * 3
    assert all(found == states[0] for found in states)


def _act(team: Sequence[TeamHome], logs: list[list[Entry]], step: Step, number: int) -> None:
    home = team[step.home]
    ids = [row["id"] for row in home.db.execute("select id from memories order by created_at, id")]
    if step.act == "make" and number < len(TITLES):
        home.decide(TITLES[number], summary=f"{TITLES[number]} for a reason that matters.")
    elif step.act == "edit" and ids:
        memory = memories.get(home.db, ids[step.number % len(ids)])
        home.change(memory, summary=f"{memory.title}, edit {number} there.", origin="user", made_by="user", author="")
    elif step.act == "forget" and ids:
        with atomic(home.db):
            forget.forget(home.db, [ids[step.number % len(ids)]], [], NOW)
    elif step.act == "sync":
        logs[step.home] += home.push()
        source = (step.home + 1 + step.number % 2) % 3
        home.receive(logs[source][: step.number + 1])


def _is_quiet(team: Sequence[TeamHome], logs: list[list[Entry]]) -> bool:
    """Deliver all logs to all homes until nobody has anything to send."""
    for _ in range(12):
        pushed = [home.push() for home in team]
        for log, entries in zip(logs, pushed, strict=True):
            log += entries
        for number, home in enumerate(team):
            home.receive([entry for other, log in enumerate(logs) if other != number for entry in log])
        if not any(pushed):
            return True
    return False
