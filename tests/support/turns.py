"""Events as the client sends them, made short: what the tests of compression are written with."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import numpy as np

from claude_mem_lite.compress.compose.judge import Judge, shipped_judge
from claude_mem_lite.compress.prose.linear_model import Linear
from claude_mem_lite.models import Event, JsonObject, JsonValue, ToolCall, Turn

CWD = "/home/dev/shop"
AT = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)


@cache
def lenient_judge() -> Judge:
    """Return the judge that is shipped, to which every turn is worth a memory and every headline is good."""
    shipped = shipped_judge()
    return replace(shipped, worth=_content(shipped.worth), title=_content(shipped.title))


def _content(model: Linear) -> Linear:
    """Return a model of the same numbers that always says yes."""
    weights = np.zeros_like(model.weights[len(model.vocabulary) :])
    weights[-1] = 10
    return Linear({}, weights)


def call(tool: str, given: JsonObject, response: JsonValue = None, error: str | None = None) -> Event:
    kind = "PostToolUse" if error is None else "PostToolUseFailure"
    return Event(name="1", kind=kind, session="s", at=AT, cwd=CWD, tool=ToolCall(tool, given, response, error))


def bash(command: str, stdout: str = "", stderr: str = "") -> Event:
    return call("Bash", {"command": command}, {"stdout": stdout, "stderr": stderr, "interrupted": False})


def bash_failed(command: str, output: str, code: int = 1) -> Event:
    return call("Bash", {"command": command}, error=f"Exit code {code}\n{output}")


def edit(path: str, original: str, old: str, new: str) -> Event:
    """An Edit with the patch the client would send: three lines of context around the change."""
    lines = original.split("\n")
    at = original[: original.index(old)].count("\n")
    olds, news = old.split("\n"), new.split("\n")
    first = max(at - 3, 0)
    patch = [f" {line}" for line in lines[first:at]]
    patch += [f"-{line}" for line in lines[at : at + len(olds)]]
    after = original.replace(old, new, 1).split("\n")
    patch += [f"+{line}" for line in after[at : at + len(news)]]
    patch += [f" {line}" for line in lines[at + len(olds) : at + len(olds) + 3]]
    response: JsonObject = {
        "filePath": f"{CWD}/{path}",
        "oldString": old,
        "newString": new,
        "originalFile": original,
        "structuredPatch": [
            {"oldStart": first + 1, "oldLines": 1, "newStart": first + 1, "newLines": 1, "lines": patch}
        ],
    }
    return call("Edit", {"file_path": f"{CWD}/{path}", "old_string": old, "new_string": new}, response)


def write(path: str, content: str) -> Event:
    response: JsonObject = {
        "type": "create",
        "filePath": f"{CWD}/{path}",
        "content": content,
        "structuredPatch": [],
        "originalFile": None,
    }
    return call("Write", {"file_path": f"{CWD}/{path}", "content": content}, response)


def read(path: str) -> Event:
    return call("Read", {"file_path": f"{CWD}/{path}"}, {"type": "text", "file": {"content": "x"}})


def todos(*items: tuple[str, str]) -> Event:
    return call("TodoWrite", {"todos": [{"content": content, "status": status} for content, status in items]}, {})


def stop(message: str | None) -> Event:
    return Event(name="9", kind="Stop", session="s", at=AT, cwd=CWD, message=message)


def subagent_stop(message: str) -> Event:
    return Event(name="8", kind="SubagentStop", session="s", at=AT, cwd=CWD, agent_id="a1", message=message)


def turn(prompt: str, *events: Event, closing: str | None = None) -> Turn:
    asked = Event(name="0", kind="UserPromptSubmit", session="s", at=AT, cwd=CWD, prompt=prompt)
    every: Sequence[Event] = (asked, *events, stop(closing))
    return Turn(key="k", session="s", project="p", prompt=prompt, events=tuple(every))


def spoken_of(folded: Turn) -> Turn:
    """Return a turn whose closing message speaks of every command that failed in it or before it."""
    ran = [event.tool for event in (*folded.earlier, *folded.events) if event.tool and event.tool.tool == "Bash"]
    failed = [call.input["command"] for call in ran if call.error or "Traceback" in f"{call.response}"]
    told = " ".join(f"At first `{command}` did not pass." for command in failed)
    *before, last = folded.events
    return replace(folded, events=(*before, replace(last, message=f"{last.message or ''} {told}".strip())))


AUTH = """import time


class Session:
    def __init__(self, token, expires):
        self.token = token
        self.expires = expires

    def is_valid(self):
        now = time.time()
        return self.expires > now * 1000


def load(path):
    return open(path).read()
"""

PYTEST_FAILED = """============================= test session starts ==============================
collected 14 items

tests/test_session.py .F............                                     [100%]

=================================== FAILURES ===================================
______________________________ test_fresh_is_valid _____________________________

    def test_fresh_is_valid():
        session = Session("t", time.time() + 60)
>       assert session.is_valid()
E       AssertionError: assert False
E        +  where False = is_valid()

tests/test_session.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_session.py::test_fresh_is_valid - AssertionError: assert False
========================= 1 failed, 13 passed in 0.31s =========================
"""

PYTEST_PASSED = """============================= test session starts ==============================
collected 14 items

tests/test_session.py ..............                                     [100%]

============================== 14 passed in 0.29s ==============================
"""
