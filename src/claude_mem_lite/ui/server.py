"""Server of the page: fixed files, parts rendered on request, actions, and a stream of changes.

The server runs on loopback as long as `claude-mem-lite ui`. All data comes from the worker, except the switch that
turns memory off: a file.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib.resources import files
from typing import TypeVar

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError, NotFound, WorkerSilent, WorkerUnavailable
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.ui.access_gate import Gate
from claude_mem_lite.ui.actions import HEALTH_ACTIONS, LESSON_ACTIONS, MEMORY_ACTIONS, PROJECT_ACTIONS
from claude_mem_lite.ui.pages.context import context
from claude_mem_lite.ui.pages.evaluation import evaluation
from claude_mem_lite.ui.pages.experiment import experiment
from claude_mem_lite.ui.pages.feed import feed
from claude_mem_lite.ui.pages.guards import GUARD_ACTIONS, guard, guards
from claude_mem_lite.ui.pages.health import health
from claude_mem_lite.ui.pages.lists import lessons, projects, quarantine, search
from claude_mem_lite.ui.pages.memory import memory
from claude_mem_lite.ui.pages.session import session, turn
from claude_mem_lite.ui.pages.team import TEAM_ACTIONS, team, team_preview
from claude_mem_lite.ui.templating import Action, Asked, Part, render

Answer = TypeVar("Answer")
IsEnding = Callable[[], bool]
Enter = Callable[[str], str | None]
WasUsed = Callable[[str], bool]
_USED = (
    "This link was used: each link opens the page once. The next link is in the terminal where `claude-mem-lite ui` "
    "runs; without that terminal, run `claude-mem-lite ui` again."
)
_UNKNOWN = (
    "This link is no longer good: it is not whole, or of a `claude-mem-lite ui` that has ended. "
    "Run `claude-mem-lite ui` for another."
)
_POLL_S = 1.0
# So soon a stream ends when its server does.
_STEP_S = 0.2
# A line that says nothing keeps both ends sure of each other.
_BEATS = 15
_GUARDED = ("/part/", "/do/", "/events")
"""What tells or changes something: here the token is needed."""
_STATIC = {"app.js": "text/javascript", "style.css": "text/css", "icon.svg": "image/svg+xml"}
"""All that is served as it lies there, by its name: no path of a request ever becomes one of the disk."""
PARTS: Mapping[str, Part] = {
    "/": feed,
    "/search": search,
    "/context": context,
    "/health": health,
    "/evaluation": evaluation,
    "/experiment": experiment,
    "/sessions/{id:path}": session,
    "/turns/{id:path}": turn,
    "/memories/{id:path}": memory,
    "/lessons": lessons,
    "/guards": guards,
    "/guards/{id:path}": guard,
    "/quarantine": quarantine,
    "/projects": projects,
    "/team": team,
    "/team/preview": team_preview,
}
"""By the path in the address bar; a page is the shell with its part in it."""


def make_app(
    client: Client,
    token: str,
    port: int,
    enter: Enter = lambda _: None,
    was_used: WasUsed = lambda _: False,
    is_ending: IsEnding = lambda: False,
    folder: str = "",
) -> ASGIApp:
    """Return the server behind the access check. `enter` returns the token for a code, `was_used` is True for a used
    code, `is_ending` is True when streams must end. Pages begin with the project of `folder`."""
    pages = files("claude_mem_lite.ui") / "static"
    fixed = {name: (pages / name).read_bytes() for name in _STATIC}
    shell = (pages / "shell.html").read_bytes()

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in fixed:
            return Response(status_code=404)
        return Response(fixed[name], media_type=_STATIC[name], headers={"cache-control": "no-cache"})

    async def page(_: Request) -> Response:
        return HTMLResponse(shell)

    routes = [
        Route("/static/{name}", static),
        Route("/enter", _entering(enter, was_used), methods=["POST"]),
        Route("/events", _events(client, is_ending)),
    ]
    for path, part in PARTS.items():
        routes += [Route(path, page), Route(f"/part{path}", _showing(client, part, folder))]
    actions = {**MEMORY_ACTIONS, **LESSON_ACTIONS, **PROJECT_ACTIONS, **TEAM_ACTIONS, **HEALTH_ACTIONS}
    actions |= GUARD_ACTIONS
    routes += [Route(f"/do/{name}", _doing(client, do), methods=["POST"]) for name, do in actions.items()]
    routes += [Route(f"/{place}/{{unknown:path}}", _nothing) for place in ("static", "part", "do")]
    routes.append(Route("/{unknown:path}", page))
    app = Starlette(routes=routes, exception_handlers={Exception: _broken})
    return Gate(app, token, port, is_open=lambda path: not path.startswith(_GUARDED))


def _showing(client: Client, part: Part, folder: str) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        asked = Asked(client, dict(request.path_params), request.query_params, folder)
        try:
            return HTMLResponse(await run_in_threadpool(_with_worker, client, lambda: part(asked)))
        except MemoryLiteError as error:
            return _failed(error)

    return show


def _doing(client: Client, do: Action) -> Callable[[Request], Awaitable[Response]]:
    async def act(request: Request) -> Response:
        given = await _sent(request)
        if given is None:
            return JSONResponse({"error": "the request body is no JSON object"}, 400)
        try:
            return JSONResponse(await run_in_threadpool(_with_worker, client, lambda: do(client, given)))
        except MemoryLiteError as error:
            return JSONResponse({"error": f"{error.message}: {error.next_step}".removesuffix(": ")}, 409)

    return act


async def _nothing(_: Request) -> Response:
    return HTMLResponse(render("problem.html", message="there is no such page", next_step=""), 404)


def _entering(enter: Enter, was_used: WasUsed) -> Callable[[Request], Awaitable[Response]]:
    async def entering(request: Request) -> Response:
        code = text((await _sent(request) or {}).get("code"))
        token = enter(code)
        if token is None:
            return JSONResponse({"error": _USED if was_used(code) else _UNKNOWN}, 403)
        return JSONResponse({"token": token})

    return entering


def _events(client: Client, is_ending: IsEnding) -> Callable[[Request], Awaitable[Response]]:
    async def events(_: Request) -> Response:
        return StreamingResponse(_event_stream(client, is_ending), media_type="text/event-stream")

    return events


async def _event_stream(client: Client, is_ending: IsEnding) -> AsyncIterator[str]:
    """Yield server-sent events: `changed` with the counters of the worker, `away` while no worker answers.

    The worker is asked once a second. A single tab of a browser reads the stream and tells the others."""
    last: JsonObject | None = None
    quiet = 0
    yield ": here\n\n"
    while not is_ending():
        now = await run_in_threadpool(_changes, client)
        if now != last:
            name = "away" if "away" in now else "changed"
            yield f"event: {name}\ndata: {json.dumps(now)}\n\n"
            quiet = 0
        elif (quiet := quiet + 1) % _BEATS == 0:
            yield ": here\n\n"
        last = now
        deadline = Deadline.after(_POLL_S, anyio.current_time)
        while not deadline.is_past() and not is_ending():
            await anyio.sleep(_STEP_S)


def _changes(client: Client) -> JsonObject:
    try:
        return client.changes().raw
    except MemoryLiteError as error:
        return {"away": error.message}


async def _sent(request: Request) -> dict[str, JsonValue] | None:
    """Return the JSON object of a request; None for any other body."""
    try:
        given = json.loads(await request.body())
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _with_worker(client: Client, ask: Callable[[], Answer]) -> Answer:
    """Call the worker; start a worker first if the idle one has ended."""
    try:
        return ask()
    except WorkerSilent:
        raise
    except WorkerUnavailable:
        ensure_worker(client.home)
        return ask()


async def _broken(request: Request, error: Exception) -> Response:
    """Return the response to a bug of ours; the log of the server has the details."""
    message = f"this page failed: {type(error).__name__}"
    if request.method == "POST":
        return JSONResponse({"error": message}, 500)
    return HTMLResponse(render("problem.html", message=message, next_step="the terminal says more"), 500)


def _failed(error: MemoryLiteError) -> Response:
    status = 404 if isinstance(error, NotFound) else 502
    return HTMLResponse(render("problem.html", message=error.message, next_step=error.next_step), status)
