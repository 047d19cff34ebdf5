"""Questions of a command that goes on for long to a worker that may die meanwhile."""

from collections.abc import Callable
from typing import TypeVar

from claude_mem_lite.cli.options import connect
from claude_mem_lite.client import Client
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
