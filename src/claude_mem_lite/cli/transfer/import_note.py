"""Note in the home of the transcripts that imports have read to their end, so that `install` offers only the others.

The note has hashes of paths and sessions: nothing of an excluded project is stored, and its path names it. The note
belongs to one database file: once that file is another one, say a backup, the note counts for nothing."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Literal

from claude_mem_lite.importers.transcripts import Transcript, size_of, written_ns
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home, identity, read_regular
from claude_mem_lite.values import frozen

State = Literal["begun", "read", "left out"]
"""`left out` was read as well, but has turns that were left out: their folder is excluded, or memory was off."""
_MAX_BYTES = 64 * 2**20
_FileState = tuple[int, int]


@frozen
class _Noted:
    state: str
    files: _FileState


class ImportNote:
    """Note of one home. A transcript counts as read as long as its files stay as they were."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lines: list[str] = []
        """Lines of this run: they are written again when the database was made meanwhile."""
        self._noted: dict[tuple[str, str], _Noted] = {}
        database, noted = _read(home)
        self._database = database
        if database == identity(home.memory_db):
            self._noted = dict(noted)
        self._sessions = {session for _, session in self._noted}

    def is_read(self, transcript: Transcript) -> bool:
        """Return whether an import has read the transcript to its end as it is now."""
        known = self._noted.get(_key(transcript))
        return known is not None and known.state != "begun" and known.files == state_of_files(transcript)

    def is_left_out(self, transcript: Transcript) -> bool:
        """Return whether turns of the transcript were left out."""
        known = self._noted.get(_key(transcript))
        return known is not None and known.state == "left out"

    def has_session(self, session: str) -> bool:
        """Return whether an import has begun to read the session."""
        return _hash(session) in self._sessions

    def add(self, transcript: Transcript, files: _FileState, state: State) -> None:
        """Note the state of a transcript whose files were like this before they were read."""
        noted = _Noted(state, files)
        if self._noted.get(_key(transcript)) == noted and self._database == identity(self._home.memory_db):
            return
        self._noted[_key(transcript)] = noted
        self._lines.append(json.dumps([*_key(transcript), state, *files]))
        with suppress(OSError):  # a full disk: the sessions count as new
            self._write()

    def _write(self) -> None:
        database = identity(self._home.memory_db)
        if database is None:
            return  # no worker has stored anything yet
        is_new = database != self._database
        lines = [json.dumps(database), *self._lines] if is_new else self._lines[-1:]
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_TRUNC if is_new else os.O_APPEND)
        handle = os.open(self._home.imported, flags, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
        self._database = database


def state_of_files(transcript: Transcript) -> _FileState:
    """Return size and time of the files of a transcript."""
    log = transcript.path.with_name(f"{transcript.path.name}-wal")  # of a database
    files = (transcript.path, log, *transcript.agents)
    return sum(map(size_of, files)), max(map(written_ns, files))


def _key(transcript: Transcript) -> tuple[str, str]:
    return _hash(os.fsdecode(transcript.path)), _hash(transcript.session)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _read(home: Home) -> tuple[tuple[int, int] | None, Mapping[tuple[str, str], _Noted]]:
    """Return the database of the note, and what is noted; nothing without a readable note."""
    try:
        first, *lines = read_regular(home.imported, _MAX_BYTES).decode("utf-8", "replace").split("\n")
    except OSError:
        return None, {}
    match _parsed(first):
        case [int(device), int(inode)]:
            return (device, inode), dict(_entries(lines))
    return None, {}


def _entries(lines: list[str]) -> Iterator[tuple[tuple[str, str], _Noted]]:
    for line in lines:
        match _parsed(line):
            case [str(path), str(session), str(state), int(size), int(at)]:
                yield (path, session), _Noted(state, (size, at))


def _parsed(line: str) -> JsonValue:
    try:
        parsed: JsonValue = json.loads(line)
    except ValueError:  # half a line of a killed import
        return None
    return parsed
