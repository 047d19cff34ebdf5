"""When somebody last wanted something of the worker, or looked on: it stays for them, and puts off what can wait."""

import time


class Activity:
    """Any thread may note or ask."""

    def __init__(self) -> None:
        self._active_at = self._watched_at = time.monotonic()

    def note_request(self) -> None:
        """Somebody wants something: a reason to stay."""
        self._active_at = time.monotonic()

    def note_watching(self) -> None:
        """Somebody looks on: a reason to stay, but not to put off what is done when all is quiet."""
        self._watched_at = time.monotonic()

    def idle_s(self) -> float:
        """For how long nobody wanted anything or looked on."""
        return time.monotonic() - max(self._active_at, self._watched_at)

    def quiet_s(self) -> float:
        """For how long nobody wanted anything."""
        return time.monotonic() - self._active_at
