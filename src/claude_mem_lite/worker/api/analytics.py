"""API of statistics, figures by day, and receipts. Reads only."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from claude_mem_lite.context.builder import LayerSkip
from claude_mem_lite.context.scoring import SILENT, factor, is_stated, start_factor
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import Receipt
from claude_mem_lite.responses.analytics import (
    Day,
    Days,
    GuardUse,
    HitRates,
    ModelUse,
    Receipts,
    ShownReceipt,
    ShownReceiptItem,
    SilentItem,
    SilentItems,
    Stats,
    StoredMemories,
    TokenEstimate,
)
from claude_mem_lite.responses.context import SkippedLayer
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.store import guard_ledger, guards, memories, model_calls, receipts, statistics, timeline
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.worker.api.request_project import RequestProject
from claude_mem_lite.worker.api.routing import Limit, Router, Running
from claude_mem_lite.worker.models import spend_caps

MAX_DAYS = 180
"""Days for which receipts are kept."""
# Fewer sessions never silence an item.
_MIN_IGNORED = 8
_MAX_CHECKED = 1_000
_MAX_SILENT = 50
DayCount = Annotated[int, Field(ge=1, le=MAX_DAYS)]
router = Router(prefix="/api")


@router.get("/stats")
def stats(services: Running, days: DayCount = 30) -> Stats:
    """Return statistics of all projects over the last days."""
    since = services.clock() - timedelta(days=days)
    with closing(services.readers.open()) as db:
        sources = statistics.source_uses(db, since)
        return Stats(
            days=days,
            since=since.isoformat(),
            memories=StoredMemories(
                statistics.memories_by_kind(db), statistics.memories_by_status(db), tuple(statistics.projects(db))
            ),
            given=statistics.trigger_uses(db, since, sources),
            sources=sources,
            silent=SilentItems(_silent_items(db)),
            model=_model_use(db, since),
            savings=statistics.context_savings(db, since),
            guards=_guard_use(db, since),
        )


@router.get("/hit-rates")
def hit_rates(services: Running, project: RequestProject, days: DayCount = MAX_DAYS) -> HitRates:
    """Return the outcomes of injections in a project, or in all."""
    since = services.clock() - timedelta(days=days)
    with closing(services.readers.open()) as db:
        sources = statistics.source_uses(db, since, project.id)
        return HitRates(days, statistics.trigger_uses(db, since, sources, project.id), sources)


def _guard_use(db: sqlite3.Connection, since: datetime) -> GuardUse:
    by_status = guards.count_by_status(db)
    fired = guard_ledger.totals(db, time_to_text(since))
    outcomes = {name: fired.get(name, 0) for name in ("followed", "overridden", "got_round", "false")}
    statuses = {name: by_status.get(name, 0) for name in ("active", "paused", "proposed")}
    return GuardUse(**statuses, fired=sum(fired.values()), **outcomes)


def _silent_items(db: sqlite3.Connection) -> tuple[SilentItem, ...]:
    """Return the items that no session start shows any more, because no session used them."""
    ids = statistics.often_ignored(db, _MIN_IGNORED, _MAX_CHECKED)
    titles = receipts.titles(db, ids)
    found = []
    for id_, tally in receipts.tallies_since_last_seen(db, ids, at_need=False).items():
        kind, title = titles.get(id_, ("", ""))
        rule = factor if kind == "session" else start_factor
        if kind and rule(tally) <= SILENT and not _is_stated(db, id_):
            rate = statistics.hit_rate(tally.used, tally.ignored, tally.unknown)
            found.append(response_from(SilentItem, tally, id=id_, kind=kind, title=title, hit_rate=rate))
    return tuple(found[:_MAX_SILENT])


def _is_stated(db: sqlite3.Connection, id_: str) -> bool:
    memory = memories.find(db, id_)
    return memory is not None and is_stated(memory)


def _model_use(db: sqlite3.Connection, since: datetime) -> ModelUse:
    estimates = [
        response_from(TokenEstimate, counted, ratio=round(counted.estimated / counted.counted, 3))
        for counted in model_calls.counted(db, since)
    ]
    return response_from(
        ModelUse,
        model_calls.spent(db, since=since, under_way=False),
        by_outcome=model_calls.by_outcome(db, since),
        estimates=tuple(estimates),
    )


@router.get("/days")
def days_so_far(services: Running, days: DayCount = 30, project: str = "") -> Days:
    """Return the last days in UTC including today, oldest first, everywhere or in a project."""
    first = spend_caps.start_of_day(services.clock()) - timedelta(days=days - 1)
    with closing(services.readers.open()) as db:
        found = statistics.by_day(db, first, project)
    dates = [(first + timedelta(days=number)).date().isoformat() for number in range(days)]
    return Days(tuple(found.get(date, Day(date)) for date in dates))


@router.get("/receipts")
def receipt_list(services: Running, project: RequestProject, session: str = "", limit: Limit = 20) -> Receipts:
    """Return the last injections, newest first: in a project, in all projects, or in one session of any project."""
    with closing(services.readers.open()) as db:
        if session:
            found = receipts.newest(db, session=_session(db, session), limit=limit)
        else:
            found = receipts.newest(db, project=project.id, limit=limit)
        return Receipts(_shown(db, found))


@router.get("/receipts/{id_}")
def receipt_get(services: Running, id_: str) -> ShownReceipt:
    """Return a receipt by its id or the beginning of its id."""
    with closing(services.readers.open()) as db:
        return _shown(db, [receipts.get(db, id_)])[0]


def _session(db: sqlite3.Connection, given: str) -> str:
    """Return the id of a session by the id or its beginning; only receipts may know the session."""
    try:
        return timeline.session_named(db, given)
    except NotFound:
        if known := receipts.session_named(db, given):
            return known
        raise


def _shown(db: sqlite3.Connection, found: Sequence[Receipt]) -> tuple[ShownReceipt, ...]:
    titles = receipts.titles(db, list({item.source for receipt in found for item in receipt.items}))
    return tuple(_shown_receipt(receipt, titles) for receipt in found)


def _shown_receipt(receipt: Receipt, titles: Mapping[str, tuple[str, str]]) -> ShownReceipt:
    """Return a receipt with a short id, and with kinds and titles of the items that still exist."""
    items = []
    for item in receipt.items:
        kind, title = titles.get(item.source, (None, None))
        items.append(response_from(ShownReceiptItem, item, kind=kind, title=title))
    skipped = [response_from(SkippedLayer, LayerSkip.from_text(written)) for written in receipt.layers_skipped]
    return response_from(
        ShownReceipt, receipt, id=receipts.id_of(receipt), items=tuple(items), layers_skipped=tuple(skipped)
    )
