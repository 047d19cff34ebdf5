"""Who may ask the page's server: a browser on this machine that was given the token, and nobody else.

Pages of other sites can reach loopback too, and other names can be made to point there: so Host, Origin and token are
looked at before anything else is. There are no cookies: a browser would send them to every port of this machine."""

import hmac
from collections.abc import Callable, Iterable, Iterator

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_LENGTH = 256 * 1024
_METHODS = ("GET", "POST")
_USUAL_PORT = 80
_SAME_SITE = ("same-origin", "none")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Gate:
    """Lets requests through that may be answered, and puts the headers of safety on every answer."""

    def __init__(self, app: ASGIApp, token: str, port: int, is_open: Callable[[str], bool]) -> None:
        """`is_open` tells of a path whether it holds no data, and needs no token."""
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(_hosts(port))
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # nothing else is spoken here
        refused = self._refused(scope["method"], scope["path"], Headers(scope=scope))
        answer = PlainTextResponse(refused[1], refused[0]) if refused else self._app
        await answer(scope, receive, _with_headers(send, HEADERS.items()))

    def _refused(self, method: str, path: str, headers: Headers) -> tuple[int, str] | None:
        """The status and the reason of a refusal; None when the request may go on."""
        if headers.get("host", "").lower() not in self._hosts:
            return 403, "this server is asked by its own address only"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            return 403, "pages of other sites may not ask this server"
        if headers.get("sec-fetch-site", "none") not in _SAME_SITE and not self._is_open(path):
            return 403, "pages of other sites may not ask this server"
        if method not in _METHODS:
            return 405, "GET and POST are what this server knows"
        if not self._is_open(path) and not self._has_token(headers.get("authorization", "")):
            return 401, "the token is missing or wrong: open the link that `claude-mem-lite ui` printed"
        return _refused_body(headers) if method == "POST" else None

    def _has_token(self, given: str) -> bool:
        kind, _, token = given.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._token)


def _hosts(port: int) -> Iterator[str]:
    """What a browser may call this server. At the usual port of the web it leaves the port out."""
    for name in ("127.0.0.1", "localhost"):
        yield f"{name}:{port}"
        if port == _USUAL_PORT:
            yield name


def _refused_body(headers: Headers) -> tuple[int, str] | None:
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return 415, "what is sent has to be JSON"  # a form of another site cannot be
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return 411, "the length of what is sent has to be told"
    return (413, f"more than {MAX_BODY_LENGTH:,} bytes are too much") if int(length) > MAX_BODY_LENGTH else None


def _with_headers(send: Send, added: Iterable[tuple[str, str]]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in added:
                headers.setdefault(name, value)
        await send(message)

    return sending
