"""Turns of an agent that works as agents do: a commit whose message gives the cause, and a closing message that tells
what was done, why, and how it was checked. The judge sees something worth keeping in them, with room to spare."""

import zlib

from claude_mem_lite.compress.compose import headline
from tests.support.running import Json, payload

HASH = "3f2a91c"
_CAUSES = (
    (
        "every caller did it on its own: two of them got it wrong, so that users saw a result that differed from call "
        "to call",
        "is now the only place that does it, because three callers had got it wrong in three ways",
    ),
    (
        "the cache was keyed by the session alone, so that two tabs of one customer overwrote each other's state",
        "now keys the cache by session and tab, because a browser shares its session between tabs",
    ),
    (
        "the worker read the clock before it took the lock, so that a slow request was counted twice",
        "now takes the lock first, because the clock must not be read by two workers at once",
    ),
    (
        "the importer opened the file in text mode, so that Windows line ends were stored as part of the last column",
        "now reads bytes and splits lines itself, because the files come from both systems",
    ),
    (
        "the query joined two tables without an index, so that the page took nine seconds for large customers",
        "now asks for one table at a time, because the planner ignores the index when both are joined",
    ),
    (
        "the retry loop swallowed the timeout, so that the gateway was asked again before it had answered",
        "now waits for the answer, because the gateway bills every request that it sees",
    ),
    (
        "the locale of the server was used to parse numbers, so that a comma was taken for a thousands separator",
        "now parses numbers without a locale, because the feed always sends a point",
    ),
    (
        "the old handler returned before the stream was closed, so that descriptors leaked until the process died",
        "now closes the stream in every branch, because the limit of the container is 1024 descriptors",
    ),
)


def subject(said: str) -> str:
    """Return the commit subject of what was said to be done: "Added a cart." -> "Add a cart"."""
    first = said.partition(". ")[0].partition("\n")[0]
    return headline.of_sentence(first) or first.rstrip(".")


def why(said: str, file: str) -> str:
    """Return the body of the commit message."""
    cause, result = _cause(said)
    done = said.partition(" Still to do")[0].partition(" Next step")[0]
    return f"{done}\n\nThe root cause was that {cause}. {file} {result}."


def _cause(said: str) -> tuple[str, str]:
    """Return a cause and a result, other ones for other words."""
    return _CAUSES[zlib.crc32(said.encode()) % len(_CAUSES)]


def commit(said: str, file: str, *, prefix: str = "", branch: str = "main") -> tuple[str, str]:
    """Return the command of a commit and what git prints."""
    line = f"{prefix}{subject(said)}"
    command = f"git commit -am \"$(cat <<'END'\n{line}\n\n{why(said, file)}\nEND\n)\""
    return command, f"[{branch} {HASH}] {line}\n 1 file changed, 9 insertions(+)\n"


def closing(said: str, file: str) -> str:
    """Return the closing message."""
    cause, result = _cause(said)
    return (
        f"{said}\n\nThe root cause was that {cause}.\n\n- `{file}` {result}\n- Added a regression test, which fails "
        "without the change\n\nAll 14 tests pass."
    )


def ending(session: str, cwd: str, said: str, file: str, **more: Json) -> list[Json]:
    """Return the payloads of the commit and of the end of a turn."""
    command, printed = commit(said, file, prefix="feat: ")
    response: Json = {"stdout": printed, "stderr": "", "interrupted": False}
    given: Json = {"command": command}
    return [
        payload("PostToolUse", session, cwd, tool_name="Bash", tool_input=given, tool_response=response, **more),
        payload("Stop", session, cwd, last_assistant_message=closing(said, file), **more),
    ]
