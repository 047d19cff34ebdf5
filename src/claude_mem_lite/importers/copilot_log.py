"""Event logs of Copilot CLI (1.0): head of the session, and steps with the payloads of the hooks' adapter."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from claude_mem_lite.agents import copilot, payload_builders
from claude_mem_lite.importers.agent_session import AgentSession, AgentStep, StepKind, captured
from claude_mem_lite.importers.transcript_entries import time_ns, without_injected, word
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, text

AGENT = "copilot"
_REFUSED = ("denied", "rejected")
"""Codes of calls that the user or a rule stopped: the tool never ran."""

_GUIDANCE = "Additional guidance from postToolUse hooks:\n"
_HEAD_OF_GUIDANCE = lazy(r'\n\nTool "[^"\n]*" succeeded\. \Z')


def is_head(line: JsonObject) -> bool:
    return line.get("type") == "session.start" and isinstance(line.get("data"), dict)


def head(line: JsonObject) -> AgentSession:
    """Return the session of a first line."""
    data = payload_builders.fields(line.get("data"))
    context = payload_builders.fields(data.get("context"))
    return AgentSession(
        agent=AGENT,
        id=word(data.get("sessionId")),
        cwd=word(context.get("cwd")),
        branch=word(context.get("branch")),
        began_ns=time_ns(text(data.get("startTime"))) or time_ns(text(line.get("timestamp"))),
    )


def steps(lines: Iterable[JsonObject], session: AgentSession) -> Iterator[AgentStep]:
    """Yield the steps of a log."""
    log = _Log(session)
    for number, line in enumerate(lines):
        log.at_ns = max(time_ns(text(line.get("timestamp"))), log.at_ns)
        if log.at_ns:
            id_ = word(line.get("id")) or f"{session.id}:{number}"
            log.agent = word(line.get("agentId"))
            yield from log.read(id_, text(line.get("type")), payload_builders.fields(line.get("data")))


class _Log:
    def __init__(self, session: AgentSession) -> None:
        self.at_ns = session.began_ns
        self.agent = ""
        """Sub-agent of the current line; '' for the main agent."""
        self._session = session
        self._cwd = session.cwd
        self._pending: dict[str, JsonObject] = {}
        self._has_replied = False

    def read(self, id_: str, kind: str, data: JsonObject) -> Iterator[AgentStep]:
        if kind in ("session.resume", "session.context_changed"):
            context = payload_builders.fields(data.get("context")) or data
            self._cwd = word(context.get("cwd")) or self._cwd
        elif kind == "user.message":
            # Texts of skills and of the client itself name another source.
            typed = without_injected(text(data.get("content")))
            if typed and text(data.get("source")) in ("", "user"):
                yield self._step("prompt", id_, typed)
        elif kind == "assistant.message" and not data.get("parentToolCallId"):
            self._has_replied = not data.get("toolRequests")
            if said := text(data.get("content")).strip():
                yield self._step("reply", id_, said)
        elif kind == "assistant.turn_end" and self._has_replied:
            yield self._step("stop", id_)
        elif kind == "tool.execution_start":
            self._pending[word(data.get("toolCallId"))] = data
        elif kind == "tool.execution_complete":
            if call := self._pending.pop(word(data.get("toolCallId")), None):
                yield from self._tool(id_, call, data)
        elif kind == "session.compaction_start":
            yield self._step("compact", id_)
        elif kind == "abort":
            yield self._step("abort", id_)
        elif kind == "session.shutdown":
            yield self._step("end", id_)

    def _step(self, kind: StepKind, id_: str, written: str = "") -> AgentStep:
        return AgentStep(kind, self.at_ns, id_, self._cwd, written)

    def _tool(self, id_: str, call: JsonObject, data: JsonObject) -> Iterator[AgentStep]:
        result, error = payload_builders.fields(data.get("result")), payload_builders.fields(data.get("error"))
        if text(error.get("code")) in _REFUSED:
            return
        shown = _without_guidance(payload_builders.first_text(result, "content", "detailedContent"))
        is_failed = data.get("success") is False
        payload: JsonObject = {
            "session_id": self._session.id,
            "cwd": self._cwd,
            "tool_use_id": word(data.get("toolCallId")),
            "tool_name": word(call.get("toolName")),
            "tool_input": call.get("arguments"),
            "tool_result": {
                "result_type": "failure" if is_failed else "success",
                "text_result_for_llm": shown,
            },
            "error": text(error.get("message")),
            **({"agent_id": self.agent} if self.agent else {}),
        }
        calls = captured([_without_result(call) for call in copilot.adapt("PostToolUse", payload)])
        if calls:
            yield replace(self._step("tool", id_), calls=calls)


def _without_guidance(content: str) -> str:
    """Return a result without what hooks added to it: nobody's output, and often an older memory."""
    output, mark, _ = content.rpartition(_GUIDANCE)
    return _HEAD_OF_GUIDANCE.sub("", output) if mark else content


def _without_result(call: JsonObject) -> JsonObject:
    """Return the call without the fields that only the adapter needs."""
    is_failure = call.get("hook_event_name") == "PostToolUseFailure"
    return {key: value for key, value in call.items() if key != "tool_result" and (key != "error" or is_failure)}
