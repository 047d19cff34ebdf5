"""A Messages API on loopback whose answers the test writes, for the real client to talk to.

A test says `api.script("part of the prompt", use("Bash", command="ls"), say("Done."))`. The server keeps no
place in a script: the ids of the tool calls it hands out name the step they came from, and their results
bring them back, so that retries, resumed sessions and sub-agents all find their next step."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from itertools import count

from tests.support.loopback import serving

JsonObject = dict[str, object]

COMPACT_SUMMARY = "The conversation so far was about the work described above."
ERROR_TYPES = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
TOOL_USE_ID = re.compile(r"toolu_s(\d+)n(\d+)c\d+")


@dataclass(frozen=True, slots=True)
class ToolUse:
    tool: str
    input: JsonObject


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model: words, tool calls, or an HTTP error."""

    text: str = ""
    uses: tuple[ToolUse, ...] = ()
    status: int = 200
    meanwhile: Callable[[], None] | None = None
    """What happens in the world while the model thinks."""


def say(text: str) -> Step:
    return Step(text=text)


def use(tool: str, /, **given: object) -> Step:
    return Step(uses=(ToolUse(tool, given),))


def together(*steps: Step) -> Step:
    """Several tool calls in one answer."""
    return Step(uses=tuple(one for step in steps for one in step.uses))


def refuse(status: int) -> Step:
    """An HTTP error instead of an answer."""
    return Step(status=status)


def while_thinking(action: Callable[[], None], step: Step) -> Step:
    """A step that is answered after something else has happened, such as the death of a worker."""
    return replace(step, meanwhile=action)


@dataclass(frozen=True, slots=True)
class Request:
    """One request of the client for an answer of the model."""

    body: JsonObject
    session: str
    prompt: str
    """The words of the last user message, without what the client or a hook put beside them."""
    results: tuple[str, ...]
    """The ids of the tool calls whose results came with it."""
    news: str
    """All texts since the last answer: those words, and the client's reminders beside them."""

    @property
    def messages(self) -> list[JsonObject]:
        return _objects(self.body.get("messages"))

    @property
    def text(self) -> str:
        """Every text of the conversation, injected context included, the system prompt not."""
        parts = [part for message in self.messages for part in (message, *_results(message))]
        return "\n".join(text for part in parts for text in _words(part))

    @property
    def system(self) -> str:
        return json.dumps(self.body.get("system"), ensure_ascii=False)


