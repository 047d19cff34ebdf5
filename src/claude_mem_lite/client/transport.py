"""One JSON request to the worker over its Unix socket. Only the client calls this module.

`request` never starts a worker and never retries: both are decisions of the caller."""

import http.client
import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from claude_mem_lite.errors import (
    Ambiguous,
    CommandNotAccepted,
    MemoryLiteError,
    NotFound,
    WorkerEnded,
    WorkerRefused,
    WorkerSilent,
    WorkerUnavailable,
)
from claude_mem_lite.models import JsonObject, JsonValue

# sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included.
MAX_SOCKET_PATH_LENGTH = 103
_REFUSALS: dict[str, type[MemoryLiteError]] = {
    "not_found": NotFound,
    "ambiguous": Ambiguous,
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
) -> JsonObject:
    """Send a request to the worker on socket `path`, and return the JSON object of the response.

    WorkerUnavailable if no worker answers, WorkerSilent if a worker does not answer in time; NotFound, Ambiguous or
    WorkerRefused if the worker refuses."""
    connection = _UnixConnection(path, timeout_s)
    address = f"{target}?{urlencode(query, errors='replace')}" if query else target
    payload = None if body is None else json.dumps(body).encode()
    headers = {} if payload is None else {"Content-Type": "application/json"}
    try:
        connection.request(method, address, body=payload, headers=headers)
        response = connection.getresponse()
        return _read(response.status, response.read())
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


def _read(status: int, content: bytes) -> JsonObject:
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
