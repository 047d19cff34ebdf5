"""Any text in Markdown that shows as it is: nothing in it becomes a heading, a link, a picture or HTML."""

import re

from claude_mem_lite.cli.output import plain

# What means something within a line, wherever it stands.
_INLINE = re.compile(r"([\\`*_\[\]<>|~&#$!])")
# What means something at the beginning of a line: lists, quotes, rules and the underline of a heading.
_LEADING = re.compile(r"^([-+=:]|\d{1,9}(?=[.)]))")
_SPACES = re.compile(r"^[ \t]+")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
# An address would become a link, also without any marks.
_ADDRESS = re.compile(r"(?i)(https?|ftp|mailto)(:)|(www)(\.)|(@)")
_NO_BREAK = "\u00a0"


def one_line(text: str) -> str:
    """A text as one line."""
    return _escaped(" ".join(_shown(text).split()))


def lines(text: str) -> str:
    """A text with its lines and their indentation, as paragraphs."""
    paragraphs: list[list[str]] = [[]]
    for line in _shown(text).splitlines():
        if line.strip():
            paragraphs[-1].append(_indented(line.rstrip()))
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n\n".join("\\\n".join(paragraph) for paragraph in paragraphs if paragraph)


def code(text: str) -> str:
    """A name as code, whatever it holds."""
    shown = " ".join(_shown(text).split())
    fence = "`" * (max(map(len, re.findall(r"`+", shown)), default=0) + 1)
    room = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{room}{shown}{room}{fence}"


def _shown(text: str) -> str:
    return _BIDI.sub("", plain(text))


def _indented(line: str) -> str:
    """Spaces at the beginning would make code of a line, or a part of a list."""
    room = _SPACES.match(line)
    if room is None:
        return _escaped(line)
    return _NO_BREAK * len(room[0].expandtabs(4)) + _escaped(line[room.end() :])


def _escaped(text: str) -> str:
    escaped = _INLINE.sub(r"\\\1", text)
    escaped = _ADDRESS.sub(_broken_up, escaped)
    leading = _LEADING.match(escaped)
    if leading is None:
        return escaped
    if leading[1].isdigit():
        return f"{leading[1]}\\{escaped[leading.end() :]}"
    return f"\\{escaped}"


def _broken_up(found: "re.Match[str]") -> str:
    word, mark = next((word, mark) for word, mark in (found.group(1, 2), found.group(3, 4), ("", found[5])) if mark)
    return f"{word or ''}\\{mark}"
