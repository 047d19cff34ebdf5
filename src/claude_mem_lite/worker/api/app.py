"""HTTP application of the worker on its Unix socket: hooks, the API, and one format for every error."""

import logging
import sqlite3
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

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
from claude_mem_lite.worker.answers import routes
from claude_mem_lite.worker.services import Services

_STATUS_AND_CODE: dict[type[MemoryLiteError], tuple[int, str]] = {
    NotFound: (404, "not_found"),
    Ambiguous: (409, "ambiguous"),
    ControlSession: (403, "control_session"),
    InvalidRequest: (422, "invalid"),
    WorkerEnded: (503, "ended"),
    CommandNotAccepted: (503, "not_accepted"),
}
log = logging.getLogger(__name__)


class Api:
    """API, imported at the first request: hooks do not need the API, and pydantic alone takes a fifth of a start."""

    def __init__(self, services: Services, stop: Callable[[], None]) -> None:
        self._services = services
        self._stop = stop
        self._router: Router | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._router is None:
            self._router = await run_in_threadpool(self._import)
        await self._router(scope, receive, send)

    def _import(self) -> Router:
        if (
            not self._services.package.is_intact()
        ):  # what is there now, if anything, does not fit the rest of this worker
            if self._services.package.is_replaced():
                self._stop()
            raise MemoryLiteError("another version is being installed", "run this again in a moment")
        from claude_mem_lite.worker.api.routes import make_router

        return make_router()


def make_app(services: Services, stop: Callable[[], None]) -> Starlette:
    """Return the application over a job loop; `stop` ends the process in good order."""
    app = Starlette(
        routes=routes.ROUTES,
        exception_handlers={
            MemoryLiteError: _refused,
            HTTPException: _http_error,
            Exception: _broken,
        },
    )
    app.state.services = services
    app.state.stop = stop
    routes.prepare(app)
    app.router.default = Api(services, stop)  # whatever is no hook's
    return app


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MemoryLiteError)
    status, code = _STATUS_AND_CODE.get(type(error), (400, "refused"))
    return _error(status, code, error.message, error.next_step)


async def _http_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _error(error.status_code, "http", str(error.detail), "")


async def _broken(request: Request, error: Exception) -> JSONResponse:
    log.error("request failed", exc_info=error, extra={"path": request.url.path})
    services = request.app.state.services
    # A database that was removed cannot be opened; whoever watches the log has seen damage, and had the loop end.
    is_removed = isinstance(error, sqlite3.Error) and not services.shutdown.has_files()
    if is_removed or (is_damage(error) and services.shutdown.stopping.is_set()):
        return _error(500, "damaged", "a database is damaged and is being recovered", "run this again in a moment")
    return _error(500, "internal", f"the worker failed: {type(error).__name__}", "see worker.log")


def _error(status: int, code: str, message: str, next_step: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "next_step": next_step}}, status)
