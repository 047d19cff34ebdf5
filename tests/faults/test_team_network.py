"""A network that is cut between homes and the database of their team, with real network namespaces: two homes, a link
each, and everything arrives once after the links heal."""

import ctypes
import os
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pytest

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.team.reasons import TeamError
from tests.support.database_front import Front
from tests.support.fakes import SetSeconds
from tests.support.postgres import PostgresServer, fresh_database, running_server
from tests.support.running import cannot
from tests.support.team_sync import LocalFile, SyncedHome, Team, team_on

MEMORIES = 60
BATCH = 20
PATIENCE_S = 6.0
_NETWORK = 0x40000000
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Host:
    """Network namespace with one link to this machine; `run` runs a function in a thread inside."""

    name: str
    address: str
    """Address of this machine on the link."""
    inside: ThreadPoolExecutor
    outside: ThreadPoolExecutor

    def run(self, work: Callable[[], Result]) -> Result:
        return self.inside.submit(work).result()

    def set_link(self, state: str) -> None:
        """Set the far end of the link `up` or `down`: what is sent inside is lost without a word."""
        self.outside.submit(_ip, "link", "set", self.name, state).result()


@dataclass(slots=True)
class TickingSeconds(SetSeconds):
    """Clock of a deadline that stands still until the link is down, and then moves at each look."""

    is_down: bool = False

    def __call__(self) -> float:
        self.now += self.is_down
        return self.now


@dataclass(slots=True)
class CutFile(LocalFile):
    """Local database whose home loses its link before one of its writes."""

    host: Host
    seconds: TickingSeconds
    left: int

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        self.left -= 1
        if not self.left:
            self.host.set_link("down")
            self.seconds.is_down = True
        return work(self.db)


@contextmanager
def open_host(number: int) -> Iterator[Host]:
    """Make a namespace with a link; its addresses are of the range for tests of networks."""
    name = f"cml{number}-{os.getpid()}"
    inside, outside = (f"198.18.{os.getpid() % 250}.{4 * number + end}" for end in (1, 2))
    _ip("netns", "add", name)
    try:
        _ip("link", "add", name, "type", "veth", "peer", "name", "team0", "netns", name)
        _ip("addr", "add", f"{outside}/30", "dev", name)
        _ip("link", "set", name, "up")
        _ip("-n", name, "addr", "add", f"{inside}/30", "dev", "team0")
        _ip("-n", name, "link", "set", "team0", "up")
        with ThreadPoolExecutor(1, initializer=_enter, initargs=(name,)) as inner, ThreadPoolExecutor(1) as outer:
            outer.submit(_ip, "link").result()  # starts the thread here: a thread inherits the namespace of its maker
            yield Host(name, outside, inner, outer)
    finally:
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", name)
        _ip("netns", "del", name)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=30)


def _enter(name: str) -> None:
    """Move the calling thread into a namespace."""
    with open(f"/run/netns/{name}") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _NETWORK):
            raise OSError(ctypes.get_errno(), "setns")


@pytest.fixture
def hosts() -> Iterator[tuple[Host, Host]]:
    if os.geteuid() or shutil.which("ip") is None:
        cannot("needs root and the program ip for network namespaces")
    with ExitStack() as stack:
        try:
            made = [stack.enter_context(open_host(number)) for number in (0, 1)]
        except subprocess.CalledProcessError as error:
            cannot(f"no network namespace can be made: {error.stderr!r}")
        yield made[0], made[1]


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def team(postgres: PostgresServer, tmp_path: Path) -> Iterator[Team]:
    with fresh_database(postgres) as database, team_on(database, tmp_path) as made:
        yield made


@contextmanager
def home_on(team: Team, author: str, host: Host) -> Iterator[SyncedHome]:
    """Open a home that reaches the database over the link of a host only."""
    front = Front(("127.0.0.1", team.database.server.port), listener=socket.create_server((host.address, 0)))
    front.start()
    try:
        home = team.home(author)
        home.address = replace(home.address, host=host.address, port=front.port)
        yield home
    finally:
        front.close()


def cut_sync(home: SyncedHome, host: Host, write: int) -> str:
    """Synchronise until the link goes down before a write; return the reason code of the failure."""
    seconds = TickingSeconds()
    local = CutFile(home.path, home.db, host, seconds, write)
    deadline = Deadline.after(PATIENCE_S, seconds)
    try:
        host.run(lambda: home.sync(local, deadline=deadline, push_batch=BATCH, fetch_batch=BATCH, apply_batch=5))
    except TeamError as error:
        return error.code
    return ""


def test_everything_arrives_once_after_the_network_was_cut_in_the_middle(team: Team, hosts: tuple[Host, Host]) -> None:
    office, train = hosts
    with home_on(team, "ana", train) as ana, home_on(team, "ben", office) as ben:
        titles = decided(ana)
        assert cut_sync(ana, train, 5) == "unreachable"
        assert len(team.entries()) == BATCH
        more = decided(ana, "x")  # made on the train
        assert cut_sync(ana, train, 1_000) == "unreachable"
        train.set_link("up")
        settle(ana, train)
        assert cut_sync(ben, office, 2) == "unreachable"
        assert 0 < len(ben.team.titles()) < len(titles + more)
        office.set_link("up")
        settle(ben, office)
        assert ben.team.titles() == ana.team.titles() == sorted(titles + more)
    seqs = [seq for (seq,) in team.entries("seq")]
    assert seqs == list(range(1, len(titles + more) + 1))
    assert ana.this_device().id == "ana-device"


def settle(home: SyncedHome, host: Host) -> None:
    """Synchronise until nothing is left: the server first has to notice that the cut connection is dead."""
    for _ in range(20):
        try:
            if not host.run(home.sync).has_work():
                return
        except TeamError as error:
            if error.code != "unreachable":
                raise
    raise AssertionError("the home does not come to rest")


def decided(home: SyncedHome, mark: str = "") -> list[str]:
    """Store memories that neither repeat nor contradict each other; return their titles."""
    made = []
    for number in range(MEMORIES):
        first, second = "bcdfghklmnprst"[number % 14], "aeiou"[number // 14]
        word = mark + 3 * (first + second)
        made.append(f"{word}q {word[::-1]}")
        home.team.decide(made[-1], summary=f"{word}r and {word}s were the reason.")
    return made
