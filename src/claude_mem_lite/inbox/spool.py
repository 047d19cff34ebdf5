"""Files of hooks to rows of the inbox. Called by the worker; files are removed only after the commit."""

import errno
import json
import logging
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.agents.adapters import adapted, completed, duplicate_within_s, is_foreign, sender
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.event_names import event_of, is_spool_name, part_of, process_of
from claude_mem_lite.inbox.payload import accept, parse, to_stored, unreadable_head
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.paths import Home, entries_of
from claude_mem_lite.values import frozen

BATCH_FILES = 100
BATCH_BYTES = 16 * 1024 * 1024
FILE_LIMIT_BYTES = 256 * 1024 * 1024
ABANDONED_AFTER_S = 60.0
OBSTACLES = (OSError, ImportError)
"""Errors of this machine rather than of an event: an upgrade has removed the package for a moment, say."""
_FOLDER = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.){0,4096}")')
_FALLBACK_TMP = ".tmp-"
log = logging.getLogger(__name__)


@frozen
class Arrival:
    """Event on its way into the inbox; `problem` if unreadable. Equal payloads less than `duplicate_within_s` apart are
    the same event."""

    name: str
    event: str
    session: str
    payload: str
    raw_bytes: int
    problem: str = ""
    duplicate_within_s: float = 0.0


@frozen
class Incomplete:
    """Event that its agent is still writing."""

    session: str


HasOwnHooks = Callable[[str, str], bool]
"""Check for hooks of the same agent in a folder."""


def _no_own_hooks(agent: str, folder: str) -> bool:  # noqa: ARG001
    return False


@frozen
class SpoolBatch:
    """Arrivals stored together, and the files to remove afterwards. `is_incomplete`: events were left in the spool, for
    a pass in a moment."""

    arrivals: tuple[Arrival, ...]
    files: tuple[Path, ...]
    is_incomplete: bool = False


def batches(
    home: Home,
    is_excluded: Callable[[str], bool],
    has_own_hooks: HasOwnHooks = _no_own_hooks,
    now_s: float = math.inf,
) -> Iterator[SpoolBatch]:
    """Yield everything that hooks have left, oldest first, in batches for one transaction.

    Events of excluded folders are only among the files to remove. An incomplete event stays in the spool, with the
    later events of its session."""
    incomplete: set[str] = set()
    arrivals: list[Arrival] = []
    files: list[Path] = []
    size = 0
    for path in _waiting_files(home):
        name = path.name.removeprefix(_FALLBACK_TMP)
        try:
            raw = _read(path)
        except FileNotFoundError:
            continue
        except OSError as error:  # the file stays: the obstacle may be temporary
            arrivals.append(Arrival(name, "unknown", "", "", 0, f"the spool file cannot be read: {error.strerror}"))
            continue
        try:
            found = _read_when_complete(name, raw, is_excluded, has_own_hooks, now_s)
        except OBSTACLES as error:  # the file stays here, too
            reason = f"the event cannot be read for now: {type(error).__name__}"
            arrivals.append(Arrival(name, event_of(name), "", "", len(raw), reason))
            continue
        if isinstance(found, Incomplete):
            incomplete.add(found.session)
            continue
        if any(arrival.session in incomplete for arrival in found):
            continue
        arrivals += found
        files.append(path)
        size += len(raw)
        if len(files) >= BATCH_FILES or size >= BATCH_BYTES:
            yield SpoolBatch(tuple(arrivals), tuple(files))
            arrivals, files, size = [], [], 0
    if files or arrivals or incomplete:
        yield SpoolBatch(tuple(arrivals), tuple(files), bool(incomplete))


def waiting(home: Home) -> list[str]:
    """Return the names of the waiting events, oldest first."""
    return [path.name.removeprefix(_FALLBACK_TMP) for path in _waiting_files(home)]


def remove(batch: SpoolBatch) -> None:
    """Remove the files of a batch; a file that cannot be removed is only read again."""
    for path in batch.files:
        with suppress(OSError):
            path.unlink()


def leave(home: Home, name: str, raw: bytes) -> None:
    """Put an event into the spool as a hook does."""
    path = home.spool_tmp / name
    path.write_bytes(raw)
    path.rename(home.spool_new / name)


def read_arrival(name: str, raw: bytes | JsonObject, is_excluded: Callable[[str], bool]) -> Arrival | None:
    """Return the inbox row of an event, in bytes or parsed already; None for an excluded folder."""
    return next(iter(read_arrivals(name, raw, is_excluded)), None)


