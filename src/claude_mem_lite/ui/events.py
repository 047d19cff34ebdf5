"""The stream by which an open page hears that something changed.

The worker is asked once a second for each stream. One tab of a browser reads it and tells the others, so there is one
however many are open."""

import json
from collections.abc import AsyncIterator, Callable

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject

_LOOK_S = 1.0
# So soon a stream ends when its server does.
_STEP_S = 0.2
# A line that says nothing keeps both ends sure of each other.
_BEATS = 15
IsEnding = Callable[[], bool]


def stream(client: Client, is_ending: IsEnding) -> StreamingResponse:
    """Server-sent events: `changed` with what the worker counts, `away` while no worker answers."""
    return StreamingResponse(_told(client, is_ending), media_type="text/event-stream")


async def _told(client: Client, is_ending: IsEnding) -> AsyncIterator[str]:
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
        until = anyio.current_time() + _LOOK_S
        while anyio.current_time() < until and not is_ending():
            await anyio.sleep(_STEP_S)


def _changes(client: Client) -> JsonObject:
    try:
        return client.changes()
    except MemoryLiteError as error:
        return {"away": error.message}
