"""Application of the worker: hooks, the API, and one format for every error."""

import logging
import sqlite3
from collections.abc import Callable

from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.errors import (
    Ambiguous,
    CommandNotAccepted,
    ControlSession,
    InvalidRequest,
    MemoryLiteError,
    NotFound,
    WorkerEnded,
)
from claude_mem_lite.worker.answers.routes import HOOK_LANES, HookRoutes
from claude_mem_lite.worker.http.messages import HttpError, HttpResponse, Request, error_response
from claude_mem_lite.worker.services import Services

TYPE_CHECKING = False
if TYPE_CHECKING:
    from claude_mem_lite.worker.api.routing import Router

_API = "api"
LANES = {**HOOK_LANES, _API: 40}
"""Number of threads of each lane."""
_STATUS_AND_CODE: dict[type[MemoryLiteError], tuple[int, str]] = {
    NotFound: (404, "not_found"),
    Ambiguous: (409, "ambiguous"),
    ControlSession: (403, "control_session"),
    InvalidRequest: (422, "invalid"),
    WorkerEnded: (503, "ended"),
    CommandNotAccepted: (503, "not_accepted"),
}
log = logging.getLogger(__name__)


class App:
    """Application over the services of a worker; `stop` ends the process in good order."""

    def __init__(self, services: Services, stop: Callable[[], None]) -> None:
        self._services = services
        self._stop = stop
        self._hooks = HookRoutes(services)
        self._api: Router | None = None

    def lane_of(self, request: Request) -> str:
        """Return the lane of a request; '' if the answer takes no time."""
        return self._hooks.lane_of(request) if self._hooks.has(request) else _API

    def respond(self, request: Request) -> HttpResponse:
        """Return the response to a request, whatever goes wrong."""
        try:
            if self._hooks.has(request):
                return self._hooks.respond(request)
            self._note_request()
            # Imported with its first request: hooks do not need it, and pydantic alone takes a fifth of a start.
            self._api = self._api or self._import_api()
            return self._api.respond(request, self._services, self._stop)
        except HttpError as error:
            return error_response(error.status, "http", str(error))
        except MemoryLiteError as error:
            status, code = _STATUS_AND_CODE.get(type(error), (400, "refused"))
            return error_response(status, code, error.message, error.next_step)
        except Exception as error:  # a failed request ends no worker
            log.exception("request failed", extra={"path": request.path})
            return self._broken(error)

    def _note_request(self) -> None:
        """Have the job thread load what it needs, if this worker was started for a command."""
        if self._services.activity.note_other_request():
            self._services.writes.wake()

    def _import_api(self) -> "Router":
        package = self._services.package
        if not package.is_intact():  # what is there now, if anything, does not fit the rest of this worker
            if package.is_replaced():
                self._stop()
            raise MemoryLiteError("another version is being installed", "run this again in a moment")
        from claude_mem_lite.worker.api.routes import make_router

        return make_router()

    def _broken(self, error: Exception) -> HttpResponse:
        shutdown = self._services.shutdown
        # A database that was removed cannot be opened; whoever watches the log has seen damage, and had the loop end.
        is_removed = isinstance(error, sqlite3.Error) and not shutdown.has_files()
        if is_removed or (is_damage(error) and shutdown.stopping.is_set()):
            next_step = "run this again in a moment"
            return error_response(500, "damaged", "a database is damaged and is being recovered", next_step)
        home = self._services.home
        if home.is_on_full_disk():
            next_step = "make room there, then run this again"
            return error_response(500, "full", f"the disk of {home.root} is full", next_step)
        next_step = f"run `claude-mem-lite doctor`, and see the end of {home.worker_log}"
        return error_response(500, "internal", f"the worker failed: {type(error).__name__}", next_step)
