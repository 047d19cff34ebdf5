"""A case: a turn as the client's hooks send it, and what must still be readable of it once it is stored.

The builders make payloads of the shapes that the real client was seen to send."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.agents.claude_code import event_from_payload, why_skipped
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.rules.session_summary import summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.inbox.payload import parse, to_stored
from claude_mem_lite.models import Event, JsonObject, JsonValue, Kind, Turn
from claude_mem_lite.text import one_line
from claude_mem_lite.turn_digest import TurnDigest
from tests.support.patches import patch

CWD = "/home/dev/shop"
SESSION = "5b1f0c6e-7a52-4b9d-9a53-0d6a3f1c2e77"
NAME = "{:020d}-1-00000000-Hook"
BEGAN_NS = 1_772_618_400_000_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """One turn and its facts: exact strings, apart from white space."""

    name: str
    prompt: str
    events: Sequence[JsonObject]
    closing: str = ""
    facts: tuple[str, ...] = ()
    """What must be readable in the memories, the log, the prompt or the closing message of the turn."""
    lost: tuple[str, ...] = ()
    """Those of the facts that are known not to survive."""
    summary_facts: tuple[str, ...] = ()
    """What must be readable in the session summary."""
    never: tuple[str, ...] = ()
    """What must not be stored."""
    memories: int | None = None
    """How many memories the turn makes, where that is the point."""
    kinds: tuple[Kind, ...] = ()
    """The kinds that must be among them."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What came of a case."""

    digest: TurnDigest
    text: str
    """Everything that search finds of the turn, on one line."""
    summary: str


def store(case: Case) -> Stored:
    """The case taken in and compressed as the worker does it, without a model."""
    payloads: list[JsonObject] = [_hook("UserPromptSubmit", prompt=case.prompt), *case.events]
    payloads.append(_hook("Stop", stop_hook_active=False, last_assistant_message=case.closing, background_tasks=[]))
    events = [event for at, payload in enumerate(payloads) if (event := _taken_in(payload, at))]
    turn = Turn(key="k", session=SESSION, project="p", prompt=case.prompt, events=tuple(events))
    digest = fold(turn)
    summary = summarize(None, turn, digest)
    parts = [
        part
        for draft in digest.drafts
        for part in (draft.title, draft.summary, draft.detail, *draft.facts, *draft.files)
    ]
    parts += [f"{symbol.name} {symbol.action}" for draft in digest.drafts for symbol in draft.symbols]
    parts += [f"{change.name} {change.action}" for change in digest.code]
    parts += [digest.log, case.prompt, *(clean(event.message or "") for event in events if event.kind == "Stop")]
    told = (summary.headline, summary.request, summary.completed, summary.learned, *summary.next_steps)
    return Stored(digest, one_line("\n".join(parts)), one_line("\n".join((*told, *summary.key_decisions))))


def bash(command: str, stdout: str = "", stderr: str = "", **more: JsonValue) -> JsonObject:
    response: JsonObject = {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False, **more}
    return tool("Bash", {"command": command, "description": "Run it"}, response)


def bash_failed(command: str, output: str, code: int = 1) -> JsonObject:
    return tool_failed("Bash", {"command": command}, f"Exit code {code}\n{output}")


def edit(path: str, original: str, old: str, new: str) -> JsonObject:
    assert original.count(old) == 1, f"{old!r} must be in the file once"
    response: JsonObject = {
        "filePath": f"{CWD}/{path}",
        "oldString": old,
        "newString": new,
        "originalFile": original,
        "structuredPatch": patch(original, original.replace(old, new)),
        "userModified": False,
        "replaceAll": False,
    }
    given: JsonObject = {
        "file_path": f"{CWD}/{path}",
        "old_string": old,
        "new_string": new,
        "replace_all": False,
    }
    return tool("Edit", given, response)


def multi_edit(path: str, original: str, *edits: tuple[str, str]) -> JsonObject:
    after = original
    for old, new in edits:
        assert after.count(old) == 1, f"{old!r} must be in the file once"
        after = after.replace(old, new)
    given: list[JsonValue] = [{"old_string": old, "new_string": new, "replace_all": False} for old, new in edits]
    response: JsonObject = {
        "filePath": f"{CWD}/{path}",
        "edits": given,
        "originalFileContents": original,
        "structuredPatch": patch(original, after),
        "userModified": False,
    }
    return tool("MultiEdit", {"file_path": f"{CWD}/{path}", "edits": given}, response)


def write(path: str, content: str, original: str | None = None) -> JsonObject:
    response: JsonObject = {
        "type": "create" if original is None else "update",
        "filePath": f"{CWD}/{path}",
        "content": content,
        "structuredPatch": [] if original is None else patch(original, content),
        "originalFile": original,
        "userModified": False,
    }
    return tool("Write", {"file_path": f"{CWD}/{path}", "content": content}, response)


def read(path: str, content: str) -> JsonObject:
    lines = content.count("\n") + 1
    file: JsonObject = {
        "filePath": f"{CWD}/{path}",
        "content": content,
        "numLines": lines,
        "startLine": 1,
        "totalLines": lines,
    }
    return tool("Read", {"file_path": f"{CWD}/{path}"}, {"type": "text", "file": file})


def tool(name: str, given: JsonObject, response: JsonValue, **more: JsonValue) -> JsonObject:
    return _hook("PostToolUse", tool_name=name, tool_input=given, tool_response=response, duration_ms=40, **more)


def tool_failed(name: str, given: JsonObject, error: str, **more: JsonValue) -> JsonObject:
    return _hook("PostToolUseFailure", tool_name=name, tool_input=given, error=error, is_interrupt=False, **more)


def subagent_stop(message: str) -> JsonObject:
    return _hook(
        "SubagentStop", agent_id="a449f0aab0b965555", agent_type="general-purpose", last_assistant_message=message
    )


def _hook(event: str, **more: JsonValue) -> JsonObject:
    return {"session_id": SESSION, "cwd": CWD, "hook_event_name": event, **more}


def _taken_in(payload: JsonObject, at: int) -> Event | None:
    kept = parse(to_stored(parse(json.dumps(payload).encode())).encode())
    event = event_from_payload(NAME.format(BEGAN_NS + at), kept)
    return None if why_skipped(event, kept) else event
