"""Walk through recorded sessions in time: each asks the product for its start context as its first hook would.

A home is filled turn by turn through the worker's own API. The worker runs in this process, and its clock is set to the
start of each session, because ages change contexts. One checkout stands for the folders of all who worked on the
project, with the session's branch in HEAD and each file as last seen (sightings.py). The checkout has no history:
merged branches and uncommitted files, by which the product selects too, are unknown."""

import json
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from claude_mem_lite.client.queries import Wanted, Where
from claude_mem_lite.evaluation.checkouts import checkouts_of
from claude_mem_lite.evaluation.in_process_worker import SettableClock, WalkClient
from claude_mem_lite.evaluation.recording import ListedSession, Recording
from claude_mem_lite.evaluation.replay_home import ReplayHome, ended_at
from claude_mem_lite.evaluation.sightings import Tree, tree_at, write_tree
from claude_mem_lite.evaluation.variants import Variant, build_variant
from claude_mem_lite.importers.transcript_turns import TranscriptEvent, TranscriptTurn
from claude_mem_lite.models import WORK_KINDS
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.context import ContextResponse
from claude_mem_lite.responses.memories import MemoryRecord
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.services import Services

FIRST = 10
"""Number of sessions that are only stored."""
NEWEST = 50
REMOTE = "https://example.com/recorded/project.git"


@frozen
class DatedMemory:
    """Memory that the product could have shown."""

    kind: str
    title: str
    last_seen_at: datetime
    files: tuple[str, ...]


@frozen
class ContextLine:
    """Line of a context, with the memory or session of its source."""

    layer: str
    line: str
    source: str
    files: frozenset[str] | None
    """Files of the memory; None when the source is a session."""


@frozen
class SessionStart:
    """Start of a session: its context, and what else could have been shown."""

    session: ListedSession
    text: str
    lines: tuple[ContextLine, ...]
    is_same: bool
    """True if the hook got the same."""
    variants: Mapping[str, tuple[str, tuple[ContextLine, ...]]]
    """Text and lines of each variant."""
    headlines: Mapping[str, tuple[datetime, str]]
    """Headlines of earlier sessions with the time of their last event, the newest first."""
    newest: tuple[DatedMemory, ...]


class Walk:
    """Walk from session to session that keeps home and checkout up to date. `observe` is called with the number of
    sessions in memory, whenever turns were imported."""

    def __init__(
        self,
        recording: Recording,
        folder: Path,
        variants: Sequence[Variant] = (),
        observe: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.listed = recording.listed
        self.past = recording.past
        named = {turn.cwd for past in self.past.values() for turn in past.turns}
        roots = set(checkouts_of(named, is_one_project=True).values())
        # Not "/", nor a word: every text has them.
        folders = sorted((root for root in roots if root.startswith("/") and root != "/"), key=len, reverse=True)
        self._variants = variants
        self._observe = observe
        self._sent: set[str] = set()
        self._stored: set[str] = set()
        self._tree: Tree = {}
        self.root = folder / "checkout"
        git = self.root / ".git"
        git.mkdir(parents=True)
        (git / "config").write_text(f'[remote "origin"]\n\turl = {REMOTE}\n')
        self._set_branch("")
        self.home = Home(folder / "home")
        self.home.make()
        self._filled = ReplayHome(self.home, self.root, folders)
        self._client = WalkClient(self.home)
        self.problems: Counter[str] = Counter()
        """Problems that the worker has logged: what they concern is missing in the figures."""
        self.clock = SettableClock(self.listed[0].started_at)

    def begin(self, place: int) -> None:
        """Set clock, home and checkout to the start of a session."""
        self.go_to(self.listed[place].started_at)
        self.check_out(place)

    def go_to(self, time: datetime) -> None:
        """Set the clock, and import the turns that ended before."""
        self.clock.at = time
        if ended := [turn for turn in self._turns() if ended_at(turn) < time]:
            self._filled.import_turns(ended, self._note)

    def _note(self, imported: Sequence[TranscriptTurn]) -> None:
        self._sent |= {turn.name for turn in imported}
        self._stored |= {turn.session for turn in imported}
        self._observe(len(self._stored))

    def start_of(self, services: Services, session: ListedSession) -> SessionStart:
        """Return the context of a session that starts now, and confirm its print."""
        built = self._client.context(str(self.root), None)
        printed = self.start(session)
        where = Where(str(self.root))
        earlier = self._client.sessions(where, limit=len(self.listed))
        newest = self._client.memories(where, Wanted(kinds=WORK_KINDS), limit=NEWEST)
        return SessionStart(
            session=session,
            text=built.context,
            lines=self._lines(built),
            is_same=printed == built.context,
            variants={variant.name: self._built(services, variant) for variant in self._variants},
            headlines={
                past.id: (datetime.fromisoformat(past.last_event_at), past.summary.headline) for past in earlier
            },
            newest=tuple(_dated(memory) for memory in newest),
        )

    def start(self, session: ListedSession) -> str:
        """Return the text that the start hook of a session prints, and confirm the print."""
        printed = self._filled.start(session.id, session.started_at)
        self._filled.wait_until_idle()  # a start schedules a scan, which must not meet the next checkout
        return printed

    def _built(self, services: Services, variant: Variant) -> tuple[str, tuple[ContextLine, ...]]:
        built = build_variant(services, str(self.root), variant)
        lines = [(placed.layer, placed.item.line, placed.item.source) for placed in built.chosen]
        return built.text, context_lines(self._client, built.text, lines, self.past)

    def _lines(self, built: ContextResponse) -> tuple[ContextLine, ...]:
        lines = [(item.layer, item.line, item.source) for item in built.items]
        return context_lines(self._client, built.context, lines, self.past)

    def relocated(self, turn: TranscriptTurn) -> tuple[TranscriptEvent, ...]:
        """Return the events of a turn as if done in the checkout."""
        encoded = json.dumps([event.payload for event in turn.events])
        payloads = json.loads(self._filled.relocate(encoded))
        return tuple(replace(event, payload=payload) for event, payload in zip(turn.events, payloads, strict=True))

    def check_out(self, place: int) -> None:
        """Write the checkout of a session, and scan the code that memories are anchored to, as the background does."""
        self.write_checkout(place)
        self._client.stale(str(self.root))

    def write_checkout(self, place: int) -> None:
        """Write the files that a session finds."""
        session = self.past[self.listed[place].id]
        # Without the session's own sightings: they would reveal which files it is going to touch.
        moved = replace(session, began_at=self.clock.at, turns=())
        tree, _ = tree_at(moved, [self.past[earlier.id] for earlier in self.listed[:place]])
        write_tree(self.root, tree, self._tree)
        self._tree = tree
        self._set_branch(session.branch)

    def _set_branch(self, branch: str) -> None:
        (self.root / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch or 'main'}\n")

    def _turns(self) -> Iterator[TranscriptTurn]:
        for session in self.listed:
            yield from (turn for turn in self.past[session.id].turns if turn.name not in self._sent)


def context_lines(
    client: WalkClient, context: str, lines: Sequence[tuple[str, str, str]], sessions: Container[str]
) -> tuple[ContextLine, ...]:
    """Return the lines of a context that are in its text, from layer, line and source of each."""

    def files(source: str) -> frozenset[str] | None:
        return None if source in sessions else frozenset(client.memory(source).files)

    return tuple(ContextLine(layer, line, source, files(source)) for layer, line, source in lines if line in context)


def _dated(memory: MemoryRecord) -> DatedMemory:
    seen_at = datetime.fromisoformat(memory.last_seen_at)
    return DatedMemory(memory.kind, memory.title, seen_at, memory.files)
