"""Features of a sentence that a user says: cues, form, meaning, and its relation to the agent's message before it.

Pure; the first call loads the table of word vectors."""

import math

from claude_mem_lite.compress.lessons.statement import statement_of
from claude_mem_lite.compress.prose.verbs import BASES
from claude_mem_lite.embed.embedder import SCALE, shared_table
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import overlap

VECTOR_WEIGHT = 3.0
"""Scale of the vector beside the cues, chosen over projects: recall at 15 % of the prompts .54; .46 without it."""
_NOT = r"(?:n'?t| not)"
_CUES = {
    name: lazy(f"(?i){pattern}")
    for name, pattern in {
        "pushback": r"^\W*(?:no|nope|nah|hmm+|but|stop|wait|actually|why|not|wrong|sorry|don'?t|do not|never"
        r"|instead)\b",
        "wrong": rf"\b(?:wrong|incorrect|(?:not|is{_NOT}) (?:correct|right|true|what)|should{_NOT}|overkill|too much"
        r"|unnecessary|no need|not a good|bad idea|mistake)\b",
        "we_should": rf"\bwe (?:should|must|need|want|have to|do{_NOT} want|can|could|will)(?:{_NOT})?\b",
        "ours": r"\b(?:our|us|we)\b",
        "reason": r"\b(?:because|since|so that|otherwise|that'?s why|in order to|the (?:reason|idea|point|goal)|is to"
        r"|so (?:we|you|it|they|users|other)|as (?:it|we|this|that|they)|which means|due to)\b",
        "scope": r"\b(?:everywhere|wherever|always|never|any(?:where|thing|one|more|time)?|all|every|each|future|across"
        r"|from now on|general(?:ly)?|going forward|whenever|both|others?|later|only|consisten\w+|by default)\b",
        "duty": r"\b(?:must|always|never|ensure|make sure|ha(?:ve|s) to|do not|don'?t|can ?not|can'?t|required?"
        r"|important\w*|minimum|at (?:least|most)|no more than|explicit\w*|strict\w*)\b",
        "intended": r"\b(?:on purpose|intentional\w*|intended|by design|designed|supposed to|meant|expected|pattern"
        r"|source of truth|convention\w*|standard|rule|guideline|policy|template|like we|as we do|same as|align\w*)\b",
        "memory": r"\b(?:(?:claude|agents?)\.md|memor\w+|remember|note that|keep in mind|rules?|instructions?|readme"
        r"|document\w*|hook|skill|(?:sub)?agents?|prompt)\b",
        "memory_file": r"\b(?:(?:claude|agents?)\.md|(?:your|to|the|project) memory|memori[sz]e)\b",
        "negation": r"\b(?:no|not|never|none|without|\w+n'?t|nothing|cannot)\b",
        "instead": r"\b(?:instead|rather|but|just|prefer|than|better|safer|cleaner|simpler)\b",
        "review": r"\b(?:review|check|look|verify|see|confirm|test|run|investigate|analy\w+|compare|explain|summar\w+"
        r"|tell me|show)\b",
        "now": r"\b(?:now|yet|first|then|after|today|for now|this time|once)\b",
        "fact": rf"\b(?:is|are|was|has|have|uses?|lives?|runs?|needs?|means?|(?:does|is|are){_NOT}|already|actually"
        r"|obsolete|deprecated|legacy)\b",
    }.items()
}
_LASTING = ("reason", "duty", "intended", "wrong", "memory_file")
"""The cues that make more of an order than a step of the task."""
_WISH = lazy(
    r"(?i)(?:let'?s|(?:we|i|you)(?: \w+)?(?:'d| would)? (?:need|want|have|like)(?: you)? to|go ahead|\w+ @)(?=\W)"
)
_AT_HAND = lazy(
    r"(?i)\b(?:the|this|that|these|those|it|them|above|below|previous)\b|[@/`_#]|\d|\w\.\w|(?-i:[a-z][A-Z])"
)
_BEYOND = lazy(
    r"(?i)\b(?:every|each|whenever|everywhere|always|never|from now on|going forward"
    r"|in (?:this|our) (?:repo\w*|project|code ?base))\b"
)
_FIRST_WORD = lazy(r"\w+")
_LENGTHS = ((0, 14), (15, 39), (40, 120), (121, 300), (301, 1_000))
_MAX_PREVIOUS = 700


def lesson_numbers(sentence: str) -> list[float]:
    """Return the cues of a sentence, its form, and its vector."""
    return [*(float(bool(cue.search(sentence))) for cue in _CUES.values()), *_form(sentence), *_vector(sentence)]


def previous_numbers(sentence: str, previous_message: str) -> list[float]:
    """Return how a sentence relates to the end of the agent's message before it: none, and denial of its words."""
    denies = any(_CUES[cue].search(sentence) for cue in ("negation", "wrong", "pushback"))
    return [float(not previous_message), denies * overlap(sentence, previous_message[-_MAX_PREVIOUS:])]


def is_request_at_hand(sentence: str) -> bool:
    """Return whether a sentence orders or wishes one thing that the conversation has at hand ("implement the above",
    "update the README"), and nothing in it says that it holds beyond that."""
    text = statement_of(sentence)
    first = _FIRST_WORD.match(text)
    is_request = _WISH.match(text) is not None or (first is not None and first[0].lower() in BASES)
    if not is_request or _AT_HAND.search(text) is None:
        return False
    return _BEYOND.search(text) is None and not any(_CUES[cue].search(sentence) for cue in _LASTING)


def _form(sentence: str) -> list[float]:
    text = sentence.rstrip()
    return [
        math.log1p(len(text)) / 5,
        *(float(low <= len(text) <= high) for low, high in _LENGTHS),
        float(text.endswith("?")),
        float("?" in text),
        float(any(map(str.isdigit, text))),
        float(text[:1].isupper()),
    ]


def _vector(sentence: str) -> list[float]:
    import numpy as np

    numbers = np.frombuffer(shared_table().embed([sentence])[0], dtype=np.int8)
    return [float(number) * VECTOR_WEIGHT / SCALE for number in numbers]
