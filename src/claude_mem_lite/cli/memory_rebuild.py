"""`rebuild --memories`: memories that an older version made of turns, made anew by the worker, session by session.

What the inbox no longer has of a turn is read from the client's own transcript of its session."""

import fcntl
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta

import click

from claude_mem_lite.cli.options import absolute_home, connect_to_look
from claude_mem_lite.cli.output import Advance, print_json, progress
from claude_mem_lite.cli.output import field as told_field
from claude_mem_lite.cli.records import head
from claude_mem_lite.cli.transfer.send_with_retry import Sending, interrupted_after
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.responses import RebuildCounts, StaleTurn, Where
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import is_past
from claude_mem_lite.importers.transcript_turns import PastTurn
from claude_mem_lite.importers.transcripts import Transcript, find_transcripts, own_folders, read_transcript
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.text import counted

# A request is worked on in one go, and a hook that wants an answer waits meanwhile.
MAX_BATCH_BYTES = 512 * 1024
MAX_BATCH_TURNS = 4
MAX_TURNS_BEFORE = 3
"""Turns before one that may have left failing what it puts right."""
_SAME_TIME = timedelta(seconds=10)
_NO_SESSIONS = "There are no sessions yet."
_CHANGES = {"new": "New", "reworded": "Reworded", "taken back": "Taken back"}


@dataclass(slots=True)
class Report:
    """What a rebuild came to."""

    sessions: int = 0
    counts: RebuildCounts = field(default_factory=RebuildCounts)
    changes: list[JsonObject] = field(default_factory=list)

    def as_json(self) -> JsonObject:
        return {"sessions": self.sessions, **asdict(self.counts), "changes": [*self.changes]}


@dataclass(frozen=True, slots=True)
class _Source:
    """A turn of an older version, with its transcript where the inbox has none of its events."""

    stale: StaleTurn
    past: PastTurn | None = None

    @property
    def size_bytes(self) -> int:
        return len(json.dumps(self.past.as_json())) if self.past else self.stale.kept_bytes

    def as_json(self) -> JsonObject:
        """Return what the transcript has of the turn."""
        assert self.past is not None
        return {"turn": self.stale.turn, "mark": self.past.mark(), "events": self.past.as_json()["events"]}


def rebuild_memories(where: Where, *, dry_run: bool, as_json: bool) -> None:
    """Have all stale turns of a project, or of all, made anew, and say what that changed. MemoryLiteError while another
    process does."""
    report = Report()
    client = connect_to_look({"dry_run": dry_run, **report.as_json()}, as_json=as_json, why=_NO_SESSIONS)
    with nullcontext() if dry_run else _only_one(absolute_home()):
        _rebuild(client, where, report, dry_run=dry_run, as_json=as_json)


