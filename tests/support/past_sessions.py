"""Transcripts as Claude Code writes them, made up line by line, for the tests of the import."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

LONG_AGO = datetime(2026, 3, 2, 9, tzinfo=UTC)
SHOP = "/home/dev/shop"
Json = Any
_SPACE = UUID("5f0c2a52-6a3e-4a55-9a3b-6f0a3a7d7c11")


@dataclass(slots=True)
class PastSession:
    """One session's lines; each is written a second after the one before."""

    id: str
    at: datetime = LONG_AGO
    cwd: str = SHOP
    prompt_ids: bool = True
    agent: str = ""
    lines: list[Json] = field(default_factory=list)

    def prompt(self, content: str | list[Json], **more: Json) -> "PastSession":
        prompt_id = {"promptId": self._uuid("prompt")} if self.prompt_ids and not self.agent else {}
        return self.line("user", message={"role": "user", "content": content}, **prompt_id, **more)

    def says(self, text: str, *, stop_reason: str | None = "end_turn", **more: Json) -> "PastSession":
        return self.answers([{"type": "text", "text": text}], stop_reason=stop_reason, **more)

    def answers(self, content: list[Json], *, stop_reason: str | None = None, **more: Json) -> "PastSession":
        message = {
            "id": f"msg_{len(self.lines)}",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": content,
            "stop_reason": stop_reason,
        }
        return self.line("assistant", **{"message": message, **more})

    def calls(self, tool: str, given: Mapping[str, Json], id_: str = "") -> "PastSession":
        block = {"type": "tool_use", "id": id_ or f"toolu_{len(self.lines)}", "name": tool, "input": dict(given)}
        return self.answers([block], stop_reason="tool_use")

    def gets(
        self, text: Json, record: Json = None, *, error: bool = False, id_: str = "", **more: Json
    ) -> "PastSession":
        """The result of the last call, or of the one with that id."""
        block = {"type": "tool_result", "tool_use_id": id_ or self._last_call(), "content": text, "is_error": error}
        kept = {} if record is None else {"toolUseResult": record}
        return self.line("user", message={"role": "user", "content": [block]}, **kept, **more)

    def runs(self, command: str, output: str, exit_code: int = 0) -> "PastSession":
        """A command that prints something and ends."""
        self.calls("Bash", {"command": command})
        if exit_code:
            error = f"Exit code {exit_code}\n{output}"
            return self.gets(error, f"Error: {error}", error=True)
        return self.gets(output, {"stdout": output, "stderr": "", "interrupted": False, "isImage": False})

    def edits(self, path: str, old: str, new: str) -> "PastSession":
        self.calls("Edit", {"file_path": path, "old_string": old, "new_string": new})
        hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": [f"-{old}", f"+{new}"]}
        record = {"filePath": path, "oldString": old, "newString": new, "structuredPatch": [hunk]}
        return self.gets("The file has been updated.", record)

    def system(self, subtype: str, **more: Json) -> "PastSession":
        return self.line("system", subtype=subtype, **more)

    def line(self, kind: str, **members: Json) -> "PastSession":
        self.at += timedelta(seconds=1)
        self.lines.append(
            {
                "type": kind,
                "uuid": self._uuid(kind),
                "timestamp": self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "sessionId": self.id,
                "cwd": self.cwd,
                "gitBranch": "main",
                "isSidechain": bool(self.agent),
                **({"agentId": self.agent} if self.agent else {}),
                **members,
            }
        )
        return self

    def text(self) -> str:
        return "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in self.lines)

    def write(self, folder: Path, *, packed: bool = False) -> Path:
        """Under the name the client gives it, with sub-agents below their session; gzipped if wanted."""
        stem = folder / self.id / "subagents" / f"agent-{self.agent}" if self.agent else folder / self.id
        path = stem.with_name(f"{stem.name}.jsonl{'.gz' if packed else ''}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(self.text().encode()) if packed else self.text().encode())
        return path

    def _uuid(self, what: str) -> str:
        return str(uuid5(_SPACE, f"{self.id} {self.agent} {len(self.lines)} {what}"))

    def _last_call(self) -> str:
        blocks = [block for line in self.lines for block in _content(line) if block.get("type") == "tool_use"]
        return str(blocks[-1]["id"])


def _content(line: Json) -> list[Json]:
    content = line["message"]["content"] if isinstance(line, dict) and "message" in line else []
    return content if isinstance(content, list) else []


def fixed_bug(id_: str, number: int = 0, at: datetime = LONG_AGO, cwd: str = SHOP) -> PastSession:
    """A session of one turn in which something fails, is edited and works; `number` makes it different from others."""
    name = f"total_{number}"
    return (
        PastSession(id_, at, cwd)
        .prompt(f"The sum {name} is wrong for empty carts, please fix it")
        .runs("python3 check.py", f"AssertionError: {name} of an empty cart is None", exit_code=1)
        .edits(
            f"{cwd}/{name}.py", f"def {name}(items): return sum(items) or None", f"def {name}(items): return sum(items)"
        )
        .runs("python3 check.py", "ok")
        .says(f"Fixed {name} in {name}.py: an empty cart now costs 0. The cause was the `or None` after the sum.")
    )
