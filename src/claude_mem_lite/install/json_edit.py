"""Small edits of a JSON document as text, so that every other byte stays as its owner wrote it.

Independent of the documents' meaning; touches no file."""

import json
import re
from collections.abc import Sequence
from typing import NoReturn

from claude_mem_lite.models import JsonValue
from claude_mem_lite.values import frozen

BYTE_ORDER_MARK = "\ufeff"
DEFAULT_UNIT = "  "
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@frozen
class Node:
    """Value with its position in the text; `parts` are its members or items."""

    start: int
    end: int
    value: JsonValue
    parts: tuple["Part", ...] = ()

    def place(self, key: str) -> int:
        """Return the index of a key's part; the last of duplicates, as JSON readers do."""
        return max(index for index, part in enumerate(self.parts) if part.key == key)


@frozen
class Part:
    """Member of an object (with its key, which begins at `start`) or item of an array."""

    key: str | None
    start: int
    node: Node


def parse(text: str) -> Node:
    """Return the document's root; ValueError for invalid JSON, RecursionError for too deep nesting."""
    json.loads(text.removeprefix(BYTE_ORDER_MARK), parse_constant=_reject)
    return _node(text, _skip(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0))


def find(text: str, path: Sequence[str | int]) -> Node:
    """Return the value at an existing path of keys and indexes."""
    return _walk(parse(text), path)


def append(text: str, path: Sequence[str | int], key: str | None, value: JsonValue) -> str:
    """Return the text with one more last part in the object (with `key`) or array at `path`, in the text's style."""
    root = parse(text)
    node = _walk(root, path)
    style = _style(text, root)
    if node.parts:
        last = node.parts[-1]
        lead = _space_before(text, last.start)
        indent = lead.rpartition("\n")[2] if "\n" in lead else None
        gap = style.newline + indent if indent is not None else style.gap
        return text[: last.node.end] + "," + gap + _render(key, value, style, indent) + text[last.node.end :]
    if style.unit is None:
        inside = _render(key, value, style, None)
    else:
        outer = _line_indent(text, node.start)
        inner = outer + style.unit
        inside = style.newline + inner + _render(key, value, style, inner) + style.newline + outer
    return text[: node.start + 1] + inside + text[node.end - 1 :]


def remove(text: str, path: Sequence[str | int], which: str | int) -> str:
    """Return the text without one member (by key) or item (by index) of the value at `path`; undoes `append`."""
    node = find(text, path)
    index = which if isinstance(which, int) else node.place(which)
    part = node.parts[index]
    if len(node.parts) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    if index == len(node.parts) - 1:
        return text[: node.parts[index - 1].node.end] + text[part.node.end :]
    return text[: part.start] + text[node.parts[index + 1].start :]


@frozen
class _Style:
    unit: str | None
    """Indentation of one level; None if the whole document is on one line."""
    newline: str
    gap: str
    """Text after a comma or a colon within a line."""


def _style(text: str, root: Node) -> _Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.parts:
        return _Style(DEFAULT_UNIT, newline, " ")
    lead = _space_before(text, root.parts[0].start)
    if "\n" in lead:
        return _Style(lead.rpartition("\n")[2], newline, " ")
    after_colon = text[: root.parts[0].node.start]
    return _Style(None, newline, " " if after_colon.endswith(" ") else "")


def _render(key: str | None, value: JsonValue, style: _Style, indent: str | None) -> str:
    if indent is None:
        shown = json.dumps(value, ensure_ascii=False, separators=("," + style.gap, ":" + style.gap))
    else:
        unit = DEFAULT_UNIT if style.unit is None else style.unit
        shown = json.dumps(value, ensure_ascii=False, indent=unit)
        shown = shown.replace("\n", style.newline + indent)
    return shown if key is None else f"{json.dumps(key, ensure_ascii=False)}:{style.gap}{shown}"


def _walk(node: Node, path: Sequence[str | int]) -> Node:
    for step in path:
        node = node.parts[node.place(step) if isinstance(step, str) else step].node
    return node


def _node(text: str, at: int) -> Node:
    """Return the value that begins at `at`; the text is known to be JSON."""
    if text[at] not in "{[":
        value, end = _DECODER.raw_decode(text, at)
        return Node(at, end, value)
    parts: list[Part] = []
    position = _skip(text, at + 1)
    while text[position] not in "}]":
        start, key = position, None
        if text[at] == "{":
            key, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        child = _node(text, position)
        parts.append(Part(key, start, child))
        position = _skip(text, child.end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return Node(at, position + 1, _value(text[at], parts), tuple(parts))


def _value(opening: str, parts: Sequence[Part]) -> JsonValue:
    if opening == "[":
        return [part.node.value for part in parts]
    return {str(part.key): part.node.value for part in parts}


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _space_before(text: str, at: int) -> str:
    return text[len(text[:at].rstrip(" \t\r\n")) : at]


def _line_indent(text: str, at: int) -> str:
    line_start = text.rfind("\n", 0, at) + 1
    line = text[line_start:at].removeprefix(BYTE_ORDER_MARK)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _reject(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
