"""Log of recoveries, successful or not, with time and reason, in a small file of the home.

The worker writes the log. `status` and `doctor` show the last recovery for a week; each recovery is shown at one
session start."""

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path

from claude_mem_lite.db.file_swap import read_json, write_json
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

_MAX_ENTRIES = 20
_SHOWN_FOR = timedelta(days=7)
# As `kept_in` and `restore_command` write them.
_KEPT_IN = re.compile(r"What was there is kept in (?P<folder>(?:damaged|before-restore)-\w+(?:-\d+)?)")
_UNDONE_BY = re.compile(r"`claude-mem-lite restore (?P<path>[^`]+)`")


@frozen
class Recovery:
    """Recovery of a database, described in plain words."""

    id: str
    at: str
    text: str
    undo: str = ""
    """Action that the user can take."""
    failed: bool = False
    """True if a requested restore was not done."""
    replayed: int = 0
    shown: bool = False

    @property
    def was_asked_for(self) -> bool:
        """Return True if the user's own `restore` caused the recovery."""
        return self.id.startswith("restore-")


def kept_in(folder: str) -> str:
    """Return the clause of a recovery that names the folder with the replaced files."""
    return f"What was there is kept in {folder}"


def restore_command(path: Path) -> str:
    """Return the command that restores a database file, for the text of a recovery."""
    return f"`claude-mem-lite restore {shlex.quote(str(path))}`"


def all_of(home: Home) -> list[Recovery]:
    """Return every recovery on record, oldest first, without the paths and commands that no longer work."""
    return [_without_dead_links(home, recovery) for recovery in _recorded(home)]


def _recorded(home: Home) -> list[Recovery]:
    entries = (read_json(home.recoveries) or {}).get("recoveries")
    return [from_object(entry) for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def from_object(fields: JsonObject) -> Recovery:
    replayed = fields.get("replayed")
    return Recovery(
        id=text(fields.get("id")),
        at=text(fields.get("at")),
        text=text(fields.get("text")),
        undo=text(fields.get("undo")),
        failed=fields.get("failed") is True,
        replayed=replayed if isinstance(replayed, int) else 0,
        shown=fields.get("shown") is True,
    )


def add(home: Home, recovery: Recovery) -> None:
    """Add a recovery, or replace the one with the same id."""
    others = [other for other in _recorded(home) if other.id != recovery.id]
    _write(home, [*others, recovery])


def note_replayed(home: Home, ids: Sequence[str], events: int) -> None:
    """Record the number of replayed events for these recoveries."""
    _write(
        home, [replace(recovery, replayed=events) if recovery.id in ids else recovery for recovery in _recorded(home)]
    )


def not_shown(home: Home) -> list[Recovery]:
    """Return the recoveries that no session has shown to the user."""
    return [recovery for recovery in all_of(home) if not recovery.shown]


def mark_shown(home: Home, ids: Sequence[str]) -> None:
    _write(home, [replace(recovery, shown=recovery.shown or recovery.id in ids) for recovery in _recorded(home)])


def latest(home: Home, now: datetime) -> Recovery | None:
    """Return the last recovery if it is less than a week old."""
    for recovery in reversed(all_of(home)):
        with suppress(ValueError, TypeError):  # no time, or no time zone: not written by us
            if now - datetime.fromisoformat(recovery.at) < _SHOWN_FOR:
                return recovery
    return None


def sentence(recovery: Recovery) -> str:
    """Return the complete description of a recovery."""
    again = f" {done_again(recovery.replayed)}." if recovery.replayed else ""
    return f"{recovery.text}{again} {recovery.undo}".strip()


def done_again(events: int) -> str:
    return f"{events:,} event{' that came after it is' if events == 1 else 's that came after it are'} done again"


def _without_dead_links(home: Home, recovery: Recovery) -> Recovery:
    """Return a recovery without references to files that no longer exist."""
    kept = _KEPT_IN.search(recovery.text)
    if kept and not (home.root / kept["folder"]).exists():
        text = f"{recovery.text[: kept.start()]}What was there is not kept any more{recovery.text[kept.end() :]}"
        recovery = replace(recovery, text=text)
    undone_by = _UNDONE_BY.search(recovery.undo)
    if undone_by and not _names_a_file(undone_by["path"]):
        recovery = replace(recovery, undo="")
    return recovery


def _names_a_file(quoted: str) -> bool:
    """Return True if a path, shell-quoted or plain, is a file."""
    with suppress(ValueError):
        return any(Path(path).is_file() for path in (quoted, *shlex.split(quoted)[:1]))
    return Path(quoted).is_file()


def _write(home: Home, recoveries: Sequence[Recovery]) -> None:
    write_json(home.recoveries, {"recoveries": [asdict(recovery) for recovery in recoveries[-_MAX_ENTRIES:]]})
