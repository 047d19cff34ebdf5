"""What both SDKs are told so that a request goes where the configuration says, with our key, and nowhere else."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol, TypedDict
from urllib.parse import urlsplit

from claude_mem_lite.lazy_regex import lazy

# Loopback is asked directly, whatever proxies the environment names: a model at home is nobody else's business.
PAST_PROXIES: dict[str, None] = {"all://localhost": None, "all://127.0.0.1": None, "all://[::1]": None}
# A hundred times the longest answer that is asked for.
MAX_ANSWER_BYTES = 1_000_000
_CHATTY = ("anthropic", "openai", "httpx", "httpx2", "httpcore", "httpcore2")
_UNKNOWN_FORM = lazy(r"(?i)format|schema|json|structured|grammar|output_config|extra (?:input|field)|unexpected")


def is_loopback(address: str) -> bool:
    """Return whether an address is one of this machine."""
    host = urlsplit(address).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


class _Response(Protocol):
    _content: bytes
    """Where the HTTP library looks first when it is asked for what was read."""

    def iter_bytes(self) -> Iterator[bytes]: ...


def read_in_bounds(response: _Response, longest_s: float) -> None:
    """Read what a server answers, before the SDK would: a time out is about a single piece, of which it may send as
    many as it likes, for ever or until memory is full."""
    until = time.monotonic() + longest_s
    read = bytearray()
    for piece in response.iter_bytes():
        read += piece
        if len(read) > MAX_ANSWER_BYTES or time.monotonic() > until:
            raise TimeoutError("the answer does not come to an end")
    response._content = bytes(read)


class HttpOptions(TypedDict):
    """What an SDK's HTTP client is made with."""

    follow_redirects: bool
    mounts: dict[str, None]
    event_hooks: dict[str, list[Callable[[_Response], None]]]


def http_options(timeout_s: float) -> HttpOptions:
    """Where the configuration says and nowhere else, and no longer than this."""
    return {
        "follow_redirects": False,
        "mounts": PAST_PROXIES,
        "event_hooks": {"response": [partial(read_in_bounds, longest_s=timeout_s)]},
    }


def silence_sdk_logs() -> None:
    """Keep what the SDKs log out of the worker's log: told to by a variable, they would log whole requests."""
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


def custom_headers(variable: str) -> list[str]:
    """The names of the headers, but for Authorization, that an SDK would add: they are meant for another server.

    Read where the SDK reads them, not from what the caller calls the environment."""
    lines = os.environ.get(variable, "").split("\n")
    names = [name.strip() for name, colon, _ in (line.partition(":") for line in lines) if colon]
    return [name for name in names if name and name.lower() != "authorization"]


def refuses_the_form(status: int, body: object) -> bool:
    """Whether a server refused a request because it does not know the form of answer that was asked for."""
    return status in (400, 422) and _UNKNOWN_FORM.search(str(body)[:4_000]) is not None
