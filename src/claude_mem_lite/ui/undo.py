"""What was forgotten from an open page, so that it can be undone until its tab is closed or loaded anew.

It is gone from every file at once; only this process still knows it, and only as long as the page says now and then
that it is open."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from claude_mem_lite.client import Client, quoted
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import LONGEST_RESTORED, JsonObject, text, texts
from claude_mem_lite.ui.parts import id_of
from claude_mem_lite.words import counted

_MOST_OF_A_PAGE = 500
# A page says every 20 s that it is open; one in the background may do so once a minute only.
_SILENT_S = 180.0
_UNTIL = "until you close or reload this tab."


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


PageAction = Callable[[Client, JsonObject, str], JsonObject]
"""An action that needs the name of the page it came from."""


def undoable(undo: Undo) -> Mapping[str, PageAction]:
    """The actions that need to know what was forgotten, by name."""

    def forget(client: Client, given: JsonObject, page: str) -> JsonObject:
        memory = client.memory(id_of(given))
        before = [memory, *client.replaced_before(memory)]  # older versions of the same statement go with it
        gone = set(client.forget(ids=[text(before[0].get("id"))], session=None, project=None))
        if undo.keep(page, [one for one in before if one.get("id") in gone]):
            # By its whole id: by the beginning of one, nothing is found any more.
            return {
                "message": f"Forgotten. You can undo it {_UNTIL}",
                "go": f"/memories/{quoted(text(before[0].get('id')))}",
            }
        return {"message": "Forgotten for good.", "go": "/"}

    def drop(client: Client, given: JsonObject, page: str) -> JsonObject:
        before = [client.memory(id_) for id_ in texts(given.get("ids"))]
        gone = set(client.drop([text(one.get("id")) for one in before]))
        dropped = [one for one in before if one.get("id") in gone]
        for one in dropped:
            undo.keep(page, [one])
        # Only now: of very many, the first are not kept any more when the last is.
        kept = [bool(undo.records(page, text(one.get("id")))) for one in dropped]
        return {"message": f"Dropped {counted(len(dropped), 'memory', 'memories')}. {_way_back(kept)}".rstrip()}

    def take_back(client: Client, given: JsonObject, page: str) -> JsonObject:
        id_ = text(given.get("id"))
        records = undo.records(page, id_)
        if not records:
            raise MemoryLiteError("this cannot be undone any more", "it could be until its tab was closed or reloaded")
        # The memory itself last: once it is back, its page does not offer to undo what may still be missing.
        for record in reversed(records):
            client.restore(record)
        undo.done(page, id_)
        return {"message": "It is remembered again."}

    return {"forget": forget, "drop": drop, "undo": take_back}


def _way_back(kept: Sequence[bool]) -> str:
    """How much of what was dropped can be undone, and how long; nothing when none of it can be."""
    if not any(kept):
        return ""
    return f"You can undo {'it' if all(kept) else f'{sum(kept)} of them'} {_UNTIL}"
