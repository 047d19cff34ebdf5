"""Intake of events from the spool into the inbox, with the periods in which folders were excluded."""

from collections.abc import Callable

from claude_mem_lite.agents.client_settings import has_own_hooks
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.inbox import spool
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker.pause_watch import PauseWatch
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.shutdown import Activity
from claude_mem_lite.worker.write_thread import WriteThread


class Intake:
    """Intake in the job thread; any thread may hand over an event to hold."""

    def __init__(self, home: Home, queue: Queue, clock: Clock, has_files: Callable[[], bool]) -> None:
        self._home = home
        self._has_files = has_files
        """Check that home and inbox are still the opened ones."""
        self._queue = queue
        self._clock = clock
        self.dropped_folders: set[str] = set()
        """Excluded folders of dropped events, until `PauseWatch` has noted them."""
        self.is_incomplete = False
        """True after a pass that left events in the spool, because their agent had not written them whole."""
        self._unwritten: list[tuple[str, bytes]] = []

    def hold(self, name: str, raw: bytes) -> None:
        """Keep an event that no hook could write: on disk if possible, else in memory until a write works."""
        try:
            spool.leave(self._home, name, raw)
        except OSError:
            self._unwritten.append((name, raw))

    def take_in(self, config: Config) -> int:
        """Move all waiting events into the inbox, except for incomplete ones; return the number of new events.

        No event is removed after the inbox or the home was replaced: the next worker takes the event in."""

        def excluded(folder: str) -> bool:
            if not is_excluded(config, folder):
                return False
            self.dropped_folders.add(folder)
            return True

        def reports_itself(agent: str, folder: str) -> bool:
            return has_own_hooks(self._home, agent, folder)

        added, self.is_incomplete = 0, False
        while self._unwritten and self._has_files():
            name, raw = self._unwritten[0]
            arrivals = spool.read_arrivals(name, raw, excluded, reports_itself)
            added += self._queue.add(arrivals, self._clock().timestamp())
            if self._has_files():
                del self._unwritten[0]
        for batch in spool.batches(self._home, excluded, reports_itself, self._clock().timestamp()):
            if not self._has_files():
                break
            self.is_incomplete = batch.is_incomplete
            added += self._queue.add(batch.arrivals, self._clock().timestamp())
            if self._has_files():
                spool.remove(batch)
        return added

    def leave_rest(self) -> None:
        """Write all events held in memory to disk: for a worker that ends."""
        for name, raw in self._unwritten:
            spool.leave(self._home, name, raw)


class EventIntake:
    """Intake that follows the settings. Any thread may call `hold`, the job thread alone all else."""

    def __init__(
        self,
        intake: Intake,
        settings: SettingsSource,
        pause_watch: PauseWatch,
        activity: Activity,
        writes: WriteThread,
    ) -> None:
        self._intake = intake
        self._settings = settings
        self._pause_watch = pause_watch
        self._activity = activity
        self._writes = writes

    @property
    def is_incomplete(self) -> bool:
        """Return whether events were left in the spool, for a pass in a moment."""
        return self._intake.is_incomplete

    def hold(self, name: str, raw: bytes) -> None:
        """Keep an event that no hook could write anywhere."""
        self._intake.hold(name, raw)
        self._writes.wake()

    def take_in(self) -> None:
        """Take all events of the spool into the inbox."""
        if self._intake.take_in(self._settings.config):
            self._activity.note_request()
        if self._intake.dropped_folders:
            self._pause_watch.note_dropped(self._settings.config, self._intake.dropped_folders)
            self._intake.dropped_folders.clear()

    def follow_settings(self) -> None:
        """Record the periods in which the settings exclude folders."""
        self._pause_watch.reconcile(self._settings.config.exclude)

    def leave_rest(self) -> None:
        """Write the events that are held in memory to the spool."""
        self._intake.leave_rest()
