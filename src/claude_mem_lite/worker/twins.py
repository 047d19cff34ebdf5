"""The same event told by two hooks is answered once: the one that asks first gets the answer."""

import threading
import time
from contextlib import closing

from claude_mem_lite.agents.adapters import adapted
from claude_mem_lite.agents.identity import WITHIN_S, identity
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home

_MOST = 2_000


class Twins:
    """The events of the last moments that were answered. Any thread may ask."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, ...], tuple[str, float]] = {}
        self._began = time.monotonic()

    def is_second(self, name: str, payload: JsonObject) -> bool:
        """Whether an adapted payload was told by another hook a moment ago; if not, it is the first from now on."""
        key = identity(name, payload)
        if key is None:
            return False
        now = time.monotonic()
        with self._lock:
            if len(self._seen) >= _MOST:
                self._seen = {one: seen for one, seen in self._seen.items() if now - seen[1] <= WITHIN_S}
            first, at = self._seen.get(key, (name, now))
            if now - at > WITHIN_S:
                first = name
            if first == name:
                self._seen[key] = name, now
        # The worker before this one may have answered the other, and knew what this one does not.
        return first != name or (now - self._began <= WITHIN_S and self._was_taken_in(name, key))

    def _was_taken_in(self, name: str, key: tuple[str, ...]) -> bool:
        with closing(open_for_reading(self._home.inbox_db)) as db:
            near = inbox.near(db, name, WITHIN_S)
        return any(row.name < name and self._is_same(row, key) for row in near)

    @staticmethod
    def _is_same(row: inbox.Row, key: tuple[str, ...]) -> bool:
        try:
            return identity(row.name, adapted(row.name, parse(row.payload.encode()))[0]) == key
        except PayloadError:
            return False
