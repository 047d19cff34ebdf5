"""Sessions of OpenCode (1.18): the tables of its database, or JSON files of sessions, messages and parts before 1.2.

No hooks of ours run in it, so its tools are converted here."""

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from claude_mem_lite.agents import payload_builders
from claude_mem_lite.importers import opencode_db
from claude_mem_lite.importers.agent_session import OF_SUBAGENT, AgentSession, AgentStep, captured, epoch_ns
from claude_mem_lite.importers.jsonl_reader import TranscriptProblem, is_deep, read_object
from claude_mem_lite.importers.transcript_entries import without_injected, word
from claude_mem_lite.importers.transcripts import size_of
from claude_mem_lite.models import JsonObject, JsonValue, text

AGENT = "opencode"
_SAME = {"list": "LS", "glob": "Glob", "grep": "Grep", "webfetch": "WebFetch", "task": "Agent"}
_MAX_SESSIONS = 100_000
_ID = re.compile(r"ses_[0-9A-Za-z_-]+")
"""Ids of sessions: in files they are names of folders, and must not lead elsewhere."""


def is_database(path: Path) -> bool:
    """Return whether a file is a database by its name: `opencode.db`, or with a channel `opencode-dev.db`."""
    return path.name.startswith("opencode") and path.suffix == ".db"


def size_of_database(path: Path) -> int:
    """Return the size with what is not checkpointed: OpenCode leaves most of a young database in the log."""
    return size_of(path) + size_of(path.with_name(f"{path.name}-wal"))


def is_head(line: JsonObject) -> bool:
    return _ID.fullmatch(text(line.get("id"))) is not None and "directory" in line


def head(line: JsonObject) -> AgentSession:
    """Return the session of a session file."""
    began_ns = epoch_ns(payload_builders.fields(line.get("time")).get("created"))
    reason = OF_SUBAGENT if line.get("parentID") else ""
    return AgentSession(AGENT, word(line.get("id")), word(line.get("directory")), began_ns=began_ns, unusable=reason)


def sessions_in(database: Path) -> list[AgentSession]:
    """Return the sessions of a database; OSError or sqlite3.Error if it cannot be read."""
    with opencode_db.opened(database) as db:
        rows = db.rows(
            "select id, directory, parent_id, time_created from session order by time_created limit ?", _MAX_SESSIONS
        )
    return [
        AgentSession(
            AGENT,
            word(id_),
            word(folder),
            began_ns=epoch_ns(created),
            unusable=OF_SUBAGENT if parent else "",
        )
        for id_, folder, parent, created in rows
    ]


def stored_messages(database: Path, session: str, problems: list[TranscriptProblem]) -> Iterator[JsonObject]:
    """Yield the messages of a session in a database, each with its parts."""
    try:
        with opencode_db.opened(database) as db:
            messages = db.rows("select id, data from message where session_id = ? order by time_created, id", session)
            for id_, data in messages:
                parts = db.rows("select id, data from part where message_id = ? order by id", id_)
                read = [{**_object(written), "id": part} for part, written in parts]
                yield {"info": {**_object(data), "id": id_}, "parts": read}
    except (OSError, sqlite3.Error) as error:
        problems.append(TranscriptProblem(database, 0, f"cannot be read: {error}", "file"))


def filed_messages(path: Path, session: str, problems: list[TranscriptProblem]) -> Iterator[JsonObject]:
    """Yield the messages of a session file, each with its parts."""
    storage = path.parent.parent.parent
    for message in _files(storage / "message" / session, problems):
        info = read_object(message, problems)
        parts = [read_object(part, problems) for part in _files(storage / "part" / message.stem, problems)]
        yield {"info": {"id": message.stem, **info}, "parts": parts}


def steps(lines: Iterable[JsonObject], session: AgentSession) -> Iterator[AgentStep]:
    """Yield the steps of messages with their parts."""
    for line in sorted(lines, key=lambda line: (_created(line), text(_info(line).get("id")))):
        info, raw = _info(line), line.get("parts")
        parts = [part for part in raw if isinstance(part, dict)] if isinstance(raw, list) else []
        at_ns, id_ = _created(line) or session.began_ns, word(info.get("id"))
        cwd = word(payload_builders.fields(info.get("path")).get("cwd")) or session.cwd
        if not at_ns:
            continue
        if info.get("role") == "user":
            if typed := without_injected(_as_typed(_texts(parts))):
                yield AgentStep("prompt", at_ns, id_, cwd, typed)
            elif any(part.get("type") == "compaction" for part in parts):
                yield AgentStep("compact", at_ns, id_, cwd)
        elif info.get("role") == "assistant" and info.get("summary") is not True:  # a summary is made by a compaction
            yield from _reply(info, parts, AgentStep("reply", at_ns, id_, cwd))


