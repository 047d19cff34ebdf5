"""What a session said and did, as far as it can show that something it was given was of use: its words, the ids and
names in them, the files and functions it touched, and when. Called by `outcomes`; bounded, however long it was.

How common words and files are in the work of a project: what everything shares tells nothing about one thing."""

import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from claude_mem_lite.compress.prose.clean import without_own_blocks
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import JsonObject, JsonValue, Session, load_json
from claude_mem_lite.store import memory_queries, symbol_changes, turns
from claude_mem_lite.store.index import fts
from claude_mem_lite.text import stems

_MAX_TURNS = 300
_MAX_CALLS = 500
_MAX_MEMORIES = 200
_MAX_TEXT = 400_000
# What a call is given beyond that is the text of a file, not what is meant by it.
_MAX_INPUT_LENGTH = 2_000
_WORD = re.compile(r"\w+")
# Nothing after it that could make it look again: a blob of 100,000 characters would take minutes.
_PATH = re.compile(r"[\w@+./-]+")
_MAX_SUFFIX_LENGTH = 8
_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#]|\d+[.)]))")
_ABOUT_FILES = ("file_path", "notebook_path", "path")
_EVER = datetime.min.replace(tzinfo=UTC)
_AT_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Words:
    """Words with the numbers of the paragraphs they are in, looked up when asked for: of each moment that something was
    given another part counts, and a list of all for each would take a second."""

    numbers: Mapping[str, Sequence[int]]
    times: Sequence[datetime]
    """When each paragraph was said, by number."""
    after: datetime
    without: Collection[str] = ()

    def paragraphs(self, stem: str) -> Sequence[int]:
        if stem in self.without:
            return ()
        return [number for number in self.numbers.get(stem, ()) if self.times[number] > self.after]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a session said and did, all of it or from a moment on."""

    words: Words
    """The words of prompts, replies and what tools were given, without their endings, with the paragraphs they are
    in, by number."""
    identifiers: frozenset[str]
    """Everything in the same texts that could be an id or an identifier, as it is written."""
    files: Mapping[str, Sequence[str]]
    """The files it read and edited, by their names without folders."""
    symbols: frozenset[tuple[str, str]]
    """The functions and classes it changed, by file and name."""
    echoed: frozenset[str] = frozenset()
    """Identifiers that what was answered had in it already: to name them once more shows nothing."""

    def touched(self, file: str) -> bool:
        """Whether a file was read or edited; one path may begin at the root of the disk, the other in the project."""
        return any(_is_same(file, other) for other in self.files.get(_name(file), ()))


@dataclass(slots=True)
class _Said:
    """What was said and given to tools: words by paragraphs, names by when they last turned up."""

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


@dataclass(frozen=True, slots=True)
class Work:
    """All that is known of what a session said and did, each with its time."""

    said: _Said
    calls: Mapping[str, JsonObject]
    """What tools were given, by the names of the events."""
    files: tuple[tuple[datetime, str], ...]
    """The files of each turn, at its end."""
    symbols: tuple[tuple[datetime, tuple[str, str]], ...]
    untimed_files: tuple[str, ...]
    """Those of the session's summary: nobody noted when."""
    prompts: tuple[tuple[datetime, str], ...]
    """What was asked, newest first."""

    def evidence(self) -> Evidence:
        """All that there is."""
        return self._evidence(_EVER, "", self.untimed_files)

    def evidence_after(self, moment: datetime) -> Evidence:
        """Return what came after a prompt, without what repeats it: an item is found by the words of its prompt."""
        return self._evidence(moment, self.prompt_before(moment), ())

    def _evidence(self, after: datetime, prompt: str, more: Sequence[str]) -> Evidence:
        files = (
            *more,
            *(file for at, file in self.files if at > after),
            *(file for name, given in self.calls.items() if time_of(name) > after for file in _files_of(given)),
        )
        return Evidence(
            words=Words(self.said.numbers, self.said.times, after, prose_stems(prompt).keys()),
            identifiers=frozenset(word for word, at in self.said.identifiers.items() if at > after),
            files=_by_name(files),
            symbols=frozenset(symbol for at, symbol in self.symbols if at > after),
            echoed=frozenset(_WORD.findall(prompt)),
        )

    def prompt_before(self, moment: datetime) -> str:
        """Return the last prompt before a moment."""
        return next((prompt for at, prompt in self.prompts if at <= moment), "")


