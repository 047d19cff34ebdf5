"""Text to words: index words, query words, overlap of two texts, cuts between words; counts and ages for people.

The end of the module makes foreign text harmless for a model: one line, no tags, no invisible characters."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence, Set
from datetime import datetime
from functools import lru_cache

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import MAX_TITLE_LENGTH

# Han, kana and Hangul have no spaces, or endings on every word.
_CJK = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318e\u31a0-\u31ff"
_CJK += "\u1100-\u11ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\U0001b000-\U0001b16f"
_CJK += "\U00020000-\U0003ffff"
_CJK_RUN = lazy(f"[{_CJK}]+")
_WORD = lazy(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:(?:_+|[-\u2010])[^\W_{_CJK}]+)*")
# The same without the ranges, which take 4 ms to compile: the start of a session waits for it.
_ASCII_WORD = lazy(r"[^\W_]+(?:(?:_+|-)[^\W_]+)*")
_BETWEEN = lazy("[_\u2010-]+")
_HUMP = lazy(r"[A-Z]+(?=[A-Z][^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_HEX = lazy(r"(?=[a-f]*\d)[0-9a-f]{7,}")
_LONG_WORD = lazy(r"\w{3,}")
_SUFFIX = lazy(r"(?:ations?|ings?|ments?|ers?|ed|es|ies|ly|s|y|e|ion|ions)$")
# "dropped" belongs to "drop".
_DOUBLED = lazy(r"([bdgmnprt])\1(?:ed|ings?|ers?)$")
_KANA_MARKS = "\u3099\u309a"
_MAX_JOINED = 6
_MAX_WORD_LENGTH = 64
_MIN_BEGINNING_LENGTH = 4
STOPWORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could did do does
    doing done for from get had has have he her here his how i if in into is it its just let like make me my no
    not now of off on one only or other our out over please should so some such than that the their them then
    there these they this those to too up us use very want was we were what when where which while who why will
    with would you your""".split()  # noqa: SIM905
)
# Only words that no program has as its name: `die`, `der`, `das`, `des`, `mit` and `im` have other meanings too.
_GERMAN_STOPWORDS = frozenset(
    """aber auch auf beim dass dem ein eine einem einen einer eines fur haben ich ihr ist kann konnen nach nicht noch
    oder sich sie sind und von warum wenn wer werden wie wir wird wurde wurden zu zum zur""".split()  # noqa: SIM905
)
DENIALS = frozenset(
    """not no never nor don't dont doesn't isn't aren't won't can't cannot mustn't shouldn't without avoid stop
    nicht kein keine keinen nie""".split()  # noqa: SIM905
)
WORD = lazy(r"[\w+#][\w.+#/@'’-]*[\w+#]|\w")


def index_text(text: str) -> str:
    """Return the index words of a text: identifiers whole, joined and split; Chinese in pairs.

    `user` and `get-user-by-id` find `getUserById`; each character and each pair of a run of three characters finds the
    run."""
    tokens: list[str] = []
    for word in _written_words(_plain(text)):
        if word.isascii() and word.isalpha() and word.islower():
            tokens.append(word[:_MAX_WORD_LENGTH])  # most words are plain, and splitting takes twice the time
        else:
            tokens.extend(_pairs(word) if _is_cjk(word) else _named(word))
    return " ".join(tokens)


def query_words(text: str) -> list[str]:
    """Return the query words of a question, identifiers whole and split, each once, in order.

    A single Chinese, Japanese or Korean character is a prefix: see `is_beginning`."""
    unique: dict[str, None] = {}
    for word in _written_words(_plain(text)):
        # The last character starts a pair only at the end of a run; a query for it would match every pair with this
        # start.
        parts = _pairs(word)[: max(len(word) - 1, 1)] if _is_cjk(word) else _named(word)
        unique.update(dict.fromkeys(parts))
    words = [word for word in unique if word not in STOPWORDS and word not in _GERMAN_STOPWORDS]
    # A single character starts very many words: used only if the query has nothing else.
    words = [word for word in words if not is_beginning(word)] or words
    return words or list(unique)


def is_beginning(word: str) -> bool:
    """Return whether a query word is a prefix: Chinese, Japanese and Korean characters are indexed in pairs."""
    return len(word) == 1 and _is_cjk(word)


def matched_words(words: Sequence[str], text: str) -> list[str]:
    """Return the query words that match a text as the index does: by stem or as a prefix."""
    return words_among(words, tokens_of(text))


def tokens_of(text: str) -> frozenset[str]:
    """Return the index words of a text as a set."""
    return frozenset(index_text(text).split())


def words_among(words: Sequence[str], tokens: Collection[str]) -> list[str]:
    """Return the query words that match index words of a text."""
    return [word for word in words if word in tokens or any(_is_kin(word, token) for token in tokens)]


def overlap(text: str, other: str) -> float:
    """Return the share of the significant words of a text that the other text has too; 0 without significant words."""
    return share(_telling(text), _telling(other))


