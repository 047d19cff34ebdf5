"""An open page, as the server knows it: it reads what changed until it is left."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from anyio.from_thread import start_blocking_portal
from starlette.types import ASGIApp, Message, Scope

from tests.ui.conftest import PORT, TOKEN


@contextmanager
def reading(app: ASGIApp) -> Iterator[list[str]]:
    """What the stream tells, piece by piece, as it comes."""
    headers = {"host": f"127.0.0.1:{PORT}", "authorization": f"Bearer {TOKEN}"}
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/events",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    heard: list[str] = []
    begun = threading.Event()
    with start_blocking_portal() as portal:
        left = portal.call(anyio.Event)

        async def receive() -> Message:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message.get("body"):
                heard.append(message["body"].decode())
                begun.set()

        stream = portal.start_task_soon(app, scope, receive, send)
        assert begun.wait(60)
        try:
            yield heard
        finally:
            portal.call(left.set)
            stream.result(60)
