"""Recorded sessions in the order of time, each asking the product for its start context as its first hook would.

A home is filled turn by turn through the worker's own API; the worker runs in this process, because its clock is set to
the moment of each session: a context tells ages, and weighs by them. One checkout stands for the folders of all that
worked on the project, with the branch of the session in its HEAD, and the files as they were last seen
(sightings.py). It has no history, so nothing is known of merged branches, nor of files that were changed and not
committed, by which the product looks for what matters as well."""

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from benchmarks.injection_worker import MovedClock, served
from benchmarks.sightings import Tree, past_sessions, tree_at, write_tree
from benchmarks.transcripts import Data
from benchmarks.walked_home import WalkedHome, ended_at
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Wanted, Where
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.models import WORK_KINDS
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.context import ContextResponse
from claude_mem_lite.responses.memories import MemoryRecord
from claude_mem_lite.timestamps import utc_now

FIRST = 10
"""How many sessions are only remembered."""
NEWEST = 50
REMOTE = "https://example.com/recorded/project.git"


@dataclass(frozen=True, slots=True)
class Listed:
    """A session as `sessions.json` tells of it."""

    id: str
    started_at: datetime
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory that the product could have shown."""

    kind: str
    title: str
    last_seen_at: datetime
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One line of a context, with the memory or session it comes from."""

    layer: str
    line: str
    source: str
    files: frozenset[str] | None
    """Those of the memory; None when the source is a session."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A session that begins: what it was told, and what it could have been told."""

    session: Listed
    text: str
    shown: tuple[Shown, ...]
    is_same: bool
    """Whether the hook got that too: it waits for an answer for a second only, which a busy machine may not keep."""
    smaller: Mapping[int, tuple[str, tuple[Shown, ...]]]
    """The same within smaller budgets."""
    headlines: Mapping[str, tuple[datetime, str]]
    """Of all earlier sessions that have one, with the moment of their last event, the newest first."""
    newest: tuple[Remembered, ...]


class Walk:
    """Goes from session to session, and keeps the home and the checkout up with them."""

    def __init__(self, data: Data, folder: Path, budgets: Sequence[int] = ()) -> None:
        self.listed = _listed(data)
        self.past = {session.id: session for session in past_sessions(data, utc_now())}
        folders = sorted({turn.cwd for one in self.past.values() for turn in one.turns}, key=len, reverse=True)
        self._budgets = budgets
        self._sent: set[str] = set()
        self._tree: Tree = {}
        self.root = folder / "checkout"
        git = self.root / ".git"
        git.mkdir(parents=True)
        (git / "config").write_text(f'[remote "origin"]\n\turl = {REMOTE}\n')
        self._set_branch("")
        self.home = Home(folder / "home")
        self.home.make()
        self._filled = WalkedHome(self.home, self.root, folders)
        self._client = Client(self.home)
        self.clock = MovedClock(self.listed[0].started_at)

    def visits(self) -> Iterator[Visit]:
        """One session after the other, from the eleventh on."""
        with served(self.home, self.clock):
            for place, session in enumerate(self.listed):
                if place >= FIRST:
                    self.begin(place)
                    yield self._visit(session)

    def begin(self, place: int) -> None:
        """Go to the moment at which a session begins, in the checkout as it was then."""
        self.go_to(self.listed[place].started_at)
        self.check_out(place)

    def go_to(self, moment: datetime) -> None:
        """Set the clock, and import what ended before."""
        self.clock.at = moment
        if ended := [turn for turn in self._turns() if ended_at(turn) < moment]:
            self._filled.import_turns(ended)
            self._sent |= {turn.name for turn in ended}

    def _visit(self, session: Listed) -> Visit:
        told = self._client.context(str(self.root), None)
        given = self.start(session)
        smaller = [self._client.context(str(self.root), budget) for budget in self._budgets]
        where = Where(str(self.root))
        earlier = self._client.sessions(where, limit=len(self.listed))
        newest = self._client.memories(where, Wanted(kinds=WORK_KINDS), limit=NEWEST)
        return Visit(
            session=session,
            text=told.context,
            shown=self._shown(told),
            is_same=given == told.context,
            smaller={
                budget: (less.context, self._shown(less)) for budget, less in zip(self._budgets, smaller, strict=True)
            },
            headlines={
                past.id: (datetime.fromisoformat(past.last_event_at), past.summary.headline) for past in earlier
            },
            newest=tuple(_remembered(one) for one in newest),
        )

    def start(self, session: Listed) -> str:
        """What the hook of a session that starts now would print, and that it was printed."""
        return self._filled.start(session.id, session.started_at)

    def _shown(self, built: ContextResponse) -> tuple[Shown, ...]:
        return shown_of(self._client, built, self.past)

    def check_out(self, place: int) -> None:
        """Have the checkout of a session at this moment, with all code read that memories tell of, as a look in the
        background does."""
        self.write_checkout(place)
        self._client.stale(str(self.root))

    def write_checkout(self, place: int) -> None:
        """Have the files that a session finds at this moment."""
        session = self.past[self.listed[place].id]
        # Without what the session itself will see: that would tell which files it is going to touch.
        moved = replace(session, began_at=self.clock.at, turns=())
        tree, _ = tree_at(moved, [self.past[one.id] for one in self.listed[:place]])
        write_tree(self.root, tree, self._tree)
        self._tree = tree
        self._set_branch(session.branch)

    def _set_branch(self, branch: str) -> None:
        (self.root / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch or 'main'}\n")

    def _turns(self) -> Iterator[TranscriptTurn]:
        for session in self.listed:
            yield from (turn for turn in self.past[session.id].turns if turn.name not in self._sent)


def shown_of(client: Client, built: ContextResponse, sessions: Container[str]) -> tuple[Shown, ...]:
    """The lines of a context that its text holds."""

    def files(source: str) -> frozenset[str] | None:
        return None if source in sessions else frozenset(client.memory(source).files)

    return tuple(
        Shown(item.layer, item.line, item.source, files(item.source))
        for item in built.items
        if item.line in built.context
    )


def _listed(data: Data) -> list[Listed]:
    told = json.loads((data.folder / "sessions.json").read_text())
    return [
        Listed(one["session"], datetime.fromisoformat(one["started"]), frozenset(one["files"]))
        for one in sorted(told, key=lambda one: str(one["started"]))
    ]


def _remembered(memory: MemoryRecord) -> Remembered:
    seen_at = datetime.fromisoformat(memory.last_seen_at)
    return Remembered(memory.kind, memory.title, seen_at, memory.files)
