"""Requests of the client to the worker over its Unix socket: parameters, deadline, retries with the next worker, checks
of responses."""

from __future__ import annotations

import http.client
import json
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlencode

from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.errors import (
    Ambiguous,
    CommandNotAccepted,
    ControlSession,
    MemoryLiteError,
    NotFound,
    WorkerEnded,
    WorkerRefused,
    WorkerSilent,
    WorkerUnavailable,
)
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.encoding import Value, from_json
from claude_mem_lite.values import frozen

# sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included.
MAX_SOCKET_PATH_LENGTH = 103
_REFUSALS: dict[str, type[MemoryLiteError]] = {
    "not_found": NotFound,
    "ambiguous": Ambiguous,
    "control_session": ControlSession,
    "ended": WorkerEnded,
    "not_accepted": CommandNotAccepted,
    "damaged": WorkerEnded,
}
DOCTOR = "run `claude-mem-lite doctor`"


def request(
    path: Path,
    method: str,
    target: str,
    *,
    query: Sequence[tuple[str, str]] = (),
    body: JsonObject | None = None,
    timeout_s: float = 30.0,
    agent_session: str | None = None,
) -> JsonObject:
    """Send a request to the worker on socket `path`, and return the JSON object of the response. Never starts a worker
    and never retries.

    WorkerUnavailable if no worker answers, WorkerSilent if a worker does not answer in time; NotFound, Ambiguous or
    WorkerRefused if the worker refuses."""
    connection = _UnixConnection(path, timeout_s)
    address = f"{target}?{urlencode(query, errors='replace')}" if query else target
    payload = None if body is None else json.dumps(body).encode()
    headers = {} if payload is None else {"Content-Type": "application/json"}
    if agent_session is not None:
        headers["X-Agent-Session"] = quoted(agent_session)
    try:
        connection.request(method, address, body=payload, headers=headers)
        response = connection.getresponse()
        return _object_of(response.status, response.read())
    except TimeoutError as error:
        raise WorkerSilent(f"the worker did not answer within {timeout_s:.3g} s", DOCTOR) from error
    except (http.client.RemoteDisconnected, http.client.IncompleteRead, ConnectionResetError) as error:
        raise WorkerEnded("the worker ended before it answered", "run this again in a moment") from error
    except (ConnectionError, FileNotFoundError) as error:
        raise WorkerUnavailable("no worker answers", "run `claude-mem-lite worker start`") from error
    except http.client.HTTPException as error:
        raise WorkerRefused("the program on the worker's socket does not speak HTTP", DOCTOR) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise WorkerUnavailable(f"the worker's socket {path} cannot be used ({reason})", DOCTOR) from error
    finally:
        connection.close()


def _object_of(status: int, content: bytes) -> JsonObject:
    try:
        answer: JsonValue = json.loads(content)
    except ValueError as error:
        raise WorkerRefused(f"the worker answered {status} with something that is not JSON", DOCTOR) from error
    if not isinstance(answer, dict):
        raise WorkerRefused(f"the worker answered {status} with something other than an object", DOCTOR)
    if status >= 400:
        raise _refusal(status, answer.get("error"))
    return answer


def _refusal(status: int, given: JsonValue) -> MemoryLiteError:
    error = given if isinstance(given, dict) else {}
    kind = _REFUSALS.get(str(error.get("code")), WorkerRefused)
    message = error.get("message") or f"the worker refused the request with status {status}"
    return kind(str(message), str(error.get("next_step") or ""))


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        if len(os.fsencode(self._path)) <= MAX_SOCKET_PATH_LENGTH:
            self.sock.connect(os.fspath(self._path))
            return
        with _working_in(self._path.parent):
            self.sock.connect(self._path.name)


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """Change the working folder for a moment; not for programs whose other threads use relative paths."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        try:
            yield
        finally:
            os.fchdir(before)
    finally:
        os.close(before)


# Longer than the time after which the worker reports that it is busy.
IMPORT_TIMEOUT_S = 660.0
EXPORT_TIMEOUT_S = 120.0
PROBE_TIMEOUT_S = 2.0
_MIN_TIMEOUT_S = 0.05
MAX_WORKERS = 5
"""Limit of workers for one call, one after another, while a home is corrupted again and again."""


@frozen
class BaseClient:
    """Connection to the worker of one home. Every call raises WorkerUnavailable if no worker answers."""

    home: Home
    deadline: Deadline = NEVER
    """Deadline of all calls together."""
    next_worker: Callable[[], object] | None = None
    """Starts the next worker when the present one ends; None if the caller does so."""
    agent_session: str | None = None
    """Session that the client of an agent names, '' if it names none; None if no agent asks."""

    def _get(self, target: str, query: Sequence[tuple[str, str]] = (), *, timeout_s: float = 30.0) -> JsonObject:
        wait_s = self._patience(timeout_s)
        return request(self.home.socket, "GET", target, query=query, timeout_s=wait_s, agent_session=self.agent_session)

    def _post(self, target: str, body: JsonObject, *, timeout_s: float = 30.0) -> JsonObject:
        return self._send("POST", target, body, timeout_s)

    def _patch(self, target: str, body: JsonObject) -> JsonObject:
        return self._send("PATCH", target, body, 30.0)

    def _send(
        self, method: str, target: str, body: JsonObject, timeout_s: float, workers: int = MAX_WORKERS
    ) -> JsonObject:
        """Send a request; repeat it, up to `workers` times, if a worker ends before accepting the request."""
        try:
            wait_s = self._patience(timeout_s)
            return request(
                self.home.socket, method, target, body=body, timeout_s=wait_s, agent_session=self.agent_session
            )
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
