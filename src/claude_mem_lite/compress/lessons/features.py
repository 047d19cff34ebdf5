"""Features of a sentence that a user says: words, meaning, cues, and its relation to the agent's message before it.

Pure; the first call loads the table of word vectors."""

import math
import re
from collections.abc import Iterator

from claude_mem_lite.compress.language.ngrams import ngrams
from claude_mem_lite.compress.language.verbs import BASES
from claude_mem_lite.embed.table import DIMENSIONS, SCALE, shared_table
from claude_mem_lite.words import overlap

VECTOR_WEIGHT = 3.0
"""Scale of the vector beside the cues, chosen over projects (recall at 15 % .54; .47 with 1, .46 without a vector)."""
_CUES = {
    name: re.compile(f"(?i){pattern}")
    for name, pattern in {
        "pushback": r"^\W*(?:no|nope|nah|hmm+|but|stop|wait|actually|why|not|wrong|sorry|don'?t"
        r"|do not|never|instead)\b",
        "wrong": r"\b(?:wrong|incorrect|(?:not|isn'?t) (?:correct|right|true|what)|should(?:n'?t| not)|overkill"
        r"|too much|unnecessary|no need|not a good|bad idea|mistake)\b",
        "why_not": r"\bwhy (?:not|don'?t|can'?t|didn'?t|do|are|aren'?t|is|isn'?t|did|would|add|only)\b|\bcan'?t we\b"
        r"|\bisn'?t (?:it|that|this|there)\b|\bshouldn'?t (?:we|it|this|that)\b",
        "stance": r"\bi(?:'?d (?:like|prefer|rather|say)| (?:prefer|want|would (?:like|say|prefer)|like|feel|wanted"
        r"|meant|need|don'?t (?:like|want|think|see)|think (?:we|it|that|this))|'m not (?:sure|a fan))\b|\bmy point\b",
        "think": r"\bi (?:think|thought|feel|believe|guess|wonder|noticed|see|realized|observed)\b|\bwondering\b",
        "we_should": r"\bwe (?:should|shouldn'?t|must|need|want|have to|don'?t want|can'?t|cannot|could|can|will"
        r"|won'?t)\b",
        "we_do": r"\bwe (?:do|don'?t|used?|never|always|only|just|have|are|aren'?t|were|keep|add|added|also|already"
        r"|still|had|decided)\b",
        "ours": r"\b(?:our|us|we)\b",
        "reason": r"\b(?:because|since|so that|otherwise|that'?s why|in order to|the (?:reason|idea|point|goal)|is to"
        r"|so (?:we|you|it|they|users|other)|as (?:it|we|this|that|they)|which means|due to)\b",
        "scope": r"\b(?:everywhere|wherever|always|never|any(?:where|thing|one|more|time)?|all|every|each|future"
        r"|from now on|across|general(?:ly)?|going forward|whenever|both|others?|later|only|consisten\w+"
        r"|as much as possible|by default)\b",
        "duty": r"\b(?:must|always|never|ensure|make sure|ha(?:ve|s) to|do not|don'?t|can ?not|can'?t|required?"
        r"|important\w*|minimum|at (?:least|most)|no more than|explicit\w*|strict\w*)\b",
        "intended": r"\b(?:on purpose|intentional\w*|intended|by design|designed|supposed to|meant|expected"
        r"|source of truth|convention\w*|pattern|standard|rule|guideline|policy|template|in this repo\w*|this project"
        r"|code ?base|like we|as we do|same as|align\w*)\b",
        "memory": r"\b(?:(?:claude|agents?)\.md|memor\w+|remember|note that|keep in mind|rules?|instructions?|readme"
        r"|document\w*|hook|skill|(?:sub)?agents?|prompt)\b",
        "agent": r"\byou (?:did|didn'?t|are|were|have|haven'?t|keep|always|never|should|shouldn'?t|must|can|could|tried"
        r"|added|removed|changed|don'?t|need|said)\b|\bi (?:asked|told|said|meant)\b|\byour\b",
        "negation": r"\b(?:no|not|never|none|without|\w+n'?t|nothing|cannot)\b",
        "instead": r"\b(?:instead|rather|but|just|prefer|than|better|safer|cleaner|simpler)\b",
        "asks": r"^\W*(?:can|could|would|will|should|do|does|did|is|are|was|what|how|where|which|who|when|have"
        r"|has|any)\b",
        "asks_what": r"^\W*(?:what|how|where|which|who|when)\b",
        "please": r"\b(?:please|pls|can you|could you)\b",
        "yes": r"^\W*(?:yes|yeah|yep|ok(?:ay)?|sure|sounds good|go|great|perfect|looks good|lgtm|cool|thanks?|good|done"
        r"|proceed|continue|option|\d+|[a-d])\b",
        "go": r"\b(?:go ahead|go for it|proceed|continue|do it|let'?s (?:do|go|start)|start|next)\b",
        "git": r"\b(?:commit|push|merge|rebase|pr|branch|pull|checkout|stage|squash|release|tag)\b",
        "review": r"\b(?:review|check|look|verify|see|confirm|test|run|investigate|analy\w+|compare|explain|summar\w+"
        r"|tell me|show)\b",
        "error": r"\b(?:error|fail\w*|crash\w*|broken|bug|issue|exception|doesn'?t work|not working|missing|still)\b",
        "points": r"\b(?:this|that|it|these|those|them|one|here|there)\b",
        "points_first": r"^\W*(?:this|that|it|these|those|they|them|and|or|then|also)\b",
        "now": r"\b(?:now|yet|first|then|after|today|for now|this time|once)\b",
        "fact": r"\b(?:is|are|was|has|have|uses?|lives?|runs?|needs?|means?|doesn'?t|isn'?t|aren'?t|already|actually"
        r"|obsolete|deprecated|legacy)\b",
        "people": r"\b(?:users?|customers?|people|someone|developers?|maintainers?)\b",
        "lets": r"\blet'?s\b",
        "gone": r"\b(?:anymore|no longer|obsolete|drop|remove|get rid|delete|deprecat\w+|backward\w*|compat\w*)\b",
    }.items()
}
_MAX_PREVIOUS = 4_000
_LENGTHS = ((0, 14), (15, 39), (40, 120), (121, 300), (301, 1_000))
_WORD = re.compile(r"[A-Za-z']+")
_CODE = re.compile(r"[/`_]|\w\.\w|[a-z][A-Z]|#\d")


