"""The API of receipts: what was given to which session, why, and what came of it. Writes nothing."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict

from claude_mem_lite.context.builder import Skipped
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import Receipt
from claude_mem_lite.store import receipts, timeline
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Limit, Meant, Running

router = Router(prefix="/api")


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
