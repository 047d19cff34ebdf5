"""Recorded sessions of several developers in the order of time, each developer with homes of their own.

Who worked is told by the folder that a turn worked in; developers are A, B, C … by the number of their sessions, and
their names are kept nowhere. Each has two homes with the same turns: one alone, and one in a team through a real
PostgreSQL, which synchronises after its turns were imported and when a session of its developer begins. All homes know
one checkout (session_walk.py), with the files as the whole team left them: that is what a developer who pulls has."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import psycopg

from benchmarks.transcripts import Data, recorded
from claude_mem_lite.code.git.project_identity import normalise_remote
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.evaluation.checkouts import checkouts_of
from claude_mem_lite.evaluation.in_process_worker import served
from claude_mem_lite.evaluation.recording import ListedSession
from claude_mem_lite.evaluation.replay_home import ReplayHome, ended_at
from claude_mem_lite.evaluation.session_walk import FIRST, REMOTE, ContextLine, Walk, context_lines
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.models import Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memory_queries
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.entry import project_key
from claude_mem_lite.team.members import invite
from claude_mem_lite.team.server_schema import set_up

_OWNER = re.compile(r"/(?:Users|home)/([^/]+)")
_BEFORE_ALL = "before-all-sessions"


@dataclass(frozen=True, slots=True)
class Given:
    """What one home gives to a session that begins, and what it could have given."""

    text: str
    shown: tuple[ContextLine, ...]
    memories: tuple[Memory, ...]
    """All active ones of the home."""

    @property
    def received(self) -> frozenset[str]:
        """The ids of memories of teammates."""
        return frozenset(memory.id for memory in self.memories if memory.origin == "team")


@dataclass(frozen=True, slots=True)
class TeamVisit:
    """A session that begins."""

    session: ListedSession
    developer: str
    alone: Given
    team: Given
    own_past: frozenset[str]
    """All files that this developer touched in earlier sessions, as `sessions.json` tells."""
    team_past: frozenset[str]


@dataclass(slots=True)
class Developer:
    """One developer with both homes; `imported` are names of turns."""

    name: str
    alone: ReplayHome
    team: ReplayHome
    imported: set[str] = field(default_factory=set)

    @property
    def homes(self) -> tuple[ReplayHome, ReplayHome]:
        return self.alone, self.team

    def synchronise(self) -> None:
        """Exchange entries with the team."""
        done = self.team.client.team_sync()
        if done.code:
            raise SystemExit(f"the synchronisation failed: {done.code} {done.message}")


class TeamWalk:
    """Goes from session to session, and keeps all homes and the checkout up with them."""

    def __init__(self, data: Data, folder: Path, database: Address) -> None:
        self.walk = Walk(recorded(data), folder)
        self.listed = self.walk.listed
        self._turns = [turn for session in self.listed for turn in self.walk.past[session.id].turns]
        self.names = developer_names([owner_of(self._first_turn(session)) for session in self.listed])
        self.database = database
        roots = checkouts_of({turn.cwd for turn in self._turns}, is_one_project=True)
        folders = sorted(set(roots.values()), key=len, reverse=True)
        self.developers = {
            name: Developer(
                name,
                _home(folder / f"alone-{name}", self.walk.root, folders),
                _home(folder / f"team-{name}", self.walk.root, folders),
            )
            for name in self.names.values()
        }

    def visits(self, *, handoffs: bool) -> Iterator[TeamVisit]:
        """One session after the other, from the eleventh of the team on."""
        with ExitStack() as stack:
            for developer in self.developers.values():
                for walked in developer.homes:
                    stack.enter_context(served(walked.home, self.walk.clock))
            self._join(handoffs=handoffs)
            for place, session in enumerate(self.listed):
                self._go_to(session.started_at)
                if place >= FIRST:
                    self.walk.write_checkout(place)
                    yield self._visit(place)

    def sent(self) -> Mapping[str, int]:
        """The number of entries on the server, by operation and developer."""
        with psycopg.connect(self.database.url()) as connection:
            rows = connection.execute(
                "select op || ' ' || upper(right(author, 1)) as name, count(*)"
                " from claude_mem_lite.entries group by name order by name"
            ).fetchall()
        return {str(name): int(number) for name, number in rows}

    def developer_of(self, session: ListedSession) -> Developer:
        """The developer who began a session."""
        return self.developers[self.names[owner_of(self._first_turn(session))]]

    def _first_turn(self, session: ListedSession) -> TranscriptTurn:
        return self.walk.past[session.id].turns[0]

    def _join(self, *, handoffs: bool) -> None:
        remote = normalise_remote(REMOTE)
        for developer in self.developers.values():
            with psycopg.connect(self.database.url(), autocommit=True) as connection:
                set_up(connection, self.walk.clock(), None)
                invited = invite(
                    connection, f"dev-{developer.name.lower()}", [(project_key(remote), "")], self.database
                )
            assert invited.address is not None
            developer.team.client.team_join(invited.address.url())
            for walked in developer.homes:  # so that the project is known there
                walked.start(_BEFORE_ALL, self.walk.clock())
                walked.client.drain(60.0)
            developer.team.client.team_share(str(self.walk.root), handoffs=handoffs)

    def _go_to(self, moment: datetime) -> None:
        """Set the clock, import what each developer has ended before, and share it."""
        self.walk.clock.at = moment
        for developer in self.developers.values():
            ended = [turn for turn in self._turns_of(developer) if ended_at(turn) < moment]
            if ended:
                for walked in developer.homes:
                    walked.import_turns(ended)
                developer.imported |= {turn.name for turn in ended}
                developer.synchronise()

    def _turns_of(self, developer: Developer) -> Iterator[TranscriptTurn]:
        for turn in self._turns:
            if turn.name not in developer.imported and self.names.get(owner_of(turn)) == developer.name:
                yield turn

    def _visit(self, place: int) -> TeamVisit:
        session = self.listed[place]
        developer = self.developer_of(session)
        developer.synchronise()
        earlier = self.listed[:place]
        own = [one for one in earlier if self.developer_of(one) is developer]
        return TeamVisit(
            session=session,
            developer=developer.name,
            alone=self._given(developer.alone, session),
            team=self._given(developer.team, session),
            own_past=frozenset().union(*(one.files for one in own)),
            team_past=frozenset().union(*(one.files for one in earlier)),
        )

    def _given(self, walked: ReplayHome, session: ListedSession) -> Given:
        walked.client.stale(str(self.walk.root))
        built = walked.client.context(str(self.walk.root), None)
        walked.start(session.id, session.started_at)
        with closing(open_for_reading(walked.home.memory_db)) as db:
            known = tuple(memory for _, memory in memory_queries.all_after(db, 0, None) if memory.status == "active")
        return Given(
            built.context,
            context_lines(
                walked.client,
                built.context,
                [(item.layer, item.line, item.source) for item in built.items],
                self.walk.past,
            ),
            known,
        )


def owner_of(turn: TranscriptTurn) -> str:
    """The owner of the folder that a turn worked in."""
    found = _OWNER.match(turn.cwd)
    return found[1] if found else turn.cwd


def developer_names(owners: Sequence[str]) -> Mapping[str, str]:
    """A letter for each owner, A for the one with the most sessions."""
    order = [owner for owner, _ in Counter(owners).most_common()]
    return {owner: chr(ord("A") + place) for place, owner in enumerate(order)}


def _home(folder: Path, root: Path, folders: Sequence[str]) -> ReplayHome:
    home = Home(folder)
    home.make()
    return ReplayHome(home, root, folders)
