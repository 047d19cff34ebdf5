"""Texts that say the same: a headline, a prompt, a title and a summary often do. The page shows such a text once."""

import re
from itertools import islice

from claude_mem_lite.models import JsonObject, text, without_request

_WORD = re.compile(r"\w+")
# A prompt of which a memory quotes less than this has more to say than the memory.
_MIN_SHARE = 0.6
_MAX_TITLE = 160
_MIN_STEM, _MAX_ENDING = 3, 3
_FIRST_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|$)", re.MULTILINE)
# No title, headline or quoted prompt is longer.
_MAX_COMPARED = 4_000
_SENTENCE_END = re.compile(r"[)\]\"'`”’*]*(?:[.!?:;](?=\s)|\s*\n|\s+[—–-](?=\s))")


def repeats(said: str, other: str) -> bool:
    """Whether a text says nothing that the other does not say in the same words: all of the other, or a part of it."""
    ours, theirs = _words(said), _words(other)
    return f" {ours} " in f" {theirs} "


def is_same(said: str, other: str) -> bool:
    """Whether two texts say the same, one of them perhaps with a few words more, or with other endings."""
    shorter, longer = sorted((said, other), key=len)
    is_most = len(_words(shorter)) >= _MIN_SHARE * len(_words(longer)) > 0
    return is_most and (repeats(shorter, longer) or _tells(longer, shorter))


def joined(title: str, summary: str) -> tuple[str, str]:
    """Return a title, and what its summary adds to it. A title gives way to the sentence of the summary that says the
    same, if that is short: it says at least as much."""
    more = beyond(title, summary)
    first = _FIRST_SENTENCE.match(summary)
    if not more or first is None or len(first[0]) > _MAX_TITLE or not _tells(first[0], title):
        return title, more
    return first[0].rstrip(" ."), summary[first.end() :].lstrip()


def beyond(title: str, summary: str) -> str:
    """Return what a summary adds to its title: all of it, or the rest where the title is its beginning.

    The rest is marked where it begins in the middle of a sentence."""
    if not summary or repeats(summary, title) or _tells(title, summary):
        return ""
    if not _begins(title, summary):
        return summary
    *_, last = islice(_WORD.finditer(summary), len(_WORD.findall(title)))
    rest = summary[last.end() :]
    ended = _SENTENCE_END.match(rest)
    return rest[ended.end() :].lstrip() if ended else f"…{rest.lstrip()}"


def listed(memory: JsonObject, *, has_prompt: bool = False) -> JsonObject:
    """Return a memory as it is shown: its title, and under `more` what the summary adds to the title. What was asked is
    left out where the prompt itself is in sight; a title that the user wrote stays as it is."""
    title, summary = text(memory.get("title")), text(memory.get("summary"))
    summary = without_request(summary) if has_prompt else summary
    is_users = memory.get("made_by") == "user"
    title, more = (title, beyond(title, summary)) if is_users else joined(title, summary)
    return {**memory, "title": title, "more": more}


def _tells(sentence: str, title: str) -> bool:
    """Whether a sentence has all words of a title in their order, be it with other endings: `Add` and `Added`."""
    following, words = iter(_words(sentence).split()), _words(title).split()
    return bool(words) and all(any(_is_kin(word, other) for other in following) for word in words)


def _is_kin(word: str, other: str) -> bool:
    shared = max(_MIN_STEM, min(len(word), len(other)) - _MAX_ENDING)
    return word == other or (word[:shared] == other[:shared] and min(len(word), len(other)) >= _MIN_STEM)


def _begins(title: str, summary: str) -> bool:
    return bool(title) and f"{_words(summary)} ".startswith(f"{_words(title)} ")


def _words(said: str) -> str:
    return " ".join(_WORD.findall(said[:_MAX_COMPARED].casefold()))
