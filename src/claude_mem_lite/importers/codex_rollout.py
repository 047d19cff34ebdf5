"""Rollout files of Codex CLI (0.140 to 0.166): head of the session, and steps with the payloads of the hooks' adapter.

Prompts are read from the client's events: messages with the user's role also hold injected context."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from claude_mem_lite.agents import codex, payload_builders
from claude_mem_lite.importers.agent_session import (
    OF_SUBAGENT,
    AgentSession,
    AgentStep,
    StepKind,
    captured,
    joined_text,
)
from claude_mem_lite.importers.transcript_entries import time_ns, without_injected, word
from claude_mem_lite.models import JsonObject, JsonValue, text

AGENT = "codex"
_SHELLS = ("exec_command", "shell", "shell_command", "local_shell", "container.exec")
_FRAME = re.compile(r"\A(?:[^\n]*\n){0,8}?Output:\n?")
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\d{1,12})$", re.MULTILINE)


def is_head(line: JsonObject) -> bool:
    return line.get("type") == "session_meta" and isinstance(line.get("payload"), dict)


def head(line: JsonObject) -> AgentSession:
    """Return the session of a first line."""
    meta = payload_builders.fields(line.get("payload"))
    source = meta.get("source")
    is_subagent = isinstance(source, dict) or text(meta.get("thread_source")) == "subagent"
    return AgentSession(
        agent=AGENT,
        id=word(meta.get("id")) or word(meta.get("session_id")),
        cwd=word(meta.get("cwd")),
        branch=word(payload_builders.fields(meta.get("git")).get("branch")),
        began_ns=time_ns(text(meta.get("timestamp"))) or time_ns(text(line.get("timestamp"))),
        unusable=OF_SUBAGENT if is_subagent else "",
    )


def steps(lines: Iterable[JsonObject], session: AgentSession) -> Iterator[AgentStep]:
    """Yield the steps of a rollout."""
    rollout = _Rollout(session)
    for number, line in enumerate(lines):
        rollout.at_ns = max(time_ns(text(line.get("timestamp"))), rollout.at_ns)
        if rollout.at_ns:
            yield from rollout.read(number, text(line.get("type")), payload_builders.fields(line.get("payload")))


class _Rollout:
    def __init__(self, session: AgentSession) -> None:
        self.at_ns = session.began_ns
        self._session = session
        self._cwd = session.cwd
        self._turn = ""
        self._pending: dict[str, JsonObject] = {}
        self._running: dict[str, tuple[JsonObject, list[str]]] = {}
        """Commands that go on, by the client's number of their shell, with the output until now."""

    def read(self, number: int, kind: str, item: JsonObject) -> Iterator[AgentStep]:
        what, id_ = text(item.get("type")), f"{self._turn}:{number}"
        if kind == "turn_context":
            self._turn, self._cwd = word(item.get("turn_id")) or self._turn, word(item.get("cwd")) or self._cwd
        elif kind == "compacted":
            yield self._step("compact", id_)
        elif kind == "event_msg":
            yield from self._event(what, item, id_)
        elif kind == "response_item" and what == "message":
            is_reply = item.get("role") == "assistant" and item.get("phase") != "commentary"
            if is_reply and (said := joined_text(item.get("content"))):
                yield self._step("reply", id_, said)
        elif kind == "response_item" and what in ("function_call", "custom_tool_call"):
            self._pending[word(item.get("call_id"))] = item
        elif kind == "response_item" and what in ("function_call_output", "custom_tool_call_output"):
            yield from self._tool(word(item.get("call_id")), _output(item.get("output")))

    def _event(self, what: str, item: JsonObject, id_: str) -> Iterator[AgentStep]:
        completed = payload_builders.fields(item.get("item")) if what == "item_completed" else {}
        if what == "task_started":
            self._turn = word(item.get("turn_id"))
        elif what == "user_message":
            yield from self._prompt(text(item.get("message")), id_)
        elif completed.get("type") == "UserMessage":
            yield from self._prompt(joined_text(completed.get("content")), id_)
        elif what == "task_complete":
            yield self._step("stop", id_, text(item.get("last_agent_message")))
        elif what == "turn_aborted":
            yield self._step("abort", id_)

    def _tool(self, id_: str, output: str) -> Iterator[AgentStep]:
        call = self._pending.pop(id_, None)
        if call and (calls := captured(self._ended(call, output))):
            yield replace(self._step("tool", id_), calls=calls)

    def _prompt(self, written: str, id_: str) -> Iterator[AgentStep]:
        if typed := without_injected(written):
            yield self._step("prompt", id_, typed)

    def _step(self, kind: StepKind, id_: str, written: str = "") -> AgentStep:
        return AgentStep(kind, self.at_ns, id_, self._cwd, written, self._turn)

    def _ended(self, call: JsonObject, output: str) -> tuple[JsonObject, ...]:
        """Return a finished call as the hooks report it: commands, patches, plans and tools of MCP servers."""
        name, given = text(call.get("name")), payload_builders.fields(call.get("arguments"))
        payload: JsonObject = {
            "session_id": self._session.id,
            "cwd": self._cwd,
            "tool_use_id": word(call.get("call_id")),
            "turn_id": self._turn,
        }
        if name in _SHELLS:
            folder = payload_builders.absolute(word(given.get("workdir")), self._cwd) or self._cwd
            return self._command({**payload, "cwd": folder}, _command(given), output)
        if name == "write_stdin":
            return self._more(str(given.get("session_id")), output)
        if name == "apply_patch":
            patch = text(call.get("input")) or text(given.get("input")) or text(given.get("patch"))
            return codex.adapt(
                "PostToolUse",
                {**payload, "tool_name": name, "tool_input": {"command": patch}, "tool_response": output},
            )
        if server := word(call.get("namespace")):
            name = f"{server}__{name.lstrip('_')}"
        if name != "update_plan" and not name.startswith("mcp__"):
            return ()
        return codex.adapt("PostToolUse", {**payload, "tool_name": name, "tool_input": given, "tool_response": output})

    def _command(self, payload: JsonObject, command: str, output: str) -> tuple[JsonObject, ...]:
        if not command:
            return ()
        call = {**payload, "tool_input": {"command": command}}
        if running := _RUNNING.search(_frame(output)):
            self._running[running[1]] = (call, [_shown(output)])
            return ()
        return (_ran(call, _shown(output), output),)

    def _more(self, shell: str, output: str) -> tuple[JsonObject, ...]:
        """Return the command of a shell when its exit code has come."""
        call, shown = self._running.get(shell, ({}, []))
        if not call:
            return ()
        shown.append(_shown(output))  # joined once: a server is asked for more thousands of times
        if not _EXIT.search(_frame(output)):
            return ()
        del self._running[shell]
        return (_ran(call, "".join(shown), output),)


