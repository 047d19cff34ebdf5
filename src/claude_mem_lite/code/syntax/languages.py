"""Languages of files, and syntax trees with limits. Grammars are imported on first use.

Text above a size or a depth is not parsed, and a parse above a time limit is aborted: tree-sitter needs memory by the
square of the depth."""

import importlib
import logging
import re
import threading
import time
import tomllib
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from claude_mem_lite.deadline import Deadline

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Query, Tree

MAX_DEPTH = 500
_QUERIES = Path(__file__).with_name("queries.toml")
_BRACKETS = b"([{)]}"
_STEPS = {byte: 1 if byte in b"([{" else -1 for byte in _BRACKETS}
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_FILLING = bytes(byte for byte in range(256) if bytes([byte]).isalnum() or byte in b"_$. \t\r\f\v" or byte > 127)
# `a = b = c` and `-(-a` nest without brackets, but only within a line: many lines of `a = 1` do not nest.
_OPEN_IN_LINE = re.compile(rb"[<>=?:!%&*|^~-]{1000}")
# `a<b<c` and `a => b => c` nest across lines, too.
_OPEN = re.compile(rb"<{500}|(?:[=()]{0,3}=>){300}")
MAX_TEXT_BYTES = 1 << 20
# CPU time, not wall-clock time: the result for a text must not depend on the load of the machine.
_MIN_PARSE_S, _MAX_PARSE_S, _PARSE_S_PER_BYTE = 0.2, 1.0, 4e-6
# Finding nodes takes time by the square of the broken tokens at a location (4 s for 65,000).
_MAX_BROKEN_TOKENS = 8_000
_CHUNK_BYTES = 1024
# These grammars (0.23.2) can loop forever in broken text. Only the next read can stop the loop, and a chunk in the
# buffer is not read again. So these grammars get a word at a time: 0.8 ms per KB instead of 0.2.
_READ_BY_WORD = ("typescript", "tsx")
_WORD = re.compile(rb"//[^\n]*|\s*(?:\w+|.)", re.DOTALL)
_READS_PER_CLOCK_CHECK = 16

_GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
}
# CPU time of the first read of a file, nearly all for compiling the query of definitions.
_LOADING_S = {"typescript": 0.04, "tsx": 0.04, "cpp": 0.035, "ruby": 0.02, "javascript": 0.012}
_USUAL_LOADING_S = 0.005
_ENDINGS = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "cpp": "h cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp",  # C++ reads C, and the ending .h is used for both
    "ruby": "rb rake gemspec ru",
}
_BY_ENDING = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}
_BY_NAME = {"Rakefile": "ruby", "Gemfile": "ruby"}

# Macros read by the grammars of C and C++ as part of a function: `class ENGINE_API Window {`, and macros alone on a
# line, as __BEGIN_DECLS.
_EXPORT_WORD = re.compile(rb"\b(class|struct)(\s+[A-Z][A-Z0-9_]{2,})(?=\s+[A-Za-z_]\w*\s*(?:final\s*)?[:{])")
_LONE_WORD = re.compile(rb"^[ \t]*[A-Z_][A-Z0-9_]{3,}(?=[ \t\r]*$)", re.MULTILINE)

_log = logging.getLogger(__name__)
_of_thread = threading.local()
_loaded: set[str] = set()
"""Languages with a compiled query of definitions."""


def language_of(path: str) -> str:
    """Return the language of a file by its name; '' if the language is not supported."""
    name = path.rpartition("/")[2]
    return _BY_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2].lower() if "." in name else "", "")


