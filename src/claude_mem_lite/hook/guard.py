"""Guards before a tool call: read the payload, look for the guards' tokens, match, answer, and note what fired.

The kernel imports this module for the event `PreToolUse`, which only folders with guards have hooks for. No worker is
asked. A broken file, an error or a match that takes too long lets the call pass; the note tells `doctor`."""

import _signal  # type: ignore[import-not-found]
import posix
import time

import kernel  # type: ignore[import-not-found]

LIMIT_S = 0.005
"""Maximum of processor time to match one call with one guard."""
MAX_FILE_BYTES = 1_000_000
ALWAYS = b"*"
"""Token of a guard that has no word to look for."""
SHELL_TOOLS = ("Bash", "run_shell_command", "shell")
EDIT_TOOLS = ("Edit", "Write", "MultiEdit", "NotebookEdit", "write_file", "replace", "apply_patch")


class TookTooLong(BaseException):
    """Limit reached; not an Exception, so that no handler on the way catches it."""


def serve(project: str, agent: str) -> None:
    """Answer the tool call on stdin by the guards of a project."""
    payload: bytes = kernel.read_all(0)
    home: bytes = kernel.find_home()
    if posix.environ.get(b"CLAUDE_MEM_LITE_INTERNAL") or posix.access(home + b"/off", posix.F_OK):
        return
    lines = read_guards(home, project).split(b"\n")
    if lines[0] and any(token == ALWAYS or token in payload for token in lines[0].split(b" ")):
        posix.umask(0o077)
        check(home, agent, payload, [line for line in lines[1:] if line])


def read_guards(home: bytes, project: str) -> bytes:
    """Return the guards of a project: a line of tokens, then one guard a line; b"" if there are none."""
    if not kernel.is_ours(home):
        return b""
    try:
        fd = posix.open(b"%b/guards/%b" % (home, project.encode()), posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except OSError:
        return b""
    data = posix.read(fd, MAX_FILE_BYTES)
    posix.close(fd)
    return data


def check(home: bytes, agent: str, payload: bytes, lines: list[bytes]) -> None:
    """Match a call with each guard; print the strictest answer, and note every guard that fired or failed."""
    import json

    import guard_match  # type: ignore[import-not-found]
    import guard_answer  # type: ignore[import-not-found]
