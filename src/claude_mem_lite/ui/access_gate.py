"""Access check of the page's server: only a browser on this machine that has the token may read or act.

Pages of other sites can reach loopback too, and other names can be made to point to loopback: so Host, Origin and token
are checked before anything else. The server sets no cookies: a browser would send cookies to every port of this
machine.
"""

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
    """Middleware that refuses unsafe requests, and adds security headers to every response."""

    def __init__(self, app: ASGIApp, token: str, port: int, is_open: Callable[[str], bool]) -> None:
        """Store the limits of the server. `is_open(path)` is True for paths without data, where no token is needed."""
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
        """Return status and reason of a refusal; None when the request may go on."""
        if headers.get("host", "").lower() not in self._hosts:
            return 403, "the Host header is not the address of this server"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            return 403, "pages of other sites may not ask this server"
        if headers.get("sec-fetch-site", "none") not in _SAME_SITE and not self._is_open(path):
            return 403, "pages of other sites may not ask this server"
        if method not in _METHODS:
            return 405, "this server accepts only GET and POST"
        if not self._is_open(path) and not self._has_token(headers.get("authorization", "")):
            return 401, "the token is missing or wrong: open the link that `claude-mem-lite ui` printed"
        return _refused_body(headers) if method == "POST" else None

    def _has_token(self, given: str) -> bool:
        kind, _, token = given.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), self._token)


def _hosts(port: int) -> Iterator[str]:
    """Yield the names under which a browser may address this server. Browsers omit the default port of HTTP."""
    for name in ("127.0.0.1", "localhost"):
        yield f"{name}:{port}"
        if port == _USUAL_PORT:
            yield name


def _refused_body(headers: Headers) -> tuple[int, str] | None:
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return 415, "the request body has to be JSON"  # a form of another site cannot be
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return 411, "the request needs a Content-Length"
    return (413, f"more than {MAX_BODY_LENGTH:,} bytes are too much") if int(length) > MAX_BODY_LENGTH else None


def _with_headers(send: Send, added: Iterable[tuple[str, str]]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in added:
                headers.setdefault(name, value)
        await send(message)

    return sending
