"""Commands on their way through the inbox: from who gives one to the job thread, and back with what became of it."""

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime

from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.errors import CommandNotAccepted, MemoryLiteError, NotFound, WorkerEnded
from claude_mem_lite.event_names import new_name
from claude_mem_lite.inbox import spool
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import JsonObject
from claude_mem_lite.safety.clean_import import without_private
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker import commands
from claude_mem_lite.worker.backup_scheduler import BackingUp

Do = Callable[[str, JsonObject, datetime], list[str]]
"""The name of a command, what it says, and the time -> the ids of the memories concerned."""


class Commands:
    """Those that were put into the inbox, and who waits for them. Any thread may put one."""

    def __init__(
        self,
        queue: Queue,
        memory_db: sqlite3.Connection,
        clock: Clock,
        backing_up: BackingUp,
        *,
        call_queue: Callable[[Callable[[Queue], None]], Future[None]],
        do: Do,
        suspect: Callable[[], None],
    ) -> None:
        self._queue = queue
        self._memory_db = memory_db
        self._clock = clock
        self._backing_up = backing_up
        self._call_queue = call_queue
        self._do = do
        self._suspect = suspect
        self._waiting: dict[str, Future[list[str]]] = {}

    def put(self, payload: JsonObject, problem: str) -> Future[list[str]]:
        """Put what the user did into the inbox, unless a problem keeps it from taking anything in; the result comes
        when it has been carried out."""
        name = new_name("Command", self._clock())
        told = {**payload, "hook_event_name": "Command", "session_id": ""}
        raw = without_private(json.dumps(told).encode())
        arrival = spool.read_arrival(name, raw, lambda _: False)
        future: Future[list[str]] = Future()
        problem = problem or (arrival.problem if arrival else "")
        if arrival is None or problem:
            future.set_exception(MemoryLiteError(f"the command could not be stored: {problem}"))
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

        self._call_queue(store).add_done_callback(refuse)
        return future

    def end(self) -> None:
        """Tell whoever waits that nothing more is carried out here; what is in the inbox is left to the next worker."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(
                    WorkerEnded("the worker ended before this was done", "it is kept, and the next worker does it")
                )

    def carry_out(self, row: Row) -> None:
        """Do what a command says. Whoever waits for it goes on waiting while it is to be tried again."""
        now = self._clock()
        waiting = self._waiting.get(row.name, Future())
        told: JsonObject = {}
        try:
            told = row.told()
            result = self._do(row.name, told, now)
        except MemoryLiteError as error:
            self._queue.finish([], now.timestamp(), skipped={row.id: error.message})
            if isinstance(error, NotFound):
                commands.erase_if_forgotten(told, self._queue, self._memory_db)
            waiting.set_exception(error)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not is_damage(error):  # locked or full: tried again
                raise
            self._suspect()
            waiting.set_exception(
                MemoryLiteError("the database is damaged", "this is kept, and done once the database is recovered")
            )
            raise
        else:
            self._queue.finish([row.id], now.timestamp())
            if told.get("command") in commands.FORGETTING:  # it is gone when it has left the backups too
                self._backing_up.let_leave(lambda: waiting.set_result(result))
            else:
                waiting.set_result(result)
        self._waiting.pop(row.name, None)
