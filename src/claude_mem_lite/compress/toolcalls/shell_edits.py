"""Files that a command wrote, changed, renamed or deleted by name -> changes of files, as for edits."""

import re
import shlex
from collections.abc import Iterator

from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.edits import FileChange, new_file
from claude_mem_lite.compress.toolcalls.payload_fields import Folder
from claude_mem_lite.lazy_regex import lazy

_FILE_NAME = lazy(r"(?!/|~|tmp/|\.\./|node_modules/|dist/|build/|target/)[\w./@+-]*[\w@+-]\.[A-Za-z]\w{0,9}")
_DOCUMENT = lazy(r"(?m)^([^\n]*)<<-?[ \t]*(['\"]?)(\w+)\2([^\n]*)\n")
_TARGET = lazy(r"(?<![\d&>])(>{1,2})[ \t]*([^\s;&|<>]+)|\btee[ \t]+(-a[ \t]+)?([^\s;&|<>-][^\s;&|<>]*)")
_SUBSTITUTION = lazy(r"s([/|#,@])((?:\\.|(?!\1).)+)\1((?:\\.|(?!\1).)*)\1\w*")
_ESCAPED = lazy(r"\\([^\w\s])")
_MAX_FILES = 20
_MAX_DOCUMENTS = 20
_MAX_COMMAND_LENGTH = 100_000


def read_shell_edits(command: str, folder: Folder) -> list[FileChange]:
    """Return the changes of a successful command line to files of the project, without folders and patterns."""
    command = command[:_MAX_COMMAND_LENGTH]
    return [*_written(command, folder), *(change for part in shell.parts(command) for change in _changed(part, folder))]


def _changed(part: str, folder: Folder) -> Iterator[FileChange]:
    """Yield the changes of one simple command: `mv`, `rm`, `sed -i`, `perl -i`."""
    try:
        words = shlex.split(part)
    except ValueError:
        return
    words = words[1:] if words[:1] == ["git"] else words
    if not words:
        return
    if words[0] in ("sed", "perl"):
        yield from _substituted(words, folder)
        return
    paths = [folder.name(word) for word in words[1:] if not word.startswith("-")]
    if not paths or not all(_FILE_NAME.fullmatch(path) for path in paths):
        return
    if words[0] == "mv" and len(paths) == 2:
        yield FileChange(paths[1], "new", moved_from=paths[0])
    elif words[0] == "rm":
        yield from (FileChange(path, "deleted") for path in paths[:_MAX_FILES])


def _substituted(words: list[str], folder: Folder) -> Iterator[FileChange]:
    """Yield the changes of `sed -i 's/a/b/' FILE…`, with the texts as typed, also patterns."""
    if not any(re.match(r"-\w*i|--in-place", word) for word in words[1:]):
        return
    samples = [
        (_ESCAPED.sub(r"\1", match[2]), _ESCAPED.sub(r"\1", match[3]))
        for word in words[1:]
        if len(word) < 300
        for match in _SUBSTITUTION.finditer(word)
        if word.lstrip().startswith(("s", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "/", "$"))
    ]
    for word in words[1:]:
        path = folder.name(word)
        if not word.startswith("-") and _FILE_NAME.fullmatch(path) and not _SUBSTITUTION.search(word):
            yield FileChange(path, "modified", samples=tuple(samples[:3]))


def _written(command: str, folder: Folder) -> Iterator[FileChange]:
    """Yield files written from a here-document."""
    at = 0
    for _ in range(_MAX_DOCUMENTS):
        document = _DOCUMENT.search(command, at)
        if not document:
            return
        end = re.compile(rf"(?m)^[ \t]*{document[3]}[ \t]*$").search(command, document.end())
        body = command[document.end() : end.start() if end else len(command)]
        at = end.end() if end else len(command)
        target = _TARGET.search(f"{document[1]} {document[4]}")
        path = folder.name((target[2] or target[4]).strip("\"'")) if target else ""
        if target and _FILE_NAME.fullmatch(path):
            change = new_file(path, body)
            appended = target[1] == ">>" or bool(target[3])
            yield FileChange(path, "modified", change.symbols, change.added) if appended else change
