"""Repeated texts: a headline, a prompt, a title and a summary often say the same. The page shows such a text once."""

import re
from itertools import islice
from typing import Protocol

from claude_mem_lite.models import without_request

_WORD = re.compile(r"\w+")
# A prompt of which a memory quotes less than this has more to say than the memory.
_MIN_SHARE = 0.6
_MAX_TITLE = 160
_MIN_STEM, _MAX_ENDING = 3, 3
_FIRST_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|$)", re.MULTILINE)
# No title, headline or quoted prompt is longer.
_MAX_COMPARED = 4_000
_SENTENCE_END = re.compile(r"[)\]\"'`”’*]*(?:[.!?:;](?=\s)|\s*\n|\s+[—–-](?=\s))")


class Summarized(Protocol):
    """Memory or hit with a title and a summary."""

    @property
    def title(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def made_by(self) -> str: ...


def repeats(said: str, other: str) -> bool:
    """Return whether a text is the other text or a part of the other, word for word."""
    ours, theirs = _words(said), _words(other)
    return f" {ours} " in f" {theirs} "


def is_same(said: str, other: str) -> bool:
    """Return whether two texts say the same, up to a few more words and other endings."""
    shorter, longer = sorted((said, other), key=len)
    is_most = len(_words(shorter)) >= _MIN_SHARE * len(_words(longer)) > 0
    return is_most and (repeats(shorter, longer) or _tells(longer, shorter))


def joined(title: str, summary: str) -> tuple[str, str]:
    """Return a title, and the text that the summary adds. A short sentence of the summary that repeats the title
    replaces the title, because the sentence says at least as much."""
    more = beyond(title, summary)
    first = _FIRST_SENTENCE.match(summary)
    if not more or first is None or len(first[0]) > _MAX_TITLE or not _tells(first[0], title):
        return title, more
    return first[0].rstrip(" ."), summary[first.end() :].lstrip()


def beyond(title: str, summary: str) -> str:
    """Return the text that a summary adds to the title: all, or the rest if the summary begins with the title.

    A rest that begins in the middle of a sentence is marked.
    """
    if not summary or repeats(summary, title) or _tells(title, summary):
        return ""
    if not _begins(title, summary):
        return summary
    *_, last = islice(_WORD.finditer(summary), len(_WORD.findall(title)))
    rest = summary[last.end() :]
    ended = _SENTENCE_END.match(rest)
    return rest[ended.end() :].lstrip() if ended else f"…{rest.lstrip()}"


def title_and_more(memory: Summarized, *, has_prompt: bool = False) -> tuple[str, str]:
    """Return the title of a memory as shown, and the text that the summary adds to the title.

    The request is left out where the page shows the prompt; a title that the user wrote stays as it is."""
    summary = without_request(memory.summary) if has_prompt else memory.summary
    if memory.made_by == "user":
        return memory.title, beyond(memory.title, summary)
    return joined(memory.title, summary)


def _tells(sentence: str, title: str) -> bool:
    """Return whether a sentence has all words of a title in order, perhaps with other endings: `Add` and `Added`."""
    following, words = iter(_words(sentence).split()), _words(title).split()
    return bool(words) and all(any(_is_kin(word, other) for other in following) for word in words)


def _is_kin(word: str, other: str) -> bool:
    shared = max(_MIN_STEM, min(len(word), len(other)) - _MAX_ENDING)
    return word == other or (word[:shared] == other[:shared] and min(len(word), len(other)) >= _MIN_STEM)


def _begins(title: str, summary: str) -> bool:
    return bool(title) and f"{_words(summary)} ".startswith(f"{_words(title)} ")


def _words(said: str) -> str:
    return " ".join(_WORD.findall(said[:_MAX_COMPARED].casefold()))
