"""What a secret is known by when it is not its form: the spot where it stands. `commands` and `connections` list them.

Every pattern is bounded, and runs only where a sign of it occurs."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from claude_mem_lite.safety.prefilter import compiled
from claude_mem_lite.safety.secret_values import is_placeholder

MARK = "[redacted:secret]"

_QUOTE = r"(?:\\{0,7}[\"']|&(?:quot|#x27|#39|#34);)"
# Arguments are apart by blanks, or are strings of a list: in code, or in the JSON of an event, joined by `redact`.
_PARTS = {
    "<gap>": rf"(?:[ \t]{{1,8}}(?:{_QUOTE})?|{_QUOTE},\s{{0,20}}{_QUOTE}|\n\x1e)",
    "<quote>": _QUOTE,
    # The beginning of a word; a line break before it may be an escape.
    "<start>": r"(?:\b|(?<=\\[nrt]))",
    "<blank>": r"(?:\s|\\[nrt]|\d{1,6}→){1,16}",
    "<argument>": r"(?:[^\n|;&]|\n\x1e)",
    "<value>": r"(?:(?<=\")[^\"\n\\]{3,200}|(?<=')[^'\n\\]{3,200}|[^\s\"'\\|;&,\])]{3,200})",
    "<text>": r"[^\"'\n\\]{3,200}",
    "<name>": (
        r"[\w.-]{0,60}?(?i:password|passwd|secret|token|_pass|(?:api|access|private|account|auth)[_-]?key)[\w-]{0,12}"
    ),
}
# The first letter is put before the look behind it: `re` finds a literal ten times as fast as a position.
_LITERAL_START = re.compile(r"<start>(\w)")


def _is_given(value: str) -> bool:
    return not is_placeholder(value.strip("\"'"))


@dataclass(frozen=True, slots=True)
class Spot:
    """A spot where secrets stand: the signs (see `signs`) of which one must occur, and a pattern of three groups: what
    is before, the secret, what is behind."""

    signs: tuple[str, ...]
    pattern: str
    is_secret: Callable[[str], bool]
    mark: str

    def without(self, text: str, found: set[str]) -> str:
        """The text with the mark in place of each secret in this spot; what was taken out is added to `found`."""

        def change(match: re.Match[str]) -> str:
            before, value, after = match.groups("")
            if not self.is_secret(value):
                return match[0]
            found.add(value)
            return f"{before}{self.mark}{after}"

        return compiled(self.pattern).sub(change, text)


def spot(
    signs: str,
    before: str,
    secret: str = "<value>",
    after: str = "",
    is_secret: Callable[[str], bool] = _is_given,
    mark: str = MARK,
) -> Spot:
    """A spot whose patterns are written with the names of common parts."""
    pattern = _LITERAL_START.sub(r"\1(?:(?<!\\w\1)|(?<=\\\\[nrt]\1))", f"({before})({secret})({after})")
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    return Spot(tuple(signs.split("|")), pattern, is_secret, mark)
