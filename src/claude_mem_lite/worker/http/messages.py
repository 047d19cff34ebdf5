"""Requests and responses of HTTP/1.1, as far as the clients of the worker use it: bodies have a length, no chunks."""

import json
from collections.abc import Mapping
from dataclasses import field

from claude_mem_lite.values import frozen

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 1024 * 1024 * 1024
_REASONS = {
    200: "OK",
    204: "No Content",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    411: "Length Required",
    413: "Content Too Large",
    422: "Unprocessable Content",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class HttpError(Exception):
    """Request that HTTP itself refuses: unreadable, without a route, or with another method than the route's."""

    def __init__(self, status: int, detail: str = "") -> None:
        super().__init__(detail or _REASONS[status])
        self.status = status


@frozen
class Request:
    """Request with its whole body. Names of headers are in lower case; path and query are still quoted."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@frozen
class HttpResponse:
    """Status, and a body of JSON."""

    status: int = 200
    body: bytes = b""

    def encode(self, *, is_last: bool = False) -> bytes:
        """Return the bytes to send; the last response on a connection says so."""
        head = f"HTTP/1.1 {self.status} {_REASONS[self.status]}\r\n"
        if self.status != 204:  # which has no body by definition
            head += f"Content-Length: {len(self.body)}\r\nContent-Type: application/json\r\n"
        if is_last:
            head += "Connection: close\r\n"
        return f"{head}\r\n".encode() + self.body


def error_response(status: int, code: str, message: str, next_step: str = "") -> HttpResponse:
    """Return a response in the one format of errors."""
    error = {"code": code, "message": message, "next_step": next_step}
    return HttpResponse(status, json.dumps({"error": error}).encode())


def take_request(received: bytearray) -> Request | None:
    """Remove the first request from what a connection received, and return it; None while a part is missing.

    HttpError for what is no request."""
    end = received.find(b"\r\n\r\n")
    if end < 0 or end > MAX_HEAD_BYTES:
        if len(received) > MAX_HEAD_BYTES:
            raise HttpError(431)
        return None
    method, target, headers = _head(bytes(received[:end]))
    body_at = end + 4
    body_end = body_at + _body_length(headers)
    if len(received) < body_end:
        return None
    with memoryview(received) as whole:  # a slice of the array would be another copy of what may be a gigabyte
        body = bytes(whole[body_at:body_end])
    del received[:body_end]
    path, _, query = target.partition("?")
    return Request(method, path, query, headers, body)


def _head(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[1].startswith("/") or not parts[2].startswith("HTTP/1."):
        raise HttpError(400, "this is no HTTP/1.1 request")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        key = name.lower()
        if not colon or not name or name != name.strip() or (key == "content-length" and key in headers):
            raise HttpError(400, "a header cannot be read")
        headers[key] = value.strip()
    return parts[0], parts[1], headers


def _body_length(headers: Mapping[str, str]) -> int:
    if "transfer-encoding" in headers:
        raise HttpError(411)
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        raise HttpError(400, "the length of the body cannot be read")
    if len(length) > 12 or int(length) > MAX_BODY_BYTES:
        raise HttpError(413)
    return int(length)
