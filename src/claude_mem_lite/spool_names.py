"""The names of spool files: time, process, chance, event; they sort by time and name an event for ever.

The hook makes its own, in the same form, because it may import nothing."""

import hashlib
import os
import re
from datetime import UTC, datetime

from claude_mem_lite.errors import PayloadError

_NUL = "\x00"
_NAME = re.compile(r"^(?P<time_ns>\d{20})-(?P<process>\d{1,10})-[0-9a-f]{8}-(?P<event>\w{1,40})$", re.ASCII)


def new_name(event: str, at: datetime) -> str:
    """A name for an event that no hook wrote to disk."""
    plain = re.sub(r"\W", "", event, flags=re.ASCII)[:40] or "unknown"
    return f"{int(at.timestamp() * 1e9):020d}-{os.getpid()}-{os.urandom(4).hex()}-{plain}"


def past_name(event: str, at_ns: int, *origin: str) -> str:
    """A name for an event of long ago, read from somewhere: the same whenever the same thing is read again.

    Its process is 0, which no hook is."""
    return f"{at_ns:020d}-0-{hashlib.sha256(_NUL.join(origin).encode('utf-8', 'replace')).hexdigest()[:8]}-{event}"


def is_past(name: str) -> bool:
    """Whether an event was read from somewhere, not seen by a hook."""
    match = _NAME.match(name)
    return match is not None and int(match["process"]) == 0


def is_spool_name(name: str) -> bool:
    return _NAME.match(name) is not None


def time_of(name: str) -> datetime:
    """When the event was kept."""
    return datetime.fromtimestamp(int(_match(name)["time_ns"]) / 1e9, UTC)


def process_of(name: str) -> int:
    """The hook that kept it."""
    return int(_match(name)["process"])


def event_of(name: str) -> str:
    """The event as the agent's configuration calls it."""
    return _match(name)["event"]


def _match(name: str) -> "re.Match[str]":
    match = _NAME.match(name)
    if match is None:
        raise PayloadError(f"{name!r} is no spool name")
    return match