def share(words: Collection[str], others: Collection[str]) -> float:
    """Return the share of distinct words that a second collection has too, from 0 to 1; 0 for no words."""
    distinct = frozenset(words)
    return len(distinct.intersection(others)) / len(distinct) if distinct else 0.0


def share_of_both(words: Set[str], others: Set[str]) -> float:
    """Return the share of all words of two sets that both have (Jaccard index); 1 for two empty sets."""
    union = words | others
    return len(words & others) / len(union) if union else 1.0


def stems(text: str) -> dict[str, str]:
    """Return the stems of a text, each with one of its words; stopwords are left out."""
    words = (word for word in index_text(text).split() if word not in STOPWORDS and word not in _GERMAN_STOPWORDS)
    return {_stem(word): word for word in words}


def one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def within(text: str, limit: int) -> str:
    """Return at most `limit` characters, cut between words, with an ellipsis if cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:.-") + "…"


def counted(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun, as in `1 turn` and `2 turns`; `several` is an irregular plural."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def time_ago(then: datetime, now: datetime) -> str:
    """Return the age of a time in the largest unit that fits; a future time is just now."""
    seconds = int((now - then).total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{counted(seconds // length, unit)} ago"
    return "just now"


def _written_words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def _is_cjk(word: str) -> bool:
    """Return whether a word is written in Chinese, Japanese or Korean."""
    return not word.isascii() and _CJK_RUN.match(word) is not None


def _plain(text: str) -> str:
    """Return normalised text: without full-width forms, ligatures and accents, but with upper case.

    Joiners, soft hyphens and vowel signs are dropped with the accents."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    return unicodedata.normalize("NFC", "".join(char for char in apart if not _is_mark(char)))


def _is_mark(char: str) -> bool:
    if char.isascii() or char in _KANA_MARKS:
        return False
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf") and char != "\u200b"


def _pairs(run: str) -> list[str]:
    """Return each character with the next character; the last character alone."""
    return [run[at : at + 2] for at in range(len(run))]


def _named(word: str) -> Iterator[str]:
    """Yield a word, or an identifier joined and split by separators and humps."""
    chunks = _BETWEEN.split(word)
    if 1 < len(chunks) <= _MAX_JOINED:
        yield _fold("".join(chunks))
    for chunk in chunks:
        yield _fold(chunk)
        humps = [] if _HEX.fullmatch(chunk) else _HUMP.findall(chunk)
        if len(humps) > 1:
            yield from map(_fold, humps)


def _fold(word: str) -> str:
    return word[:_MAX_WORD_LENGTH].casefold()[:_MAX_WORD_LENGTH]


def _is_kin(word: str, token: str) -> bool:
    """Return whether query word and index word share a stem, or the query word is a prefix."""
    if word[0] != token[0]:
        return False
    if len(word) >= _MIN_BEGINNING_LENGTH or is_beginning(word):
        return token.startswith(word) or _stem(word) == _stem(token)
    return False


@lru_cache(maxsize=8_192)
def _stem(word: str) -> str:
    shorter = _SUFFIX.sub("", _DOUBLED.sub(r"\1", word))
    return shorter if len(shorter) >= _MIN_BEGINNING_LENGTH else word


def _telling(text: str) -> set[str]:
    words = set(_LONG_WORD.findall(text.lower()))
    return words - STOPWORDS or words


_TAG = lazy(r"<(?=[/!?a-z])(?:([^<>\n]{0,200})>)?", re.I)
# Control, format and private characters, surrogates, variants and fillers: invisible to people, not to a model. White
# space is not included.
_UNSEEN = lazy(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# Three hyphens look like the frame of a block.
_RULE = lazy("-{3,}")


def without_tags(text: str) -> str:
    """Return text in which no tag opens or closes a block: each tag keeps its words, in other brackets."""
    return _TAG.sub(lambda tag: "‹" if tag[1] is None else f"‹{tag[1]}›", text)


def harmless(text: str) -> str:
    """Return text on one line, without invisible characters and tags."""
    return without_tags(one_line(_UNSEEN.sub("", text)))


def unframed(text: str) -> str:
    """Return text without the frame of a block."""
    return _RULE.sub("–", text)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a sentence in order; names and versions stay whole."""
    return _words_of_title(text) if len(text) <= MAX_TITLE_LENGTH else _split(text)


@lru_cache(maxsize=2_048)  # new memories are compared with the same titles several times each
def _words_of_title(title: str) -> tuple[str, ...]:
    return _split(title)


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.lower().replace("’", "'").rstrip(".") for word in WORD.findall(text))


def denials(text: str) -> list[str]:
    """Return the denying words of a text in alphabetical order."""
    return sorted(word for word in words_of(text) if word in DENIALS)


def denies(text: str) -> bool:
    """Return whether a text denies or forbids something."""
    return not DENIALS.isdisjoint(words_of(text))
