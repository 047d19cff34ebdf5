"""From the spool into the inbox, and what no hook could write to disk. Part of the job loop."""

from collections.abc import Callable

from claude_mem_lite.agents.own_hooks import has_own_hooks
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.inbox import spool
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import Clock


class Intake:
    """Takes events in, in the job thread; any thread may hand over one to hold."""

    def __init__(self, home: Home, queue: Queue, clock: Clock, has_files: Callable[[], bool]) -> None:
        self._home = home
        self._has_files = has_files
        """Whether home and inbox are still those that were opened."""
        self._queue = queue
        self._clock = clock
        self.dropped_folders: set[str] = set()
        """The excluded folders of events that were dropped, until `PauseWatch` has noted them."""
        self._unwritten: list[tuple[str, bytes]] = []

    def hold(self, name: str, raw: bytes) -> None:
        """Keep an event that no hook could write anywhere: on disk if this process can, else until it can."""
        try:
            spool.leave(self._home, name, raw)
        except OSError:
            self._unwritten.append((name, raw))

    def take_in(self, config: Config) -> int:
        """Move all that waits into the inbox; returns how many events were new.

        Nothing is let go of once the inbox or the home was replaced: the next worker takes it in."""

        def excluded(folder: str) -> bool:
            if not is_excluded(config, folder):
                return False
            self.dropped_folders.add(folder)
            return True

        def elsewhere(agent: str, folder: str) -> bool:
            return has_own_hooks(self._home, agent, folder)

        added = 0
        while self._unwritten and self._has_files():
            name, raw = self._unwritten[0]
            arrivals = spool.read_arrivals(name, raw, excluded, elsewhere)
            added += self._queue.add(arrivals, self._clock().timestamp())
            if self._has_files():
                del self._unwritten[0]
        for batch in spool.batches(self._home, excluded, elsewhere):
            if not self._has_files():
                break
            added += self._queue.add(batch.arrivals, self._clock().timestamp())
            if self._has_files():
                spool.remove(batch)
        return added

    def leave_rest(self) -> None:
        """Leave nothing in memory alone: for a worker that ends."""
        for name, raw in self._unwritten:
            spool.leave(self._home, name, raw)
