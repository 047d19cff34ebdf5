"""Progress of the job loop's passes over spool and inbox, for callers that wait until nothing is left to do."""

import threading

from claude_mem_lite.code.freshness.time_budget import ScanThrottle
from claude_mem_lite.inbox import spool
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.shutdown import Shutdown
from claude_mem_lite.worker.write_thread import WriteThread


@frozen
class PassRequest:
    """Number of the last caller that waits for a pass, and whether turns without an end are to be processed too."""

    number: int
    flush: bool


class PassProgress:
    """Count of callers that wait for a pass, and of those that have been answered. Any thread may wait."""

    def __init__(
        self, home: Home, settings: SettingsSource, writes: WriteThread, shutdown: Shutdown, throttle: ScanThrottle
    ) -> None:
        self.failure = ""
        """Reason why the last pass failed; the next pass tries again."""
        self._home = home
        self._settings = settings
        self._writes = writes
        self._shutdown = shutdown
        self._throttle = throttle
        self._idle = threading.Condition()
        self._asked = 0
        self._answered = 0
        self._stored = 0
        self._flush = False
        self._is_under_way = True
        shutdown.on_stop(self._notify)

    def wait_until_idle(self, timeout_s: float, *, flush: bool = False) -> bool:
        """Wait for a pass that begins after this call and leaves nothing ready; return False at a timeout or stop."""
        with self._idle:
            number = self._request(flush=flush)
            self._idle.wait_for(lambda: self._answered >= number or self._shutdown.stopping.is_set(), timeout_s)
            return self._answered >= number

    def wait_until_stored(self, timeout_s: float) -> bool:
        """Wait for a pass that begins after this call until all that was ready is stored, but not for the rendering of
        contexts and maintenance; return False at a timeout or stop."""
        with self._idle:
            number = self._request(flush=False)
            self._idle.wait_for(lambda: self._stored >= number or self._shutdown.stopping.is_set(), timeout_s)
            return self._stored >= number

    def _request(self, *, flush: bool) -> int:
        """Ask for a pass; return the number of the caller."""
        self._asked += 1
        self._flush = self._flush or flush
        self._throttle.note_asked(for_all=flush)
        self._writes.wake()
        return self._asked

    def is_behind(self, name: str) -> bool:
        """Return whether any event but `name` waits in the spool, or a pass is under way."""
        if self._is_under_way or self._writes.is_woken() or not self._settings.is_current():
            return True
        return any(waiting != name for waiting in spool.waiting(self._home))

    # For the job thread alone.

    def note_idle(self) -> None:
        """Note that no pass is under way, for a loop that puts off its first pass because only the start of a session
        waits. Until a pass begins, `is_behind` then looks at the spool."""
        self._is_under_way = False

    def note_under_way(self) -> None:
        """Note that a pass begins."""
        self._is_under_way = True

    def take_request(self) -> PassRequest:
        """Return the callers that the coming pass answers."""
        with self._idle:
            request, self._flush = PassRequest(self._asked, self._flush), False
            return request

    def put_back(self, request: PassRequest) -> None:
        """Leave the callers of a pass to the next one."""
        with self._idle:
            self._is_under_way = False
            self._flush = self._flush or request.flush

    def note_stored(self, request: PassRequest) -> None:
        """Answer the callers that wait for stored turns alone."""
        with self._idle:
            self._stored = max(self._stored, request.number)
            self._idle.notify_all()

    def note_done(self, request: PassRequest) -> None:
        """Answer the callers of a pass that left nothing ready."""
        with self._idle:
            self._is_under_way = False
            self._answered = max(self._answered, request.number)
            self._stored = max(self._stored, request.number)
            self._idle.notify_all()

    def _notify(self) -> None:
        with self._idle:
            self._idle.notify_all()
