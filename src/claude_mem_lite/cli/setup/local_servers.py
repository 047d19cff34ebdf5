"""Search for model servers on this machine that speak OpenAI's API. Asks loopback ports alone, each for a moment."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from socket import SHUT_RDWR, socket
from threading import Timer
from urllib.parse import urlsplit

from claude_mem_lite.models import JsonValue
from claude_mem_lite.values import frozen

TIMEOUT_S = 0.3
_MAX_BYTES = 256 * 1024
_MAX_NAME = 100
_LOOPBACK = "127.0.0.1"


@frozen
class ServerPort:
    """Port that a kind of server usually listens on."""

    kind: str
    port: int


@frozen
class LocalServer:
    """Server that answered, with the models that it offers."""

    kind: str
    base_url: str
    models: tuple[str, ...]


USUAL_PORTS = (ServerPort("Ollama", 11434), ServerPort("LM Studio", 1234), ServerPort("llama.cpp", 8080))


def usual_ports(environment: Mapping[str, str]) -> tuple[ServerPort, ...]:
    """Return the usual ports, with the port of Ollama as its own variable names it, if that is on this machine."""
    chosen = _port_of(environment.get("OLLAMA_HOST", ""))
    return (ServerPort("Ollama", chosen), *USUAL_PORTS[1:]) if chosen else USUAL_PORTS


def usual_address(environment: Mapping[str, str]) -> str:
    """Return the address of Ollama on this machine."""
    return _address(usual_ports(environment)[0].port)


def find_servers(ports: Sequence[ServerPort], timeout_s: float = TIMEOUT_S) -> tuple[LocalServer, ...]:
    """Return the servers that answer with at least one model."""
    return tuple(_servers(ports, timeout_s))


def is_local(base_url: str) -> bool:
    """Return whether an address is one of this machine."""
    host = urlsplit(base_url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _port_of(host: str) -> int:
    """Return the port of a host on this machine; 0 for another host, or without a port."""
    address = host if "://" in host else f"http://{host}"
    try:
        return (urlsplit(address).port or 0) if is_local(address) else 0
    except ValueError:
        return 0


def _servers(ports: Sequence[ServerPort], timeout_s: float) -> Iterator[LocalServer]:
    for each in ports:
        if models := _models(each.port, timeout_s):
            yield LocalServer(each.kind, _address(each.port), models)


def _address(port: int) -> str:
    return f"http://{_LOOPBACK}:{port}/v1"


def _models(port: int, timeout_s: float) -> tuple[str, ...]:
    """Return the models of a server; none if nobody answers, or not in this form."""
    connection = HTTPConnection(_LOOPBACK, port, timeout=timeout_s)
    try:
        connection.connect()
        with _shut_after(timeout_s, connection.sock):
            connection.request("GET", "/v1/models")
            response = connection.getresponse()
            answer: JsonValue = json.loads(response.read(_MAX_BYTES)) if response.status == 200 else None
    except (OSError, HTTPException, ValueError, RecursionError):
        return ()
    finally:
        connection.close()
    listed = answer.get("data") if isinstance(answer, dict) else None
    names = [each.get("id") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return tuple(name for name in names if isinstance(name, str) and name.isprintable() and 0 < len(name) <= _MAX_NAME)


@contextmanager
def _shut_after(seconds: float, connected: socket) -> Iterator[None]:
    """End a connection after a time: its own timeout is that of each read, and an answer may have no end."""
    timer = Timer(seconds, _shut, (connected,))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut(connected: socket) -> None:
    with suppress(OSError):  # closed by now
        connected.shutdown(SHUT_RDWR)