def _ran(call: JsonObject, shown: str, output: str) -> JsonObject:
    ended = _EXIT.search(_frame(output))
    command = text(payload_builders.fields(call.get("tool_input")).get("command"))
    return payload_builders.ran(call, command, shown, int(ended[1]) if ended else 0)


def _frame(output: str) -> str:
    """Return the client's lines before the output of a command; the command may print similar lines itself."""
    frame = _FRAME.match(output)
    return frame[0] if frame else ""


def _shown(output: str) -> str:
    return output[len(_frame(output)) :]


def _command(given: JsonObject) -> str:
    """Return the command line; older clients give the words of a shell's call."""
    written = payload_builders.first_text(given, "cmd", "command")
    words = given.get("command")
    if written or not isinstance(words, list):
        return written
    return text(words[2]) if len(words) == 3 and text(words[1]) in ("-c", "-lc") else " ".join(map(text, words))


def _output(value: JsonValue) -> str:
    """Return the output of a call; older clients wrap output and exit code in JSON."""
    if isinstance(value, list):
        return joined_text(value)
    wrapped = payload_builders.fields(value)
    if "output" not in wrapped:
        return text(value)
    code = payload_builders.fields(wrapped.get("metadata")).get("exit_code")
    return f"Exit code: {code}\nOutput:\n{text(wrapped.get('output'))}"
