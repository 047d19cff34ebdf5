"""Requests to an application of the worker without a socket."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from claude_mem_lite.worker.http.messages import HttpResponse, Request

Query = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answer:
    """Response as a test reads it."""

    status_code: int
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)


class AppClient:
    """Client of a function that answers requests."""

    def __init__(self, respond: Callable[[Request], HttpResponse]) -> None:
        self._respond = respond

    def request(
        self,
        method: str,
        target: str,
        *,
        params: Query | None = None,
        json: object = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        path, _, query = target.partition("?")
        given = {name.lower(): value for name, value in (headers or {}).items()}
        if json is not None:
            content, given = _dump(json), {"content-type": "application/json", **given}
        made = Request(method, path, query or urlencode(_texts(params or {}), doseq=True), given, content)
        response = self._respond(made)
        return Answer(response.status, response.body)

    def get(self, target: str, params: Query | None = None) -> Answer:
        return self.request("GET", target, params=params)

    def post(self, target: str, **more: Any) -> Answer:
        return self.request("POST", target, **more)

    def patch(self, target: str, **more: Any) -> Answer:
        return self.request("PATCH", target, **more)

    def delete(self, target: str) -> Answer:
        return self.request("DELETE", target)


def _dump(value: object) -> bytes:
    return json.dumps(value).encode()


def _texts(params: Query) -> dict[str, object]:
    """Return the parameters as a client of the API writes them: booleans in lower case, without missing ones."""
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in params.items()}
    return {name: value for name, value in texts.items() if value is not None}
