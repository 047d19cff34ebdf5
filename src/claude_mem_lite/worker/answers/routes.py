"""Routes for hooks. They need nothing of the API, which is imported later than the first session starts."""

import asyncio
import sqlite3
from functools import partial

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.event_names import agent_of, is_spool_name, new_name
from claude_mem_lite.store import guards
from claude_mem_lite.worker.answers import late_answers, reply, session_start
from claude_mem_lite.worker.services import Services

_SOON_S = 0.05
# Separate threads: the start of a session must not wait for two hundred searches, nor a prompt for starting sessions.
_HOOKS_AT_ONCE = 8
_ANSWERS = {
    "UserPromptSubmit": late_answers.prompt_context,
    "PostToolUse": late_answers.success_context,
    "PostToolUseFailure": late_answers.failure_context,
}


def prepare(app: Starlette) -> None:
    """Add to an application the state that the routes of hooks need."""
    app.state.wake_due = False
    app.state.for_starts = anyio.CapacityLimiter(_HOOKS_AT_ONCE)
    app.state.for_hooks = anyio.CapacityLimiter(_HOOKS_AT_ONCE)


def running(request: Request) -> Services:
    """Return the services for a request, and note the request as activity."""
    services = request.app.state.services
    assert isinstance(services, Services)
    services.activity.note_request()
    return services


async def _printed(request: Request) -> Response:
    """Note that a hook has printed its answer."""
    services = running(request)
    name = request.headers.get("x-spool", "")
    reply.mark_printed(services, name)
    if told := services.notices.note_printed(name):
        services.writes.execute_write(partial(_mark_announced, told), later=True)
    return Response(status_code=204)


def _mark_announced(ids: list[str], db: sqlite3.Connection) -> None:
    with atomic(db):
        guards.mark_announced(db, ids)


async def _event(request: Request) -> Response:
    """Answer an event from the spool, or from the body when the hook could write no file.

    The name of the agent may follow the name of the event."""
    services = running(request)
    label: str = request.path_params["event"]
    event = label.partition("_")[0]
    name = request.headers.get("x-spool", "")
    # Most hooks send no body and are gone already; reading a body would raise.
    body = await request.body() if request.headers.get("content-length", "0") != "0" else b""
    if body:
        name = name if is_spool_name(name) else new_name(label, services.clock())
        services.intake.hold(name, body)
    elif event in TURN_ENDS:
        services.writes.wake()
    try:
        reply = await _answer(request.app, services, event, name, body) if is_spool_name(name) else None
    finally:
        _wake_soon(request.app, services)
    if reply == session_start.NOT_IN_TIME:
        return Response(status_code=503)
    return Response(reply, media_type="application/json") if reply else Response(status_code=204)


async def _answer(app: Starlette, services: Services, event: str, name: str, body: bytes) -> bytes | None:
    if event == "SessionStart":
        return await anyio.to_thread.run_sync(
            session_start.start_context, services, name, body, limiter=app.state.for_starts
        )
    answer = late_answers.either_context if event == "PostToolUse" and agent_of(name) else _ANSWERS.get(event)
    if answer:
        return await anyio.to_thread.run_sync(answer, services, name, body, limiter=app.state.for_hooks)
    return None


def _wake_soon(app: Starlette, services: Services) -> None:
    """Wake the job loop once for all events of a moment, after the answers.

    An immediate pass would compete with the answers for the interpreter, and commit every event alone."""
    if not app.state.wake_due:
        app.state.wake_due = True

        def wake() -> None:
            app.state.wake_due = False
            services.writes.wake()

        asyncio.get_running_loop().call_later(_SOON_S, wake)


# Async handlers: with a thread, a hook that does not wait would be gone before its request is read.
ROUTES = (
    Route("/hook/printed", _printed, methods=["POST"]),
    Route("/hook/{event}", _event, methods=["POST"]),
)
