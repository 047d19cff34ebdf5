"""Work on several files: a short memory for each file that has something of its own to tell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.closing import Closing
from claude_mem_lite.compress.language.drafts import make_draft, whole_sentences
from claude_mem_lite.compress.language.sentence_kinds import is_check_result, is_talk
from claude_mem_lite.compress.language.verbs import impersonal, instruction
from claude_mem_lite.compress.rules.work_titles import NAMED_BY_FILE, title_of_changes
from claude_mem_lite.compress.tools.edits import FileChange, describe
from claude_mem_lite.models import Draft
from claude_mem_lite.patterns import lazy

_MOST_PARTS = 5
_LONGEST_SAID = 240
# Under this many characters one memory tells of all the files.
_TOLD_TOGETHER = 250
_NAME = lazy(r"\b(?:\w*[a-z][A-Z]\w*|\w*[A-Za-z]_\w+|\w+(?=\())")
_SIZE_ALONE = lazy(r": changed(?: \([^)]*\))?$")
_TEST_FILE = lazy(r"(?i)(?:^|[/_.-])(?:tests?|specs?|testdata|fixtures?|conftest)(?:[/_.-]|$)")
_TEXT_FILE = lazy(r"(?i)\.(?:md|rst|txt|adoc)$")


@dataclass(frozen=True, slots=True)
class Part:
    """One changed file and what the closing message says of it."""

    change: FileChange
    said: tuple[str, ...]


def is_test(change: FileChange) -> bool:
    """Whether a changed file belongs to the tests."""
    return _TEST_FILE.search(change.path) is not None


def parts_of(changes: Sequence[FileChange], closing: Closing) -> list[Part]:
    """The files of a piece of work that are worth a memory of their own; none when one memory can tell it all."""
    said = _said_of(changes, closing) if len(changes) > 1 else {}
    telling = [Part(change, tuple(said[change.path])) for change in changes if said.get(change.path)]
    if sum(map(_size, telling)) < _TOLD_TOGETHER:
        return []
    largest = sorted(telling, key=lambda part: (len(part.said), part.change.added + part.change.removed), reverse=True)
    return [part for part in telling if part in largest[:_MOST_PARTS]]


def _said_of(changes: Sequence[FileChange], closing: Closing) -> dict[str, list[str]]:
    """The sentences and list items about each file, by its path; what tells of the whole goes to none."""
    found: dict[str, list[str]] = {change.path: [] for change in changes}
    of_the_whole = {*(closing.told[:2] or closing.points[:2]), *closing.findings(), *closing.causes()}
    of_the_whole |= {*closing.next_steps()}  # what is to come is told by the session, not by a file
    for text in (one.text for one in closing.said if one.text not in of_the_whole):
        best = max(changes, key=lambda change: _mentions(text, change))
        if _mentions(text, best) and _tells(text):
            found[best.path].append(text)
    return found


def part_draft(part: Part, whole: Draft) -> Draft:
    """The memory of one file of a piece of work, which is its why."""
    change = part.change
    said = [titles.without_place(text) for text in part.said]
    named = [(titles.from_report(text) or titles.shorten(instruction(text)), text) for text in said]
    title, used = next(((title, text) for title, text in named if titles.weight(title) >= 4), ("", ""))
    rest = [impersonal(text) for text in said if text != used or len(text) > len(title) + 25]
    is_code = not is_test(change) and not _TEXT_FILE.search(change.path)
    return make_draft(
        whole.kind if is_code else "change",
        title or title_of_changes([change]),
        whole_sentences(rest, _LONGEST_SAID) or _purpose(change, whole),
        facts=[beyond_symbols(change)],
        files=[change.path],
        symbols=change.symbols,
        confidence=0.5,
    )


def beyond_symbols(change: FileChange) -> str:
    """What is to be said of a changed file besides the names of its functions; '' when that is all."""
    told = describe(replace(change, symbols=()))
    return "" if change.symbols and _SIZE_ALONE.search(told) else told


def _purpose(change: FileChange, whole: Draft) -> str:
    """What a file was changed for, or how, when the work as a whole is named by its files only."""
    return f"{describe(change)}." if NAMED_BY_FILE.match(whole.title) else f"For: {whole.title}."


def _size(part: Part) -> int:
    return len(describe(part.change)) + sum(map(len, part.said))


def _mentions(text: str, change: FileChange) -> int:
    """How often a text names a file or a function of it; a plain word such as `load` is no name by itself."""
    own = {symbol.name.rsplit(".", 1)[-1] for symbol in change.symbols}
    return (change.path.rsplit("/", 1)[-1] in text) + len(own.intersection(_NAME.findall(text)))


def _tells(text: str) -> bool:
    return len(text.split()) > 3 and not is_talk(text) and not is_check_result(text)
