"""Made-up sessions of Codex CLI, Copilot CLI, Gemini CLI and OpenCode, in the files that these clients write."""

import json
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from tests.support.past_sessions import LONG_AGO, Json

PATCH = "*** Begin Patch\n*** Add File: a.py\n+A = 1\n*** Update File: b.py\n@@\n-B = 1\n+B = 2\n*** End Patch\n"
SAID = "Decided to keep rates as whole per cent, because the ledger rounds to cents."
CWD = "/home/dev/shop"


def stamp(second: int, start: datetime = LONG_AGO) -> str:
    return f"{start + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S.000Z}"


def millis(second: int) -> int:
    return int((LONG_AGO + timedelta(seconds=second)).timestamp() * 1000)


def write_lines(path: Path, lines: list[Json]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def write_json(path: Path, value: Json) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def codex_line(second: int, kind: str, **payload: Json) -> Json:
    return {"timestamp": stamp(second), "type": kind, "payload": payload}


def codex_call(second: int, id_: str, name: str, given: Json, output: str) -> list[Json]:
    arguments = json.dumps(given)
    return [
        codex_line(second, "response_item", type="function_call", name=name, arguments=arguments, call_id=id_),
        codex_line(second + 1, "response_item", type="function_call_output", call_id=id_, output=output),
    ]


def codex_prompt(second: int, turn: str, typed: str) -> list[Json]:
    context = [{"type": "input_text", "text": "<environment_context>\n  <cwd>x</cwd>\n</environment_context>"}]
    return [
        codex_line(second, "event_msg", type="task_started", turn_id=turn),
        codex_line(second, "response_item", type="message", role="user", content=context),
        codex_line(second, "turn_context", turn_id=turn, cwd=CWD),
        codex_line(second, "event_msg", type="user_message", message=typed),
    ]


def codex_end(second: int, turn: str, said: str = SAID) -> list[Json]:
    content = [{"type": "output_text", "text": said}]
    return [
        codex_line(second, "response_item", type="message", role="assistant", content=content),
        codex_line(second, "event_msg", type="task_complete", turn_id=turn, last_agent_message=said),
    ]


def codex_head(session: str, **more: Json) -> Json:
    return codex_line(0, "session_meta", id=session, timestamp=stamp(0), cwd=CWD, git={"branch": "main"}, **more)


def codex_session(session: str = "c1") -> list[Json]:
    """A command that goes well, one that fails, a patch of two files, closing words."""
    failed = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno such file\n"
    went_well = "Chunk ID: 1\nProcess exited with code 0\nOutput:\nlooked\n"
    patched = "Exit code: 0\nOutput:\nSuccess.\n"
    return [
        codex_head(session),
        *codex_prompt(1, f"{session}-t1", "decide on the rates"),
        *codex_call(2, f"{session}-1", "exec_command", {"cmd": "echo looked"}, went_well),
        *codex_call(4, f"{session}-2", "exec_command", {"cmd": "cat none"}, failed),
        codex_line(
            6, "response_item", type="custom_tool_call", name="apply_patch", input=PATCH, call_id=f"{session}-3"
        ),
        codex_line(7, "response_item", type="custom_tool_call_output", call_id=f"{session}-3", output=patched),
        *codex_end(8, f"{session}-t1"),
    ]


def copilot_line(second: int, kind: str, **data: Json) -> Json:
    return {"type": kind, "data": data, "id": f"e{second}-{kind}", "timestamp": stamp(second)}


def copilot_call(
    second: int, name: str, given: Json, content: str, *, success: bool = True, **more: Json
) -> list[Json]:
    id_ = f"call-{second}"
    return [
        copilot_line(second, "tool.execution_start", toolCallId=id_, toolName=name, arguments=given),
        copilot_line(
            second + 1, "tool.execution_complete", toolCallId=id_, success=success, result={"content": content}, **more
        ),
    ]


def copilot_session(session: str = "p1") -> list[Json]:
    return [
        copilot_line(0, "session.start", sessionId=session, startTime=stamp(0), context={"cwd": CWD, "branch": "main"}),
        copilot_line(1, "user.message", content="decide on the rates", transformedContent="<x>decide on the rates</x>"),
        copilot_line(2, "assistant.message", content="", toolRequests=[{"toolCallId": "call-3"}]),
        *copilot_call(3, "bash", {"command": "cat none"}, "no such file\n<shellId: 0 completed with exit code 2>"),
        *copilot_call(5, "create", {"path": f"{CWD}/a.py", "file_text": "A = 1\n"}, "Created."),
        copilot_line(7, "assistant.message", content=SAID, toolRequests=[]),
        copilot_line(7, "assistant.turn_end", turnId="1"),
    ]


def gemini_tool(second: int, name: str, given: Json, status: str = "success", **response: Json) -> Json:
    id_ = f"{name}-{second}"
    result = [{"functionResponse": {"id": id_, "name": name, "response": response}}]
    head = {"id": id_, "name": name, "args": given, "status": status}
    return {**head, "result": result, "timestamp": stamp(second)}


def gemini_messages() -> list[Json]:
    context = [{"text": "<session_context>\nThis is the Gemini CLI.\n</session_context>"}]
    shell = gemini_tool(3, "run_shell_command", {"command": "cat none"}, output="Output: no such file\nExit Code: 2")
    write = gemini_tool(4, "write_file", {"file_path": f"{CWD}/a.py", "content": "A = 1\n"}, output="Written.")
    return [
        {"id": "m0", "timestamp": stamp(0), "type": "user", "content": context},
        {"id": "m1", "timestamp": stamp(1), "type": "user", "content": [{"text": "decide on the rates"}]},
        {"id": "m2", "timestamp": stamp(2), "type": "gemini", "content": "", "toolCalls": [shell, write]},
        {"id": "m3", "timestamp": stamp(5), "type": "user", "content": [{"functionResponse": {"id": "x"}}]},
        {"id": "m4", "timestamp": stamp(6), "type": "gemini", "content": SAID},
    ]


def gemini_head(session: str = "g1", **more: Json) -> Json:
    return {"sessionId": session, "projectHash": "0" * 64, "startTime": stamp(0), "kind": "main", **more}


def gemini_folder(home: Path) -> Path:
    """The folder of the chats of one project."""
    chats = home / ".gemini" / "tmp" / "shop" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(CWD)
    return chats


def opencode_messages(session: str = "ses_o1") -> list[tuple[Json, list[Json]]]:
    def tool(id_: str, name: str, second: int, given: Json, output: str, **metadata: Json) -> Json:
        state = {"status": "completed", "input": given, "output": output, "metadata": metadata}
        return {
            "id": id_,
            "type": "tool",
            "tool": name,
            "callID": id_,
            "state": {**state, "time": {"end": millis(second)}},
        }

    asked = {"id": "msg_1", "sessionID": session, "role": "user", "time": {"created": millis(1)}}
    reply = {"id": "msg_2", "sessionID": session, "role": "assistant", "time": {"created": millis(2)}, "finish": "stop"}
    return [
        (asked, [{"id": "prt_1", "type": "text", "text": "decide on the rates"}]),
        (
            reply,
            [
                tool("prt_2", "bash", 3, {"command": "cat none"}, "no such file", exit=2),
                tool("prt_3", "write", 4, {"filePath": f"{CWD}/a.py", "content": "A = 1\n"}, ""),
                {"id": "prt_4", "type": "text", "text": "a reminder of the client", "synthetic": True},
                {"id": "prt_5", "type": "text", "text": SAID},
            ],
        ),
    ]


def opencode_files(folder: Path, session: str = "ses_o1", **more: Json) -> Path:
    storage = folder / "opencode" / "storage"
    for message, parts in opencode_messages(session):
        write_json(storage / "message" / session / f"{message['id']}.json", message)
        for part in parts:
            write_json(storage / "part" / str(message["id"]) / f"{part['id']}.json", part)
    head = {"id": session, "directory": CWD, "time": {"created": millis(0)}, **more}
    return write_json(storage / "session" / "p1" / f"{session}.json", head)


def opencode_database(folder: Path, session: str = "ses_o1") -> Path:
    path = folder / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            """create table session (id text, directory text, parent_id text, time_created integer);
               create table message (id text, session_id text, time_created integer, data text);
               create table part (id text, message_id text, session_id text, time_created integer, data text);"""
        )
        db.execute("insert into session values (?, ?, null, ?)", (session, CWD, millis(0)))
        for at, (message, parts) in enumerate(opencode_messages(session)):
            db.execute("insert into message values (?, ?, ?, ?)", (message["id"], session, at, json.dumps(message)))
            for part in parts:
                row = (part["id"], message["id"], session, at, json.dumps(part))
                db.execute("insert into part values (?, ?, ?, ?, ?)", row)
        db.commit()
    return path
