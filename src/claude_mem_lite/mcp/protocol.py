"""Replies to JSON-RPC messages of an agent, as values. The module knows no tool, no worker and no stream.

Every input is answered or ignored; no input may end the server.
"""

import json
from typing import TYPE_CHECKING, NamedTuple

from claude_mem_lite import __version__
from claude_mem_lite.mcp.tool_schemas import INSTRUCTIONS, TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from claude_mem_lite.models import JsonObject, JsonValue

    Call = Callable[[str, JsonObject], "ToolAnswer"]

# Those that begin with `initialize`; what came later is offered by `server/discover`, and clients fall back to these.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
SERVER_NAME = "claude-mem-lite"
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
_MAX_OF_A_BATCH = 50


class ToolAnswer(NamedTuple):
    """Text of a tool, with a function to call after the text was sent."""

    text: str
    is_error: bool = False
    when_sent: "Callable[[], None] | None" = None


class Reply(NamedTuple):
    """Line for the agent; empty when the agent expects no reply."""

    line: str = ""
    when_sent: "tuple[Callable[[], None], ...]" = ()


def reply_to(line: bytes, call: "Call") -> Reply:
    """Return the reply to a line with one or several messages."""
    try:
        given: JsonValue = json.loads(line, parse_constant=_rejected)
    except (ValueError, RecursionError):
        return Reply(_dumped(_error(None, PARSE_ERROR, "this line is not JSON")))
    if not isinstance(given, list):
        message, when_sent = _reply(given, call)
        return Reply(_dumped(message) if message is not None else "", when_sent)
    if not given or len(given) > _MAX_OF_A_BATCH:
        return Reply(_dumped(_error(None, INVALID_REQUEST, f"a batch has 1 to {_MAX_OF_A_BATCH} messages")))
    replies = [_reply(one, call) for one in given]
    found = [message for message, _ in replies if message is not None]
    return Reply(_dumped(found) if found else "", tuple(each for _, when_sent in replies for each in when_sent))


def too_long() -> Reply:
    """Return the reply to a line beyond the maximum length."""
    return Reply(_dumped(_error(None, INVALID_REQUEST, "this line is too long; send less at a time")))


def _reply(message: "JsonValue", call: "Call") -> "tuple[JsonObject | None, tuple[Callable[[], None], ...]]":
    if not isinstance(message, dict):
        return _error(None, INVALID_REQUEST, "a message is an object"), ()
    method, id_ = message.get("method"), message.get("id")
    if not isinstance(method, str):
        # An answer to something that was never asked is nothing to complain about.
        is_answer = "result" in message or "error" in message
        return None if is_answer else _error(_known(id_), INVALID_REQUEST, "a request names a method"), ()
    if "id" not in message:
        return None, ()  # a notification: nothing here hangs on any
    if _known(id_) is None:
        return _error(None, INVALID_REQUEST, "an id is a string or a whole number"), ()
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    if method == "initialize":
        return _result(id_, _initialized(params)), ()
    if method == "ping":
        return _result(id_, {}), ()
    if method == "tools/list":
        return _result(id_, {"tools": TOOLS}), ()
    if method == "tools/call":
        return _called(id_, params, call)
    return _error(id_, NO_METHOD, f"there is no method {method[:100]}"), ()


def _initialized(params: "JsonObject") -> "JsonObject":
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": SERVER_NAME, "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def _called(
    id_: "JsonValue", params: "JsonObject", call: "Call"
) -> "tuple[JsonObject, tuple[Callable[[], None], ...]]":
    name, given = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or name not in {tool["name"] for tool in TOOLS}:
        return _error(id_, INVALID_PARAMS, f"there is no tool {str(name)[:100]}"), ()
    if given is not None and not isinstance(given, dict):
        return _error(id_, INVALID_PARAMS, "arguments are an object"), ()
    answer = call(name, given or {})
    result: JsonObject = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
    return _result(id_, result), (answer.when_sent,) if answer.when_sent else ()


def _known(id_: "JsonValue") -> "JsonValue":
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


def _result(id_: "JsonValue", result: "JsonObject") -> "JsonObject":
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def _error(id_: "JsonValue", code: int, message: str) -> "JsonObject":
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def _rejected(constant: str) -> "NoReturn":
    raise ValueError(f"{constant} is not JSON")


def _dumped(message: "JsonValue") -> str:
    # As ASCII: a half character from a tool's argument must not break the line.
    return json.dumps(message, separators=(",", ":"))
