"""Secrets known by their position: in URLs, connection strings, files of programs, calls, values of options, and piped
input. `positional_secrets.toml` lists the positions. Used by `redact`.

Every pattern is bounded, and runs only where one of its signs occurs."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.prefilter import compiled
from claude_mem_lite.safety.secret_values import (
    has_digit_and_letter,
    is_made_by_machine,
    is_placeholder,
    is_user_and_password,
    looks_real,
)
from claude_mem_lite.values import frozen

MARK = "[redacted:secret]"
_TABLE = Path(__file__).with_name("positional_secrets.toml")
_URL_PLACEHOLDER = lazy(
    r"(?i)\$[{(]|\$\w+$|[<{]|%[(s]|\[redacted|[x*.]+$|\d{1,5}/|(?:pass|password|passwd|pwd|secret|token|xyz)$"
)

_QUOTE = r"(?:\\{0,7}[\"']|&(?:quot|#x27|#39|#34);)"
# Arguments are separated by blanks, or are strings of a list: in code, or in the JSON of an event, joined by `redact`.
_PARTS = {
    "<gap>": rf"(?:[ \t]{{1,8}}(?:{_QUOTE})?|{_QUOTE},\s{{0,20}}{_QUOTE}|\n\x1e)",
    "<quote>": _QUOTE,
    # Beginning of a word; a line break before it may be an escape.
    "<start>": r"(?:\b|(?<=\\[nrt]))",
    "<blank>": r"(?:\s|\\[nrt]|\d{1,6}→){1,16}",
    "<argument>": r"(?:[^\n|;&]|\n\x1e)",
    "<value>": r"(?:(?<=\")[^\"\n\\]{3,200}|(?<=')[^'\n\\]{3,200}|[^\s\"'\\|;&,\])]{3,200})",
    "<text>": r"[^\"'\n\\]{3,200}",
    "<name>": (
        r"[\w.-]{0,60}?(?i:password|passwd|secret|token|_pass|(?:api|access|private|account|auth)[_-]?key)[\w-]{0,12}"
    ),
    # Not a port or two: `-p8080:80`.
    "<no_port>": r"(?!\d{1,5}(?::\d{1,5})?(?:[\s\"']|$))",
}
# The first letter comes before its lookbehind: `re` finds a literal ten times as fast as a position.
_LITERAL_START = lazy(r"<start>(\w)")


def _is_no_placeholder(value: str) -> bool:
    return not is_placeholder(value.strip("\"'"))


@frozen
class Spot:
    """Position of secrets: the signs (see `prefilter`), at least one of which must occur, and a pattern of three
    groups: text before, secret, text after."""

    signs: tuple[str, ...]
    pattern: str
    is_secret: Callable[[str], bool]
    mark: str

    def without(self, text: str, removed: set[str]) -> str:
        """Return the text with the mark in place of each secret; the removed secrets are added to `removed`."""

        def change(match: re.Match[str]) -> str:
            before, value, after = match.groups("")
            if not self.is_secret(value):
                return match[0]
            removed.add(value)
            return f"{before}{self.mark}{after}"

        return compiled(self.pattern).sub(change, text)


@cache
def spots() -> tuple[Spot, ...]:
    """Return the spots of `positional_secrets.toml`, in its order."""
    rows: list[dict[str, str]] = tomllib.loads(_TABLE.read_text("utf-8"))["spots"]
    return tuple(_spot(row) for row in rows)


def _spot(row: dict[str, str]) -> Spot:
    """Return a spot with the names of common parts expanded."""
    before, secret, after = _groups(row)
    pattern = _LITERAL_START.sub(r"\1(?:(?<!\\w\1)|(?<=\\\\[nrt]\1))", f"({before})({secret})({after})")
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    is_secret = _TESTS[row["test"]] if "test" in row else _is_no_placeholder
    return Spot(tuple(row["signs"].split("|")), pattern, is_secret, f"[redacted:{row.get('mark', 'secret')}]")


def _groups(row: dict[str, str]) -> tuple[str, str, str]:
    """Return the patterns before a secret, of the secret, and after the secret."""
    if command := row.get("command"):
        # The command itself does not repeat in between: the pattern is tried there anyway, and a text of commands would
        # be read again for each command.
        between = rf"(?:(?!<start>{command}\b)<argument>){{0,200}}?"
        return rf"<start>{command}\b{between}(?<![\w-])(?:{row['flags']})", "<value>", ""
    if command := row.get("piped_to"):
        before = rf"echo[ \t]{{1,8}}(?:-n[ \t]{{1,8}})?[\"']?{row.get('user', '')}"
        return before, "<value>", rf"[\"']?[ \t]{{0,8}}\|[^|\n]{{0,200}}?{command}"
    if call := row.get("call"):
        return rf"{call}\(\s{{0,20}}<quote>[^\"'\n\\]{{1,80}}<quote>,\s{{0,20}}<quote>", "<text>", ""
    return row["before"], row.get("secret", "<value>"), row.get("after", "")


def _is_url_password(value: str) -> bool:
    # A number before a slash is a port, and the @ belongs to the path.
    return not _URL_PLACEHOLDER.match(value)


_TESTS: Mapping[str, Callable[[str], bool]] = {
    "digit_and_letter": has_digit_and_letter,
    "made_by_machine": is_made_by_machine,
    "mixed": lambda value: value.lower() != value and value.upper() != value,
    "new_password": lambda value: value != "*" and not value.startswith("/"),
    "password": lambda value: looks_real("password", value, quoted=True, tight=True),
    "token": lambda value: looks_real("token", value, quoted=True, tight=True),
    "url_password": _is_url_password,
    "user_and_password": is_user_and_password,
}
