"""Light Markdown to HTML: paragraphs, lists, code blocks, shell lines, inline code and bold.

Templates use the functions as filters. A memory may hold any text, so every character of the text is escaped. The
output has only the tags of this module: no links, no images, no attribute with text.
"""

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

_FENCE = re.compile(r" {0,3}(?P<mark>```+|~~~+)[^`]*$")
_SHELL = re.compile(r" {0,3}\$ \S")
_BULLET = re.compile(r"[ \t]*[-*+•] +(?=\S)")
_NUMBER = re.compile(r"[ \t]*\d{1,3}[.)] +(?=\S)")
_HEADING = re.compile(r" {0,3}#{1,6} +(?=\S)")
_FAILED = re.compile(r"(?P<command>\S[^\n]{0,400}?) (?:fails|failed): ")
# Neither part of a code span may hold its own marks: so each character is looked at a fixed number of times.
_MARKS = re.compile(r"(?<!`)(?P<ticks>`{1,2})(?!`)(?P<code>[^`\n]+)(?P=ticks)(?!`)|\*\*")


def inline(text: str) -> Markup:
    """Return one line of text with inline code and bold, for a title or an item of a list."""
    parts = [""]
    is_bold = False
    end = 0
    marks = list(_MARKS.finditer(text))
    for at, mark in enumerate(marks):
        if mark["code"] is not None:
            parts.append(text[end : mark.start()])
            parts.append(Markup("<code>{}</code>").format(mark["code"]))
        elif is_bold and _is_closing(text, mark):
            parts.append(text[end : mark.start()])
            parts.append(Markup("</strong>"))
            is_bold = False
        elif not is_bold and _is_opening(text, mark) and any(_is_closing(text, one) for one in marks[at + 1 : at + 9]):
            parts.append(text[end : mark.start()])
            parts.append(Markup("<strong>"))
            is_bold = True
        else:
            continue
        end = mark.end()
    return Markup("").join([*parts, text[end:]])


def headline(text: str, kind: str) -> Markup:
    """Return the title of a memory on one line; the failed command at the beginning of a failure is code."""
    failed = _FAILED.match(text) if kind == "failure" else None
    if failed is None or "`" in failed["command"]:
        return inline(text)
    return Markup("<code>{}</code>{}").format(failed["command"], inline(text[failed.end("command") :]))


def blocks(text: str) -> Markup:
    """Return a text of several lines as paragraphs, lists and code blocks."""
    return Markup("").join(_rendered(text.expandtabs(4).splitlines()))


def _is_opening(text: str, mark: "re.Match[str]") -> bool:
    return mark["code"] is None and text[mark.end() : mark.end() + 1].strip() != ""


def _is_closing(text: str, mark: "re.Match[str]") -> bool:
    return mark["code"] is None and text[max(mark.start() - 1, 0) : mark.start()].strip() != ""


def _rendered(lines: Sequence[str]) -> Iterator[Markup]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif fence := _FENCE.match(line):
            end = _fence_end(lines, at + 1, fence["mark"])
            yield _code(lines[at + 1 : end])
            at = end + 1
        elif _SHELL.match(line):
            end = _run(lines, at, _SHELL)
            yield _code([line.strip() for line in lines[at:end]])
            at = end
        elif (bullet := _BULLET.match(line)) or _NUMBER.match(line):
            lead, tag = (_BULLET, "ul") if bullet else (_NUMBER, "ol")
            end = _list_end(lines, at, lead)
            yield _list(lines[at:end], lead, tag)
            at = end
        elif heading := _HEADING.match(line):
            yield Markup("<p><strong>{}</strong></p>").format(line[heading.end() :].strip(" #"))
            at += 1
        else:
            end = _paragraph_end(lines, at)
            yield Markup("<p>{}</p>").format(Markup("\n").join(inline(line.strip()) for line in lines[at:end]))
            at = end


def _code(lines: Sequence[str]) -> Markup:
    return Markup("<pre><code>{}</code></pre>").format("\n".join(lines))


def _list(lines: Sequence[str], lead: "re.Pattern[str]", tag: str) -> Markup:
    """Return a list; a line without a bullet continues the item before."""
    items: list[list[str]] = []
    for line in lines:
        if found := lead.match(line):
            items.append([line[found.end() :].strip()])
        elif line.strip():
            items[-1].append(line.strip())
    shown = (Markup("<li>{}</li>").format(Markup("\n").join(map(inline, item))) for item in items)
    return Markup(f"<{tag}>") + Markup("").join(shown) + Markup(f"</{tag}>")


def _fence_end(lines: Sequence[str], start: int, mark: str) -> int:
    """Return the number of the line that closes a fence, or the end of the text for an open fence."""
    return next((at for at in range(start, len(lines)) if lines[at].strip() == mark), len(lines))


def _run(lines: Sequence[str], start: int, lead: "re.Pattern[str]") -> int:
    return next((at for at in range(start, len(lines)) if not lead.match(lines[at])), len(lines))


def _list_end(lines: Sequence[str], start: int, lead: "re.Pattern[str]") -> int:
    """Return the number of the line after a list: further items and indented lines belong to the list."""
    return next(
        (at for at in range(start, len(lines)) if not lead.match(lines[at]) and not lines[at].startswith("  ")),
        len(lines),
    )


def _paragraph_end(lines: Sequence[str], start: int) -> int:
    leads = (_FENCE, _SHELL, _BULLET, _NUMBER, _HEADING)
    return next(
        (
            at
            for at in range(start + 1, len(lines))
            if not lines[at].strip() or any(lead.match(lines[at]) for lead in leads)
        ),
        len(lines),
    )
