"""The `rebuild` command: rebuild derived data, or the memories of an older version, session by session.

Events that the inbox no longer has are read from Claude Code's transcript of the session."""

import fcntl
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta

import click

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.cli.options import absolute_home, connect, connect_to_read, json_option, place_options, where
from claude_mem_lite.cli.output import Advance, plain, print_json, progress
from claude_mem_lite.cli.records import head_line
from claude_mem_lite.cli.transfer.send_with_retry import Sending, interrupted_after
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Where
from claude_mem_lite.errors import MemoryLiteError, WorkerUnavailable
from claude_mem_lite.event_names import is_past
from claude_mem_lite.importers.discovery import folders_of
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.transcripts import Transcript, find_transcripts, read_transcript
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.encoding import to_json
from claude_mem_lite.responses.imports import MemoryChange, RebuildCounts, StaleTurn, SummaryRow
from claude_mem_lite.responses.status import IndexState
from claude_mem_lite.text import counted
from claude_mem_lite.values import frozen

# The worker carries out a request in one go, and hooks wait meanwhile.
MAX_BATCH_BYTES = 512 * 1024
MAX_BATCH_TURNS = 4
MAX_TURNS_BEFORE = 3
"""Earlier turns whose failures a turn may fix."""
_SAME_TIME = timedelta(seconds=10)
_NO_SESSIONS = "There are no sessions yet."
_CHANGES = {"new": "New", "reworded": "Reworded", "taken back": "Taken back"}


@dataclass(slots=True)
class RebuildSummary:
    """Result of a rebuild."""

    sessions: int = 0
    counts: RebuildCounts = field(default_factory=RebuildCounts)
    changes: list[MemoryChange] = field(default_factory=list)

    def as_json(self) -> JsonObject:
        return {"sessions": self.sessions, **asdict(self.counts), "changes": to_json(self.changes)}


@frozen
class _Source:
    """Turn of an older version, with its transcript if the inbox has none of its events."""

    stale: StaleTurn
    past: TranscriptTurn | None = None

    @property
    def size_bytes(self) -> int:
        return self.past.text_length if self.past else self.stale.kept_bytes

    def as_json(self) -> JsonObject:
        """Return the events of the transcript for the worker."""
        assert self.past is not None
        return {"turn": self.stale.turn, "mark": self.past.mark(), "events": self.past.as_json()["events"]}


def rebuild_memories(where: Where, *, dry_run: bool, as_json: bool) -> None:
    """Rebuild all stale turns of a project, or of all, and print the changes. MemoryLiteError while another process
    does so."""
    report = RebuildSummary()
    client = connect_to_read({"dry_run": dry_run, **report.as_json()}, as_json=as_json, why=_NO_SESSIONS)
    with nullcontext() if dry_run else _only_one(absolute_home()):
        _rebuild(client, where, report, dry_run=dry_run, as_json=as_json)


