"""A model's HTTP server on loopback, for the real SDKs to talk to: it answers as the test says and keeps what it was
asked."""

import json
import socket
import struct
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.support.loopback import serving

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """What to answer. `drop` closes the connection half way, `hang` waits until the server is closed, and so does
    `trickle`, sending a little all the while."""

    status: int = 200
    body: bytes = b""
    kind: str = "application/json"
    location: str = ""
    drop: bool = False
    hang: bool = False
    trickle: bool = False
    packing: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    """By their names in lower case."""
    body: JsonObject

    @property
    def text(self) -> str:
        return json.dumps([self.path, self.headers, self.body], ensure_ascii=False)


@dataclass(slots=True)
class ModelServer:
    """Open with `with`. Answers are given in turn, the last one again and again."""

    replies: list[Reply] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    """Its address, while it is open."""
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> "ModelServer":
        self.url = self._open.enter_context(serving(_handler(self)))
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._open.close()

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def anthropic_reply(text: str, *, stop_reason: str = "end_turn", usage: JsonObject | None = None) -> Reply:
    """A whole answer of the Messages API."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 1_000, "output_tokens": 100},
    }
    return Reply(body=json.dumps(body).encode())


def openai_reply(text: str, *, finish_reason: str = "stop", refusal: str | None = None) -> Reply:
    """A whole answer of the chat API."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "qwen3:8b",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100},
    }
    return Reply(body=json.dumps(body).encode())


def error_reply(status: int, message: str = "refused by the script") -> Reply:
    body = {"type": "error", "error": {"type": "some_error", "message": message, "code": None, "param": None}}
    return Reply(status=status, body=json.dumps(body).encode())


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.asked.append(Asked(self.path, headers, json.loads(raw)))
            self._answer(server.next_reply())

        def do_CONNECT(self) -> None:
            """Being taken for a proxy."""
            server.asked.append(Asked(self.path, {}, {}))
            self._answer(Reply(status=502))

        def _answer(self, reply: Reply) -> None:
            self.close_connection = True
            if reply.hang:
                server.closing.wait(30)
                return
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            if reply.location:
                self.send_header("Location", reply.location)
            self.send_header("Connection", "close")
            if reply.packing:
                self.send_header("Content-Encoding", reply.packing)
            self.send_header("Content-Length", str(1_000_000 if reply.trickle else len(reply.body)))
            self.end_headers()
            if reply.trickle:
                with suppress(OSError):
                    while not server.closing.wait(0.05):
                        self.wfile.write(b" ")
                return
            if not reply.drop:
                with suppress(OSError):  # who asked may have had enough of it
                    self.wfile.write(reply.body)
                return
            self.wfile.write(reply.body[: len(reply.body) // 2])
            self.wfile.flush()
            # A reset, not an orderly end: what a crash or a cable leaves behind.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return Handler
