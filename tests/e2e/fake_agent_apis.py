"""The model APIs of Codex CLI, Copilot CLI, Gemini CLI and OpenCode on loopback, answering by the scripts of a test.

All clients send the whole conversation with every request: the results of tools that stand behind the last prompt say
which step of its script is due."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.e2e.fake_messages_api import Step, ToolUse, say
from tests.support.loopback import serving

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Script:
    """The answers to a prompt, step by step; the last one at once when a request has the words `as_soon_as`."""

    prompt_part: str
    steps: tuple[Step, ...]
    as_soon_as: str


@dataclass(slots=True)
class FakeAgentApi:
    """The server of these APIs, its scripts and what it was asked. Open with `with`."""

    scripts: list[Script] = field(default_factory=list)
    requests: list[Json] = field(default_factory=list)
    unscripted: list[str] = field(default_factory=list)
    url: str = ""
    """Its address, while it is open."""
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> "FakeAgentApi":
        self.url = self._open.enter_context(serving(_handler(self)))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def script(self, prompt_part: str, /, *steps: Step, as_soon_as: str = "") -> None:
        """How to answer a prompt that contains these words; the last step comes as soon as a request has others."""
        self.scripts.append(Script(prompt_part, steps, as_soon_as))

    def asked(self, prompt_part: str) -> list[str]:
        """All texts of each request whose last prompt contains these words, oldest first."""
        return [json.dumps(body, ensure_ascii=False) for body in self.requests if prompt_part in _last_prompt(body)[0]]

    def step(self, body: Json) -> Step:
        """The step that is due in the conversation that a request holds."""
        self.requests.append(body)
        prompt, results = _last_prompt(body)
        for script in reversed(self.scripts):
            if script.prompt_part in prompt:
                is_last = script.as_soon_as and script.as_soon_as in json.dumps(body)
                return script.steps[-1 if is_last else min(results, len(script.steps) - 1)]
        self.unscripted.append(prompt)
        return say("Nothing was scripted.")


def _last_prompt(body: Json) -> tuple[str, int]:
    """The words of the last user message, and how many results of tools came after it."""
    prompt, results = "", 0
    for item in body.get("input", []):  # Codex
        if item.get("type") == "message" and item.get("role") == "user":
            prompt, results = _texts(item.get("content")), 0
        elif str(item.get("type")).endswith("_call_output"):
            results += 1
    for message in body.get("messages", []):  # Copilot and OpenCode
        if message.get("role") == "user":
            prompt, results = _texts(message.get("content")), 0
        elif message.get("role") == "tool":
            results += 1
    for message in body.get("contents", []):  # Gemini
        parts = message.get("parts", [])
        found = [part for part in parts if "functionResponse" in part]
        if message.get("role") == "user" and not found and (words := _texts(parts)):
            prompt, results = words, 0
        results += len(found)
    return prompt, results


def _texts(parts: object) -> str:
    return "\n".join(str(part.get("text", "")) for part in parts) if isinstance(parts, list) else str(parts)


def _responses(step: Step, number: int) -> Iterator[Json]:
    """The events of one answer of the Responses API."""
    answer = f"resp_{number}"
    yield {"type": "response.created", "response": {"id": answer}}
    for at, use in enumerate(step.uses):
        yield {"type": "response.output_item.done", "item": _codex_call(use, f"call_{number}_{at}")}
    if step.text:
        content = [{"type": "output_text", "text": step.text}]
        item = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
        yield {"type": "response.output_item.done", "item": item}
    counts = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage = {**counts, "input_tokens_details": None, "output_tokens_details": None}
    yield {"type": "response.completed", "response": {"id": answer, "usage": usage}}


def _codex_call(use: ToolUse, call_id: str) -> Json:
    if use.tool == "apply_patch":  # takes a text, not arguments
        return {"type": "custom_tool_call", "name": use.tool, "call_id": call_id, "input": use.input["patch"]}
    return {"type": "function_call", "name": use.tool, "call_id": call_id, "arguments": json.dumps(use.input)}


def _chunks(step: Step, number: int) -> Iterator[Json]:
    """The chunks of one answer of the Chat Completions API."""
    calls = [
        {
            "index": at,
            "id": f"call_{number}_{at}",
            "type": "function",
            "function": {"name": use.tool, "arguments": json.dumps(use.input)},
        }
        for at, use in enumerate(step.uses)
    ]
    said: Json = {"role": "assistant", "content": step.text or None} | ({"tool_calls": calls} if calls else {})
    head = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    yield {**head, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


def _candidates(step: Step) -> Json:
    """One answer of the Gemini API, whole."""
    parts: list[Json] = [{"functionCall": {"name": use.tool, "args": use.input}} for use in step.uses]
    parts += [{"text": step.text}] if step.text else []
    counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts}}
    return {"candidates": [candidate], "usageMetadata": counts}


def _handler(api: FakeAgentApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(json.dumps({"object": "list", "data": [], "models": []}).encode(), "application/json")

        def do_POST(self) -> None:
            body: Json = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
            if self.path.endswith("/responses"):
                events = _responses(api.step(body), len(api.requests))
                lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
                self._answer("".join(lines).encode(), "text/event-stream")
            elif self.path.endswith("/chat/completions"):
                chunks = _chunks(api.step(body), len(api.requests))
                lines = (f"data: {chunk}\n\n" for chunk in (*map(json.dumps, chunks), "[DONE]"))
                self._answer("".join(lines).encode(), "text/event-stream")
            elif ":streamGenerateContent" in self.path:
                self._answer(f"data: {json.dumps(_candidates(api.step(body)))}\n\n".encode(), "text/event-stream")
            elif ":countTokens" in self.path:
                self._answer(b'{"totalTokens": 1}', "application/json")
            else:
                self._answer(json.dumps(_candidates(api.step(body))).encode(), "application/json")

        def _answer(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
