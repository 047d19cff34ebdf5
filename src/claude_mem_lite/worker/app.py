"""The worker's HTTP face on its Unix socket: what hooks send, the API, and one shape for every error."""

import logging
from collections.abc import Callable
from functools import cache

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from claude_mem_lite.db.soundness import is_damage
from claude_mem_lite.errors import Ambiguous, InvalidRequest, MemoryLiteError, NotFound
from claude_mem_lite.worker import hooks_api
from claude_mem_lite.worker.loop import Loop

_STATUS_AND_CODE: dict[type[MemoryLiteError], tuple[int, str]] = {
    NotFound: (404, "not_found"),
    Ambiguous: (409, "ambiguous"),
    InvalidRequest: (422, "invalid"),
}
log = logging.getLogger(__name__)


class Api:
    """The API, imported when it is first asked: hooks need none of it, and pydantic alone takes a fifth of a start."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        router = await run_in_threadpool(_api)
        await router(scope, receive, send)


@cache
def _api() -> Router:
    from claude_mem_lite.worker.api_routes import make_router

    return make_router()


def make_app(loop: Loop, stop: Callable[[], None]) -> Starlette:
    """The application over one job loop; `stop` ends the process in good order."""
    app = Starlette(
        routes=[*hooks_api.ROUTES, Route("/api/{_behind_api:path}", Api())],
        exception_handlers={
            MemoryLiteError: _refused,
            HTTPException: _http_error,
            Exception: _broken,
        },
    )
    app.state.loop = loop
    app.state.stop = stop
    hooks_api.prepare(app)
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
    loop = request.app.state.loop
    if is_damage(error) and loop.stopping.is_set():  # whoever watches the log has seen it, and had the loop end
        return _error(500, "damaged", "a database is damaged and is being recovered", "run this again in a moment")
    return _error(500, "internal", f"the worker failed: {type(error).__name__}", "see worker.log")


def _error(status: int, code: str, message: str, next_step: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "next_step": next_step}}, status)
