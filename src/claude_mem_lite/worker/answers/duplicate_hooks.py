"""The same event told by two hooks is answered once: the one that asks first gets the answer."""

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing

from claude_mem_lite.agents.event_identity import NUMBERED_WITHIN_S, identity, one_within_s
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.event_names import event_of
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.models import JsonObject, text

_MOST = 2_000


class Twins:
    """The events of the last moments that were answered. Any thread may ask."""

    def __init__(
        self, open_inbox: Callable[[], sqlite3.Connection], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_inbox = open_inbox
        self._seconds = seconds
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, ...], tuple[str, float]] = {}
        self._began = seconds()

    def is_second(self, name: str, payload: JsonObject) -> bool:
        """Whether an adapted payload was told by another hook a moment ago; if not, it is the first from now on."""
        key = identity(name, payload)
        if key is None:
            return False
        now, within_s = self._seconds(), one_within_s(name, payload)
        with self._lock:
            if len(self._seen) >= _MOST:
                self._seen = {one: seen for one, seen in self._seen.items() if now - seen[1] <= NUMBERED_WITHIN_S}
            first, at = self._seen.get(key, (name, now))
            if now - at > within_s:
                first = name
            if first == name:
                self._seen[key] = name, now
        # The worker before this one may have answered the other, and knew what this one does not.
        return first != name or (now - self._began <= within_s and self._was_taken_in(name, payload, key, within_s))

    def _was_taken_in(self, name: str, payload: JsonObject, key: tuple[str, ...], within_s: float) -> bool:
        event = text(payload.get("hook_event_name")) or event_of(name)
        with closing(self._open_inbox()) as db:
            near = inbox.near(db, name, text(payload.get("session_id")), event, within_s)
        return any(row.name < name and self._is_same(row, key) for row in near)

    @staticmethod
    def _is_same(row: inbox.Row, key: tuple[str, ...]) -> bool:
        try:
            return identity(row.name, row.told()) == key
        except PayloadError:
            return False