def work_of(db: sqlite3.Connection, queue: Queue, session: Session) -> Work | None:
    """Return what a session said and did, with the times; None when nobody asked anything in it."""
    spoken = turns.last_turns(db, session.id, _MAX_TURNS)
    if not spoken:
        return None
    kept = event_history.tool_calls(queue.db, session.id, _MAX_CALLS)
    calls = {one: load_json(one.given) for one in kept if one.given[:1] == "{"}
    inputs = {one: given for one, given in calls.items() if isinstance(given, dict)}
    given_texts = (
        (time_of(one.name), text)
        for one, given in inputs.items()
        for text in _strings(given)
        if len(text) <= _MAX_INPUT_LENGTH
    )
    changed = symbol_changes.of_session(db, session.id)
    made = memory_queries.of_session(db, session.id, _MAX_MEMORIES)
    return Work(
        said=_said([*_spoken(spoken), *given_texts]),
        calls={one.name: given for one, given in inputs.items()},
        files=(
            *((memory.created_at, file) for memory in made for file in memory.files),
            *((one.at, one.change.file) for one in changed),
        ),
        symbols=tuple((one.at, (one.change.file, one.change.name)) for one in changed if one.change.name),
        untimed_files=(*session.summary.files_edited, *session.summary.files_read),
        prompts=tuple((turn.began_at, turn.prompt) for turn in spoken if turn.prompt),
    )


def _spoken(spoken: Sequence[turns.SpokenTurn]) -> Iterator[tuple[datetime, str]]:
    """What was said in turns, newest first. A reply closes its turn: it comes after all that was given in it."""
    end = _AT_LAST
    for turn in spoken:
        yield turn.began_at, without_own_blocks(turn.prompt)
        yield end, without_own_blocks(turn.reply)
        yield turn.began_at, without_own_blocks(turn.tasks)
        end = turn.began_at


def _said(texts: Iterable[tuple[datetime, str]]) -> _Said:
    said = _Said()
    left = _MAX_TEXT
    for at, text in texts:
        said.add(at, text[:left])
        left -= len(text[:left])
    return said


def _files_of(given: JsonObject) -> Iterator[str]:
    """The files that a tool call is about."""
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
    """Return the stems of a text without those of its paths: folders and file names occur in any command."""
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


# A word of more than this share of a project's memories, or of more than so many, has no weight.
_MAX_SHARE = 0.1
_MIN_MEMORIES = 3
_MAX_RARE = 300
# A file that so large a share of the last sessions touched, and at least so many of them, tells little.
_LAST_SESSIONS = 30
_COMMON_SHARE = 0.2
_COMMON_SESSIONS = 3


class WordWeights:
    """Weights of words by how few of a project's memories have them, each word looked up once."""

    def __init__(self, db: sqlite3.Connection, project: str) -> None:
        (self._number,) = db.execute("select count(*) from memories where project = ?", (project,)).fetchone()
        self._db = db
        self._scope = f"project:{project}"
        self._most = max(_MIN_MEMORIES, min(int(_MAX_SHARE * self._number), _MAX_RARE))
        self._known: dict[str, float] = {}

    def of(self, words: Mapping[str, str]) -> dict[str, float]:
        """Return the weights of the words that have any, by their stems."""
        return {stem: weight for stem, word in words.items() if (weight := self._weight(word)) > 0}

    def _weight(self, word: str) -> float:
        if word not in self._known:
            having = fts.count_with(self._db, word, self._scope, self._most + 1)
            is_common = having > self._most
            self._known[word] = 0.0 if is_common else max(math.log((self._number + 1) / (having + 0.5)), 0.0)
        return self._known[word]


def common_files(db: sqlite3.Connection, project: str, without: str) -> set[str]:
    """The files that many of a project's last sessions touched, one session left out."""
    rows = db.execute(
        """select files_read, files_edited from sessions where project = :project and id <> :without
           order by last_event_at desc limit :limit""",
        {"project": project, "without": without, "limit": _LAST_SESSIONS},
    ).fetchall()
    times = Counter(file for row in rows for file in {*json.loads(row[0]), *json.loads(row[1])})
    least = max(_COMMON_SESSIONS, _COMMON_SHARE * len(rows))
    return {file for file, number in times.items() if number >= least}
