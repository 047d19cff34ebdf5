"""The worker's HTTP face on its Unix socket: what hooks send, the API, and one shape for every error."""

import asyncio
import logging
from collections.abc import Callable

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.db.soundness import is_damage
from claude_mem_lite.errors import Ambiguous, MemoryLiteError, NotFound
from claude_mem_lite.spool_names import agent_of, is_spool_name, new_name
from claude_mem_lite.worker import (
    amending_api,
    api,
    asked_api,
    backups_api,
    claude_mem,
    code_api,
    context_api,
    days_api,
    exchange,
    feed_api,
    importing,
    quarantine_api,
    reading,
    rebuilding,
    receipts_api,
    settings_api,
    staleness,
    stats_api,
)
from claude_mem_lite.worker.answering import prompt, recording, start, tool_calls
from claude_mem_lite.worker.api import Running
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.routing import Invalid, Router

_STATUS_AND_CODE: dict[type[MemoryLiteError], tuple[int, str]] = {
    NotFound: (404, "not_found"),
    Ambiguous: (409, "ambiguous"),
}
_SOON_S = 0.05
# Threads of their own: a session that starts does not stand behind two hundred searches, nor a prompt behind sessions
# that start and wait for the inbox.
_HOOKS_AT_ONCE = 8
_ANSWERS = {
    "UserPromptSubmit": prompt.prompt_context,
    "PostToolUse": tool_calls.success_context,
    "PostToolUseFailure": tool_calls.failure_context,
}
log = logging.getLogger(__name__)
# Its handlers are async: by way of a thread, a hook that does not wait would be gone before its request is looked at.
hooks = Router()


def make_app(loop: Loop, stop: Callable[[], None]) -> Starlette:
    """The application over one job loop; `stop` ends the process in good order."""
    routers = (
        hooks,
        api.router,
        amending_api.router,
        quarantine_api.router,
        reading.router,
        staleness.router,
        receipts_api.router,
        stats_api.router,
        days_api.router,
        feed_api.router,
        context_api.router,
        asked_api.router,
        code_api.router,
        importing.router,
        rebuilding.router,
        settings_api.router,
        exchange.router,
        backups_api.router,
        claude_mem.router,
    )
    app = Starlette(
        routes=[route for router in routers for route in router.routes],
        exception_handlers={
            MemoryLiteError: _refused,
            Invalid: _invalid,
            HTTPException: _http_error,
            Exception: _broken,
        },
    )
    app.state.loop = loop
    app.state.stop = stop
    app.state.wake_due = False
    app.state.for_starts = anyio.CapacityLimiter(_HOOKS_AT_ONCE)
    app.state.for_hooks = anyio.CapacityLimiter(_HOOKS_AT_ONCE)
    return app


@hooks.post("/hook/printed")
async def hook_printed(request: Request, loop: Running) -> Response:
    """A hook has printed the answer to the event it names."""
    name = request.headers.get("x-spool", "")
    recording.mark_printed(loop, name)
    loop.telling.note_printed(name)
    return Response(status_code=204)


@hooks.post("/hook/{event}")
async def hook(event: str, request: Request, loop: Running) -> Response:
    """An event is in the spool, or here in the body when it could be written nowhere.

    Behind its name may stand that of its agent."""
    label, event = event, event.partition("_")[0]
    name = request.headers.get("x-spool", "")
    # Most hooks send no body and are gone already; asking for it would raise.
    body = await request.body() if request.headers.get("content-length", "0") != "0" else b""
    if body:
        name = name if is_spool_name(name) else new_name(label, loop.clock())
        loop.hold(name, body)
    elif event in TURN_ENDS:
        loop.wake()
    try:
        reply = await _answer(request.app, loop, event, name, body) if is_spool_name(name) else None
    finally:
        _wake_soon(request.app, loop)
    return Response(reply, media_type="application/json") if reply else Response(status_code=204)


async def _answer(app: Starlette, loop: Loop, event: str, name: str, body: bytes) -> bytes | None:
    if event == "SessionStart":
        return await anyio.to_thread.run_sync(start.start_context, loop, name, body, limiter=app.state.for_starts)
    answer = tool_calls.either_context if event == "PostToolUse" and agent_of(name) else _ANSWERS.get(event)
    if answer:
        return await anyio.to_thread.run_sync(answer, loop, name, body, limiter=app.state.for_hooks)
    return None


def _wake_soon(app: Starlette, loop: Loop) -> None:
    """Wake the job loop once for all the events of a moment, after they have been answered.

    At once it would compete with the answer for the interpreter, and commit each event by itself."""
    if not app.state.wake_due:
        app.state.wake_due = True

        def wake() -> None:
            app.state.wake_due = False
            loop.wake()

        asyncio.get_running_loop().call_later(_SOON_S, wake)


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MemoryLiteError)
    status, code = _STATUS_AND_CODE.get(type(error), (400, "refused"))
    return _error(status, code, error.message, error.next_step)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    return _error(422, "invalid", str(error), "")


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