def _reply(info: JsonObject, parts: Sequence[JsonObject], step: AgentStep) -> Iterator[AgentStep]:
    at_ns = step.at_ns
    for part in parts:
        state = payload_builders.fields(part.get("state")) if part.get("type") == "tool" else {}
        at_ns = max(epoch_ns(payload_builders.fields(state.get("time")).get("end")), at_ns)
        calls = captured(_called(word(part.get("tool")), state, step.cwd, word(part.get("callID"))))
        if calls:
            yield AgentStep("tool", at_ns, word(part.get("id")) or step.id, step.cwd, calls=calls)
    at_ns = max(epoch_ns(payload_builders.fields(info.get("time")).get("completed")), at_ns)
    said, finish = _texts(parts).strip(), text(info.get("finish"))
    if text(payload_builders.fields(info.get("error")).get("name")) == "MessageAbortedError":
        yield AgentStep("abort", at_ns, step.id, step.cwd)
    elif finish and finish not in ("tool-calls", "unknown"):
        yield AgentStep("stop", at_ns, step.id, step.cwd, said)
    elif said and not finish:
        yield AgentStep("reply", at_ns, step.id, step.cwd, said)


def _called(tool: str, state: JsonObject, cwd: str, id_: str) -> tuple[JsonObject, ...]:
    """Return a finished call in Claude Code's form."""
    status, given, output = text(state.get("status")), payload_builders.fields(state.get("input")), state.get("output")
    if status not in ("completed", "error"):
        return ()
    payload: JsonObject = {"tool_use_id": id_}
    path = payload_builders.absolute(payload_builders.first_text(given, "filePath", "path"), cwd)
    named = {"write": "Write", "edit": "Edit", "read": "Read", "bash": "Bash"}.get(tool, _SAME.get(tool, tool))
    if status == "error":
        error = text(state.get("error")) or "failed"
        return (payload_builders.failed(payload, named, {**given, "file_path": path} if path else given, error),)
    if tool == "bash":
        code = payload_builders.fields(state.get("metadata")).get("exit")
        exit_code = code if isinstance(code, int) else 0
        return (payload_builders.ran(payload, text(given.get("command")), text(output), exit_code),)
    if tool == "write":
        return (payload_builders.written(payload, path, text(given.get("content"))),)
    if tool == "edit":
        old, new = text(given.get("oldString")), text(given.get("newString"))
        return (payload_builders.replaced(payload, path, old, new),)
    if tool == "read":
        return (payload_builders.opened(payload, path, text(output)),)
    if tool == "todowrite":
        return (payload_builders.called(payload, "TodoWrite", {"todos": given.get("todos")}, {}),)
    return (payload_builders.called(payload, named, given, text(output)),)


def _texts(parts: Sequence[JsonObject]) -> str:
    """Return the texts that somebody wrote; synthetic parts are the client's."""
    written = [part for part in parts if part.get("type") == "text" and part.get("synthetic") is not True]
    return "\n".join(said for part in written if (said := text(part.get("text"))))


def _as_typed(prompt: str) -> str:
    """Return a prompt without the quotes that `opencode run` puts around an argument with spaces."""
    inner = prompt[1:-1].replace('\\"', "")
    is_quoted = len(prompt) > 2 and prompt[0] == prompt[-1] == '"' and '"' not in inner and not inner.endswith("\\")
    return prompt[1:-1].replace('\\"', '"') if is_quoted else prompt


def _info(line: JsonObject) -> JsonObject:
    return payload_builders.fields(line.get("info"))


def _created(line: JsonObject) -> int:
    return epoch_ns(payload_builders.fields(_info(line).get("time")).get("created"))


def _files(folder: Path, problems: list[TranscriptProblem]) -> list[Path]:
    try:
        return sorted(Path(folder, name) for name in os.listdir(folder) if name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(TranscriptProblem(folder, 0, f"this folder cannot be read: {error.strerror}", "folder"))
        return []


def _object(written: JsonValue) -> JsonObject:
    found = payload_builders.fields(written)
    return {} if is_deep(found) else found
