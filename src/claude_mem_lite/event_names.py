"""Names of spool files: time, process, random part, event. Names sort by time and identify an event for ever.

The hook makes names of the same form on its own, because the hook may import nothing."""

import hashlib
import os
import re
from datetime import UTC, datetime

from claude_mem_lite.errors import PayloadError

CLAUDE_MEM = "claude-mem"
"""Source of a session that only an import knows; also the prefix of `made_by` of imported memories."""
IMPORTED_PROMPT, IMPORTED_SUMMARY = "ClaudeMemPrompt", "ClaudeMemSummary"
"""Events of imported prompts and summaries, in the place of a hook\'s event."""
_NUL = "\x00"
_NAME = re.compile(r"^(?P<time_ns>\d{20})-(?P<process>\d{1,10})-[0-9a-f]{8}-(?P<event>\w{1,40})$", re.ASCII)


def new_name(event: str, at: datetime) -> str:
    """Return a name for an event that no hook wrote to disk."""
    plain = re.sub(r"\W", "", event, flags=re.ASCII)[:40] or "unknown"
    return f"{int(at.timestamp() * 1e9):020d}-{os.getpid()}-{os.urandom(4).hex()}-{plain}"


def past_name(event: str, at_ns: int, *origin: str) -> str:
    """Return a name for an imported event of the past: the same name whenever the same event is read again.

    The process number is 0, which no hook has."""
    return f"{at_ns:020d}-0-{hashlib.sha256(_NUL.join(origin).encode('utf-8', 'replace')).hexdigest()[:8]}-{event}"


def is_past(name: str) -> bool:
    """Return whether an event was imported, not captured by a hook."""
    match = _NAME.match(name)
    return match is not None and int(match["process"]) == 0


def is_spool_name(name: str) -> bool:
    return _NAME.match(name) is not None


def time_of(name: str) -> datetime:
    """Return the time at which the event was captured."""
    return datetime.fromtimestamp(int(_match(name)["time_ns"]) / 1e9, UTC)


def around(name: str, within_s: float) -> tuple[str, str]:
    """Return two texts; every name made within the given time before or after a name sorts between both."""
    match = _NAME.match(name)
    at_ns, within_ns = int(match["time_ns"]) if match else 0, int(within_s * 1e9)
    return f"{max(at_ns - within_ns, 0):020d}", f"{at_ns + within_ns:020d}"


def process_of(name: str) -> int:
    """Return the process number of the hook that captured the event."""
    return int(_match(name)["process"])


def event_of(name: str) -> str:
    """Return the event of the hook, by Claude Code's name."""
    return _match(name)["event"].partition("_")[0]


def agent_of(name: str) -> str:
    """Return the agent whose configuration ran the hook; '' for Claude Code's configuration, which other agents read
    too."""
    return _match(name)["event"].partition("_")[2]


def part_of(name: str, number: int) -> str:
    """Return a name for one of several parts of an event. The first part keeps the name; further parts sort after
    it."""
    if number == 0:
        return name
    match = _match(name)
    digest = hashlib.sha256(f"{name}{_NUL}{number}".encode()).hexdigest()[:8]
    return f"{int(match['time_ns']) + number:020d}-{match['process']}-{digest}-{match['event']}"


def _match(name: str) -> "re.Match[str]":
    match = _NAME.match(name)
    if match is None:
        raise PayloadError(f"{name!r} is no spool name")
    return match
