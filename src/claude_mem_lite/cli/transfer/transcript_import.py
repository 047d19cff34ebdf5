"""Import of transcripts under way: a thread reads and digests turns ahead, while unknown ones are sent to the worker.

Called by `import transcripts` and by `install`; prints nothing."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import field, replace
from datetime import UTC, datetime

from claude_mem_lite.cli.options import chosen_home
from claude_mem_lite.cli.output import Advance
from claude_mem_lite.cli.transfer.import_note import ImportNote, state_of_files
from claude_mem_lite.cli.transfer.read_ahead import read_ahead
from claude_mem_lite.cli.transfer.send_with_retry import Sending
from claude_mem_lite.cli.transfer.transcript_report import TranscriptReport
from claude_mem_lite.config import Config
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.importers.agent_reader import Reader, open_reader
from claude_mem_lite.importers.discovery import EMPTY, OTHER_FORMAT, UnusedFile, why_empty
from claude_mem_lite.importers.session_digests import SessionDigests
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.transcripts import FolderMap, Transcript
from claude_mem_lite.importers.turn_batches import batches
from claude_mem_lite.models import JsonObject
from claude_mem_lite.values import frozen

READ_AHEAD = 24
"""Parts, of which each transcript has at least two. With 6 the reading thread waited for the sending one."""
SWITCH_EVERY_S = 0.0005
"""Time after which the reading thread leaves the interpreter to the sending one; by default ten times as long, and the
worker waits meanwhile, at each of some ten steps of a request."""


@frozen
class TranscriptPart:
    """Turns for one request; with `reader`, the end of a transcript."""

    transcript: Transcript
    files: tuple[int, int]
    """Size and time of the files before they were read: whatever comes later is new."""
    done_bytes: int
    turns: Sequence[TranscriptTurn] = ()
    rows: Mapping[str, JsonObject] = field(default_factory=dict)
    """Turns as rows of the inbox, by name; empty if none is expected to be new."""
    reader: Reader | None = None


class PartReader:
    """Reader of transcripts, in parts for one request each. Read by one thread, followed by another."""

    def __init__(self, config: Config, folders: FolderMap) -> None:
        self._config = config
        self._folders = folders
        self._expects_new = True
        """True if the last turns were new; of known turns, nothing but the names is needed."""
        self._read, self._taken = 0, 0
        """Parts with turns: made by the reading thread, and taken by the sending one."""

    def parts(self, found: Sequence[Transcript], now: datetime) -> Iterator[TranscriptPart]:
        """Yield the turns of each transcript, then its end."""
        done_bytes = 0
        for transcript in found:
            files, reader = state_of_files(transcript), open_reader(transcript, now)
            digests = SessionDigests(self._config, now)
            for turns in batches(map(self._folders.relocate, reader)):
                rows = {turn.name: self._rows(turn, digests) for turn in turns} if self._expects_new else {}
                self._read += 1
                yield TranscriptPart(transcript, files, done_bytes + reader.bytes_read, turns, rows)
            done_bytes += transcript.size_bytes
            yield TranscriptPart(transcript, files, done_bytes, reader=reader)

    def note_taken(self) -> None:
        """Note that a part with turns is under way to the worker."""
        self._taken += 1

    def note_new(self, *, has_new: bool) -> None:
        """Note whether a part had new turns: the next parts are read accordingly."""
        self._expects_new = has_new

    def _rows(self, turn: TranscriptTurn, digests: SessionDigests) -> JsonObject:
        """Return a turn as rows of the inbox, with its digest while the worker has enough to do: both share the work of
        the rules, whoever is faster."""
        arrivals = turn.arrivals()
        if self._read > self._taken:
            return {**turn.as_rows(arrivals), "made_digest": digests.digest(arrivals)}
        digests.follow(arrivals)
        return turn.as_rows(arrivals)


class TranscriptImport:
    """Import under way: sends unknown turns, one session after the other."""

    def __init__(self, report: TranscriptReport, folders: FolderMap, advance: Advance, *, also_paused: bool) -> None:
        self._sending = Sending()  # the first turns are read while a worker starts
        self._reader = PartReader(load_config(chosen_home().config, os.environ), folders)
        self._also_paused = also_paused
        self._report = report
        self._advance = advance
        self._note = ImportNote(chosen_home())

    def run(self, found: Sequence[Transcript]) -> None:
        """Import all sessions: while the worker processes one batch, a thread reads the next ones."""
        before = replace(self._report)
        parts = read_ahead(self._reader.parts(found, datetime.now(UTC)), READ_AHEAD)
        with _switching_threads_every(SWITCH_EVERY_S), closing(parts):
            for part in parts:
                if part.turns:
                    self._reader.note_taken()
                    self._send(part)
                self._advance(part.done_bytes)
                if part.reader is not None:
                    self._note_end(part.transcript, part.reader, before)
                    self._note_read(part, part.reader, before)
                    before = replace(self._report)

    def _send(self, part: TranscriptPart) -> None:
        turns, path = part.turns, part.transcript.path
        past = self._sending.ask(lambda client: client.known_turns([turn.mark() for turn in turns]))
        skipped = {*past.known, *past.excluded}
        paused = set() if self._also_paused else {*past.off, *past.excluded_then} - skipped
        wanted = [turn for turn in turns if turn.name not in skipped | paused]
        self._report.known += len(set(past.known))
        self._report.excluded += len({*past.excluded} - {*past.known})
        self._report.off += len(paused.intersection(past.off))
        self._report.excluded_then += len(paused.intersection(past.excluded_then))
        if paused:
            self._report.paused_files[path] = self._report.paused_files.get(path, 0) + len(paused)
        self._reader.note_new(has_new=bool(wanted))
        if wanted:
            rows = [part.rows.get(turn.name) or turn.as_rows() for turn in wanted]
            self._note.add(part.transcript, part.files, "begun")
            done = self._sending.ask(lambda client: client.import_turns(rows))
            self._report.sessions |= {turn.session for turn in wanted}
            self._report.turns += done.turns
            self._report.memories += done.memories
            self._report.ended += done.ended
            self._report.unsure_lessons = done.unsure_lessons
            self._report.waiting += len(wanted) - done.turns

    def _note_end(self, transcript: Transcript, reader: Reader, before: TranscriptReport) -> None:
        self._report.still_open += reader.still_open
        self._report.problems += reader.problems
        if not any(problem.what == "file" for problem in reader.problems):
            self._note_file(transcript, before)

    def _note_read(self, part: TranscriptPart, reader: Reader, before: TranscriptReport) -> None:
        """Note a transcript in the home that has nothing more to import."""
        after = self._report
        is_whole = not any(problem.what == "file" for problem in reader.problems)
        if is_whole and not reader.still_open and after.waiting == before.waiting:
            left_out = after.excluded + after.excluded_then + after.off
            was_left_out = before.excluded + before.excluded_then + before.off
            self._note.add(part.transcript, part.files, "left out" if left_out > was_left_out else "read")

    def _note_file(self, transcript: Transcript, before: TranscriptReport) -> None:
        """Count the file, and note the reason if no turn of the file was new."""
        reason = self._why_unused(transcript, before)
        agent = "" if reason in (EMPTY, OTHER_FORMAT) else transcript.agent
        if agent:
            self._report.files[agent] += 1
        if reason:
            self._report.unused.append(UnusedFile(transcript.path, agent, reason))

    def _why_unused(self, transcript: Transcript, before: TranscriptReport) -> str:
        after = self._report
        if after.turns > before.turns or after.waiting > before.waiting:
            return ""
        if after.known > before.known:
            return "already known"
        if after.off > before.off:
            return "from a time when memory was off"
        if after.excluded + after.excluded_then > before.excluded + before.excluded_then:
            return "excluded"
        return "still open" if after.still_open > before.still_open else why_empty(transcript)


@contextmanager
def _switching_threads_every(seconds: float) -> Iterator[None]:
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)
