"""What hooks tell the worker, and what they are answered. Needs nothing of the API, which is not imported yet when the
first session starts."""

import asyncio

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.event_names import agent_of, is_spool_name, new_name
from claude_mem_lite.worker.answers import prompt, reply, session_start, tool_use
from claude_mem_lite.worker.loop import Loop

_SOON_S = 0.05
# Threads of their own: a session that starts does not stand behind two hundred searches, nor a prompt behind sessions
# that start and wait for the inbox.
_HOOKS_AT_ONCE = 8
_ANSWERS = {
    "UserPromptSubmit": prompt.prompt_context,
    "PostToolUse": tool_use.success_context,
    "PostToolUseFailure": tool_use.failure_context,
}


def prepare(app: Starlette) -> None:
    """Give an application over a job loop what the routes of hooks need."""
    app.state.wake_due = False
    app.state.for_starts = anyio.CapacityLimiter(_HOOKS_AT_ONCE)
    app.state.for_hooks = anyio.CapacityLimiter(_HOOKS_AT_ONCE)


def running(request: Request) -> Loop:
    """The job loop that a request is for, which notes that somebody asked."""
    loop = request.app.state.loop
    assert isinstance(loop, Loop)
    loop.activity.note_request()
    return loop


async def _printed(request: Request) -> Response:
    """A hook has printed the answer to the event it names."""
    loop = running(request)
    name = request.headers.get("x-spool", "")
    reply.mark_printed(loop, name)
    loop.telling.note_printed(name)
    return Response(status_code=204)


async def _event(request: Request) -> Response:
    """An event is in the spool, or here in the body when it could be written nowhere.

    Behind its name may stand that of its agent."""
    loop = running(request)
    label: str = request.path_params["event"]
    event = label.partition("_")[0]
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
        return await anyio.to_thread.run_sync(
            session_start.start_context, loop, name, body, limiter=app.state.for_starts
        )
    answer = tool_use.either_context if event == "PostToolUse" and agent_of(name) else _ANSWERS.get(event)
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


# Async handlers: by way of a thread, a hook that does not wait would be gone before its request is looked at.
ROUTES = (
    Route("/hook/printed", _printed, methods=["POST"]),
    Route("/hook/{event}", _event, methods=["POST"]),
)
