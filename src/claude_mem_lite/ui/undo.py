"""What was forgotten from an open page, so that it can be undone until its tab is closed or loaded anew.

It is gone from every file at once; only this process still knows it, and only as long as the page says now and then
that it is open."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from claude_mem_lite.client import Client
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.models import LONGEST_RESTORED, JsonObject, text, texts
from claude_mem_lite.ui.parts import Action, counted, id_of, listed

_MOST_OF_A_PAGE = 500
# A page says every 20 s that it is open; one in the background may do so once a minute only.
_SILENT_S = 180.0
_UNTIL = "You can undo it until you close or reload this tab."


def can_be_undone(memory: JsonObject) -> bool:
    """Whether a memory could be stored again after it was forgotten; one that is too long could not."""
    return len(json.dumps(memory)) <= LONGEST_RESTORED


@dataclass(slots=True)
class _Page:
    heard_at: float
    forgotten: dict[str, Sequence[JsonObject]] = field(default_factory=dict)


class Undo:
    """Records of what was forgotten, by the page from which it was; several threads may ask."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._pages: dict[str, _Page] = {}
        self._now = now
        self._lock = threading.Lock()

    def heard(self, page: str) -> None:
        """A page is open; nothing is kept of those that were not heard of for a while."""
        now = self._now()
        with self._lock:
            self._pages = {name: one for name, one in self._pages.items() if now - one.heard_at <= _SILENT_S}
            if page:
                self._pages.setdefault(page, _Page(now)).heard_at = now

    def left(self, page: str) -> None:
        """A page was left: nothing of it is kept."""
        with self._lock:
            self._pages.pop(page, None)

    def keep(self, page: str, records: Sequence[JsonObject]) -> bool:
        """Keep a memory that was just forgotten, with those that went along; False when it is too long, or nobody is
        on that page."""
        with self._lock:
            if (known := self._pages.get(page)) is None or not all(map(can_be_undone, records)):
                return False
            known.forgotten[text(records[0].get("id"))] = records
            while len(known.forgotten) > _MOST_OF_A_PAGE:
                del known.forgotten[next(iter(known.forgotten))]
            return True

    def of(self, page: str) -> Mapping[str, JsonObject]:
        """What can be undone on a page, by its id, the last that was forgotten first."""
        with self._lock:
            known = self._pages.get(page)
            return {id_: records[0] for id_, records in reversed(known.forgotten.items())} if known else {}

    def records(self, page: str, id_: str) -> Sequence[JsonObject]:
        with self._lock:
            known = self._pages.get(page)
            return known.forgotten.get(id_, ()) if known else ()

    def done(self, page: str, id_: str) -> None:
        with self._lock:
            if known := self._pages.get(page):
                known.forgotten.pop(id_, None)


def undoable(undo: Undo) -> Mapping[str, Action]:
    """The actions that need to know what was forgotten, by name."""

    def forget(client: Client, given: JsonObject) -> JsonObject:
        before = _with_versions(client, id_of(given))
        gone = set(client.forget(ids=[text(before[0].get("id"))], session=None, project=None))
        if undo.keep(text(given.get("page")), [one for one in before if one.get("id") in gone]):
            # By its whole id: by the beginning of one, nothing is found any more.
            return {"message": f"Forgotten. {_UNTIL}", "go": f"/memories/{quote(text(before[0].get('id')), safe='')}"}
        return {"message": "Forgotten for good.", "go": "/"}

    def drop(client: Client, given: JsonObject) -> JsonObject:
        before = [client.memory(id_) for id_ in texts(given.get("ids"))]
        gone = set(client.drop([text(one.get("id")) for one in before]))
        kept = [undo.keep(text(given.get("page")), [one]) for one in before if one.get("id") in gone]
        dropped = f"Dropped {counted(len(kept), 'memory', 'memories')}."
        return {"message": f"{dropped} {_UNTIL}" if any(kept) else dropped}

    def take_back(client: Client, given: JsonObject) -> JsonObject:
        page, id_ = text(given.get("page")), text(given.get("id"))
        records = undo.records(page, id_)
        if not records:
            raise MemoryLiteError("this cannot be undone any more", "it could be until its tab was closed or reloaded")
        for record in reversed(records):  # what it had replaced first: it names what replaced it
            client.restore(record)
        undo.done(page, id_)
        return {"message": "It is remembered again."}

    return {"forget": forget, "drop": drop, "undo": take_back}


def _with_versions(client: Client, id_: str) -> list[JsonObject]:
    """A memory and what it had replaced: older versions of the same statement go with it."""
    memory = client.memory(id_)
    found = [memory]
    for older in listed(memory, "replaced"):
        try:
            found.append(client.memory(text(older.get("id"))))
        except NotFound:
            continue
    return found
