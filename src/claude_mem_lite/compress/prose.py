"""Markdown as an assistant writes it -> plain passages and sentences. Code blocks are left out."""

import re
from dataclasses import dataclass
from typing import Literal

PassageKind = Literal["heading", "text", "item", "todo", "row", "quote"]


@dataclass(frozen=True, slots=True)
class Passage:
    """One paragraph, list item, open checkbox or table row in plain text, with the heading it stands under."""

    kind: PassageKind
    text: str
    under: str = ""


_FENCE = re.compile(r"\s{0,12}(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BOLD_LINE = re.compile(r"\s{0,3}\*\*([^*]{2,120}?)\*\*\s*:?\s*$")
_ITEM = re.compile(r"\s*(?:[-*+•◦▪]|\d{1,3}[.)]|[✓✔✅☑✗❌→➜])\s+(?:\[([ xX])\]\s+)?(.+)$")
_ROW = re.compile(r"\s*\|(.+)\|\s*$")
_TABLE_RULE = re.compile(r"[\s|:+-]+$")
_RULE = re.compile(r"\s*(?:[-*_=─━]\s*){3,}$")
# Only tags of HTML: `<agent name>` and `Option<String>` are the author's words.
_TAG = re.compile(
    r"(?i)</?(?:a|b|i|p|br|hr|em|code|pre|kbd|sub|sup|div|span|strong|details|summary|img|h[1-6]|ul|ol|li|table|tr"
    r"|td|th"
    r"|thead|tbody|blockquote)(?:\s[^<>]{0,300})?/?>"
)
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\s]{0,500}\)")
_LINK = re.compile(r"\[([^\]\n]{1,300})\]\(([^)\s]{1,500})\)")
_EMPHASIS = re.compile(r"(?<![\w*/.])(\*\*\*|\*\*|\*)(?=\S)([^*\n]{1,400}?)(?<=\S)\1(?![\w*/.])")
# `__init__` is a name; only several words between underscores are bold.
_UNDERLINED = re.compile(r"(?<!\w)__(\S[^_\n]{0,200} [^_\n]{0,200}\S)__(?!\w)")
_CODE_SPAN = re.compile(r"`([^`\n]{1,400})`")
_LEADING_SIGNS = re.compile(r"^[\s\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff\ufe0f•▪●○·]+(?=\S)")
_SPACES = re.compile(r"\s+")

_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"')\]]?\s+(?=[\"'(\[]?[A-Z0-9/~<@#$_.-])|(?<=\w[.?])\s+(?=[a-z])|(?<=[。！？])\s*"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|Dr|Mr|Ms|St|no|fig|[A-Z])|\s\d{1,3}|\.\.)\.$")
_LONGEST = 60_000


def passages(markdown: str) -> list[Passage]:
    """The plain passages of a message, in order."""
    found: list[Passage] = []
    paragraph: list[str] = []
    under = fence = ""

    def close() -> None:
        if paragraph and (text := plain(" ".join(paragraph))):
            is_label = len(paragraph) == 1 and paragraph[0].startswith("**") and text[-1] not in ".!?:"
            found.append(Passage("item" if is_label else "text", text, under))
        paragraph.clear()

    lines = markdown[:_LONGEST].split("\n")
    for at, line in enumerate(lines):
        if fence_mark := _FENCE.match(line):
            close()
            if not fence:
                fence = fence_mark[1][:3]
            elif fence == fence_mark[1][:3]:
                fence = ""
            continue
        if fence:
            continue
        if not line.strip() or _RULE.match(line):
            close()
        elif line.lstrip().startswith(">"):
            close()
            if text := plain(line.lstrip("> \t")):
                found.append(Passage("quote", text, under))
        elif heading := _HEADING.match(line) or _BOLD_LINE.match(line):
            close()
            under = plain(heading[1]).rstrip(":")
            found.append(Passage("heading", under, under))
        elif row := _ROW.match(line):
            close()
            below = lines[at + 1] if at + 1 < len(lines) else ""
            is_header = "-" in below and _TABLE_RULE.match(below) is not None
            if not is_header and not _TABLE_RULE.match(line):
                found.append(Passage("row", _row(row[1]), under))
        elif item := _ITEM.match(line):
            close()
            if text := plain(item[2]):
                found.append(Passage("todo" if item[1] == " " else "item", text, under))
        elif found and not paragraph and found[-1].kind == "item" and line.startswith("  "):
            found[-1] = Passage("item", f"{found[-1].text} {plain(line)}".strip(), under)
        else:
            line = line.strip()
            # "**Lead** - place" stands alone even when the next line follows at once.
            if paragraph and (line.startswith("**") or (paragraph[-1].startswith("**") and line[:1].isupper())):
                close()
            paragraph.append(line)
    close()
    return found


def plain(text: str) -> str:
    """One line of markdown without its marks."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", text)) if "](" in text else text
    # What stands between backticks is code: `__init__.py` has no emphasis in it.
    spans = _CODE_SPAN.split(text) if "`" in text else [text]
    spans[::2] = [_without_marks(span) for span in spans[::2]]
    text = "".join(spans).replace("`", "").replace("’", "'").replace("‘", "'")
    return _SPACES.sub(" ", _LEADING_SIGNS.sub("", text)).strip()


def _without_marks(text: str) -> str:
    text = _TAG.sub("", text) if "<" in text else text
    text = _UNDERLINED.sub(r"\1", text) if "__" in text else text
    if "*" in text:
        # Twice: bold may stand inside italics. What is left of a pair was parted by a code span.
        text = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text)).replace("**", "")
    return text


def sentences(text: str) -> list[str]:
    """The sentences of a plain passage."""
    found: list[str] = []
    for part in _SENTENCE_END.split(text):
        piece = part.strip()
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {piece}"
        elif piece:
            found.append(piece)
    return found


def _row(cells: str) -> str:
    first, *rest = [plain(cell) for cell in cells.split("|")]
    others = "; ".join(cell for cell in rest if cell)
    return f"{first}: {others}" if first and others else first or others
