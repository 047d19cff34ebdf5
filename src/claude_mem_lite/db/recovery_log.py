"""What was restored or could not be, when and why: kept in a small file until the user has heard of it.

The worker writes it. `status` and `doctor` tell of the last one for a week, a session that starts of each once."""

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from claude_mem_lite.db.file_swap import read_json, write_json
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.paths import Home

_MAX_KEPT = 20
_TOLD_FOR = timedelta(days=7)
# As `worker/recovery_startup.py` words it.
_KEPT_IN = re.compile(r"What was there is kept in (?P<folder>(?:damaged|before-restore)-\w+(?:-\d+)?)")
_UNDONE_BY = re.compile(r"`claude-mem-lite restore (?P<path>[^`]+)`")


@dataclass(frozen=True, slots=True)
class Recovery:
    """One of them, in plain words."""

    id: str
    at: str
    text: str
    undo: str = ""
    """What the user can do about it."""
    failed: bool = False
    """It was asked for and not done."""
    replayed: int = 0
    told: bool = False

    @property
    def was_asked_for(self) -> bool:
        """It came of the user's own `restore`."""
        return self.id.startswith("restore-")


def all_of(home: Home) -> list[Recovery]:
    """Return every recovery on record, oldest first, without the paths and commands that no longer work."""
    return [_as_it_is(home, one) for one in _recorded(home)]


def _recorded(home: Home) -> list[Recovery]:
    kept = (read_json(home.recoveries) or {}).get("recoveries")
    return [from_object(one) for one in kept if isinstance(one, dict)] if isinstance(kept, list) else []


def from_object(told: JsonObject) -> Recovery:
    replayed = told.get("replayed")
    return Recovery(
        id=text(told.get("id")),
        at=text(told.get("at")),
        text=text(told.get("text")),
        undo=text(told.get("undo")),
        failed=told.get("failed") is True,
        replayed=replayed if isinstance(replayed, int) else 0,
        told=told.get("told") is True,
    )


def add(home: Home, recovery: Recovery) -> None:
    """Note one, once."""
    known = [one for one in _recorded(home) if one.id != recovery.id]
    _write(home, [*known, recovery])


def note_replayed(home: Home, ids: Sequence[str], events: int) -> None:
    """So many events are done again because of these."""
    _write(home, [replace(one, replayed=events) if one.id in ids else one for one in _recorded(home)])


def untold(home: Home) -> list[Recovery]:
    """Those that no session has told the user of."""
    return [one for one in all_of(home) if not one.told]


def mark_told(home: Home, ids: Sequence[str]) -> None:
    _write(home, [replace(one, told=one.told or one.id in ids) for one in _recorded(home)])


def latest(home: Home, now: datetime) -> Recovery | None:
    """The last one, while it is news."""
    for one in reversed(all_of(home)):
        with suppress(ValueError, TypeError):  # no time, or none of a zone: not written by us
            if now - datetime.fromisoformat(one.at) < _TOLD_FOR:
                return one
    return None


def sentence(recovery: Recovery) -> str:
    """All there is to tell of one."""
    again = f" {done_again(recovery.replayed)}." if recovery.replayed else ""
    return f"{recovery.text}{again} {recovery.undo}".strip()


def done_again(events: int) -> str:
    return f"{events:,} event{' that came after it is' if events == 1 else 's that came after it are'} done again"


def _as_it_is(home: Home, recovery: Recovery) -> Recovery:
    """It without what does not hold any more: what was put aside may be gone by now."""
    kept = _KEPT_IN.search(recovery.text)
    if kept and not (home.root / kept["folder"]).exists():
        text = f"{recovery.text[: kept.start()]}What was there is not kept any more{recovery.text[kept.end() :]}"
        recovery = replace(recovery, text=text)
    undone_by = _UNDONE_BY.search(recovery.undo)
    if undone_by and not _names_a_file(undone_by["path"]):
        recovery = replace(recovery, undo="")
    return recovery


def _names_a_file(quoted: str) -> bool:
    """Whether a path as a shell reads it, or as it stands, is one of a file."""
    with suppress(ValueError):
        return any(Path(path).is_file() for path in (quoted, *shlex.split(quoted)[:1]))
    return Path(quoted).is_file()


def _write(home: Home, recoveries: Sequence[Recovery]) -> None:
    write_json(home.recoveries, {"recoveries": [asdict(one) for one in recoveries[-_MAX_KEPT:]]})
