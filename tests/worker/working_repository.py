"""A repository in which an agent and a person work by turns: real git, real files, real hooks, a real worker."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from claude_mem_lite.code.git.project_identity import find_location
from tests.support import commit_turns
from tests.support.patches import patch
from tests.support.running import Json, Machine, payload

ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.invalid",
    "GIT_COMMITTER_NAME": "A Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.invalid",
    "GIT_EDITOR": "true",
}

_FEW_WORDS = 3


@dataclass(slots=True)
class WorkingRepository:
    """One checkout and the worker that remembers what is done in it."""

    machine: Machine
    root: Path
    sessions: "count[int]" = field(default_factory=count)

    @classmethod
    def begin(cls, machine: Machine, root: Path, files: Mapping[str, str]) -> "WorkingRepository":
        """A new repository on main, with a first commit of these files."""
        made = cls(machine, root.resolve())
        made.root.mkdir(exist_ok=True)
        made.git("init", "--quiet", "--initial-branch=main")
        for path, text in files.items():
            made.write(path, text)
        made.commit("Start")
        return made

    # What the person does.

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
            env={"PATH": os.environ["PATH"], **ENVIRONMENT},
        )
        return done.stdout.strip()

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def replace(self, path: str, old: str, new: str) -> None:
        """Change a file by hand."""
        text = (self.root / path).read_text()
        assert old in text, (path, old)
        self.write(path, text.replace(old, new))

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def at(self, root: Path) -> "WorkingRepository":
        """The same person in another checkout."""
        return WorkingRepository(self.machine, root, self.sessions)

    # What the agent does.

    def session(self, asked: str, files: dict[str, str], said: str) -> None:
        """A session of one turn, in which files come to hold these texts. The agent commits what it tells about, unless
        it says no more than a word or two: of such a turn nothing is remembered."""
        name = f"session-{next(self.sessions)}-{self.root.name}"
        self._hook("SessionStart", name, source="startup")
        self._hook("UserPromptSubmit", name, prompt=asked)
        for path, text in files.items():
            self._edit(name, path, text)
        is_telling = bool(files) and len(said.split()) > _FEW_WORDS
        last: list[Json] = [payload("Stop", name, last_assistant_message=said)]
        for given in commit_turns.ending(name, "", said, next(iter(files))) if is_telling else last:
            more = {key: value for key, value in given.items() if key not in ("session_id", "cwd", "hook_event_name")}
            self._hook(given["hook_event_name"], name, **more)
        self._hook("SessionEnd", name, reason="other")
        self.machine.drain()

    def decided(self, title: str, summary: str) -> None:
        """A decision that an agent made on the branch that is checked out, as an export has it."""
        branch, project = self.git("branch", "--show-current"), find_location(str(self.root)).project
        memory = {"kind": "decision", "title": title, "summary": summary, "origin": "assistant", "scope": "project"}
        body = {"project": project, "at": datetime.now(UTC).isoformat(), "trust": True}
        lines = [{"memory": {**memory, "branch": branch, "confidence": 0.8}}]
        self.machine.post("/api/import/memories", {**body, "lines": lines})
        self.machine.post("/api/import/memories/finish", {})
        self.machine.drain()

    def context(self) -> str:
        """What a session that starts now is given."""
        told = self.start()
        self.machine.drain()  # whatever comes next, it takes a person longer than the look that follows a start
        return told

    def start(self) -> str:
        """The same, where nobody waits for what follows."""
        name = f"look-{next(self.sessions)}"
        printed = self._hook("SessionStart", name, source="startup")
        self._hook("SessionEnd", name, reason="other")
        return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"]) if printed else ""

    def _edit(self, session: str, path: str, text: str) -> None:
        file = self.root / path
        before = file.read_text() if file.is_file() else None
        self.write(path, text)
        if before is None:
            given: Json = {"file_path": str(file), "content": text}
            response: Json = {"type": "create", "filePath": str(file), "content": text, "structuredPatch": []}
            self._hook("PostToolUse", session, tool_name="Write", tool_input=given, tool_response=response)
            return
        given = {"file_path": str(file), "old_string": before, "new_string": text}
        response = {"filePath": str(file), "originalFile": before, "structuredPatch": patch(before, text)}
        self._hook("PostToolUse", session, tool_name="Edit", tool_input=given, tool_response=response)

    def _hook(self, event: str, session: str, **more: Json) -> bytes:
        ran = self.machine.hook(event, payload(event, session, str(self.root), **more))
        assert ran.status == 0
        assert ran.err == b""
        return ran.out
