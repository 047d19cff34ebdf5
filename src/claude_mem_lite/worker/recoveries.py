"""What was restored or could not be, when and why: kept in a small file until the user has heard of it.

`status` and `doctor` tell of the last one for a week, a session that starts of each once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from claude_mem_lite.db.replacing import read_json, write_json
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.paths import Home

_MOST_KEPT = 20
_TOLD_FOR = timedelta(days=7)


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


def all_of(home: Home) -> list[Recovery]:
    """Every one that is kept, oldest first."""
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
    known = [one for one in all_of(home) if one.id != recovery.id]
    _write(home, [*known, recovery])


def note_replayed(home: Home, ids: Sequence[str], events: int) -> None:
    """So many events are done again because of these."""
    _write(home, [replace(one, replayed=events) if one.id in ids else one for one in all_of(home)])


def untold(home: Home) -> list[Recovery]:
    """Those that no session has told the user of."""
    return [one for one in all_of(home) if not one.told]


def mark_told(home: Home, ids: Sequence[str]) -> None:
    _write(home, [replace(one, told=one.told or one.id in ids) for one in all_of(home)])


def latest(home: Home, now: datetime) -> Recovery | None:
    """The last one, while it is news."""
    for one in reversed(all_of(home)):
        if now - datetime.fromisoformat(one.at) < _TOLD_FOR:
            return one
    return None


def sentence(recovery: Recovery) -> str:
    """All there is to tell of one."""
    again = f" {recovery.replayed:,} events that came after it are done again." if recovery.replayed else ""
    return f"{recovery.text}{again} {recovery.undo}".strip()


def _write(home: Home, recoveries: Sequence[Recovery]) -> None:
    write_json(home.recoveries, {"recoveries": [asdict(one) for one in recoveries[-_MOST_KEPT:]]})
