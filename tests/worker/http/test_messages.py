"""Tests of `worker/http/messages.py`: requests as clients write them, in any pieces, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.worker.http.messages import (
    MAX_HEAD_BYTES,
    HttpError,
    HttpResponse,
    Request,
    error_response,
    take_request,
)

PLAIN = b"POST /hook/Stop?a=1&b=%20 HTTP/1.1\r\nHost: localhost\r\nX-Spool:  name \r\nContent-Length: 3\r\n\r\nabc"


def test_a_request_is_taken_and_the_next_one_stays() -> None:
    received = bytearray(PLAIN + b"GET /api/health HTTP/1.1\r\n\r\n")
    headers = {"host": "localhost", "x-spool": "name", "content-length": "3"}
    assert take_request(received) == Request("POST", "/hook/Stop", "a=1&b=%20", headers, b"abc")
    assert take_request(received) == Request("GET", "/api/health")
    assert take_request(received) is None
    assert not received


@given(st.lists(st.integers(0, len(PLAIN)), max_size=5))
def test_a_request_may_come_in_any_pieces(cuts: list[int]) -> None:
    received, before = bytearray(), 0
    for cut in sorted({*cuts, len(PLAIN)}):
        if before < len(PLAIN):
            assert take_request(received) is None
        received += PLAIN[before:cut]
        before = cut
    request = take_request(received)
    assert request is not None
    assert request.body == b"abc"


@pytest.mark.parametrize(
    ("received", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n: nameless\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n folded: line\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES, 431),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES + b"\r\n\r\n", 431),
    ],
)
def test_what_is_no_request_is_refused(received: bytes, status: int) -> None:
    with pytest.raises(HttpError) as refused:
        take_request(bytearray(received))
    assert refused.value.status == status


@given(st.binary(max_size=400))
def test_any_bytes_are_a_request_refused_or_wait_for_more(received: bytes) -> None:
    try:
        request = take_request(bytearray(received))
    except HttpError:
        return
    assert request is None or request.path.startswith("/")


def test_responses_have_their_length() -> None:
    assert HttpResponse(body=b"{}").encode() == (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
    )
    assert HttpResponse(204).encode(is_last=True) == b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


def test_errors_have_one_format() -> None:
    told = json.loads(error_response(404, "not_found", "there is no memory x", "list them").body)
    assert told == {"error": {"code": "not_found", "message": "there is no memory x", "next_step": "list them"}}
