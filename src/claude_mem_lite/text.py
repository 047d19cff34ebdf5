"""Text -> words: what is searched by, what two texts share, and text cut between words to fit; and numbers and ages
as people say them.

Text that others wrote -> one harmless line: for whatever a model is going to read."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from functools import lru_cache

# Han, kana and Hangul are written without spaces, or with endings on every word.
_CJK = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u318e\u31a0-\u31ff"
_CJK += "\u1100-\u11ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\U0001b000-\U0001b16f"
_CJK += "\U00020000-\U0003ffff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:(?:_+|[-\u2010])[^\W_{_CJK}]+)*")
_BETWEEN = re.compile("[_\u2010-]+")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_HEX = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,}")
_LONG_WORD = re.compile(r"\w{3,}")
_SUFFIX = re.compile(r"(?:ations?|ings?|ments?|ers?|ed|es|ies|ly|s|y|e|ion|ions)$")
# "dropped" is of "drop".
_DOUBLED = re.compile(r"([bdgmnprt])\1(?:ed|ings?|ers?)$")
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
# Only what no program is called: `die`, `der`, `das`, `des`, `mit` and `im` are words of other trades too.
_GERMAN_STOPWORDS = frozenset(
    """aber auch auf beim dass dem ein eine einem einen einer eines fur haben ich ihr ist kann konnen nach nicht noch
    oder sich sie sind und von warum wenn wer werden wie wir wird wurde wurden zu zum zur""".split()  # noqa: SIM905
)


def index_text(text: str) -> str:
    """The words a text is found by, and nothing else: identifiers whole, joined and split, Chinese in pairs.

    `getUserById` is found by `user`, and by `get-user-by-id`; a run of three characters by each and by each pair."""
    tokens: list[str] = []
    for word in _WORD.findall(_plain(text)):
        if word.isascii() and word.isalpha() and word.islower():
            tokens.append(word[:_MAX_WORD_LENGTH])  # most are plain, and looking closer takes twice the time
        else:
            tokens.extend(_pairs(word) if _CJK_RUN.match(word) else _named(word))
    return " ".join(tokens)


def query_words(text: str) -> list[str]:
    """The words of a question worth looking for, identifiers whole and split, each once, in order.

    A single Chinese, Japanese or Korean character is the beginning of a word: see `is_beginning`."""
    found: dict[str, None] = {}
    for word in _WORD.findall(_plain(text)):
        # The last character begins a pair only when nothing follows it; asking for it would find any that begins so.
        asked = _pairs(word)[: max(len(word) - 1, 1)] if _CJK_RUN.match(word) else _named(word)
        found.update(dict.fromkeys(asked))
    words = [word for word in found if word not in STOPWORDS and word not in _GERMAN_STOPWORDS]
    # A character alone begins a great many words: it is asked for only when nothing else is.
    words = [word for word in words if not is_beginning(word)] or words
    return words or list(found)


def is_beginning(word: str) -> bool:
    """Whether a word of a question stands for all that begin with it: characters are indexed in pairs."""
    return len(word) == 1 and _CJK_RUN.match(word) is not None


def matched_words(words: Sequence[str], text: str) -> list[str]:
    """Which words of a question a text has, as the index would have it: by their stems, or as a beginning."""
    return words_among(words, tokens_of(text))


def tokens_of(text: str) -> frozenset[str]:
    """The words that the index has of a text."""
    return frozenset(index_text(text).split())


def words_among(words: Sequence[str], tokens: Collection[str]) -> list[str]:
    """Which words of a question are among those of a text."""
    return [word for word in words if word in tokens or any(_is_kin(word, token) for token in tokens)]


def overlap(text: str, other: str) -> float:
    """How many of the telling words of a text the other has too, from 0 to 1; 0 when it has none."""
    ours, theirs = _telling(text), _telling(other)
    return len(ours & theirs) / len(ours) if ours else 0.0


def stems(text: str) -> dict[str, str]:
    """The words of a text without their endings, each with one of the words it stands for; stopwords are left out."""
    words = (word for word in index_text(text).split() if word not in STOPWORDS and word not in _GERMAN_STOPWORDS)
    return {_stem(word): word for word in words}


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def within(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words and marked when something is missing."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:.-") + "…"


def counted(number: int, noun: str, several: str = "") -> str:
    """So many of a thing, as in `1 turn` and `2 turns`; `several` where an s is not enough."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def time_ago(moment: datetime, now: datetime) -> str:
    """How long ago a moment was, in the largest unit that fits; one to come is just now."""
    seconds = int((now - moment).total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{counted(seconds // length, unit)} ago"
    return "just now"


def _plain(text: str) -> str:
    """The text in one way of writing: full-width letters, ligatures and accents are gone, upper case is not.

    What no letter is called for is dropped with the accents: joiners, soft hyphens, vowel signs."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    return unicodedata.normalize("NFC", "".join(char for char in apart if not _is_mark(char)))


def _is_mark(char: str) -> bool:
    if char.isascii() or char in _KANA_MARKS:
        return False
    return unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf") and char != "\u200b"


def _pairs(run: str) -> list[str]:
    """Each character with the one after it; the last one alone."""
    return [run[at : at + 2] for at in range(len(run))]


def _named(word: str) -> Iterator[str]:
    """A word, or an identifier as one word, by its separators and by its humps."""
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
    """Whether a word of a question and one of a text have a stem in common, or the one is the other's beginning."""
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


_TAG = re.compile(r"<(?=[/!?a-z])(?:([^<>\n]{0,200})>)?", re.I)
# Control and format characters, private ones, halves of pairs, variants and fillers: nobody sees what is written with
# them, a model does. White space is not among them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# Three of them look like the frame of a block.
_RULE = re.compile("-{3,}")


def without_tags(text: str) -> str:
    """Text in which no tag opens or closes a block: each keeps its words, between other brackets."""
    return _TAG.sub(lambda found: "‹" if found[1] is None else f"‹{found[1]}›", text)


def harmless(text: str) -> str:
    """Text on one line, with nothing in it that is not seen, unable to open or close any block, ours included."""
    return without_tags(one_line(_UNSEEN.sub("", text)))


def unframed(text: str) -> str:
    """Text that cannot be taken for the frame of a block."""
    return _RULE.sub("–", text)
