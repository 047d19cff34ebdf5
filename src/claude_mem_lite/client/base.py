"""Requests of the client to the worker: parameters, deadline, retries with the next worker, checks of responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, cast
from urllib.parse import quote

from claude_mem_lite.client import transport
from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.errors import CommandNotAccepted, WorkerRefused
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.encoding import Value, from_json

# Longer than the time after which the worker reports that it is busy.
IMPORT_TIMEOUT_S = 660.0
EXPORT_TIMEOUT_S = 120.0
PROBE_TIMEOUT_S = 2.0
_MIN_TIMEOUT_S = 0.05
MAX_WORKERS = 5
"""Limit of workers for one call, one after another, while a home is corrupted again and again."""


@dataclass(frozen=True, slots=True)
class BaseClient:
    """Connection to the worker of one home. Every call raises WorkerUnavailable if no worker answers."""

    home: Home
    deadline: Deadline = NEVER
    """Deadline of all calls together."""
    next_worker: Callable[[], object] | None = None
    """Starts the next worker when the present one ends; None if the caller does so."""

    def _get(self, target: str, query: Sequence[tuple[str, str]] = (), *, timeout_s: float = 30.0) -> JsonObject:
        return transport.request(self.home.socket, "GET", target, query=query, timeout_s=self._patience(timeout_s))

    def _post(self, target: str, body: JsonObject, *, timeout_s: float = 30.0) -> JsonObject:
        return self._send("POST", target, body, timeout_s)

    def _patch(self, target: str, body: JsonObject) -> JsonObject:
        return self._send("PATCH", target, body, 30.0)

    def _send(
        self, method: str, target: str, body: JsonObject, timeout_s: float, workers: int = MAX_WORKERS
    ) -> JsonObject:
        """Send a request; repeat it, up to `workers` times, if a worker ends before accepting the request."""
        try:
            return transport.request(self.home.socket, method, target, body=body, timeout_s=self._patience(timeout_s))
        except CommandNotAccepted:
            if self.next_worker is None or workers <= 1:
                raise
            self.next_worker()
        return self._send(method, target, body, timeout_s, workers - 1)

    def _patience(self, timeout_s: float) -> float:
        return max(min(timeout_s, self.deadline.left_s()), _MIN_TIMEOUT_S)


def query_of(**values: str | int | None) -> list[tuple[str, str]]:
    """Return the parameters of a request, without None, '' and False."""
    asked = {name: value for name, value in values.items() if value is not None and value != "" and value is not False}
    return [(name, "true" if value is True else str(value)) for name, value in asked.items()]


def quoted(part: str) -> str:
    """Return an id as one part of a path; ids of sessions come from agents and may contain a slash."""
    return quote(part, safe="", errors="replace")


def read(cls: type[Value], answer: JsonObject) -> Value:
    """Return a response; raise WorkerRefused if a required field is missing, or a required list has unusable items."""
    response, declared = from_json(cls, answer), cast("Any", cls)
    for field in fields(declared):
        if field.default is MISSING and field.default_factory is MISSING:
            received = answer.get(field.name)
            if received is None or (isinstance(received, list) and len(getattr(response, field.name)) < len(received)):
                raise _unexpected(field.name)
    return response


def _unexpected(key: str) -> WorkerRefused:
    return WorkerRefused(f"the worker's answer has no usable {key}", "run `claude-mem-lite worker stop` and try again")
