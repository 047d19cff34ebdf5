"""The recorded session: what Claude Code sent to its hooks, one payload a line, and the files it worked on.

The replay reads it; nothing here runs or writes anything."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.models import JsonObject, JsonValue

BUNDLED = Path(__file__).with_name("session.jsonl")
RECORDED_IN = "/home/dev/teashop"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One payload as it was sent, now as if the session had happened in another folder."""

    text: str
    payload: JsonObject

    @property
    def kind(self) -> str:
        return str(self.payload["hook_event_name"])


def load(path: Path, folder: Path) -> list[Recorded]:
    """The payloads in order, with the recorded folder replaced by this one."""
    inside_json = json.dumps(str(folder))[1:-1]
    lines = path.read_text("utf-8").replace(RECORDED_IN, inside_json).splitlines()
    return [Recorded(line, json.loads(line)) for line in lines]


def files_at_start(events: Sequence[Recorded]) -> dict[Path, str]:
    """The files that the session opened, as it found them."""
    found: dict[Path, str] = {}
    for event in events:
        response = _member(event.payload, "tool_response")
        shown = _member(response, "file")
        for path, content in (
            (_member(shown, "filePath"), _member(shown, "content")),
            (_member(response, "filePath"), _member(response, "originalFile")),
        ):
            if isinstance(path, str) and isinstance(content, str):
                found.setdefault(Path(path), content)
    return found


def file_after(event: Recorded) -> tuple[Path, str] | None:
    """The file that an edit left behind; None for anything that is no edit."""
    response = _member(event.payload, "tool_response")
    path, before = _member(response, "filePath"), _member(response, "originalFile")
    old, new = _member(response, "oldString"), _member(response, "newString")
    if not (isinstance(path, str) and isinstance(before, str) and isinstance(old, str) and isinstance(new, str)):
        return None
    return Path(path), before.replace(old, new, -1 if _member(response, "replaceAll") else 1)


def next_start(events: Sequence[Recorded]) -> Recorded:
    """What the client sends when a new session is started in the same folder."""
    new = "0d9c7f5e-4a1b-4c7e-8f3d-6b2a1e5c9d70"
    text = events[0].text.replace(str(events[0].payload["session_id"]), new)
    return Recorded(text, json.loads(text))


def _member(value: JsonValue, key: str) -> JsonValue:
    return value.get(key) if isinstance(value, dict) else None
