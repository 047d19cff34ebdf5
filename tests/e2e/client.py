"""Drives the real Claude Code client as a program: one prompt a process, or a conversation of several."""

import json
import os
import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from tests.e2e.fake_messages_api import JsonObject

PROJECT = Path(__file__).resolve().parents[2]
TOOLS = "Bash,Write,Edit,Read,Grep,Glob,Agent"
RUN_TIMEOUT_S = 120


def find_binary() -> Path:
    """Where the client is, whether or not it is there: CLAUDE_BINARY, else what `make e2e` installs."""
    chosen = os.environ.get("CLAUDE_BINARY")
    if chosen:
        return Path(chosen)
    processor = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    package = f"claude-code-{platform.system().lower()}-{processor}"
    folder = PROJECT / ".e2e" / "node_modules" / "@anthropic-ai"
    # npm installs one of them; on a musl system the name goes on
    return next(folder.glob(f"{package}*/claude"), folder / package / "claude")


def clean_environment(home: Path, api_url: str) -> dict[str, str]:
    """All that the client and what it starts may know of this machine."""
    temporary = home.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "CLAUDE_CODE_TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ANTHROPIC_BASE_URL": api_url,
        "ANTHROPIC_API_KEY": "not-a-key",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "30000",  # the client ends a plugin's after 1.5 s
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


@dataclass(frozen=True, slots=True)
class HookRun:
    """One hook that the client ran, by its own report."""

    event: str
    name: str
    """The event with what its matcher saw: `PostToolUse:Bash`, `SessionStart:resume`."""
    stdout: str
    stderr: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What one prompt led to. The hook of SessionEnd runs after the client's report and is not in `hooks`."""

    session: str
    text: str
    is_error: bool
    hooks: tuple[HookRun, ...]

    @property
    def start_contexts(self) -> list[str]:
        """What hooks gave at a start, whatever the client then made of it."""
        return [given for hook in self.hooks if hook.event == "SessionStart" for given in _given(hook.stdout)]

    @property
    def events(self) -> Counter[str]:
        return Counter(hook.event for hook in self.hooks)


def _given(stdout: str) -> Iterator[str]:
    if stdout.strip():
        answer = json.loads(stdout)
        yield str(answer["hookSpecificOutput"]["additionalContext"])


@dataclass(frozen=True, slots=True)
class Client:
    binary: Path
    environment: Mapping[str, str]

    def run(self, prompt: str, cwd: Path, *options: str) -> Reply:
        """One prompt in a process of its own: `claude -p PROMPT`."""
        done = subprocess.run(
            self._command(prompt, *options),
            cwd=cwd,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_S,
        )
        replies = list(_replies(done.stdout.splitlines()))
        assert replies, f"the client said nothing (exit {done.returncode}): {done.stderr[-2000:]}"
        # more than one result: a background task ended later and made a turn of its own
        return replace(replies[0], hooks=tuple(hook for reply in replies for hook in reply.hooks))

    def resume(self, session: str, prompt: str, cwd: Path) -> Reply:
        return self.run(prompt, cwd, "--resume", session)

    def fork(self, session: str, prompt: str, cwd: Path) -> Reply:
        return self.run(prompt, cwd, "--resume", session, "--fork-session")

    def resume_latest(self, prompt: str, cwd: Path) -> Reply:
        return self.run(prompt, cwd, "--continue")

    @contextmanager
    def conversation(self, cwd: Path, *options: str) -> Iterator["Conversation"]:
        """Several prompts in one process; it ends, and is waited for, with the block."""
        process = subprocess.Popen(
            self._command("--input-format", "stream-json", *options),
            cwd=cwd,
            env=dict(self.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            try:
                yield Conversation(process.stdin, _replies(process.stdout))
                process.stdin.close()
                process.wait(RUN_TIMEOUT_S)
            finally:
                process.kill()

    def _command(self, *options: str) -> list[str]:
        report = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
        return [str(self.binary), "-p", *options, *report, "--allowedTools", TOOLS]


@dataclass(frozen=True, slots=True)
class Conversation:
    stdin: IO[str]
    replies: Iterator[Reply]

    def say(self, prompt: str) -> Reply:
        """Send a prompt or a command such as /compact, and wait for what it leads to."""
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self.stdin.write(json.dumps(message) + "\n")
        self.stdin.flush()
        reply = next(self.replies, None)
        assert reply is not None, f"the client ended before it answered {prompt!r}"
        return reply


def _replies(lines: Iterable[str]) -> Iterator[Reply]:
    """The client's report, a JSON object a line, cut at each result."""
    hooks: list[HookRun] = []
    for line in lines:
        if not line.startswith("{"):
            continue
        report: JsonObject = json.loads(line)
        if report.get("subtype") == "hook_response":
            hooks.append(_hook_run(report))
        elif report.get("type") == "result":
            session, text = str(report.get("session_id")), str(report.get("result"))
            yield Reply(session, text, bool(report.get("is_error")), tuple(hooks))
            hooks = []


def _hook_run(report: JsonObject) -> HookRun:
    code = report.get("exit_code")
    return HookRun(
        event=str(report.get("hook_event")),
        name=str(report.get("hook_name")),
        stdout=str(report.get("stdout") or ""),
        stderr=str(report.get("stderr") or ""),
        exit_code=code if isinstance(code, int) else -1,
    )
