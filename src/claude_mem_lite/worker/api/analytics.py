"""The API of `stats`: what is stored, what was given and what came of it, what models took. Writes nothing.

The API of what happened day by day: the figures behind the plots. Writes nothing.

The API of receipts: what was given to which session, why, and what came of it. Writes nothing."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, astuple
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from claude_mem_lite.context.builder import Skipped
from claude_mem_lite.context.scoring import SILENT, factor, is_stated, start_factor
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import Receipt, Tally
from claude_mem_lite.store import memories, model_calls, receipts, statistics, timeline
from claude_mem_lite.store.statistics import Day, by_day
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Limit, Meant, Running
from claude_mem_lite.worker.models import limits

MAX_DAYS = 180
"""As long as receipts are kept."""
# The fewest sessions that can make anything silent.
_MIN_IGNORED = 8
_MAX_LOOKED_AT = 1_000
_MAX_SILENT = 50
Days = Annotated[int, Field(ge=1, le=MAX_DAYS)]
router = Router(prefix="/api")


@router.get("/stats")
def stats(loop: Running, days: Days = 30) -> dict[str, object]:
    """All projects together, over the last days; what is stored and what is silent is told as it is now."""
    since = loop.clock() - timedelta(days=days)
    with closing(loop.readers.open()) as db:
        rates = statistics.hit_rates(db, since)
        return {
            "days": days,
            "since": since.isoformat(),
            "memories": {
                "by_kind": statistics.memories_by_kind(db),
                "by_status": statistics.memories_by_status(db),
                "by_project": [asdict(one) for one in statistics.projects(db)],
            },
            "given": _given(db, since, rates),
            "sources": [_rate(one) for one in rates],
            "silent": {"items": _silent_items(db)},
            "model": _model(db, since),
            "retold": asdict(statistics.context_savings(db, since)),
        }


@router.get("/hit-rates")
def hit_rates(loop: Running, meant: Meant, days: Days = MAX_DAYS) -> dict[str, object]:
    """What came of what was given in a folder's project, or in all, by moment and source."""
    since = loop.clock() - timedelta(days=days)
    with closing(loop.readers.open()) as db:
        rates = statistics.hit_rates(db, since, meant)
        return {"days": days, "given": _given(db, since, rates, meant), "sources": [_rate(one) for one in rates]}


def _given(
    db: sqlite3.Connection, since: datetime, rates: list[statistics.HitRate], project: str | None = None
) -> list[dict[str, object]]:
    """By moment: how often and how much was given, and how much of it was used."""
    told = []
    for one in statistics.answers(db, since, project):
        tallies = [rate.tally for rate in rates if rate.moment == one.moment]
        tally = Tally(*(sum(counts) for counts in zip(*map(astuple, tallies), strict=True)))
        told.append({**asdict(one), **_hits(tally)})
    return told


def _rate(one: statistics.HitRate) -> dict[str, object]:
    return {"moment": one.moment, "source": one.source, "items": one.items, "tokens": one.tokens, **_hits(one.tally)}


def _hits(tally: Tally) -> dict[str, object]:
    """Return the counts, and the share that was used at least: an unknown item may have been."""
    judged = tally.used + tally.ignored + tally.unknown
    return {**asdict(tally), "hit_rate": round(tally.used / judged, 3) if judged else None}


def _silent_items(db: sqlite3.Connection) -> list[dict[str, object]]:
    """Return the items that no start gives any more because nobody had use for them."""
    ids = statistics.often_ignored(db, _MIN_IGNORED, _MAX_LOOKED_AT)
    titles = receipts.titles(db, ids)
    found = []
    for id_, tally in receipts.tallies_since_last_seen(db, ids, at_need=False).items():
        kind, title = titles.get(id_, ("", ""))
        rule = factor if kind == "session" else start_factor
        if kind and rule(tally) <= SILENT and not _is_stated(db, id_):
            found.append({"id": id_, "kind": kind, "title": title, **_hits(tally)})
    return found[:_MAX_SILENT]


def _is_stated(db: sqlite3.Connection, id_: str) -> bool:
    memory = memories.find(db, id_)
    return memory is not None and is_stated(memory)


def _model(db: sqlite3.Connection, since: datetime) -> dict[str, object]:
    return {
        **asdict(model_calls.spent(db, since=since, under_way=False)),
        "by_outcome": {what: asdict(spend) for what, spend in model_calls.by_outcome(db, since).items()},
        "estimates": [
            {**asdict(one), "ratio": round(one.estimated / one.counted, 3)} for one in model_calls.counted(db, since)
        ],
    }


@router.get("/days")
def days_so_far(loop: Running, days: Days = 30, project: str = "") -> dict[str, object]:
    """The last days in UTC, today included, oldest first, everywhere or in a project."""
    first = limits.start_of_day(loop.clock()) - timedelta(days=days - 1)
    with closing(loop.readers.open()) as db:
        found = by_day(db, first, project)
    dates = [(first + timedelta(days=number)).date().isoformat() for number in range(days)]
    return {"days": [{"day": date, **asdict(found.get(date, Day()))} for date in dates]}


@router.get("/receipts")
def receipt_list(loop: Running, meant: Meant, session: str = "", limit: Limit = 20) -> dict[str, object]:
    """The last injections, newest first: in a folder's project, in all, or those of one session, wherever it was."""
    with closing(loop.readers.open()) as db:
        if session:
            found = receipts.newest(db, session=_session(db, session), limit=limit)
        else:
            found = receipts.newest(db, project=meant, limit=limit)
        return {"receipts": _told(db, found)}


@router.get("/receipts/{id_}")
def receipt_get(loop: Running, id_: str) -> dict[str, object]:
    """One receipt by its id or the beginning of it."""
    with closing(loop.readers.open()) as db:
        return _told(db, [receipts.get(db, id_)])[0]


def _session(db: sqlite3.Connection, given: str) -> str:
    """The id of a session, by its id or the beginning of it; receipts may know one of which nothing else is kept."""
    try:
        return timeline.session_named(db, given)
    except NotFound:
        if known := receipts.session_named(db, given):
            return known
        raise


def _told(db: sqlite3.Connection, found: Sequence[Receipt]) -> list[dict[str, object]]:
    titles = receipts.titles(db, list({item.source for receipt in found for item in receipt.items}))
    return [_receipt(receipt, titles) for receipt in found]


def _receipt(receipt: Receipt, titles: Mapping[str, tuple[str, str]]) -> dict[str, object]:
    """A receipt as it is, with an id that can be typed, and what its items are about, as long as they are there."""
    items = []
    for item in receipt.items:
        kind, title = titles.get(item.source, (None, None))
        items.append({**asdict(item), "kind": kind, "title": title})
    return {
        "id": receipts.id_of(receipt),
        **asdict(receipt),
        "layers_skipped": [asdict(Skipped.read(one)) for one in receipt.layers_skipped],
        "items": items,
    }
