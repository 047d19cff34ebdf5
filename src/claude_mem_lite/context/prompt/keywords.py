"""A prompt -> the words it can be answered by: names and paths whole and split, nothing that any prompt could say.

What stands for what in a prompt: the list of the package, joined with the user's own `<home>/synonyms.toml`."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from claude_mem_lite.compress.prose.clean import without_own_blocks
from claude_mem_lite.config_loader import read_synonyms
from claude_mem_lite.models import MAX_PROMPT_LENGTH, Memory
from claude_mem_lite.text import query_words, stems

MAX_TERMS = 10
_MAX_MATCHED = 48
# Each has to be counted, and somebody waits.
_MAX_ASKED = 16
_ENOUGH = 4
# In the explanation of a pasted page; what a memory can share is never more.
_MAX_NAMED = _MAX_MATCHED
_LOOKED_THROUGH = 6_000
# Written by the client in the user's name.
_NOT_TYPED = re.compile(r"\s*(?:<(?:task-notification|local-command|command-|bash-|system-reminder)|/[\w:-]+\s*$)")
# What keeps a talk going, and can be said of any work.
SMALL_TALK = frozenset(
    """again ahead alright amazing anyway awesome bitte bonjour brilliant bye cheers continue cool correct danke done
    exactly excellent fine gerne go good gracias great grazie guten hallo happy hello hey hi hola hurra ja keep lgtm
    maybe merci morning nein next nice nope ok okay ola oui perfect proceed question ready right sehr si sorry sounds
    stop super sure tag thank thanks thx tomorrow try undo wait weiter well wonderful wow yeah yep yes""".split()  # noqa: SIM905
)
# What most prompts about code say: it counts, but little.
COMMON = frozenset(
    """able add agree agreed app apply branch branches bug bugs build change changed changes check choose chose
    chosen class claude code command comment comments commit config conflict could create current decide decided
    decision default delete description different docs error errors example existing exit fail failed failing
    fails feature file files find first fix folder function functions git help implement implementation improve
    input instead integration issue issues last latest line lines list local look main merge merged message
    messages method missing move name need new old open output page part path pick picked plan please possible
    pr print problem project prompt pull push question read readme refactor remove repo request result results
    review run running save second see set setup show simple something start step still string summary sure task
    tell test tests text thing things think time two type understand unit update user using value version way
    work working works write wrong""".split()  # noqa: SIM905
)
_NAME = re.compile(r"[A-Za-z_][\w./-]*(?:[a-z][A-Z]|[\w]_[\w]|\w/\w|\w\.\w)[\w./-]*")
# The number of an issue, or a version: other numbers stand everywhere.
_REFERENCE = re.compile(r"(?<![\w#])#\d+\b|(?<![\w.])v?\d+(?:\.\d+)+(?![\w.]*\w)")
_FILE_NAME = re.compile(r"[\w.-]*\w\.\w[\w.-]*")
_OF_COMMON, _OF_WORD, _OF_NAME = 0.3, 1.0, 1.5
_DIGITS = 3
_GOALS = re.compile(r"(?i)\b(?:goals?|milestones?|missions?|objectives?|roadmap|ziele?|meilensteine?)\b")


@dataclass(frozen=True, slots=True)
class Keywords:
    """What a prompt speaks of."""

    text: str
    """The prompt without what was not typed."""
    words: tuple[str, ...]
    """All words worth looking for, in order."""
    terms: tuple[str, ...]
    """The most telling of them, names first."""
    synonyms: Mapping[str, tuple[str, ...]]
    """What else stands for a term."""
    names: frozenset[str]

    @property
    def asked(self) -> list[str]:
        """What the word index is asked for: the synonyms too, and words of any work only where there is little else."""
        telling = [word for word in self.words if word not in COMMON]
        words = telling if len(telling) >= _ENOUGH else self.words
        also = (word for term in self.terms for word in self.synonyms.get(term, ()))
        return list(dict.fromkeys((*words[:_MAX_ASKED], *also)))[:_MAX_ASKED]

    @property
    def strength(self) -> float:
        """How much there is to go by."""
        return self.strength_in(self.words)

    def as_question(self) -> "Keywords":
        """Return the same with the issues and versions that it names among its words: they tell what is asked about."""
        return replace(self, words=tuple(dict.fromkeys((*self.words, *_REFERENCE.findall(self.text)))))

    @property
    def speaks_of_goals(self) -> bool:
        return _GOALS.search(self.text) is not None

    @property
    def file_names(self) -> frozenset[str]:
        """What could be the name of a file, in lower case."""
        return frozenset(name.strip(".-") for name in _FILE_NAME.findall(self.text.lower()))

    def found_in(self, memory: Memory) -> list[str]:
        """The words that a memory has, itself or as a synonym."""
        return self.words_in(_text_of(memory))

    def words_in(self, text: str) -> list[str]:
        """The same of a text."""
        there = stems(text).keys()
        return [word for word in self.words[:_MAX_MATCHED] if not there.isdisjoint(self._stems_of(word))]

    def strength_in(self, found: Sequence[str]) -> float:
        """How much the words that were found say."""
        return round(sum(map(self._strength_of, found)), _DIGITS)

    def explained(self, found: Sequence[str]) -> str:
        """Return what words count as a sum: `2.3 = 2 × 1 (carts, refund) + 1 × 0.3 (test)`; '0' of none."""
        groups: dict[float, list[str]] = {}
        for word in found:
            groups.setdefault(self._strength_of(word), []).append(word)
        terms = [
            f"{len(words)} × {strength:g} ({_named(words)})" for strength, words in sorted(groups.items(), reverse=True)
        ]
        return f"{self.strength_in(found):g}" + (f" = {' + '.join(terms)}" if terms else "")

    def _stems_of(self, word: str) -> Collection[str]:
        return _stems((word, *self.synonyms.get(word, ())))

    def _strength_of(self, word: str) -> float:
        if word in COMMON:
            return _OF_COMMON
        return _OF_NAME if word in self.names else _OF_WORD


def read(prompt: str, synonyms: Mapping[str, tuple[str, ...]]) -> Keywords:
    """The keywords of a prompt; none when it is small talk, or nobody typed it."""
    typed = "" if _NOT_TYPED.match(prompt) else without_own_blocks(prompt)[:MAX_PROMPT_LENGTH]
    words = [word for word in query_words(typed) if word not in SMALL_TALK and _can_tell(word)]
    written = [name.strip("./-") for name in _NAME.findall(typed)]
    names = {word for name in written for word in query_words(name)[:1]}
    ranked = sorted(words, key=lambda word: (word in COMMON, word not in names))
    terms = tuple(ranked[:MAX_TERMS])
    known = {term: synonyms[term] for term in terms if term in synonyms}
    return Keywords(typed, tuple(words), terms, known, frozenset(names))


def _named(words: Sequence[str]) -> str:
    more = len(words) - _MAX_NAMED
    return ", ".join(words[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _text_of(memory: Memory) -> str:
    symbols = (symbol.name for symbol in memory.symbols)
    told = (memory.title, memory.summary, *memory.facts, *memory.files, *symbols, *memory.tags, memory.detail)
    return "\n".join(told)[:_LOOKED_THROUGH]


def _can_tell(word: str) -> bool:
    """Numbers and single letters stand everywhere."""
    return not word.isascii() or (len(word) > 1 and not word.isdigit())


@lru_cache(maxsize=512)  # the words of one prompt are looked for in several memories
def _stems(words: tuple[str, ...]) -> Collection[str]:
    return stems(" ".join(words)) or words[:1]


Synonyms = Mapping[str, tuple[str, ...]]
_DEFAULTS = Path(__file__).with_name("synonyms.toml")


def load(path: Path) -> Synonyms:
    """The synonyms in force; ConfigError when the user's file cannot be read."""
    return {**defaults(), **read_synonyms(path)}


@cache
def defaults() -> Synonyms:
    """Those that come with the package."""
    return read_synonyms(_DEFAULTS)
