"""A thousand rounds of cut connections, crashes of either side and restarts: homes of a team end equal, and no entry is
lost or doubled."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest

from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.team.reasons import TeamError
from tests.support.cutting_front import CuttingFront, cutting_front
from tests.support.fakes import NOW
from tests.support.postgres import Database, PostgresServer, fresh_database, running_server
from tests.support.team_sync import LocalFile, SyncedHome, Team, team_on

ROUNDS = 250
SEEDS = range(4)
KILLS = 2
ROUNDS_TOGETHER = 25
MAX_CUT = 40_000
MEMBERS = (("ana", "laptop"), ("ana", "desktop"), ("ben", "ben-device"), ("cat", "cat-device"))
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "zo")
Fault = Literal["none", "cut", "before", "after", "inside"]
FAULTS: tuple[Fault, ...] = ("none", "cut", "cut", "before", "after", "inside")
Result = TypeVar("Result")


class Crash(BaseException):
    """End of the client's process at this place; nothing may catch it."""


class CrashingConnection(sqlite3.Connection):
    """Connection of a process that dies before one of its statements."""

    left: int | None = None
    """Number of statements until the end; None without one."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise Crash
        return super().execute(*arguments)


@dataclass(slots=True)
class CrashingFile(LocalFile):
    """Local database whose process dies at one of its writes: before it, inside it, or after its commit."""

    fault: Fault = "none"
    write_number: int = 0
    statements: int = 0

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        self.write_number -= 1
        if self.write_number or self.fault in ("none", "cut"):
            return work(self.db)
        if self.fault == "before":
            raise Crash
        if self.fault == "after":
            work(self.db)
            raise Crash
        with closing(open_for_writing(self.path, CrashingConnection)) as db:
            assert isinstance(db, CrashingConnection)
            db.left = self.statements
            return work(db)


@dataclass(slots=True)
class Storm:
    """Homes of a team with their acts and faults, by one sequence of random numbers."""

    team: Team
    front: CuttingFront
    chance: random.Random
    made: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    crashes: int = 0
    failures: dict[str, int] = field(default_factory=dict)

    def act(self, home: SyncedHome) -> None:
        """Make, edit or forget a memory of the home's member."""
        own = [memory for memory in home.team.titles() if memory.startswith(home.author)]
        choice = self.chance.random()
        home.now = NOW + timedelta(seconds=self.chance.randint(-300_000, 300_000))
        if choice < 0.5 or not own:
            title = f"{home.author} {self.words(5)}"
            self.made.add(title)
            home.team.decide(title, summary=f"{self.words(6)} was the reason.")
        elif choice < 0.85:
            home.edit(self.chance.choice(own), f"{self.words(6)} is why, by now.")
        else:
            title = self.chance.choice(own)
            self.forgotten.add(title)
            home.forget(home.memory(title).id)

    def words(self, number: int) -> str:
        return " ".join("".join(self.chance.choices(SYLLABLES, k=4)) for _ in range(number))

    def sync(self, home: SyncedHome, fault: Fault) -> None:
        """Synchronise a home with a fault on the way; whatever happens, its process starts again afterwards."""
        if fault == "cut":
            self.front.left = int(MAX_CUT ** self.chance.random()) + 1
        local = CrashingFile(home.path, home.db, fault, self.chance.randint(1, 5), self.chance.randint(1, 60))
        try:
            home.sync(
                local,
                fill_batch=3,
                push_batch=self.chance.randint(1, 8),
                fetch_batch=self.chance.randint(1, 20),
                apply_batch=self.chance.randint(1, 8),
            )
        except Crash:
            self.crashes += 1
            home.reopen()
        except TeamError as error:
            self.failures[error.code] = self.failures.get(error.code, 0) + 1
        self.front.left = None

    def settle(self) -> None:
        """Synchronise without faults until nobody has anything to send or receive."""
        for _ in range(10):
            if not [home for home in self.team.homes if home.sync().has_work()]:
                return
        raise AssertionError("the homes do not come to rest")


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that these tests may kill."""
    with running_server() as server:
        yield server


@pytest.fixture
def mortal(own_server: PostgresServer) -> Iterator[Database]:
    with fresh_database(own_server) as database:
        yield database


@pytest.fixture
def storm(mortal: Database, tmp_path: Path) -> Iterator[Storm]:
    with cutting_front(mortal.server.port) as front, team_on(mortal, tmp_path) as team:
        for author, device in MEMBERS:
            home = team.home(author, device)
            home.address = replace(home.address, port=front.port)
        yield Storm(team, front, random.Random())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_thousand_rounds_of_cuts_crashes_and_restarts_lose_and_double_nothing(storm: Storm, seed: int) -> None:
    storm.chance.seed(seed)
    kills = set(storm.chance.sample(range(50, ROUNDS), KILLS))
    server = storm.team.database.server
    for number in range(ROUNDS):
        home = storm.chance.choice(storm.team.homes)
        if storm.chance.random() < 0.4:
            storm.act(home)
        fault = storm.chance.choice(FAULTS)
        if number in kills:
            storm.front.on_cut = server.kill
            fault = "cut"
        storm.sync(home, fault)
        if number in kills:
            if storm.front.on_cut is not None:  # the synchronisation was done before the cut
                storm.front.on_cut = None
                server.kill()
            server.start()
    storm.settle()
    assert min(storm.crashes, storm.front.cuts) > ROUNDS // 20
    assert set(storm.failures) == {"unreachable"}
    check(storm)


def test_homes_that_synchronise_at_the_same_time_end_equal(storm: Storm) -> None:
    def live(number: int) -> None:
        home = storm.team.homes[number]
        home.address = replace(home.address, port=storm.team.database.server.port)
        own = replace(storm, chance=random.Random(number))
        for _ in range(ROUNDS_TOGETHER):
            own.act(home)
            own.sync(home, "none")

    with ThreadPoolExecutor(len(MEMBERS)) as threads:
        list(threads.map(live, range(len(MEMBERS))))
    assert set(storm.failures) <= {"unreachable"}  # two devices of one member may wait for each other
    storm.settle()
    check(storm)


@dataclass(slots=True)
class ArmingFile(LocalFile):
    """Local database that arms the front before one of its writes."""

    front: CuttingFront
    write_number: int
    bytes_left: int

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        self.write_number -= 1
        if not self.write_number:
            self.front.left = self.bytes_left
        return work(self.db)


@pytest.mark.parametrize("bytes_left", [200, 2_000, 6_000])
def test_a_server_killed_in_the_middle_of_a_batch_has_every_entry_once_after_its_restart(
    storm: Storm, bytes_left: int
) -> None:
    storm.chance.seed(1)
    ana, server = storm.team.homes[0], storm.team.database.server
    for _ in range(30):
        title = f"ana {storm.words(5)}"
        storm.made.add(title)
        ana.team.decide(title, summary=f"{storm.words(6)} was the reason.")
    storm.front.on_cut = server.kill
    with pytest.raises(TeamError) as caught:  # the fifth write precedes the second batch
        ana.sync(ArmingFile(ana.path, ana.db, storm.front, 5, bytes_left), push_batch=10)
    assert caught.value.code == "unreachable"
    server.start()
    assert len(storm.team.entries()) == 10
    storm.settle()
    check(storm, devices=1)


def check(storm: Storm, devices: int = len(MEMBERS)) -> None:
    """All homes agree with each other and with the server, and have every memory that nobody forgot."""
    homes = storm.team.homes
    on_server = storm.team.entries("project, device, seq, uid, rev, op, hash")
    logs = [row for home in homes for row in log_of(home)]
    assert sorted(logs, key=lambda row: (row[1], row[2])) == on_server
    assert not [row for home in homes for row in home.states() if row != "sent"]
    assert not [home for home in homes if numbers_of(home) != list(range(1, len(numbers_of(home)) + 1))]
    server_heads = storm.team.database.rows(
        'select uid, rev, device, op from claude_mem_lite.heads order by uid collate "C"'
    )
    assert [heads_of(home) for home in homes] == [server_heads] * len(homes)
    assert [contents_of(home) for home in homes] == [contents_of(homes[0])] * len(homes)
    assert {title for title, _ in contents_of(homes[0])} == storm.made - storm.forgotten
    assert len({device for _, device, *_ in on_server}) == devices


def log_of(home: SyncedHome) -> list[tuple[object, ...]]:
    return [tuple(row) for row in home.db.execute("select project, device, seq, uid, rev, op, hash from team_log")]


def numbers_of(home: SyncedHome) -> list[int]:
    return [row["seq"] for row in home.db.execute("select seq from team_log order by seq")]


def heads_of(home: SyncedHome) -> list[tuple[object, ...]]:
    return [tuple(row) for row in home.db.execute("select uid, rev, device, op from team_heads order by uid")]


def contents_of(home: SyncedHome) -> list[tuple[str, str]]:
    rows = home.db.execute("select title, summary from memories order by title")
    return [(row["title"], row["summary"]) for row in rows]