@contextmanager
def _only_one(home: Home) -> Iterator[None]:
    """Hold the lock of rebuilds: two processes would rebuild the same turns, and count the changes of each other."""
    lock = os.open(home.rebuild_lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MemoryLiteError(
                "a rebuild of memories is under way already", "`claude-mem-lite status` shows how many turns are left"
            ) from None
        yield
    finally:
        os.close(lock)


def _rebuild(client: Client, where: Where, report: RebuildSummary, *, dry_run: bool, as_json: bool) -> None:
    found = client.stale_sessions(where)
    if not (found or as_json or client.sessions(Where("", all_projects=True), limit=1)):
        click.echo(_NO_SESSIONS)
        return
    total = sum(session.turns for session in found)
    doing = "Checking" if dry_run else "Rebuilding"
    if found and not sys.stderr.isatty():
        of_what = f"{counted(total, 'turn')} in {counted(len(found), 'session')}"
        click.echo(f"{doing} the memories of {of_what}.", err=True)
    try:
        with progress(f"{doing} memories", total, in_bytes=False) as advance:
            rebuilding = _Rebuilding(Sending(client), report, advance, dry_run=dry_run)
            for session in found:
                rebuilding.run(session.id)
    except KeyboardInterrupt:
        _print(report, as_json=as_json, dry_run=dry_run)
        kept = "Nothing was changed" if dry_run else "What is rebuilt is kept; the same command goes on with the rest"
        click.echo(f"Stopped. {kept}.", err=True)
        raise
    _print(report, as_json=as_json, dry_run=dry_run)


class _Rebuilding:
    """Rebuild under way."""

    def __init__(self, sending: Sending, report: RebuildSummary, advance: Advance, *, dry_run: bool) -> None:
        self._sending = sending
        self._report = report
        self._advance = advance
        self._dry_run = dry_run
        self._transcripts: Mapping[str, Sequence[Transcript]] | None = None

    def run(self, session: str) -> None:
        """Rebuild the stale turns of a session."""
        stale = self._sending.ask(lambda client: client.stale_turns(session))
        turns = _sources(stale, self._past_turns(session) if any(not turn.kept_bytes for turn in stale) else ())
        # The worker need not see turns again that an earlier rebuild left and that still have no source.
        known = [turn for turn in turns if turn.stale.is_left and not turn.size_bytes]
        turns = [turn for turn in turns if turn not in known]
        self._report.counts += RebuildCounts(left=len(known))
        before: list[_Source] = []
        so_far: SummaryRow | None = None
        for batch in _batches(turns):
            # A dry run needs the events of earlier turns again, because their storage was rolled back.
            earlier = before[-MAX_TURNS_BEFORE:] if self._dry_run else ()
            so_far = self._send(session, earlier, batch, so_far)
            before += batch
        self._report.sessions += bool(turns)
        self._advance(self._report.counts.turns + self._report.counts.left)

    def _send(
        self, session: str, before: Sequence[_Source], batch: Sequence[_Source], so_far: SummaryRow | None
    ) -> SummaryRow | None:
        body: JsonObject = {
            "session": session,
            "turns": [turn.stale.turn for turn in batch],
            "past": [turn.as_json() for turn in (*before, *batch) if turn.past is not None],
            "dry_run": self._dry_run,
            "so_far": to_json(so_far),
        }
        with interrupted_after():
            rebuilt = self._sending.ask(lambda client: client.rebuild_turns(body))
            self._report.counts += rebuilt
            # A memory that several turns saw may change with each of them.
            self._report.changes += [change for change in rebuilt.changes if change not in self._report.changes]
        self._advance(self._report.counts.turns + self._report.counts.left)
        return rebuilt.so_far

    def _past_turns(self, session: str) -> Iterator[TranscriptTurn]:
        if self._transcripts is None:
            found: dict[str, list[Transcript]] = {}
            for transcript in find_transcripts(folders_of(CLAUDE_CODE, os.environ)):
                found.setdefault(transcript.session, []).append(transcript)
            self._transcripts = found
        now = datetime.now(UTC)
        for transcript in self._transcripts.get(session, ()):
            yield from read_transcript(transcript, now)


def _sources(stale: Sequence[StaleTurn], past: Iterable[TranscriptTurn]) -> list[_Source]:
    """Return turns with their transcripts, where the inbox has no events of a turn."""
    by_name = {turn.name: turn for turn in past}
    return [_Source(turn, None if turn.kept_bytes else _transcript_of(turn, by_name)) for turn in stale]


def _transcript_of(stale: StaleTurn, past: Mapping[str, TranscriptTurn]) -> TranscriptTurn | None:
    """Return the transcript of a turn: by name for an imported turn, by the id of the prompt for a turn of hooks, and
    by time if either side has no id."""
    if is_past(stale.turn):
        return past.get(stale.turn)
    for turn in past.values():
        if turn.prompt_id and turn.prompt_id == stale.prompt_id:
            return turn
    began_at = stale.start_time()
    unnamed = [turn for turn in past.values() if not (turn.prompt_id and stale.prompt_id)]
    nearest = min(unnamed, key=lambda turn: abs(turn.began_at - began_at), default=None)
    return nearest if nearest is not None and abs(nearest.began_at - began_at) <= _SAME_TIME else None


def _batches(turns: Iterable[_Source]) -> Iterator[list[_Source]]:
    """Yield turns in order, in batches for one request each."""
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


def _print(report: RebuildSummary, *, as_json: bool, dry_run: bool) -> None:
    if as_json:
        print_json({"dry_run": dry_run, **report.as_json()})
        return
    for sentence in _sentences(report, dry_run):
        click.echo(sentence)


def _sentences(report: RebuildSummary, dry_run: bool) -> Iterator[str]:
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


def _titles(changes: Sequence[MemoryChange]) -> Iterator[str]:
    """Yield the changed memories, by kind of change."""
    for kind, label in _CHANGES.items():
        found = [change for change in changes if change.change == kind]
        if found:
            yield f"{label}:"
        yield from (f"  {head_line(change.id, change.title)}" for change in found)


POLL_S = 0.2
MAX_POLLS_IN_VAIN = 50


@click.command(short_help="Rebuild the search index, or the memories of an older version.")
@click.option("--memories", is_flag=True, help="Make the memories of an older version again, from your sessions.")
@click.option("--dry-run", is_flag=True, help="With --memories: only list what would change.")
@place_options
@json_option
def rebuild(memories: bool, dry_run: bool, cwd: str | None, project: str | None, as_json: bool) -> None:
    """Rebuild the search index, or the memories of an older version.

    Without --memories, rebuilds everything derived from memories and sessions: word index, vectors, and the contexts
    prepared for new sessions. Memories do not change, and search works meanwhile. Daily use does not need this command;
    the worker keeps derived data current.

    With --memories, rebuilds the memories of turns that an older version processed, in all projects or in the project
    of --project or --cwd. A turn is processed again if its events (kept for 8 days) or Claude Code's transcript of its
    session still exist; other turns stay as they are. Memories about the same matter keep their ids and get the words
    of this version, some memories are new, and memories that this version no longer makes are retired. Lessons that an
    older version took from your prompts are judged again; unsure ones wait in `lessons`. Memories that you remembered,
    accepted, edited, pinned, confirmed or retired do not change, nor do memories saved by an agent, written by a model
    or imported from another product. Text that was forgotten, excluded or written while memory was off stays out.
    `status` and `doctor` report such turns; nothing is rebuilt unless you ask.

    You can stop the command and run it again at any time: it continues where it stopped, and a second run changes
    nothing.

    \b
    Examples:
      claude-mem-lite rebuild
      claude-mem-lite rebuild --memories --dry-run
      claude-mem-lite rebuild --memories --project shop
      claude-mem-lite rebuild --memories --json
    """
    if memories:
        rebuild_memories(where(cwd, project, not (cwd or project)), dry_run=dry_run, as_json=as_json)
    elif dry_run or cwd or project:
        raise click.UsageError("--dry-run, --cwd and --project go with --memories; the index is made anew as a whole")
    else:
        _rebuild_index(as_json)


def _rebuild_index(as_json: bool) -> None:
    client = connect()
    started = client.rebuild()
    state: IndexState = started
    total = started.waiting
    if started.joined:
        click.echo("A rebuild is under way already; waiting for it.", err=True)
    if not sys.stderr.isatty():
        click.echo(f"Indexing {counted(total, 'document')}.", err=True)
    try:
        with progress("Indexing", total, in_bytes=False) as advance:
            stuck = 0
            while waiting := state.waiting:
                advance(max(total - waiting, 0))  # more may come meanwhile
                time.sleep(POLL_S)
                state = client.index()
                stuck = stuck + 1 if state.failure and state.waiting == waiting else 0
                if stuck == MAX_POLLS_IN_VAIN:
                    raise MemoryLiteError(
                        f"indexing does not go on: {plain(state.failure)}",
                        "make room on the disk if it is full; the worker then goes on by itself",
                    )
    except WorkerUnavailable:
        raise MemoryLiteError(
            "the worker ended before everything was indexed",
            "what is left is done as soon as one runs again: `claude-mem-lite worker start`",
        ) from None
    except KeyboardInterrupt:
        click.echo("The worker goes on with it; `claude-mem-lite status` shows how far it is.", err=True)
        raise
    if problem := plain(state.problem):
        raise MemoryLiteError(
            f"words are indexed anew, but {problem}",
            "search goes by words alone; `claude-mem-lite doctor` says what to do",
        )
    if as_json:
        print_json({"documents": state.documents})
    else:
        click.echo(f"Rebuilt the index of {counted(state.documents, 'memory and passage', 'memories and passages')}.")
