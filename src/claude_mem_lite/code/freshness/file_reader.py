"""What one source file holds, read from the working tree. Called by the cache, for files that changed."""

import re

from claude_mem_lite.code.freshness.cache_tables import ReadFile, simple_of
from claude_mem_lite.code.freshness.working_tree import WorkingTree
from claude_mem_lite.code.syntax.languages import encoded, language_of, parse_bytes
from claude_mem_lite.code.syntax.references import References, read_references
from claude_mem_lite.code.syntax.symbols import read_symbols
from claude_mem_lite.hook.private import hide
from claude_mem_lite.safety.redact import redact

# The clock of a file system ticks: two changes within one tick leave the same time.
_TICK_NS = 100_000_000
_MOST_TRIED = 4


def read_file(tree: WorkingTree, path: str, now_ns: int, *, with_calls: bool = False) -> ReadFile:
    """What a file holds now, without private passages and secrets: signatures may show them, and what hooks send of
    the file comes without them too."""
    found = tree.text(path)
    if found is None:
        return ReadFile(path, None, None)
    state = found.state if found.state.changed_ns < now_ns - _TICK_NS else None
    text, language = redact(hide(found.text)), language_of(path)
    symbols = read_symbols(text, language)
    references = (read_references(text, language) or References()) if with_calls else None
    return ReadFile(path, state, symbols, references)


def is_whole(tree: WorkingTree, path: str) -> bool:
    """Whether all that a file defines can be seen in what is read of it.

    Not while it is being written and does not parse, nor where private passages or another encoding hide some."""
    found = tree.text(path)
    if found is None or "\ufffd" in found.text or hide(found.text) != found.text:
        return False
    text = redact(found.text)
    if text.count("\n") != found.text.count("\n"):
        return False
    parsed = parse_bytes(encoded(text), language_of(path))
    return parsed is not None and not parsed.root_node.has_error


def name_now(tree: WorkingTree, path: str, name: str, body: str) -> str:
    """What a missing symbol is called now, if it was renamed and still speaks of its old name, in its comment say;
    '' when there is none. Hashes leave out the name that a symbol has, not the one that it had."""
    found = tree.text(path)
    text, language, old = redact(found.text) if found else "", language_of(path), simple_of(name)
    lines, word = text.split("\n"), _word(old)
    likely = [
        symbol
        for symbol in read_symbols(text, language) or ()
        if simple_of(symbol.name) != old and word.search("\n".join(lines[symbol.first - 1 : symbol.last]))
    ]
    for symbol in likely[:_MOST_TRIED]:
        as_before = _word(simple_of(symbol.name)).sub(lambda _: old, text)
        for one in read_symbols(as_before, language) or ():
            if (one.first, one.body) == (symbol.first, body):
                return symbol.name
    return ""


def _word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(text)}(?![\w$])")
