"""What a session said and did, as far as it can show that something it was given was of use: its words, the ids and
names in them, the files and functions it touched. Called by `outcomes`; bounded, however long the session was."""

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.language.clean import without_own_blocks
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import JsonValue, Session, load_json
from claude_mem_lite.store import redoing, symbols, turns
from claude_mem_lite.words import stems

_MOST_TURNS = 300
_MOST_CALLS = 500
_MOST_MEMORIES = 200
_MOST_TEXT = 400_000
# What a call is given beyond that is the text of a file, not what is meant by it.
_LONGEST_INPUT = 2_000
_WORD = re.compile(r"\w+")
# Nothing after it that could make it look again: a blob of 100,000 characters would take minutes.
_PATH = re.compile(r"[\w@+./-]+")
_LONGEST_SUFFIX = 8
_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#]|\d+[.)]))")
_ABOUT_FILES = ("file_path", "notebook_path", "path")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a session said and did."""

    words: Mapping[str, Collection[int]]
    """The words of prompts, replies and what tools were given, without their endings, with the paragraphs they are
    in, by number."""
    identifiers: frozenset[str]
    """Everything in the same texts that could be an id or an identifier, as it is written."""
    named: Mapping[str, Sequence[str]]
    """What is named as a file in the same texts, by the names without folders."""
    files: Mapping[str, Sequence[str]]
    """The files it read and edited, by their names without folders."""
    symbols: frozenset[tuple[str, str]]
    """The functions and classes it changed, by file and name."""

    def touched(self, file: str) -> bool:
        """Whether a file was read or edited; one path may begin at the root of the disk, the other in the project."""
        return any(_is_same(file, other) for other in self.files.get(_name(file), ()))

    def names(self, file: str) -> bool:
        """Whether a file is named, with as much of its path as there is."""
        return any(_is_same(file, other.removeprefix("./")) for other in self.named.get(_name(file), ()))


def of_session(db: sqlite3.Connection, queue: Queue, session: Session) -> Evidence | None:
    """What a session said and did; None when nobody asked anything in it."""
    said = [without_own_blocks(text) for text in turns.said_in(db, session.id, _MOST_TURNS)]
    if not said:
        return None
    calls = [load_json(given) for given in queue.tool_inputs(session.id, _MOST_CALLS) if given.startswith("{")]
    given = [text for call in calls for text in _strings(call) if len(text) <= _LONGEST_INPUT]
    everything = "\n\n".join((*said, *given))[:_MOST_TEXT]
    changed = [one.change for one in symbols.of_session(db, session.id)]
    made = redoing.of_session(db, session.id, _MOST_MEMORIES)
    files = (
        *session.summary.files_edited,
        *session.summary.files_read,
        *(file for memory in made for file in memory.files),
        *(change.file for change in changed),
        *(
            text
            for call in calls
            if isinstance(call, dict)
            for key in _ABOUT_FILES
            if isinstance(text := call.get(key), str)
        ),
    )
    return Evidence(
        words=_by_paragraph(everything),
        identifiers=frozenset(_WORD.findall(everything)),
        named=_by_name(_paths(everything)),
        files=_by_name(files),
        symbols=frozenset((change.file, change.name) for change in changed if change.name),
    )


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _paths(text: str) -> Iterator[str]:
    """What is written like the name of a file."""
    for found in set(_PATH.findall(text)):
        path = found.rstrip("./-")
        stem, _, suffix = path.rpartition(".")
        if stem and suffix.isalnum() and len(suffix) <= _LONGEST_SUFFIX:
            yield path


def _by_paragraph(text: str) -> Mapping[str, Collection[int]]:
    found: dict[str, list[int]] = {}
    for number, paragraph in enumerate(_PARAGRAPH_END.split(text)):
        for stem in stems(paragraph):
            found.setdefault(stem, []).append(number)
    return found


def _by_name(files: Iterable[str]) -> Mapping[str, Sequence[str]]:
    found: dict[str, dict[str, None]] = {}
    for file in files:
        found.setdefault(_name(file), {})[file] = None
    return {name: list(paths) for name, paths in found.items()}


def _name(file: str) -> str:
    return file.rstrip("/").rpartition("/")[2]


def _is_same(file: str, other: str) -> bool:
    return file == other or file.endswith(f"/{other}") or other.endswith(f"/{file}")
