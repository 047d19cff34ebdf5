"""Generator of docs/first-run.md: `install` at a real terminal and without one, on made-up homes.

Run `python -m tests.docs.first_run_recording > docs/first-run.md` after a change of the dialogue."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.agent_files import codex_session, write_lines
from tests.support.loopback import dead_port
from tests.support.past_sessions import PastSession
from tests.support.terminals import CTRL_C, at_terminal

SHOWN_HOME = "/home/dev"
_COMMAND = (sys.executable, "-m", "claude_mem_lite")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\r")
_PROMPTS = ("From now on always use pnpm, not npm.", "Never commit to main.", "Always run the tests with `just test`.")
_IMPORT, _TOOLS, _LAST = "Import them? [Y/n]: ", "each time? [y/N]: ", "Go ahead? [Y/n]: "
_MODEL = "Who writes the notes? [rules]: "
_OPENING = """# The first run

What `claude-mem-lite install` shows and asks. This page is recorded from the program on made-up homes, and a test
compares both. All questions come first: until you have answered the last one nothing is changed, and Ctrl-C, a closed
terminal or a killed program leaves everything as it was. After that, every file is replaced as a whole, and running
the command again completes what was cut off: of the earlier sessions it offers those that are not stored yet, or have
changed since they were imported. Run it again at any time to change an answer: your present settings are the defaults.

| question | answer ahead | with `--yes`, or without a terminal |
|---|---|---|
| import earlier sessions | `--import`, `--no-import` | no |
| permission for the memory tools | `--allow-tools`, `--no-allow-tools` | stays as it is |
| who writes the notes | `--provider`, `--model`, `--base-url`, `--key-stdin` | stays as it is: rules alone at first |

An API key is never an argument. You type it unseen, or a script sends it through the input, with
`--provider anthropic --key-stdin`. It is stored in `api-key` in the data folder, readable by you alone
([models.md](models.md#the-key)). Local servers are looked for on this machine alone: Ollama (or the port in
`OLLAMA_HOST`), LM Studio and llama.cpp at their usual ports, for at most 0.3 seconds each. In the shell of an agent
nothing is asked.
"""


@dataclass(frozen=True, slots=True)
class User:
    """Made-up home, and the environment of its programs."""

    folder: Path
    environment: dict[str, str]

    def shown(self, text: str) -> str:
        """Return an output with the home as readers of the page know it."""
        lines = _CONTROL.sub("", text).replace(str(self.folder), SHOWN_HOME).splitlines()
        return "\n".join(line.rstrip() for line in lines).strip("\n")


def page() -> str:
    """Return the text of the page."""
    return "".join((_OPENING, *(f"\n## {title}\n\n```console\n{text}\n```\n" for title, text in _recordings())))


def _recordings() -> Iterator[tuple[str, str]]:
    with _user(_PROMPTS) as user:
        yield "With earlier sessions", _record(user, (_IMPORT, ""), (_TOOLS, "y"), (_MODEL, ""), (_LAST, ""))
        asked = (_MODEL, "anthropic"), ("later): ", "made-up-key"), (_LAST, "")
        yield "Again, to choose a model", _record(user, *asked)
    with _user() as user:
        yield "Without earlier sessions", _record(user, (_TOOLS, ""), (_MODEL, ""), (_LAST, ""))
    with _user(_PROMPTS) as user:
        yield "Stopped with Ctrl-C", _record(user, (_IMPORT, ""), (_TOOLS, CTRL_C))
        yield "With earlier sessions, without a terminal", _record_script(user, "install")
        yield "By a script", _record_script(user, "install", "--import", "--provider", "claude-cli")
    with _user() as user:
        yield "Without earlier sessions, without a terminal", _record_script(user, "install")


def _record(user: User, *answers: tuple[str, str]) -> str:
    """Return what a terminal shows while the questions get these answers."""
    with at_terminal("install", environment=user.environment) as terminal:
        place = 0
        for question, typed in answers:
            place = terminal.wait_for(question, place)
            terminal.wait_until_it_reads()
            terminal.type(typed if typed == CTRL_C else f"{typed}\n")
        terminal.finish()
    return f"$ claude-mem-lite install\n{user.shown(terminal.shown)}"


def _record_script(user: User, *arguments: str) -> str:
    ran = _run(user, *arguments)
    return f"$ claude-mem-lite {' '.join(arguments)}\n{user.shown(ran.stdout)}"


def _run(user: User, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [*_COMMAND, *arguments]
    return subprocess.run(
        line, env=user.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )


@contextmanager
def _user(prompts: Sequence[str] = ()) -> Iterator[User]:
    """Make a home with a session for each prompt, and end its worker afterwards."""
    with tempfile.TemporaryDirectory(prefix="first-run-") as folder, dead_port() as port:
        home = Path(os.path.realpath(folder))
        _write_sessions(home / ".claude" / "projects" / "-home-dev-shop", prompts)
        if prompts:
            _write_sessions_of_codex(home)
        (home / ".claude" / "settings.json").write_text('{"model": "opus"}\n')
        program = home / "bin" / "claude"
        program.parent.mkdir()
        program.touch(0o755)
        variables = {"HOME": str(home), "PATH": f"{program.parent}:/usr/bin:/bin", "OLLAMA_HOST": f"127.0.0.1:{port}"}
        user = User(home, {**variables, "LANG": "C.UTF-8", "COLUMNS": "120"})
        try:
            yield user
        finally:
            _run(user, "worker", "stop")


def _write_sessions(folder: Path, prompts: Sequence[str]) -> None:
    folder.mkdir(parents=True)
    for number, prompt in enumerate(prompts):
        session = PastSession(f"0d5b0f3a-54a4-4b3e-9a37-0d3e0a3a000{number}").prompt(prompt)
        session.runs("cat build.log", "built one of many files\n" * 4000).says("Understood.")
        (folder / f"{session.id}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in session.lines))


def _write_sessions_of_codex(home: Path) -> None:
    write_lines(home / ".codex" / "sessions" / "2026" / "rollout-c1.jsonl", codex_session())


if __name__ == "__main__":
    sys.stdout.write(page())
