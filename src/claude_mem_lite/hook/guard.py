"""Guards before a tool call: read the payload and the guards of the project, look for the guards' tokens.

The kernel imports this module for the event `PreToolUse`, which only projects with guards have hooks for. No worker is
asked. Only a payload with a token costs more: `guard_check` parses, matches and answers. Whatever goes wrong lets the
call pass; a note tells `doctor`."""

import posix
import time

import kernel  # type: ignore[import-not-found]

HERE = "here"
"""Word of a hook for all projects, in the place of a project: the folder of the call decides."""
TRIAL = b"CLAUDE_MEM_LITE_TRIAL"
"""Variable of a trial, as of `doctor`: the hook answers and notes nothing."""
ALWAYS = b"*"
"""Token of a guard without a word to look for."""
MAX_FILE_BYTES = 1_000_000
MAX_PAYLOAD_BYTES = 8_000_000
FAILURE_EVERY_S = 60
"""Minimum between two notes of failures: a broken file fails at every call."""


class Failed(Exception):
    """Reason why no guard could be held against the call."""


def serve(words: list[str]) -> None:
    """Answer the tool call on stdin by the guards of a project; `words` are the project's name and the agent's."""
    began = time.monotonic()
    payload: bytes = kernel.read_all(0)  # also if ignored: the client reports a pipe that was closed unread
    home: bytes = kernel.find_home()
    if posix.environ.get(b"CLAUDE_MEM_LITE_INTERNAL") or posix.access(home + b"/off", posix.F_OK):
        return
    if not posix.access(home + b"/guards", posix.F_OK) or not kernel.is_ours(home):
        return
    posix.umask(0o077)
    name, agent = kernel.clean_name(words[0] if words else ""), kernel.clean_name("".join(words[1:2]) or "claude")
    try:
        if name == HERE:
            import guard_places  # type: ignore[import-not-found]

            name = guard_places.project_of_call(read(home + b"/guards/roots"), payload)
        if name and may_match(payload, data := read(home + b"/guards/" + name.encode())):
            if len(payload) > MAX_PAYLOAD_BYTES:
                raise Failed("the call is too large")
            import guard_check  # type: ignore[import-not-found]

            guard_check.check(home, name, agent, payload, data, began)
    except Failed as failure:
        note_failure(home, name, "", str(failure))
    except Exception as error:
        note_failure(home, name, "", f"error {type(error).__name__}")


def may_match(payload: bytes, data: bytes) -> bool:
    """Return whether the input of the call has a token of the guards, which are in the file's first line.

    The members before the input are no part of the call, and `permission_mode` has the token `rm`. The paths of a patch
    begin in the folder, which is before."""
    if not data:
        return False
    tokens = data.partition(b"\n")[0].split()
    if not tokens:
        raise Failed("the file of guards is broken")
    given = payload.partition(b'"tool_input"')[2] if b'"apply_patch"' not in payload else b""
    searched = given or payload
    return ALWAYS in tokens or any(token in searched for token in tokens)


def read(path: bytes) -> bytes:
    """Return a file of guards, b"" without one; Failed for a file that somebody else may have written."""
    flags = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC
    try:
        fd = posix.open(path, flags)
    except FileNotFoundError:
        return b""
    except OSError:
        raise Failed("the file of guards cannot be opened") from None
    try:
        found = posix.fstat(fd)
        if found.st_mode & 0o170022 != 0o100000 or found.st_uid != posix.getuid():
            raise Failed("the file of guards is not yours alone")
        data = posix.read(fd, MAX_FILE_BYTES + 1)
    finally:
        posix.close(fd)
    if len(data) > MAX_FILE_BYTES:
        raise Failed("the file of guards is too large")
    return data


def note_failure(home: bytes, name: str, guard: str, reason: str) -> None:
    """Note for `doctor` and the worker that a call passed unchecked; at most once in a while."""
    if posix.environ.get(TRIAL):
        return
    mark = b"%b/guards/%b.failed" % (home, name.encode())
    try:
        if 0 <= time.time() - posix.stat(mark).st_mtime < FAILURE_EVERY_S:
            return
    except OSError:
        pass
    note = b'{"hook_event_name":"GuardFailed","guard":"%b","file":"%b","reason":"%b"}' % (
        "".join([c for c in guard if c.isascii() and (c.isalnum() or c in "-_")])[:40].encode(),
        name.encode(),
        reason.encode(),
    )
    try:
        # A name of its own: the file of a hook that was killed while writing must not stop later notes.
        kernel.leave(b"%b.%d" % (mark, posix.getpid()), mark, note, False)
    except OSError:
        pass  # a full disk: the other guards are held all the same
    kernel.keep(home, kernel.spool_name("GuardFailed"), note, False)
