"""Questions of a command that goes on for long to a worker that may die meanwhile."""

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
    """A worker to ask again and again. Only for what may be asked twice."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def ask(self, call: Callable[[Client], Result]) -> Result:
        """What the worker answers; one that died on the way is started once more."""
        try:
            return call(self._client)
        except WorkerUnavailable:
            self._client = connect()
            return call(self._client)


@contextmanager
def interrupted_after() -> Iterator[None]:
    """Ctrl-C waits until the block is done, because the worker does what it was sent anyhow; a second one does not."""
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
