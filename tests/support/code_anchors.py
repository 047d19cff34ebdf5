"""Work on the code of a checkout, with the anchors that memories of it have."""

from pathlib import Path

from claude_mem_lite.code.syntax.changes import ABSENT, PRESENT, CodeChange, Symbol, anchor_to, compare
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.code.syntax.symbols import read_symbols

LOAD = """\
def load(path):
    with open(path) as file:
        return file.read()
"""
LOAD_SAFELY = """\
def load(path):
    if not path:
        return ""
    with open(path) as file:
        return file.read()
"""
SAVE = """\
def save(path, text):
    with open(path, "w") as file:
        file.write(text)
"""


def work_on(root: Path, file: str, text: str) -> tuple[str, ...]:
    """Write a file, as an agent would; the anchors of a memory that tells of all that changed."""
    path = root / file
    before = _symbols(file, path.read_text() if path.exists() else "")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return tuple(anchor_to(change) for change in compare(file, before, _symbols(file, text)))


def tied_to_file(file: str, before: str = PRESENT, after: str = PRESENT) -> tuple[str, ...]:
    """The anchors of a memory that tells of a whole file."""
    action = "new" if before == ABSENT else "deleted" if after == ABSENT else "modified"
    return (anchor_to(CodeChange(file, "", "file", action, before=before, after=after)),)  # type: ignore[arg-type]


def _symbols(file: str, text: str) -> tuple[Symbol, ...]:
    return read_symbols(text, language_of(file)) or ()
