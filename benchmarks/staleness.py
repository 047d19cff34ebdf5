"""How many earlier memories would have been stale when they were given, with and without a look at the checkout.

Sessions are walked in time. Before each, from the eleventh on, a home holds all turns that had ended, imported by the
product's reader and worker, and a folder holds the checkout as it stood then (sightings.py). The start context is built
twice: without a look, and with the one that the worker has. Whether a memory is still true is told by lines of text
(truth.py), not by what the product computes. There is as much time to look as it takes.

The recordings are of no git repository, so what the product knows of branches and moved files is left aside."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from benchmarks.product import Product
from benchmarks.stored import remembered
from benchmarks.truth import SHARE, Standing, Truth, named_files
from claude_mem_lite.client.worker_process import ensure_worker
from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.code.freshness.verdicts import Verdict, is_anchored
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.config import Config
from claude_mem_lite.context.builder import build
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.evaluation.sightings import RecordedSession, Tree, tree_at, write_tree
from claude_mem_lite.event_names import time_of
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.turn_batches import batches
from claude_mem_lite.models import Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memories
from claude_mem_lite.timestamps import utc_now

FIRST = 10
"""How many sessions are only remembered."""
MARK = "[may be stale]"
_TIME_S = 600.0


@dataclass(frozen=True, slots=True)
class Seen:
    """A memory at the start of a session: what the product says of it, and how it stands in truth."""

    memory: str
    verdict: Verdict
    standing: Standing | None
    """None: it has no lines to tell it by."""
    is_anchored: bool
    is_sure: bool
    """The session itself saw all the files it names."""
    files: frozenset[str]
    """Those that it names."""
    given: bool = False
    """Without a look at the checkout."""
    told: bool = False
    """Given with a look at it."""
    marked: bool = False
    """Told, as one that may be stale."""

    def is_stale(self, share: float = SHARE) -> bool:
        return self.standing is not None and not self.standing.is_true(share)


@dataclass(frozen=True, slots=True)
class Visit:
    """One session, with every active memory of its project when it began."""

    session: str
    seen: tuple[Seen, ...]


class Walk:
    """Goes from session to session, and keeps the home and the checkout up with them."""

    def __init__(self, made: Product, folder: Path, sessions: Sequence[RecordedSession]) -> None:
        self._home = made.home
        self._client = ensure_worker(made.home)
        self._sessions = sessions
        self._truth = Truth({name: seen for session in sessions for name, seen in session.seen.items()})
        self._sent: set[str] = set()
        self._root = folder / "checkout"
        self._root.mkdir()
        self._tree: Tree = {}
        self._looking_home = Home(folder / "looking")
        self._looking_home.make()

    def visits(self) -> Iterator[Visit]:
        for place, session in enumerate(self._sessions):
            if place >= FIRST:
                self._import([turn for turn in self._turns() if _ended_at(turn) < session.began_at])
                tree, own = tree_at(session, self._sessions[:place])
                write_tree(self._root, tree, self._tree)
                self._tree = tree
                with remembered(self._home) as db:
                    yield Visit(session.id, tuple(self._see(db, session, own)))
        self._import(list(self._turns()))

    def _turns(self) -> Iterator[TranscriptTurn]:
        for session in self._sessions:
            yield from (turn for turn in session.turns if turn.name not in self._sent)

    def _import(self, turns: list[TranscriptTurn]) -> None:
        for batch in batches(sorted(turns, key=_ended_at)):
            self._client.import_turns([turn.as_json() for turn in batch])
            self._sent |= {turn.name for turn in batch}

    def _see(self, db: sqlite3.Connection, session: RecordedSession, own: frozenset[str]) -> Iterator[Seen]:
        place = replace(find_location(session.root), root=str(self._root), branch=session.branch)
        without = ContextRequest(place, session.began_at, session=session.id)
        connect = partial(open_for_reading, self._home.memory_db)
        lines = {one.item.source: one.item.line for one in build(connect, without, Config().budget_tokens).chosen}
        with closing(open_for_reading(self._home.memory_db)) as other:
            looking = StalenessScanner(self._looking_home, other, utc_now, lambda _: False)
            checkout = looking.checkout(other, place, CpuBudget(_TIME_S, _TIME_S))
            looked = build(connect, replace(without, checkout=checkout), Config().budget_tokens)
            lines_after_look = {one.item.source: one.item.line for one in looked.chosen}
            active = _active(db, place.project)
            told = checkout.freshness(active)
            looking.release()
        turns = _turns_of(db)
        for memory in active:
            files = named_files(memory)
            yield Seen(
                memory=memory.id,
                verdict=told[memory.id].verdict,
                standing=self._truth.standing(memory, turns.get(memory.id, ()), self._tree),
                is_anchored=is_anchored(memory),
                is_sure=bool(files) and files <= own,
                files=frozenset(files),
                given=memory.id in lines,
                told=memory.id in lines_after_look,
                marked=MARK in lines_after_look.get(memory.id, ""),
            )


def _ended_at(turn: TranscriptTurn) -> datetime:
    return time_of(turn.events[-1].name)


def _active(db: sqlite3.Connection, project: str) -> list[Memory]:
    rows = db.execute("select * from memories where project = ? and status = 'active'", (project,))
    return [memories.from_row(row) for row in rows]


def _turns_of(db: sqlite3.Connection) -> Mapping[str, Sequence[str]]:
    """The turns that told each memory, in order: their names begin with the time."""
    found: dict[str, list[str]] = {}
    for row in db.execute("select memory, turn from sightings order by turn"):
        found.setdefault(row["memory"], []).append(row["turn"])
    return found