@dataclass(slots=True)
class FakeMessagesApi:
    """The server, its scripts and what it was asked. Open with `with`."""

    scripts: list[tuple[str, tuple[Step, ...]]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    unscripted: list[str] = field(default_factory=list)
    """Prompts no script was written for: a mistake in the test."""
    url: str = ""
    """Its address, while it is open."""
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> "FakeMessagesApi":
        self.url = self._open.enter_context(serving(_handler(self)))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def script(self, prompt_part: str, /, *steps: Step) -> None:
        """How to answer a prompt that contains these words; a later script wins over an earlier one."""
        self.scripts.append((prompt_part, steps))

    def requests_for(self, prompt_part: str) -> list[Request]:
        """The first request of each turn whose prompt contains these words, oldest first."""
        return [one for one in self.requests if prompt_part in one.prompt]

    def answer(self, request: Request) -> tuple[Step, str]:
        """The step that is due, and the prefix of the ids of its tool calls."""
        self.requests.append(request)
        aside = _aside(request)
        if aside is not None:
            return say(aside), ""
        # words first: after a refused answer the next prompt comes together with the results before it
        for number, (part, _) in reversed(list(enumerate(self.scripts))):
            if part in request.prompt:
                return self._step(number, 0)
        found = TOOL_USE_ID.fullmatch(request.results[-1]) if request.results else None
        if found:
            return self._step(int(found[1]), int(found[2]) + 1)
        self.unscripted.append(request.prompt)
        return say("Nothing was written for this prompt."), ""

    def _step(self, script: int, number: int) -> tuple[Step, str]:
        steps = self.scripts[script][1]
        step = steps[number] if number < len(steps) else say("The script is over.")
        return step, f"toolu_s{script}n{number}c"


def _aside(request: Request) -> str | None:
    """The answer to what the client asks on its own account: a summary for /compact, a title."""
    if "summary of the conversation" in request.prompt:
        return f"<analysis>All read.</analysis>\n<summary>{COMPACT_SUMMARY}</summary>"
    output = request.body.get("output_config")
    if isinstance(output, dict) and "format" in output:
        return json.dumps({"title": "A session"})
    if not request.prompt and "<task-notification>" in request.news:
        return "The background task is over."
    return None


def read_request(body: JsonObject) -> Request:
    """What matters of one request body: who asks, with which words, after which tool results."""
    messages = _objects(body.get("messages"))
    last_answer = max((i for i, one in enumerate(messages) if one.get("role") == "assistant"), default=-1)
    new = [one for one in messages[last_answer + 1 :] if one.get("role") == "user"]
    results = [str(result["tool_use_id"]) for message in new for result in _results(message)]
    texts = "\n".join(text for message in new for text in _words(message))
    words = REMINDER.sub("", texts)
    metadata = body.get("metadata")
    user = str(metadata.get("user_id")) if isinstance(metadata, dict) else ""
    return Request(body, _session(user), words.strip(), tuple(results), texts)


def _session(user_id: str) -> str:
    """The client hides the session's id in the id of the user."""
    found = re.search(r"session_id\W+([0-9a-f-]{36})|session_([0-9a-f-]{36})", user_id)
    return (found[1] or found[2]) if found else ""


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _words(message: JsonObject) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for block in _objects(content):
        if block.get("type") == "text":
            yield str(block.get("text"))


def _results(message: JsonObject) -> list[JsonObject]:
    return [block for block in _objects(message.get("content")) if block.get("type") == "tool_result"]


def stream_of(step: Step, id_prefix: str, model: object) -> Iterator[JsonObject]:
    """The server-sent events that carry one step."""
    usage = {"input_tokens": 100, "output_tokens": 10}
    head = {"id": f"msg_{id_prefix}", "type": "message", "role": "assistant", "model": model, "content": []}
    yield {"type": "message_start", "message": {**head, **_stop(None), "usage": usage}}
    for index, (block, delta) in enumerate(_blocks(step, id_prefix)):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": _stop("tool_use" if step.uses else "end_turn"), "usage": usage}
    yield {"type": "message_stop"}


def _stop(reason: str | None) -> JsonObject:
    return {"stop_reason": reason, "stop_sequence": None}


def _blocks(step: Step, id_prefix: str) -> Iterator[tuple[JsonObject, JsonObject]]:
    """Each content block as it starts, empty, and the one delta that fills it."""
    if step.text or not step.uses:
        yield {"type": "text", "text": ""}, {"type": "text_delta", "text": step.text}
    for number, one in enumerate(step.uses):
        start: JsonObject = {"type": "tool_use", "id": f"{id_prefix}{number}", "name": one.tool, "input": {}}
        yield start, {"type": "input_json_delta", "partial_json": json.dumps(one.input)}


def _error(status: int) -> JsonObject:
    kind = ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": "refused by the script"}}


def _handler(api: FakeMessagesApi) -> type[BaseHTTPRequestHandler]:
    answers = count()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._send_json(200, {"data": [], "has_more": False})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.partition("?")[0]
            if path == "/v1/messages":
                self._answer(json.loads(raw))
            elif path == "/v1/messages/count_tokens":
                self._send_json(200, {"input_tokens": len(raw) // 4})
            else:
                self._send_json(404, _error(404))

        def _answer(self, body: JsonObject) -> None:
            with lock:
                step, id_prefix = api.answer(read_request(body))
                id_prefix = id_prefix or f"aside{next(answers)}_"
            if step.meanwhile is not None:
                step.meanwhile()
            if step.status != 200:
                self._send_json(step.status, _error(step.status))
                return
            events = stream_of(step, id_prefix, body.get("model"))
            lines = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
            self._send(200, "text/event-stream", lines.encode())

        def _send_json(self, status: int, value: JsonObject) -> None:
            self._send(status, "application/json", json.dumps(value).encode())

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