def lesson_ngrams(sentence: str) -> Iterator[str]:
    """Yield the words and pairs of words of a sentence."""
    yield from ngrams(sentence)


def lesson_numbers(sentence: str, previous_message: str) -> list[float]:
    """Return the cues of a sentence, its form, its relation to the message before it, and its vector."""
    cues = {name: float(bool(cue.search(sentence))) for name, cue in _CUES.items()}
    said_before = overlap(sentence, previous_message[-_MAX_PREVIOUS:])
    return [
        *cues.values(),
        *_form(sentence),
        float(bool(previous_message)),
        said_before,
        said_before * cues["negation"],
        *_vector(sentence),
    ]


def _form(sentence: str) -> list[float]:
    text = sentence.rstrip()
    first = next(iter(_WORD.findall(text)), "").lower()
    return [
        math.log1p(len(text)) / 5,
        len(text.split()) / 30,
        *(float(low <= len(text) <= high) for low, high in _LENGTHS),
        float(text.endswith("?")),
        float("?" in text),
        float(text.endswith("!")),
        float(text.endswith(":")),
        float(first in BASES),
        float(first in ("please", "also", "and", "ok", "now", "then")),
        float(bool(_CODE.search(text))),
        float(any(map(str.isdigit, text))),
        float(text[:1].isupper()),
        text.count(",") / 3,
    ]


def _vector(sentence: str) -> list[float]:
    import numpy as np

    numbers = np.frombuffer(shared_table().embed([sentence])[0], dtype=np.int8)
    assert len(numbers) == DIMENSIONS
    return [float(number) * VECTOR_WEIGHT / SCALE for number in numbers]
