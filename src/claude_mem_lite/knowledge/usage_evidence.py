"""Evidence of use: words, names, files and functions of a session with their times, and weights of words and files.

Called by `outcomes`; the work is bounded for sessions of any length."""

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import JsonObject, JsonValue, Session, load_json
from claude_mem_lite.safety.own_blocks import without_own_blocks
from claude_mem_lite.store import memory_queries, statistics, symbol_changes, turns
from claude_mem_lite.store.index import fts
from claude_mem_lite.text import stems
from claude_mem_lite.values import frozen

_MAX_TURNS = 300
_MAX_CALLS = 500
_MAX_MEMORIES = 200
_MAX_TEXT = 400_000
# Longer inputs are texts of files, not intentions.
_MAX_INPUT_LENGTH = 2_000
_WORD = re.compile(r"\w+")
# No lookahead that could backtrack: a blob of 100,000 characters would take minutes.
_PATH = re.compile(r"[\w@+./-]+")
_MAX_SUFFIX_LENGTH = 8
_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#]|\d+[.)]))")
_ABOUT_FILES = ("file_path", "notebook_path", "path")
_EVER = datetime.min.replace(tzinfo=UTC)
_AT_LAST = datetime.max.replace(tzinfo=UTC)


@frozen
class ParagraphIndex:
    """Index from words to numbered paragraphs. Lookups are limited to paragraphs after a time: a new index for each
    injection would take a second."""

    numbers: Mapping[str, Sequence[int]]
    times: Sequence[datetime]
    """Time of each paragraph by number."""
    after: datetime
    without: Collection[str] = ()

    def paragraphs(self, stem: str) -> Sequence[int]:
        if stem in self.without:
            return ()
        return [number for number in self.numbers.get(stem, ()) if self.times[number] > self.after]


@frozen
class Evidence:
    """Words and actions of a session, complete or from a time on."""

    words: ParagraphIndex
    """Stems of prompts, replies and tool inputs, with the numbers of their paragraphs."""
    identifiers: frozenset[str]
    """Possible ids and identifiers of the same texts, as written."""
    files: Mapping[str, Sequence[str]]
    """Files that the session read and edited, by name without folder."""
    symbols: frozenset[tuple[str, str]]
    """Functions and classes that the session changed, by file and name."""
    echoed: frozenset[str] = frozenset()
    """Identifiers of the prompt: their repetition in the reply shows nothing."""

    def touched(self, file: str) -> bool:
        """Return True if a file was read or edited. One path may be absolute and the other relative to the project."""
        return any(_is_same(file, other) for other in self.files.get(_name(file), ()))


@dataclass(slots=True)
class _Texts:
    """Words of texts by paragraph, and names by their last time."""

    numbers: dict[str, list[int]] = field(default_factory=dict)
    times: list[datetime] = field(default_factory=list)
    identifiers: dict[str, datetime] = field(default_factory=dict)

    def add(self, at: datetime, text: str) -> None:
        for paragraph in _PARAGRAPH_END.split(text):
            for stem in prose_stems(paragraph):
                self.numbers.setdefault(stem, []).append(len(self.times))
            self.times.append(at)
        for name in set(_WORD.findall(text)):
            self.identifiers[name] = max(at, self.identifiers.get(name, _EVER))


@frozen
class SessionActivity:
    """All stored words and actions of a session, with times."""

    said: _Texts
    calls: Mapping[str, JsonObject]
    """Inputs of tools by name of the event."""
    files: tuple[tuple[datetime, str], ...]
    """Files of each turn, with the time of the end of the turn."""
    symbols: tuple[tuple[datetime, tuple[str, str]], ...]
    untimed_files: tuple[str, ...]
    """Files of the session summary, without times."""
    prompts: tuple[tuple[datetime, str], ...]
    """Prompts, newest first."""

    def evidence(self) -> Evidence:
        """Return the complete evidence."""
        return self._evidence(_EVER, "", self.untimed_files)

    def evidence_after(self, moment: datetime) -> Evidence:
        """Return the evidence after a prompt, without repetitions of the prompt: the words of the prompt found the
        item."""
        return self._evidence(moment, self.prompt_before(moment), ())

    def _evidence(self, after: datetime, prompt: str, more: Sequence[str]) -> Evidence:
        files = (
            *more,
            *(file for at, file in self.files if at > after),
            *(file for name, given in self.calls.items() if time_of(name) > after for file in _files_of(given)),
        )
        return Evidence(
            words=ParagraphIndex(self.said.numbers, self.said.times, after, prose_stems(prompt).keys()),
            identifiers=frozenset(word for word, at in self.said.identifiers.items() if at > after),
            files=_by_name(files),
            symbols=frozenset(symbol for at, symbol in self.symbols if at > after),
            echoed=frozenset(_WORD.findall(prompt)),
        )

    def prompt_before(self, moment: datetime) -> str:
        """Return the last prompt before a time."""
        return next((prompt for at, prompt in self.prompts if at <= moment), "")


def work_of(db: sqlite3.Connection, queue: Queue, session: Session) -> SessionActivity | None:
    """Return the activity of a session; None without a prompt."""
    spoken = turns.last_turns(db, session.id, _MAX_TURNS)
    if not spoken:
        return None
    kept = event_history.tool_calls(queue.db, session.id, _MAX_CALLS)
    calls = {call: load_json(call.tool_input) for call in kept if call.tool_input[:1] == "{"}
    inputs = {call: given for call, given in calls.items() if isinstance(given, dict)}
    given_texts = (
        (time_of(call.name), text)
        for call, given in inputs.items()
        for text in _strings(given)
        if len(text) <= _MAX_INPUT_LENGTH
    )
    changed = symbol_changes.of_session(db, session.id)
    made = memory_queries.of_session(db, session.id, _MAX_MEMORIES)
    return SessionActivity(
        said=_said([*_spoken(spoken), *given_texts]),
        calls={call.name: given for call, given in inputs.items()},
        files=(
            *((memory.created_at, file) for memory in made for file in memory.files),
            *((edit.at, edit.change.file) for edit in changed),
        ),
        symbols=tuple((edit.at, (edit.change.file, edit.change.name)) for edit in changed if edit.change.name),
        untimed_files=(*session.summary.files_edited, *session.summary.files_read),
        prompts=tuple((turn.began_at, turn.prompt) for turn in spoken if turn.prompt),
    )


def _spoken(spoken: Sequence[turns.SpokenTurn]) -> Iterator[tuple[datetime, str]]:
    """Return the texts of turns, newest first. A reply comes after all tool inputs of the turn."""
    end = _AT_LAST
    for turn in spoken:
        yield turn.began_at, without_own_blocks(turn.prompt)
        yield end, without_own_blocks(turn.reply)
        yield turn.began_at, without_own_blocks(turn.tasks)
        end = turn.began_at


def _said(texts: Iterable[tuple[datetime, str]]) -> _Texts:
    said = _Texts()
    left = _MAX_TEXT
    for at, text in texts:
        said.add(at, text[:left])
        left -= len(text[:left])
    return said


def _files_of(given: JsonObject) -> Iterator[str]:
    for key in _ABOUT_FILES:
        if isinstance(file := given.get(key), str):
            yield file


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def prose_stems(text: str) -> dict[str, str]:
    """Return the stems of a text without the stems of paths: folders and file names occur in any command."""
    return stems(_PATH.sub(lambda found: " " if "/" in found[0] or _is_file_name(found[0]) else found[0], text))


def _is_file_name(text: str) -> bool:
    stem, _, suffix = text.rstrip("./-").rpartition(".")
    return bool(stem) and suffix.isalnum() and len(suffix) <= _MAX_SUFFIX_LENGTH


def _by_name(files: Iterable[str]) -> Mapping[str, Sequence[str]]:
    found: dict[str, dict[str, None]] = {}
    for file in files:
        found.setdefault(_name(file), {})[file] = None
    return {name: list(paths) for name, paths in found.items()}


def _name(file: str) -> str:
    return file.rstrip("/").rpartition("/")[2]


def _is_same(file: str, other: str) -> bool:
    return file == other or file.endswith(f"/{other}") or other.endswith(f"/{file}")


# A word in more than this share or this number of a project's memories has no weight.
_MAX_SHARE = 0.1
_MIN_MEMORIES = 3
_MAX_RARE = 300
# A file that this share, and this number, of the last sessions touched has little weight.
_LAST_SESSIONS = 30
_COMMON_SHARE = 0.2
_COMMON_SESSIONS = 3


class WordWeights:
    """Weights of words by their rarity in the memories of a project; each word is looked up once."""

    def __init__(self, db: sqlite3.Connection, project: str) -> None:
        self._number = memory_queries.count_of_project(db, project)
        self._db = db
        self._scope = f"project:{project}"
        self._most = max(_MIN_MEMORIES, min(int(_MAX_SHARE * self._number), _MAX_RARE))
        self._known: dict[str, float] = {}

    def of(self, words: Mapping[str, str]) -> dict[str, float]:
        """Return the positive weights of words by stem."""
        return {stem: weight for stem, word in words.items() if (weight := self._weight(word)) > 0}

    def _weight(self, word: str) -> float:
        if word not in self._known:
            having = fts.count_with(self._db, word, self._scope, self._most + 1)
            is_common = having > self._most
            self._known[word] = 0.0 if is_common else max(math.log((self._number + 1) / (having + 0.5)), 0.0)
        return self._known[word]


def common_files(db: sqlite3.Connection, project: str, without: str) -> set[str]:
    """Return the files that many of a project's last sessions touched, without one session."""
    touched = statistics.files_touched(db, project, without, _LAST_SESSIONS)
    times = Counter(file for files in touched for file in files)
    least = max(_COMMON_SESSIONS, _COMMON_SHARE * len(touched))
    return {file for file, number in times.items() if number >= least}
