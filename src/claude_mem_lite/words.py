"""Text -> words: what is searched by, what two texts share, and text cut between words to fit."""

import re

_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*", re.UNICODE)
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_LONG_WORD = re.compile(r"\w{3,}")
STOPWORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could did do does
    doing done for from get had has have he her here his how i if in into is it its just let like make me my no
    not now of off on one only or other our out over please should so some such than that the their them then
    there these they this those to too up us use very want was we were what when where which while who why will
    with would you your""".split()  # noqa: SIM905
)


def index_text(text: str) -> str:
    """The text followed by the parts of its identifiers, so that `getUserById` is found by `user`."""
    parts = [part for word in _WORD.findall(text) for part in _split(word)]
    return f"{text}\n{' '.join(parts)}" if parts else text


def query_words(text: str) -> list[str]:
    """The words of a question worth looking for, identifiers whole and split, each once, in order."""
    found: dict[str, None] = {}
    for word in _WORD.findall(text):
        for candidate in (*word.lower().split("_"), *_split(word)):
            found[candidate.lower()] = None
    words = [word for word in found if word not in STOPWORDS]
    return words or list(found)


def overlap(text: str, other: str) -> float:
    """How many of the telling words of a text the other has too, from 0 to 1; 0 when it has none."""
    ours, theirs = _telling(text), _telling(other)
    return len(ours & theirs) / len(ours) if ours else 0.0


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


def _telling(text: str) -> set[str]:
    words = set(_LONG_WORD.findall(text.lower()))
    return words - STOPWORDS or words


def _split(word: str) -> list[str]:
    """The humps of a compound identifier; nothing for a plain word."""
    parts = [part.lower() for chunk in word.split("_") for part in _HUMP.findall(chunk)]
    return parts if len(parts) > 1 else []