@contextmanager
def _only_one(home: Home) -> Iterator[None]:
    """Hold the lock of rebuilds: two would work through the same turns, and each count what the other made."""
    lock = os.open(home.rebuild_lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MemoryLiteError(
                "a rebuild of memories is under way already", "`claude-mem-lite status` tells how many turns are left"
            ) from None
        yield
    finally:
        os.close(lock)


def _rebuild(client: Client, where: Where, report: Report, *, dry_run: bool, as_json: bool) -> None:
    found = client.stale_sessions(where)
    if not (found or as_json or client.sessions(Where("", all_projects=True), limit=1)):
        click.echo(_NO_SESSIONS)
        return
    total = sum(turns for _, turns in found)
    doing = "Checking" if dry_run else "Rebuilding"
    if found and not sys.stderr.isatty():
        of_what = f"{counted(total, 'turn')} in {counted(len(found), 'session')}"
        click.echo(f"{doing} the memories of {of_what}.", err=True)
    try:
        with progress(f"{doing} memories", total, in_bytes=False) as advance:
            rebuilding = _Rebuilding(Sending(client), report, advance, dry_run=dry_run)
            for session, _ in found:
                rebuilding.run(session)
    except KeyboardInterrupt:
        _print(report, as_json=as_json, dry_run=dry_run)
        kept = "Nothing was changed" if dry_run else "What is rebuilt is kept; the same command goes on with the rest"
        click.echo(f"Stopped. {kept}.", err=True)
        raise
    _print(report, as_json=as_json, dry_run=dry_run)


class _Rebuilding:
    """One rebuild under way."""

    def __init__(self, sending: Sending, report: Report, advance: Advance, *, dry_run: bool) -> None:
        self._sending = sending
        self._report = report
        self._advance = advance
        self._dry_run = dry_run
        self._transcripts: Mapping[str, Sequence[Transcript]] | None = None

    def run(self, session: str) -> None:
        """Make the stale turns of a session anew."""
        stale = self._sending.ask(lambda client: client.stale_turns(session))
        turns = _sources(stale, self._past_turns(session) if any(not one.kept_bytes for one in stale) else ())
        # What was left before and is still without a source is left without a word to the worker.
        known = [one for one in turns if one.stale.is_left and not one.size_bytes]
        turns = [one for one in turns if one not in known]
        self._report.counts += RebuildCounts(left=len(known))
        before: list[_Source] = []
        so_far: JsonValue = None
        for batch in _batches(turns):
            # What a dry run has taken back it must be told again.
            earlier = before[-MAX_TURNS_BEFORE:] if self._dry_run else ()
            so_far = self._send(session, earlier, batch, so_far)
            before += batch
        self._report.sessions += bool(turns)
        self._advance(self._report.counts.turns + self._report.counts.left)

    def _send(self, session: str, before: Sequence[_Source], batch: Sequence[_Source], so_far: JsonValue) -> JsonValue:
        body: JsonObject = {
            "session": session,
            "turns": [one.stale.turn for one in batch],
            "past": [one.as_json() for one in (*before, *batch) if one.past is not None],
            "dry_run": self._dry_run,
            "so_far": so_far,
        }
        with interrupted_after():
            counts, changes, so_far = self._sending.ask(lambda client: client.rebuild_turns(body))
            self._report.counts += counts
            # One that several turns saw may come with each of them.
            self._report.changes += [one for one in changes if one not in self._report.changes]
        self._advance(self._report.counts.turns + self._report.counts.left)
        return so_far

    def _past_turns(self, session: str) -> Iterator[PastTurn]:
        if self._transcripts is None:
            found: dict[str, list[Transcript]] = {}
            for one in find_transcripts(own_folders(os.environ)):
                found.setdefault(one.session, []).append(one)
            self._transcripts = found
        now = datetime.now(UTC)
        for transcript in self._transcripts.get(session, ()):
            yield from read_transcript(transcript, now)


def _sources(stale: Sequence[StaleTurn], past: Iterable[PastTurn]) -> list[_Source]:
    """Return turns with what transcripts have of those that the inbox has nothing of."""
    there = {turn.name: turn for turn in past}
    return [_Source(one, None if one.kept_bytes else _transcript_of(one, there)) for one in stale]


def _transcript_of(stale: StaleTurn, there: Mapping[str, PastTurn]) -> PastTurn | None:
    """Return what transcripts have of a turn: one that was imported is known by its name, one that hooks saw by its
    prompt, or where a side has no id of that, by its time."""
    if is_past(stale.turn):
        return there.get(stale.turn)
    for one in there.values():
        if one.prompt_id and one.prompt_id == stale.prompt_id:
            return one
    unnamed = [one for one in there.values() if not (one.prompt_id and stale.prompt_id)]
    nearest = min(unnamed, key=lambda one: abs(one.began_at - stale.began_at), default=None)
    return nearest if nearest is not None and abs(nearest.began_at - stale.began_at) <= _SAME_TIME else None


def _batches(turns: Iterable[_Source]) -> Iterator[list[_Source]]:
    """Yield turns, in order, as many as one request takes."""
    batch: list[_Source] = []
    size = 0
    for turn in turns:
        if batch and (len(batch) == MAX_BATCH_TURNS or size + turn.size_bytes > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(turn)
        size += turn.size_bytes
    if batch:
        yield batch


def _print(report: Report, *, as_json: bool, dry_run: bool) -> None:
    if as_json:
        print_json({"dry_run": dry_run, **report.as_json()})
        return
    for sentence in _sentences(report, dry_run):
        click.echo(sentence)


def _sentences(report: Report, dry_run: bool) -> Iterator[str]:
    counts = report.counts
    if not counts.turns and not counts.left:
        yield "Every turn has the memories that this version makes of it."
        return
    if counts.turns:
        done = "Would rebuild" if dry_run else "Rebuilt"
        yield (
            f"{done} the memories of {counted(counts.turns, 'turn')}: {counts.kept:,} kept, "
            f"{counts.reworded:,} reworded, {counts.new:,} new, {counts.taken_back:,} taken back."
        )
    if dry_run:
        yield from _titles(report.changes)
    if counts.unsure:
        found = counted(counts.unsure, "sentence that may be a lesson", "sentences that may be lessons")
        yield f"{found}: `claude-mem-lite lessons` {'would list' if dry_run else 'lists'} them."
    if counts.left:
        left = counted(counts.left, "turn stays as it is", "turns stay as they are")
        yield f"{left}: nothing is left of what was done there, or it may not be read."
    if counts.taken_back and not dry_run:
        yield (
            "What was taken back is retired: `claude-mem-lite list --status retired` shows it, and "
            "`claude-mem-lite confirm ID` brings one back for good."
        )


def _titles(changes: Sequence[JsonObject]) -> Iterator[str]:
    """Yield what would change, memory by memory."""
    for change, label in _CHANGES.items():
        found = [one for one in changes if told_field(one, "change") == change]
        if found:
            yield f"{label}:"
        yield from (f"  {head(one)}" for one in found)
