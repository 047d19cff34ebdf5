"""A prompt -> the sentences that the user says in it: without code, logs, quotations, documents and what clients add.

Called with whatever was typed or pasted; what is read of it is bounded, so a prompt of a megabyte takes a moment."""

import re
from collections.abc import Iterable, Iterator, Sequence

from claude_mem_lite.agents.injected_markup import (
    INJECTED_TAGS,
    INTERRUPTED,
    NOT_TYPED,
    NOTIFICATION,
    OWN_COMMAND,
    without_tags,
)
from claude_mem_lite.compress.prose.clean import clean, clip
from claude_mem_lite.compress.prose.markdown import passages, sentences
from claude_mem_lite.compress.prose.user_voice import MAX_FIRST_LENGTH, asks_to_remember, hands_over, own_words
from claude_mem_lite.hook.private import MARK
from claude_mem_lite.lazy_regex import lazy

_LONGEST_CLEANED = 1_000_000
_LONGEST_READ = 20_000
LONGEST_SENTENCE = 400
"""What is longer was pasted, or tells a story: nobody gives a rule in a hundred words."""
# What nobody teaches by, beside all that clients write in the user's place.
_NOT_TYPED = (
    *NOT_TYPED, OWN_COMMAND, NOTIFICATION, INTERRUPTED,
    "Operation stopped by hook", "Stop hook feedback", "Implement the following plan",
)  # fmt: skip
_NOT_SAID = (
    *INJECTED_TAGS, "command-message", "command-name", "pasted_text", "files", "file", "documents", "document",
)  # fmt: skip
_COMMAND = lazy(r"/[\w:.-]{1,60}(?:\s|$)")
# Nobody teaches by an address; a page that is pasted may well want something sent to one.
_URL = lazy(r"(?i)\b(?:https?|ftp|wss?)://|\bwww\.")
# What stands for a private span: a word of nobody, where no sentence needs it.
_PRIVATE_LINE = lazy(rf"(?m)^[ \t]*{re.escape(MARK)}[ \t.]*$")
_PRIVATE_LAST = lazy(rf"(?<=[.!?。！？])\s*{re.escape(MARK)}[\s.]*$")
_LONGEST_BRIEF = 300
_LAST_WORD = lazy(r"(?i)(?:always|ever|never|period|full stop|no exceptions?|every (?:single )?time|please)[.!]*")


def spoken(prompt: str, max_first_length: int = MAX_FIRST_LENGTH) -> list[str]:
    """Return the sentences of a prompt that its user says, in order; none of a first paragraph that is too long."""
    text = _typed(prompt)
    return [
        sentence
        for at, sentence in enumerate(_said(own_words(text, max_first_length)))
        if len(sentence) <= LONGEST_SENTENCE and (not _URL.search(sentence) or (at == 0 and asks_to_remember(text)))
    ]


def is_brief(prompt: str) -> bool:
    """Whether a prompt is so short that all of it is the user's voice: only then can it speak for every project."""
    return len(_typed(prompt)) <= _LONGEST_BRIEF


def _typed(prompt: str) -> str:
    """What may have been typed of a prompt; of what clients write in the user's place nothing."""
    text = prompt.lstrip()
    if text.startswith(_NOT_TYPED):
        return ""
    text = without_tags(clip(clean(clip(text, _LONGEST_CLEANED)), _LONGEST_READ), _NOT_SAID).lstrip()
    text = _PRIVATE_LINE.sub("", text)
    if command := _COMMAND.match(text):
        text = text[command.end() :]
    return text.strip()


def _said(blocks: Iterable[str]) -> Iterator[str]:
    for block in blocks:
        for passage in passages(block):
            if passage.kind not in ("text", "item"):
                continue
            # Who says "use `pnpm`" means what "use pnpm" does, and is told by the same title.
            told = _PRIVATE_LAST.sub("", passage.text.replace("`", ""))
            for sentence in _with_last_words(sentences(told)):
                if hands_over(sentence[:LONGEST_SENTENCE]):
                    return
                yield sentence


def _with_last_words(found: Sequence[str]) -> list[str]:
    """The sentences, with the word that is thrown after one: "no emojis. ever"."""
    joined: list[str] = []
    for sentence in found:
        if joined and _LAST_WORD.fullmatch(sentence):
            joined[-1] = f"{joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined
