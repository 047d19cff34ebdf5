"""What a command that went well has done, where its output says so: refs pushed, pull requests, versions installed."""

import re
from collections.abc import Sequence

from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import within

_MAX_RESULTS = 3
_MAX_RESULT = 160
# program and what it was told to do; the lines of its output that tell
_RULES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (lazy(command), lazy(f"(?m)^{line}"))
    for command, line in (
        (
            r"git push\b",
            r"[ \t]{0,8}([*+]?[ ]?(?:\[new (?:tag|branch)\]|[0-9a-f]{6,40}\.\.\.?[0-9a-f]{6,40}) {1,20}\S+ -> \S+)",
        ),
        (r"git (?:rebase|pull)\b", r"(Successfully rebased[^\n]*)$"),
        (r"git (?:merge|pull)\b", r"(Merge made by[^\n]*|[ ]\d+ files? changed[^\n]*)$"),
        (r"gh (?:pr|issue|release) create", r"(https://\S+)$"),
    )
)


_VERSIONED = lazy(r"(?m)^[^\w\n]*([^\n]{0,200}\d+\.\d+\.\d+[^\n]{0,200})$")
_BEHIND_NAME = lazy(r"[\[<>=~^@]")


def results_of(command: str, output: str) -> tuple[str, ...]:
    """Return the lines of an output that tell what one simple command did: the first ones and the last."""
    if shell.role(command) == "install":
        return _few(_installed(command, output))
    found = (line.findall(output) for program, line in _RULES if program.match(command))
    return _few(next((told for told in found if told), []))


def _installed(command: str, output: str) -> list[str]:
    """Return the lines with a version, of a command that names packages those of them."""
    lines: list[str] = _VERSIONED.findall(output)
    words = [word.strip("'\"@") for word in command.split()[2:] if not word.startswith("-")]
    names = [name for word in words if (name := _BEHIND_NAME.split(word, maxsplit=1)[0])]
    return [line for line in lines if any(name in line for name in names)] if names else lines


def _few(lines: Sequence[str]) -> tuple[str, ...]:
    found = list(dict.fromkeys(within(" ".join(line.split()), _MAX_RESULT) for line in lines))
    return tuple(found if len(found) <= _MAX_RESULTS else (*found[: _MAX_RESULTS - 1], found[-1]))
