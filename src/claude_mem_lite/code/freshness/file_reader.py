"""Reader of one source file, and a memory cache of recent results.

`code_cache` calls `read_file` for changed files. Contexts ask for the same files repeatedly, and a database query takes
as long as the rest of the answer: `RecentFiles` keeps the last results in memory. Threads share the cache."""

import re
import threading
from collections.abc import Iterable, Mapping

from claude_mem_lite.code.freshness.cache_tables import ReadFile, simple_of
from claude_mem_lite.code.freshness.working_tree import FileState, WorkingTree
from claude_mem_lite.code.syntax.languages import encoded, language_of, parse_bytes
from claude_mem_lite.hook.private import hide
from claude_mem_lite.safety.redact import redact

# The clock of a file system ticks: two changes within a tick leave the same time.
_TICK_NS = 100_000_000
_MAX_CANDIDATES = 4
# Some 600 bytes each.
_MAX_SYMBOLS = 4_000


def read_file(tree: WorkingTree, path: str, now_ns: int, *, with_calls: bool = False) -> ReadFile:
    """Read a file without private passages and secrets: signatures may show secrets, and payloads of hooks lack both,
    too."""
    found = tree.text(path)
    if found is None:
        return ReadFile(path, None, None)
    # Late: most answers find the code of a file in code.db.
    from claude_mem_lite.code.syntax.references import References, read_references
    from claude_mem_lite.code.syntax.symbols import read_symbols

    state = found.state if found.state.changed_ns < now_ns - _TICK_NS else None
    text, language = redact(hide(found.text)), language_of(path)
    symbols = read_symbols(text, language)
    references = (read_references(text, language) or References()) if with_calls else None
    return ReadFile(path, state, symbols, references)


def is_whole(tree: WorkingTree, path: str) -> bool:
    """Return True if all definitions of a file are visible to the parser.

    False during an unfinished edit with syntax errors, and for private passages or another encoding."""
    found = tree.text(path)
    if found is None or "\ufffd" in found.text or hide(found.text) != found.text:
        return False
    text = redact(found.text)
    if text.count("\n") != found.text.count("\n"):
        return False
    parsed = parse_bytes(encoded(text), language_of(path))
    return parsed is not None and not parsed.root_node.has_error


def name_now(tree: WorkingTree, path: str, name: str, body: str) -> str:
    """Return the new name of a missing symbol with its old name in the text, as in a comment; '' if none. Body hashes
    leave out the present name of a symbol, but not the former name."""
    found = tree.text(path)
    text, language, old = redact(found.text) if found else "", language_of(path), simple_of(name)
    from claude_mem_lite.code.syntax.symbols import read_symbols

    lines, word = text.split("\n"), _word(old)
    likely = [
        symbol
        for symbol in read_symbols(text, language) or ()
        if simple_of(symbol.name) != old and word.search("\n".join(lines[symbol.first - 1 : symbol.last]))
    ]
    for symbol in likely[:_MAX_CANDIDATES]:
        as_before = _word(simple_of(symbol.name)).sub(lambda _: old, text)
        for candidate in read_symbols(as_before, language) or ():
            if (candidate.first, candidate.body) == (symbol.first, body):
                return symbol.name
    return ""


def _word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(text)}(?![\w$])")


class RecentFiles:
    """Recent results by checkout and path."""

    def __init__(self, max_symbols: int = _MAX_SYMBOLS) -> None:
        self._max_symbols = max_symbols
        self._lock = threading.Lock()
        self._files: dict[tuple[str, str], ReadFile] = {}
        self._symbols = 0

    def find(self, root: str, states: Mapping[str, FileState | None]) -> dict[str, ReadFile]:
        """Return the cached files with an unchanged state, by path."""
        found: dict[str, ReadFile] = {}
        with self._lock:
            for path, state in states.items():
                known = self._files.pop((root, path), None)
                if known is not None:
                    self._files[root, path] = known  # moved to the end of the eviction order
                    if state is not None and known.state == state:
                        found[path] = known
        return found

    def store(self, root: str, files: Iterable[ReadFile]) -> None:
        """Store files; the least recently used files are evicted."""
        with self._lock:
            for file in files:
                self._drop((root, file.path))
                if _size(file) <= self._max_symbols:
                    self._files[root, file.path] = file
                    self._symbols += _size(file)
            while self._symbols > self._max_symbols:
                self._drop(next(iter(self._files)))

    def drop(self, root: str, paths: Iterable[str]) -> None:
        """Drop files, after a change or a deletion."""
        with self._lock:
            for path in paths:
                self._drop((root, path))

    def clear(self) -> None:
        with self._lock:
            self._files.clear()
            self._symbols = 0

    def _drop(self, key: tuple[str, str]) -> None:
        if known := self._files.pop(key, None):
            self._symbols -= _size(known)


def _size(file: ReadFile) -> int:
    return 1 + len(file.symbols or ())
