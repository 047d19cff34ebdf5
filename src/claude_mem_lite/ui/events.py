"""Event stream that tells an open page of changes.

The worker is asked once a second for each stream. Only a single tab of a browser reads the stream and tells the others,
however many tabs are open.
"""

import json
from collections.abc import AsyncIterator, Callable

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from claude_mem_lite.client.client import Client
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject

_LOOK_S = 1.0
# So soon a stream ends when its server does.
_STEP_S = 0.2
# A line that says nothing keeps both ends sure of each other.
_BEATS = 15
IsEnding = Callable[[], bool]


def stream(client: Client, is_ending: IsEnding) -> StreamingResponse:
    """Stream server-sent events: `changed` with the counters of the worker, `away` while no worker answers."""
    return StreamingResponse(_events(client, is_ending), media_type="text/event-stream")


async def _events(client: Client, is_ending: IsEnding) -> AsyncIterator[str]:
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
        deadline = Deadline.after(_LOOK_S, anyio.current_time)
        while not deadline.is_past() and not is_ending():
            await anyio.sleep(_STEP_S)


def _changes(client: Client) -> JsonObject:
    try:
        return client.changes().raw
    except MemoryLiteError as error:
        return {"away": error.message}
