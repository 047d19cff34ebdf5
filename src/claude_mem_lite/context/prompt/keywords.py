"""Prompt -> keywords for search: names and paths whole and split, without small talk.

Synonyms come from the package and from the user's `<home>/synonyms.toml`."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from claude_mem_lite.config_loader import read_synonyms
from claude_mem_lite.models import MAX_PROMPT_LENGTH, Memory
from claude_mem_lite.safety.own_blocks import without_own_blocks
from claude_mem_lite.text import query_words, stems
from claude_mem_lite.values import frozen

MAX_TERMS = 10
_MAX_MATCHED = 48
# Each word takes a query, and a hook waits.
_MAX_ASKED = 16
_ENOUGH = 4
# Limit for the explanation of a pasted page; a memory never shares more.
_MAX_NAMED = _MAX_MATCHED
_MAX_READ = 6_000
# Written by the client, not by the user.
_NOT_TYPED = re.compile(
    r"\s*(?:<(?:task-notification|teammate-message|local-command|command-|bash-|system-reminder)|/[\w:-]+\s*$)"
)
# Words of any conversation.
SMALL_TALK = frozenset(
    """again ahead alright amazing anyway awesome bitte bonjour brilliant bye cheers continue cool correct danke done
    exactly excellent fine gerne go good gracias great grazie guten hallo happy hello hey hi hola hurra ja keep lgtm
    maybe merci morning nein next nice nope ok okay ola oui perfect proceed question ready right sehr si sorry sounds
    stop super sure tag thank thanks thx tomorrow try undo wait weiter well wonderful wow yeah yep yes""".split()  # noqa: SIM905
)
# Words of most prompts about code: they count, but little.
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
_TOKEN = re.compile(r"[\w./-]+")
_NAME = re.compile(r"[A-Za-z_][\w./-]*(?:[a-z][A-Z]|[\w]_[\w]|\w/\w|\w\.\w)[\w./-]*")
# Number of an issue, or a version; other numbers are too common.
_REFERENCE = re.compile(r"(?<![\w#])#\d+\b|(?<![\w.])v?\d+(?:\.\d+)+(?![\w.]*\w)")
_PATH = re.compile(r"[\w.@~/-]+")
_ENDING = re.compile(r"\w\.\w[^/]*$")
_OF_COMMON, _OF_WORD, _OF_NAME = 0.3, 1.0, 1.5
_DIGITS = 3
_MAX_NAME_LENGTH = 200
"""Length of a name; a longer token is a key or a picture in base64, whose search took half a second."""
_GOALS = re.compile(r"(?i)\b(?:goals?|milestones?|missions?|objectives?|roadmap|ziele?|meilensteine?)\b")
Synonyms = Mapping[str, tuple[str, ...]]
_DEFAULTS = Path(__file__).with_name("synonyms.toml")


@frozen
class Keywords:
    """Keywords of a prompt."""

    text: str
    """Prompt without text that was not typed."""
    words: tuple[str, ...]
    """All words for search, in order."""
    terms: tuple[str, ...]
    """Most specific words, names first."""
    synonyms: Mapping[str, tuple[str, ...]]
    """Synonyms of terms."""
    names: frozenset[str]

    @property
    def asked(self) -> list[str]:
        """Return the words for the index: with synonyms, and with common words only if there are few others."""
        specific = [word for word in self.words if word not in COMMON]
        words = specific if len(specific) >= _ENOUGH else self.words
        also = (word for term in self.terms for word in self.synonyms.get(term, ()))
        return list(dict.fromkeys((*words[:_MAX_ASKED], *also)))[:_MAX_ASKED]

    @property
    def strength(self) -> float:
        """Return the strength of all words."""
        return self.strength_in(self.words)

    def as_question(self) -> "Keywords":
        """Return the keywords with issue numbers and versions as words."""
        return replace(self, words=tuple(dict.fromkeys((*self.words, *_REFERENCE.findall(self.text)))))

    @property
    def speaks_of_goals(self) -> bool:
        return _GOALS.search(self.text) is not None

    @property
    def named_files(self) -> frozenset[str]:
        """Return possible names and paths of files, in lower case."""
        paths = (_plain_path(path) for path in _PATH.findall(self.text.lower()))
        return frozenset(path for path in paths if _ENDING.search(path))

    def found_in(self, memory: Memory) -> list[str]:
        """Return the words that a memory contains, also as synonyms."""
        return self.words_in(_text_of(memory))

    def words_in(self, text: str) -> list[str]:
        """Return the words that a text contains, also as synonyms."""
        text_stems = stems(text).keys()
        return [word for word in self.words[:_MAX_MATCHED] if not text_stems.isdisjoint(self._stems_of(word))]

    def strength_in(self, found: Sequence[str]) -> float:
        """Return the strength of found words."""
        return round(sum(map(self._strength_of, found)), _DIGITS)

    def explained(self, found: Sequence[str]) -> str:
        """Return the strength of words as a sum: `2.3 = 2 × 1 (carts, refund) + 1 × 0.3 (test)`; '0' without words."""
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
    """Return the keywords of a prompt; none for small talk or text that nobody typed."""
    typed = "" if _NOT_TYPED.match(prompt) else without_own_blocks(prompt)[:MAX_PROMPT_LENGTH]
    words = [word for word in query_words(typed) if word not in SMALL_TALK and _is_specific(word)]
    tokens = (token for token in _TOKEN.findall(typed) if len(token) <= _MAX_NAME_LENGTH)
    written = [name[0].strip("./-") for token in tokens if (name := _NAME.search(token))]
    names = {word for name in written for word in query_words(name)[:1]}
    ranked = sorted(words, key=lambda word: (word in COMMON, word not in names))
    terms = tuple(ranked[:MAX_TERMS])
    term_synonyms = {term: synonyms[term] for term in terms if term in synonyms}
    return Keywords(typed, tuple(words), terms, term_synonyms, frozenset(names))


def _plain_path(path: str) -> str:
    """Return a path without the mark of a mention, `./` and punctuation; without a folder, the bare name."""
    path = path.lstrip("@").rstrip("./-")
    while path.startswith(("./", "../")):
        path = path.partition("/")[2]
    return path if "/" in path.lstrip("/") else path.strip("/.-")


def _named(words: Sequence[str]) -> str:
    more = len(words) - _MAX_NAMED
    return ", ".join(words[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _text_of(memory: Memory) -> str:
    symbols = (symbol.name for symbol in memory.symbols)
    parts = (memory.title, memory.summary, *memory.facts, *memory.files, *symbols, *memory.tags, memory.detail)
    return "\n".join(parts)[:_MAX_READ]


def _is_specific(word: str) -> bool:
    """Return whether a word is specific: numbers and single letters are too common."""
    return not word.isascii() or (len(word) > 1 and not word.isdigit())


@lru_cache(maxsize=512)  # several memories are searched for the words of one prompt
def _stems(words: tuple[str, ...]) -> Collection[str]:
    return stems(" ".join(words)) or words[:1]


def load(path: Path) -> Synonyms:
    """Return the synonyms in force; raise ConfigError if the user's file cannot be read."""
    return {**defaults(), **read_synonyms(path)}


@cache
def defaults() -> Synonyms:
    """Return the synonyms of the package."""
    return read_synonyms(_DEFAULTS)
