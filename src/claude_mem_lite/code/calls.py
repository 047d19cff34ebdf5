"""The calls in a text and what its names stand for, by its syntax tree; what they reach is not known here."""

from claude_mem_lite.code.calling import c, go, java, javascript, python, ruby, rust
from claude_mem_lite.code.calling.reading import Grammar, read
from claude_mem_lite.code.calling.values import FileCalls
from claude_mem_lite.code.languages import parse
from claude_mem_lite.code.symbols import read_definitions

_GRAMMARS: dict[str, Grammar] = {
    "python": python.GRAMMAR,
    "javascript": javascript.JAVASCRIPT,
    "typescript": javascript.TYPESCRIPT,
    "tsx": javascript.TSX,
    "go": go.GRAMMAR,
    "rust": rust.GRAMMAR,
    "java": java.GRAMMAR,
    "c": c.C,
    "cpp": c.CPP,
    "ruby": ruby.GRAMMAR,
}


def read_calls(text: str, language: str) -> FileCalls | None:
    """What a text calls, told apart by the symbols it defines; None when that cannot be told."""
    tree = parse(text, language) if language in _GRAMMARS else None
    definitions = read_definitions(text, language) if tree is not None else None
    if tree is None or definitions is None:
        return None
    return read(tree, language, _GRAMMARS[language], definitions)
