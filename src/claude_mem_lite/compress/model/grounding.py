"""Grounds of a model's words: the message that it was sent must have them, and they must say more than its request.

Small models invent names and open ends, copy the request, and tell again what stands among the titles so far."""

import re

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import overlap

_SAME, _MOST = 0.9, 0.5
_MAX_REQUEST = 300
"""A longer request is a plan or a report: its sentences may well be those of the memory."""
_MIN_SHARED, _COPIED = 0.6, 0.75
_REQUEST = lazy(r"^(?:Asked:\n|Goal of the session: )(.+)$", re.M)
_TITLES = lazy(r"^Titles so far:\n((?:- .+\n?)+)", re.M)
_CLOSING = lazy(r"^(?:Said at the end:\n(.+)|- still on the to-do list: ([^\n]+))", re.M | re.S)
# Paths, file names, snake_case, camelCase and calls: nobody writes them by chance.
_NAME = lazy(r"\w+\(\)|[\w-]+(?:[/\\][\w.-]+)+|\w+\.[a-z]\w{0,4}\b|\w+_\w+|[a-z]+[A-Z]\w+")
_NUMBER = lazy(r"\d[\d.,]*")
_WORK = lazy(r"^(?:Edited|Ran|Committed):$", re.M)


def is_exact(text: str, sent: str) -> bool:
    """Return whether a message has all the names of a text."""
    known = sent.lower()
    return all(name.rstrip("().").lower() in known for name in _NAME.findall(text))


def is_copied(fact: str, sent: str) -> bool:
    """Return whether a message has all the names and numbers of a fact, and nearly all of its words."""
    has_numbers = all(number.rstrip(".,") in sent for number in _NUMBER.findall(fact))
    return has_numbers and is_exact(fact, sent) and overlap(fact, sent) >= _COPIED


def has_work(sent: str) -> bool:
    """Return whether a message tells of edits, commands or commits."""
    return _WORK.search(sent) is not None


def repeats_request(text: str, sent: str) -> bool:
    """Return whether a text says no more than a short request of the message."""
    asked = [request for request in _REQUEST.findall(sent[:4_000]) if len(request) <= _MAX_REQUEST]
    return any(overlap(text, request) >= _SAME and overlap(request, text) >= _MOST for request in asked)


def is_known(title: str, sent: str) -> bool:
    """Return whether a title stands among the titles so far."""
    found = _TITLES.search(sent)
    known = found[1].split("\n") if found else []
    return any(overlap(title, line) >= _SAME and overlap(line, title) >= _MOST for line in known)


def is_shared(text: str, sent: str) -> bool:
    """Return whether most of the words of a text stand in the message."""
    return overlap(text, sent) >= _MIN_SHARED


def is_left_open(step: str, sent: str) -> bool:
    """Return whether a next step stands in one sentence of the closing message, or on the to-do list."""
    found = _CLOSING.findall(sent) or [(sent, "")]
    said = [sentence for closing, tasks in found for sentence in (*sentences(closing), tasks)]
    return any(overlap(step, sentence) >= _MIN_SHARED for sentence in said)
