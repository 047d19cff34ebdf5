"""Detection of commands that an agent runs in its shell: they speak for the agent and not for the user.

A mark in the environment keeps an agent from passing for the user by accident or on the word of a page; it cannot stop
a program that removes the mark."""

import os

from claude_mem_lite.client.responses import Asker
from claude_mem_lite.errors import MemoryLiteError

# Claude Code sets these for all that it runs.
_MARKS = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")


def asking_agent(cwd: str) -> Asker | None:
    """The agent that runs this command in a folder; None when a person or a script does."""
    if not any(os.environ.get(mark) for mark in _MARKS):
        return None
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    return Asker(cwd, session, session)


def refuse_agent(command: str) -> None:
    """MemoryLiteError when an agent runs a command that only the user's word can carry."""
    if asking_agent("") is not None:
        raise MemoryLiteError(
            f"`claude-mem-lite {command}` speaks for the user, and this shell is an agent's, so nothing was changed",
            "ask the user to run it in a terminal of their own; `claude-mem-lite remember` stores an agent's note",
        )
