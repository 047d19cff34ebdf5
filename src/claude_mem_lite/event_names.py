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


def around(name: str, within_s: float) -> tuple[str, str]:
    """Two texts between which all names stand that were made so near to this one, before or after."""
    match = _NAME.match(name)
    at_ns, within_ns = int(match["time_ns"]) if match else 0, int(within_s * 1e9)
    return f"{max(at_ns - within_ns, 0):020d}", f"{at_ns + within_ns:020d}"


def process_of(name: str) -> int:
    """The hook that kept it."""
    return int(_match(name)["process"])


def event_of(name: str) -> str:
    """The event that the hook was run for, by the name that Claude Code has for it."""
    return _match(name)["event"].partition("_")[0]


def agent_of(name: str) -> str:
    """The agent whose configuration the hook was run by; nothing for Claude Code's, which others read too."""
    return _match(name)["event"].partition("_")[2]


def part_of(name: str, number: int) -> str:
    """A name for one of several things that an event tells of: the first keeps its name, others come after it."""
    if number == 0:
        return name
    match = _match(name)
    told = hashlib.sha256(f"{name}{_NUL}{number}".encode()).hexdigest()[:8]
    return f"{int(match['time_ns']) + number:020d}-{match['process']}-{told}-{match['event']}"


def _match(name: str) -> "re.Match[str]":
    match = _NAME.match(name)
    if match is None:
        raise PayloadError(f"{name!r} is no spool name")
    return match
