"""Writes of all threads, executed by one thread: the job thread is the only thread that writes a database.
Commands go through the inbox, and their callers wait for the results."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

from claude_mem_lite.errors import CommandNotAccepted, MemoryLiteError, WorkerEnded
from claude_mem_lite.event_names import new_name
from claude_mem_lite.inbox import spool
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import JsonObject
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.shutdown import Activity, Shutdown

Result = TypeVar("Result")


class WriteThread:
    """Queue of writes for the job thread. Any thread may add a write; the job thread alone runs them."""

    def __init__(self, memory_db: sqlite3.Connection, queue: Queue, shutdown: Shutdown, activity: Activity) -> None:
        self._memory_db = memory_db
        self._queue = queue
        self._shutdown = shutdown
        self._activity = activity
        self._wake = threading.Event()
        self._pending: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._has_ended = False
        shutdown.on_stop(self._wake.set)

    def execute_write(self, write: Callable[[sqlite3.Connection], Result], *, later: bool = False) -> Future[Result]:
        """Run a write on memory.db in the job thread, in order; `later`: with the next pass, because nobody waits."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                self._require_files()
                result = write(self._memory_db)
                self._require_files()  # once more: a write to a removed file is lost
                future.set_result(result)
            except Exception as error:  # noqa: BLE001  handed to the caller that waits for the result
                future.set_exception(error)

        self._pending.put(run)
        if self._has_ended:  # the job thread is gone, so the write is refused in this thread
            self.run_pending()
        if not later:
            self.wake()
        return future

    def execute_queue_write(self, write: Callable[[Queue], Result]) -> Future[Result]:
        """Run a write on the inbox in the job thread, in order."""
        return self.execute_write(lambda _: write(self._queue))

    def execute_write_to_both(self, write: Callable[[sqlite3.Connection, Queue], Result]) -> Future[Result]:
        """Run a write on memory.db and the inbox in the job thread, in order."""
        return self.execute_write(lambda db: write(db, self._queue))

    def wake(self, *, is_request: bool = True) -> None:
        """Begin the next pass at once; a request also keeps the worker from ending as idle."""
        if is_request:
            self._activity.note_request()
        self._wake.set()

    def is_woken(self) -> bool:
        """Return whether a pass is due at once."""
        return self._wake.is_set()

    # For the job thread alone.

    def wait(self, timeout_s: float) -> None:
        """Wait until woken; `clear` has to follow."""
        self._wake.wait(timeout_s)

    def clear(self) -> None:
        """Count later calls of `wake` as new."""
        self._wake.clear()

    def run_pending(self) -> None:
        """Run the writes that wait."""
        with suppress(Empty):
            while True:
                self._pending.get_nowait()()

    def end(self) -> None:
        """Refuse the writes that wait, and all later ones."""
        self._has_ended = True
        self.run_pending()

    def _require_files(self) -> None:
        if self._has_ended:
            raise self._shutdown.refusal()
        self._shutdown.require_files()


class CommandQueue:
    """Commands in the inbox, with a future for each caller. Any thread may call `put`, the job thread all else."""

    def __init__(self, settings: SettingsSource, writes: WriteThread, clock: Clock) -> None:
        self._settings = settings
        self._writes = writes
        self._clock = clock
        self._waiting: dict[str, Future[list[str]]] = {}

    def put(self, payload: JsonObject) -> Future[list[str]]:
        """Put a command into the inbox, unless the settings are invalid; the future ends when the command is done."""
        name = new_name("Command", self._clock())
        command: JsonObject = {**payload, "hook_event_name": "Command", "session_id": ""}
        from claude_mem_lite.safety.clean_import import without_private  # late: no hook sends a command

        arrival = spool.read_arrival(name, without_private(command), lambda _: False)
        future: Future[list[str]] = Future()
        problem = self._settings.problem or (arrival.problem if arrival else "")
        if arrival is None or problem:
            future.set_exception(
                MemoryLiteError(f"the command could not be stored: {problem}", "fix that and run the command again")
            )
            return future

        def store(queue: Queue) -> None:
            queue.add([arrival], self._clock().timestamp())
            self._waiting[name] = future

        def refuse(stored: Future[None]) -> None:
            error = stored.exception()
            if error is None or name in self._waiting:
                return
            if isinstance(error, WorkerEnded):
                error = CommandNotAccepted(error.message, error.next_step)
            future.set_exception(error)

        self._writes.execute_queue_write(store).add_done_callback(refuse)
        return future

    def future_of(self, name: str) -> Future[list[str]]:
        """Return the future of a command; an unused one when the caller was of another worker."""
        return self._waiting.get(name, Future())

    def remove(self, name: str) -> None:
        """Drop the future of a command that is done."""
        self._waiting.pop(name, None)

    def end(self) -> None:
        """Refuse all callers that wait; commands in the inbox are left to the next worker."""
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(
                    WorkerEnded("the worker ended before this was done", "it is kept, and the next worker does it")
                )
