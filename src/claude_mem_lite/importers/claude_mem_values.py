"""The values of claude-mem's rows, read with care: SQLite lets any column hold anything, and versions differ."""

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache

from claude_mem_lite.importers.times import EPOCH, read_time, sane
from claude_mem_lite.safety.rules import rules_for

# Times are in milliseconds; what is less would be before 1973 and is taken for seconds.
_LEAST_MS = 10**11
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_LONGEST_NAME = 1_000
Row = Mapping[str, object]


def written(value: object) -> str:
    """A value as text without what a memory may not hold; nothing for null."""
    if value is None:
        return ""
    given = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    # The half of a character comes in by way of JSON.
    return given.replace("\x00", "").encode("utf-8", "replace").decode().strip()


@lru_cache(maxsize=4096)
def name_of(value: str) -> str:
    """What tells a session or a project apart, without control characters and secrets of a known form. All rows that
    name it name it so, so what belongs together stays so."""
    seen = _UNSEEN.sub("", rules_for("").known_out(value))  # colours first: they end in letters
    return rules_for(seen).known_out(seen)[:_LONGEST_NAME].strip()


def first(row: Row, *names: str) -> str:
    """The first of these columns that says something: columns were renamed over time."""
    return next((found for name in names if (found := written(row.get(name)))), "")


def listed(value: object) -> tuple[str, ...]:
    """A list that is kept as JSON; what is none is read line by line."""
    given = written(value)
    if not given:
        return ()
    try:
        found: object = json.loads(given)
    except (ValueError, RecursionError):
        return lines_of(given)
    if isinstance(found, list):
        texts = (item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in found)
        return tuple(dict.fromkeys(filter(None, map(written, texts))))
    return () if found is None else lines_of(written(found))


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text that say something, without what marks them as items of a list."""
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line))


def number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | bytes):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def moment(row: Row, name: str) -> datetime | None:
    """The time that is kept as a number under one name and as text under another; None for what cannot be true."""
    return _of_number(number(row.get(f"{name}_epoch"))) or read_time(written(row.get(name)))


def _of_number(epoch: int | None) -> datetime | None:
    if epoch is None or epoch <= 0:
        return None
    try:
        return sane(EPOCH + timedelta(milliseconds=epoch if epoch >= _LEAST_MS else epoch * 1000))
    except OverflowError:
        return None
