"""Made-up memories of the shape that real sessions leave, any number of them, the same for the same seed.

Shape, after what rules made of recorded sessions: a title of 5 to 10 words, a summary of 1 to 3 sentences, 0 to 6
facts, 1 to 3 files, 0 to 3 symbols, a detail in a fifth; about 97 tokens in the median, without the lists. Words follow
Zipf's law (exponent 1) over 60,000: function words and the words that all programming shares in turns, then the whole
words of the product's own embedding vocabulary, then such words with endings. Half of the words of a memory come from
its topic, one of 500 with up to 200 words each, so that vectors lie in clusters. Thirty memories are a session, and a
session is of one topic; every second session is of project 0, the others go round 99 more. 2 % are guidance that holds
everywhere. There is a turn (a prompt and its reply) for every third memory, and all spread evenly over two years."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from claude_mem_lite.embed.embedder import DATA
from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory, SymbolChange
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.text import STOPWORDS

SEED = 12
BATCH = 3000
VOCABULARY = 60_000
TOPICS = 500
TOPIC_WORDS = 200
FIRST_TOPIC_WORD = 100
"""The most frequent words belong to no topic."""
PROJECTS = 100
HUGE_PROJECT = 0
SMALL_PROJECT = 7
SESSION = 30
MEMORIES_A_TURN = 3
UNIVERSAL = 0.02
NOW = datetime(2026, 11, 1, tzinfo=UTC)
SPAN = timedelta(days=730)
_MAX_WORDS = 180
_MAX_TURN_WORDS = 240
_FUNCTION_WORDS = """the to in and a is for from it that with when was of on not this all no i as by be are
    now""".split()  # noqa: SIM905
_WORK_WORDS = """test file add session change command error code commit branch function config state hook run build
    update check type data name value list key path""".split()  # noqa: SIM905
_KINDS: dict[Kind, int] = {
    "change": 42,
    "feature": 20,
    "discovery": 17,
    "bugfix": 9,
    "refactor": 5,
    "handoff": 4,
    "decision": 2,
    "failure": 1,
}
_FOLDERS = ("src", "lib", "cmd", "tests", "internal", "app")
_ENDINGS = ("py", "go", "ts", "rs", "md", "toml")
_FACTS = (0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6)

Numbers = NDArray[np.int64]
Take = Callable[[int], list[str]]


@dataclass(frozen=True, slots=True)
class SyntheticTurn:
    key: str
    session: str
    project: str
    asked: str
    answered: str
    at: datetime


class Language:
    """Words with their frequencies, and the topics that prefer some of them."""

    def __init__(self) -> None:
        self.words = _vocabulary()
        self.common = [word for word in self.words[:200] if word not in STOPWORDS][:50]
        """The most frequent words that search does not leave out."""
        self._array = np.array(self.words, dtype=object)
        self._chances = _zipf(len(self.words))
        rng = np.random.default_rng(SEED)
        span = np.log(len(self.words) / FIRST_TOPIC_WORD)
        # By the logarithm of the rank, so that topics share their frequent words and have rare ones to themselves.
        ranks = FIRST_TOPIC_WORD * np.exp(span * rng.random((TOPICS, TOPIC_WORDS)))
        self._topics = np.minimum(ranks.astype(np.int64), len(self.words) - 1)
        self._topic_chances = _zipf(TOPIC_WORDS)

    def draw(self, rng: np.random.Generator, topics: Sequence[int], width: int) -> list[list[str]]:
        """A row of words for each topic given, half of them from it."""
        shape = (len(topics), width)
        anywhere = np.searchsorted(self._chances, rng.random(shape))
        places = np.searchsorted(self._topic_chances, rng.random(shape))
        of_topic = np.take_along_axis(self._topics[np.asarray(topics, dtype=np.int64)], places, axis=1)
        chosen: Numbers = np.where(rng.random(shape) < 0.5, of_topic, anywhere)
        rows: list[list[str]] = self._array[chosen].tolist()
        return rows

    def of_topic(self, topic: int, rng: random.Random, number: int) -> list[str]:
        """Different words of one topic, frequent ones rather than rare ones."""
        places = (min(int(rng.paretovariate(0.7)), TOPIC_WORDS) - 1 for _ in range(20 * number))
        return list(islice(dict.fromkeys(self.words[self._topics[topic][place]] for place in places), number))


def batch(language: Language, first: int, number: int, size: int) -> tuple[list[Memory], list[SyntheticTurn]]:
    """Memories `first` up to `first + number` of `size`, and the turns that belong to them; `first` begins a batch."""
    draws = np.random.default_rng((SEED, first))
    rng = random.Random(f"{SEED} {first}")
    numbers = range(first, first + number)
    rows = language.draw(draws, [topic_of(one // SESSION) for one in numbers], _MAX_WORDS)
    memories = [_memory(one, size, _taking(row), rng) for one, row in zip(numbers, rows, strict=True)]
    turned = numbers[::MEMORIES_A_TURN]
    rows = language.draw(draws, [topic_of(one // SESSION) for one in turned], _MAX_TURN_WORDS)
    turns = [_turn(one, size, _taking(row), rng) for one, row in zip(turned, rows, strict=True)]
    return memories, turns


def project_id(number: int) -> str:
    return f"example.org/made-up/project-{number:02d}"


def project_of(session: int) -> str:
    return project_id(HUGE_PROJECT if session % 2 == 0 else 1 + session // 2 % (PROJECTS - 1))


@cache
def topic_of(session: int) -> int:
    return random.Random(f"{SEED} topic {session}").randrange(TOPICS)


def session_id(number: int) -> str:
    return f"session-{number // SESSION}"


def moment_of(number: int, size: int) -> datetime:
    return NOW - SPAN * ((size - number) / size)


def _memory(number: int, size: int, take: Take, rng: random.Random) -> Memory:
    everywhere = rng.random() < UNIVERSAL
    kind = rng.choice(GUIDANCE_KINDS) if everywhere else rng.choices(list(_KINDS), list(_KINDS.values()))[0]
    project = project_of(number // SESSION)
    files = tuple(_path(take, rng) for _ in range(rng.randint(1, 3)))
    symbols = tuple(SymbolChange(rng.choice(files), _name(take, rng), "modified") for _ in range(rng.randint(0, 3)))
    at = moment_of(number, size)
    return Memory(
        id=short_id(str(number)),
        kind=kind,
        title=" ".join(take(rng.randint(5, 10))).capitalize(),
        summary=" ".join(_sentence(take, rng.randint(6, 15)) for _ in range(rng.randint(1, 3))),
        created_at=at,
        last_seen_at=at,
        scope="universal" if everywhere else f"project:{project}",
        project=project,
        detail="\n".join(_sentence(take, rng.randint(5, 12)) for _ in range(3)) if rng.random() < 0.2 else "",
        facts=tuple(" ".join(take(rng.randint(3, 12))) for _ in range(rng.choice(_FACTS))),
        files=files,
        symbols=symbols,
        session=session_id(number),
        branch="main",
        origin="user" if everywhere else "assistant",
    )


def _turn(number: int, size: int, take: Take, rng: random.Random) -> SyntheticTurn:
    return SyntheticTurn(
        key=f"turn-{number}",
        session=session_id(number),
        project=project_of(number // SESSION),
        asked=_sentence(take, rng.randint(4, 40)),
        answered=" ".join(_sentence(take, rng.randint(6, 16)) for _ in range(rng.randint(2, 12))),
        at=moment_of(number, size),
    )


def _taking(row: list[str]) -> Take:
    words = iter(row)
    return lambda number: list(islice(words, number))


def _sentence(take: Take, number: int) -> str:
    return " ".join(take(number)).capitalize() + "."


def _path(take: Take, rng: random.Random) -> str:
    folder, *name = take(rng.randint(2, 3))
    return f"{rng.choice(_FOLDERS)}/{folder}/{'_'.join(name)}.{rng.choice(_ENDINGS)}"


def _name(take: Take, rng: random.Random) -> str:
    parts = take(rng.randint(2, 3))
    return "_".join(parts) if rng.random() < 0.5 else "".join(map(str.capitalize, parts))


def _vocabulary() -> list[str]:
    pieces = (DATA / "pieces.txt").read_text(encoding="utf-8").split("\n")
    plain = [piece for piece in pieces if piece.isascii() and piece.isalpha() and piece.islower() and len(piece) > 1]
    endings = [piece[2:] for piece in pieces if piece.startswith("##") and piece[2:].isascii() and piece[2:].isalpha()]
    head = [word for pair in zip(_FUNCTION_WORDS, _WORK_WORDS, strict=True) for word in pair]
    words = dict.fromkeys((*head, *plain))
    rng = random.Random(SEED)
    while len(words) < VOCABULARY:
        words[rng.choice(plain) + rng.choice(endings)] = None
    return list(words)[:VOCABULARY]


def _zipf(number: int) -> NDArray[np.float64]:
    weights = 1.0 / np.arange(1, number + 1)
    sums: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    return sums
