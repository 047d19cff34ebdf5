"""Requests of long commands to a worker that may die meanwhile."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from claude_mem_lite.cli.options import connect
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import WorkerUnavailable

Result = TypeVar("Result")


class Sending:
    """Worker for many requests; without a client, started with the first. Only for requests that may be repeated."""

    def __init__(self, client: Client | None = None) -> None:
        self._client = client

    def ask(self, call: Callable[[Client], Result]) -> Result:
        """Return the response of the worker; a worker that died is started once more."""
        client = self._client or self._connect()
        try:
            return call(client)
        except WorkerUnavailable:
            return call(self._connect())

    def _connect(self) -> Client:
        client = self._client = connect()
        return client


@contextmanager
def interrupted_after() -> Iterator[None]:
    """Delay Ctrl-C until the block is done, because the worker carries out the request anyhow; a second Ctrl-C ends the
    block."""
    pressed = False

    def note(_: int, __: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
