"""What hooks left on disk -> rows for the inbox. The worker calls it; files go only after the commit."""

import errno
import json
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.agents.adapters import adapted, is_foreign, sender
from claude_mem_lite.agents.event_identity import one_within_s
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.event_names import event_of, is_spool_name, part_of, process_of
from claude_mem_lite.inbox.payload import parse, to_stored, unreadable_head
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.paths import Home

BATCH_FILES = 100
BATCH_BYTES = 16 * 1024 * 1024
FILE_LIMIT_BYTES = 256 * 1024 * 1024
ABANDONED_AFTER_S = 60.0
_FOLDER = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.){0,4096}")')
_FALLBACK_TMP = ".tmp-"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One event on its way into the inbox; `problem` when it cannot be read. Another with the same payload that came
    less than `one_within_s` apart is the same event."""

    name: str
    event: str
    session: str
    payload: str
    raw_bytes: int
    problem: str = ""
    one_within_s: float = 0.0


IsElsewhere = Callable[[str, str], bool]
"""Whether an agent tells of a folder by hooks of its own as well."""


def _nowhere_else(agent: str, folder: str) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrivals that are stored together, and the files to remove once they are."""

    arrivals: tuple[Arrival, ...]
    files: tuple[Path, ...]


def batches(
    home: Home, is_excluded: Callable[[str], bool], is_elsewhere: IsElsewhere = _nowhere_else
) -> Iterator[Batch]:
    """Everything hooks have left, oldest first, in pieces that fit one transaction.

    Events of excluded folders are in no batch's arrivals, only among the files to remove."""
    arrivals: list[Arrival] = []
    files: list[Path] = []
    size = 0
    for path in _kept_files(home):
        name = path.name.removeprefix(_FALLBACK_TMP)
        try:
            raw = _read(path)
        except FileNotFoundError:
            continue
        except OSError as error:  # the file stays: what is in the way now may not be later
            arrivals.append(Arrival(name, "unknown", "", "", 0, f"the spool file cannot be read: {error.strerror}"))
            continue
        arrivals += read_arrivals(name, raw, is_excluded, is_elsewhere)
        files.append(path)
        size += len(raw)
        if len(files) >= BATCH_FILES or size >= BATCH_BYTES:
            yield Batch(tuple(arrivals), tuple(files))
            arrivals, files, size = [], [], 0
    if files or arrivals:
        yield Batch(tuple(arrivals), tuple(files))


def waiting(home: Home) -> list[str]:
    """The names of the events that hooks have left, oldest first."""
    return [path.name.removeprefix(_FALLBACK_TMP) for path in _kept_files(home)]


def remove(batch: Batch) -> None:
    """Forget the files of a batch; one that cannot go is only read once more."""
    for path in batch.files:
        with suppress(OSError):
            path.unlink()


def leave(home: Home, name: str, raw: bytes) -> None:
    """Put an event into the spool as a hook does."""
    path = home.spool_tmp / name
    path.write_bytes(raw)
    path.rename(home.spool_new / name)


def read_arrival(name: str, raw: bytes, is_excluded: Callable[[str], bool]) -> Arrival | None:
    """The inbox row for one event's bytes; None when its folder is excluded."""
    return next(iter(read_arrivals(name, raw, is_excluded)), None)


def read_arrivals(
    name: str, raw: bytes, is_excluded: Callable[[str], bool], is_elsewhere: IsElsewhere = _nowhere_else
) -> list[Arrival]:
    """The inbox rows for one event's bytes, in the form of Claude Code's, one for each thing that it tells of; none
    when its folder is excluded, or its agent tells the same by hooks of its own. Never raises."""
    try:
        return _read_arrivals(name, raw, is_excluded, is_elsewhere)
    except Exception as error:  # one event that trips us must not keep all that come after it from being taken in
        log.exception("event not read", extra={"name_of_event": name})
        # Nothing of it is kept: whether its folder is excluded may be what could not be told.
        reason = f"the payload could not be read: {type(error).__name__}"
        return [Arrival(name, event_of(name), "", "", len(raw), reason)]


def _read_arrivals(
    name: str, raw: bytes, is_excluded: Callable[[str], bool], is_elsewhere: IsElsewhere
) -> list[Arrival]:
    try:
        payload = parse(raw)
        told = adapted(name, payload)
        folder = text(told[0].get("cwd"))
        agent = sender(name, payload)
        if is_excluded(folder) or (is_foreign(name, agent) and is_elsewhere(agent, folder)):
            return []
        return [_arrival(part_of(name, number), one, len(raw) if not number else 0) for number, one in enumerate(told)]
    except PayloadError as error:
        if is_excluded(_folder_named_in(raw)):
            return []
        return [Arrival(name, event_of(name), "", unreadable_head(raw), len(raw), error.message)]


def _arrival(name: str, payload: JsonObject, raw_bytes: int) -> Arrival:
    event = event_of(name)
    return Arrival(
        name=name,
        event=text(payload.get("hook_event_name")) or event,
        session=text(payload.get("session_id")),
        payload=to_stored(_with_event(payload, event)),
        raw_bytes=raw_bytes,
        one_within_s=one_within_s(name, payload),
    )


def _folder_named_in(raw: bytes) -> str:
    """The folder in what is left of a payload, so that not even a piece of an excluded one is kept."""
    found = _FOLDER.search(raw)
    try:
        return str(json.loads(found[1].decode("utf-8", "replace"))) if found else ""
    except ValueError:
        return ""


def _with_event(payload: JsonObject, event: str) -> JsonObject:
    """The hook's argument stands in when the payload does not name its event."""
    return payload if text(payload.get("hook_event_name")) else {**payload, "hook_event_name": event}


def _kept_files(home: Home) -> list[Path]:
    files = [path for path in _entries(home.spool_new) if is_spool_name(path.name)]
    files += [path for path in _entries(home.spool_tmp) if is_spool_name(path.name) and _is_abandoned(path, path.name)]
    for place in home.fallback_spools():
        if _is_ours(place):
            for path in _entries(place):
                name = path.name.removeprefix(_FALLBACK_TMP)
                if is_spool_name(name) and (name == path.name or _is_abandoned(path, name)):
                    files.append(path)
    return sorted(files, key=lambda path: path.name.removeprefix(_FALLBACK_TMP))


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_ours(folder: Path) -> bool:
    """A fallback place is shared ground: only a real folder of this user, closed to others, is read."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _is_abandoned(path: Path, name: str) -> bool:
    """Whether the hook that was writing this file has gone (killed) and left it behind."""
    try:
        os.kill(process_of(name), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    try:
        return time.time() - path.lstat().st_mtime > ABANDONED_AFTER_S
    except FileNotFoundError:
        return False


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a plain file")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(FILE_LIMIT_BYTES)
    finally:
        os.close(descriptor)