def encoded(text: str) -> bytes:
    """Encode a text as counted by the offsets in its tree; half a surrogate pair becomes a replacement character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def parse(text: str, language: str) -> "Tree | None":
    """Return the syntax tree of a text, broken or not. None: unknown language, or text or time above a limit.

    Use only `start_point[0]` of points, never `.row` and `.column`: in tree-sitter 0.26.0, both free memory in use."""
    if len(text) > MAX_TEXT_BYTES:
        return None
    data = _without_macros(encoded(text), language)
    tree, parser = parse_bytes(data, language), _parser(language)
    if tree is None or parser is None:
        return None
    return parser.parse(data, tree)  # the same tree, mostly within 0.3 ms, with the text of the nodes


def parse_bytes(data: bytes, language: str) -> "Tree | None":
    """Parse encoded text, as `parse` does. The nodes of the tree do not know their text."""
    parser = _parser(language) if len(data) <= MAX_TEXT_BYTES else None
    if parser is None or is_too_deep(data):
        return None
    data = _without_macros(data, language)
    most_s = min(_MAX_PARSE_S, _MIN_PARSE_S + len(data) * _PARSE_S_PER_BYTE)
    deadline = Deadline.after(most_s, time.thread_time)
    word = _WORD.match if language in _READ_BY_WORD else None
    buffer = _buffer()
    reads, late = 0, False

    # A progress callback would be simpler, but before Python 3.14 tree-sitter 0.26 crashes the process with a callback.
    # tree-sitter never releases a buffer, so all reads share the same object.
    def read(offset: int, _point: object) -> bytearray:
        nonlocal reads, late
        reads += 1
        if not word or reads % _READS_PER_CLOCK_CHECK == 0:
            late = late or deadline.is_past()
        if late:
            buffer.clear()
        elif word:
            found = word(data, offset)
            buffer[:] = found[0] if found else b""
        else:
            buffer[:] = data[offset : offset + _CHUNK_BYTES]
        return buffer

    tree = parser.parse(read)
    if late:
        _log.warning("a text was not parsed in time", extra={"language": language, "bytes": len(data)})
    return None if late or _is_hopeless(tree, deadline) else tree


def is_too_deep(data: bytes) -> bool:
    """Return True if a text is nested deeper than about MAX_DEPTH, strings and comments included."""
    brackets = data.translate(None, _NO_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH:
        return True
    signs = data.translate(None, _FILLING)
    return bool(_OPEN_IN_LINE.search(signs) or _OPEN.search(signs.translate(None, b"\n")))


def loading_s(language: str) -> float:
    """Return the estimated CPU time until symbols of a language can be read; 0 if they were read before."""
    if language not in _GRAMMARS or language in _loaded:
        return 0.0
    return _LOADING_S.get(language, _USUAL_LOADING_S)


@cache
def query(language: str, table: Literal["definitions", "calls"]) -> "Query | None":
    """Return a compiled query of `queries.toml` for a language; None if the grammar is unusable."""
    grammar = _grammar(language)
    if grammar is None:
        return None
    from tree_sitter import Query

    queries = tomllib.loads(_QUERIES.read_text("utf-8"))[table]

    def expanded(name: str) -> str:
        return re.sub(r"\$(\w+)", lambda part: expanded(part[1]), queries[name])

    compiled = Query(grammar, expanded(language))
    if table == "definitions":
        _loaded.add(language)
    return compiled


def _without_macros(data: bytes, language: str) -> bytes:
    """Replace macros by spaces, so all offsets stay valid."""
    if language not in ("c", "cpp"):
        return data
    data = _EXPORT_WORD.sub(lambda found: found[1] + b" " * len(found[2]), data)
    return _LONE_WORD.sub(lambda found: b" " * len(found[0]), data)


def _is_hopeless(tree: "Tree", deadline: Deadline) -> bool:
    """Return True if a node has so many broken tokens that queries would take too long."""
    nodes = [tree.root_node] if tree.root_node.has_error else []
    while nodes:
        node = nodes.pop()
        if (node.is_error and node.child_count > _MAX_BROKEN_TOKENS) or deadline.is_past():
            return True
        nodes += [child for child in node.children if child.has_error]
    return False


def _parser(language: str) -> "Parser | None":
    """Return the parser of the current thread: two threads must not share a parser."""
    parsers: dict[str, Parser | None] = _of_thread.__dict__.setdefault("parsers", {})
    if language not in parsers:
        parsers[language] = _new_parser(language)
    return parsers[language]


def _new_parser(language: str) -> "Parser | None":
    grammar = _grammar(language)
    if grammar is None:
        return None
    from tree_sitter import Parser

    return Parser(grammar)


def _buffer() -> bytearray:
    """Return the input buffer of the current thread's parsers."""
    buffer: bytearray = _of_thread.__dict__.setdefault("buffer", bytearray())
    return buffer


@cache
def _grammar(language: str) -> "Language | None":
    if language not in _GRAMMARS:
        return None
    module, function = _GRAMMARS[language]
    try:
        from tree_sitter import Language

        return Language(getattr(importlib.import_module(module), function)())
    except (ImportError, AttributeError, ValueError) as error:
        _log.warning(
            "The grammar for %s cannot be used (%s): its files are not read. Install the package anew.", language, error
        )
        return None