def read_arrivals(
    name: str, raw: bytes | JsonObject, is_excluded: Callable[[str], bool], has_own_hooks: HasOwnHooks = _no_own_hooks
) -> list[Arrival]:
    """Return the inbox rows of an event in Claude Code's form, one for each part; none for an excluded folder, or if
    the agent reports the same by hooks of its own. Raises nothing but `OBSTACLES`."""
    found = _read_when_complete(name, raw, is_excluded, has_own_hooks, math.inf)
    return [] if isinstance(found, Incomplete) else found


def _read_when_complete(
    name: str,
    raw: bytes | JsonObject,
    is_excluded: Callable[[str], bool],
    has_own_hooks: HasOwnHooks,
    now_s: float,
) -> list[Arrival] | Incomplete:
    try:
        return _read_arrivals(name, raw, is_excluded, has_own_hooks, now_s)
    except OBSTACLES:
        raise
    except Exception as error:  # one failing event must not block all later events
        log.exception("event not read", extra={"name_of_event": name})
        # Nothing is stored: the exclusion of the folder may be unknown.
        reason = f"the payload could not be read: {type(error).__name__}"
        return [Arrival(name, event_of(name), "", "", len(raw) if isinstance(raw, bytes) else 0, reason)]


def _read_arrivals(
    name: str,
    raw: bytes | JsonObject,
    is_excluded: Callable[[str], bool],
    has_own_hooks: HasOwnHooks,
    now_s: float,
) -> list[Arrival] | Incomplete:
    size = len(raw) if isinstance(raw, bytes) else None
    try:
        payload = parse(raw) if isinstance(raw, bytes) else accept(raw)
        named = text(payload.get("cwd"))
        if named and is_excluded(named):  # before an adapter reads the log of the session
            return []
        payloads = adapted(name, payload)
        folder = text(payloads[0].get("cwd"))
        if (not named or folder != named) and is_excluded(folder):
            return []
        agent = sender(name, payload)
        if is_foreign(name, agent) and has_own_hooks(agent, folder):
            return []
        whole = completed(name, payloads, now_s)
        if whole is None:
            return Incomplete(text(payloads[0].get("session_id")))
        return [_arrival(part_of(name, number), part, 0 if number else size) for number, part in enumerate(whole)]
    except PayloadError as error:
        raw = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
        if is_excluded(_folder_named_in(raw)):
            return []
        return [Arrival(name, event_of(name), "", unreadable_head(raw), len(raw), error.message)]


def _arrival(name: str, payload: JsonObject, raw_bytes: int | None) -> Arrival:
    event = event_of(name)
    # The hook's argument replaces a missing name.
    stored = to_stored(payload if text(payload.get("hook_event_name")) else {**payload, "hook_event_name": event})
    return Arrival(
        name=name,
        event=text(payload.get("hook_event_name")) or event,
        session=text(payload.get("session_id")),
        payload=stored,
        raw_bytes=len(stored) if raw_bytes is None else raw_bytes,
        duplicate_within_s=duplicate_within_s(name, payload),
    )


def _folder_named_in(raw: bytes) -> str:
    """Return the folder named in an unparsable payload, so that no part of an excluded folder's event is stored."""
    match = _FOLDER.search(raw)
    try:
        return str(json.loads(match[1].decode("utf-8", "replace"))) if match else ""
    except ValueError:
        return ""


def _waiting_files(home: Home) -> list[Path]:
    files = [path for path in entries_of(home.spool_new) if is_spool_name(path.name)]
    unfinished = [path for path in entries_of(home.spool_tmp) if is_spool_name(path.name)]
    files += [path for path in unfinished if _is_abandoned(path, path.name)]
    for folder in home.fallback_spools():
        if _is_safe_folder(folder):
            for path in entries_of(folder):
                name = path.name.removeprefix(_FALLBACK_TMP)
                if is_spool_name(name) and (name == path.name or _is_abandoned(path, name)):
                    files.append(path)
    return sorted(files, key=lambda path: path.name.removeprefix(_FALLBACK_TMP))


def _is_safe_folder(folder: Path) -> bool:
    """Return whether a fallback folder is safe: a real folder of this user, closed to others."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _is_abandoned(path: Path, name: str) -> bool:
    """Return whether the hook that was writing this file is gone (killed)."""
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
