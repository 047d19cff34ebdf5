"""Sentences of a prompt that may be lessons, each with the probability of a lesson. Called for every prompt.

The scorer is a small logistic model, learned from labelled prompts by `training/`; numpy alone runs the model.
Features of a sentence are cues, form, meaning, and relation to the previous message of the agent. The first call loads
the table of word vectors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from claude_mem_lite.compress.lessons.statement import is_standing, stands_alone, statement_of
from claude_mem_lite.compress.lessons.user_voice import own_sentences
from claude_mem_lite.compress.prose.linear_model import Linear, load_models
from claude_mem_lite.compress.prose.verbs import BASES
from claude_mem_lite.embed.embedder import SCALE, shared_table
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import overlap
from claude_mem_lite.values import frozen

VECTOR_WEIGHT = 3.0
"""Scale of the vector beside the cues, chosen over projects: recall at 15 % of the prompts .54; .46 without."""
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
"""Cues of an order that is more than a step of the task."""
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
WEIGHTS = Path(__file__).parent / "scorer.npz"
MIN_SURE = 0.5
"""Sentences above may be stored at once; `may_be_sure` rejects most false ones (docs/labels.md)."""
MIN_UNSURE = 0.4
"""Candidates above are worth a judgement: about one prompt in eight has a candidate. Above .44 there are 57 % lessons
instead of 55 %, and seven of 59 strong lessons are lost."""
MAX_PARAGRAPH = 1_200
"""Maximum length of a first paragraph with candidates; above 600, no sentence is sure."""


def lesson_numbers(sentence: str) -> list[float]:
    """Return cues, form and vector of a sentence."""
    return [*(float(bool(cue.search(sentence))) for cue in _CUES.values()), *_form(sentence), *_vector(sentence)]


def previous_numbers(sentence: str, previous_message: str) -> list[float]:
    """Return whether the previous message is missing, and how much of its end the sentence denies."""
    denies = any(_CUES[cue].search(sentence) for cue in ("negation", "wrong", "pushback"))
    return [float(not previous_message), denies * overlap(sentence, previous_message[-_MAX_PREVIOUS:])]


def is_request_at_hand(sentence: str) -> bool:
    """Return whether a sentence is a request for the current task ("implement the above", "update the README"), without
    a word that makes the request general."""
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


@dataclass(frozen=True)
class Scorer:
    lesson: Linear

    def probabilities(self, sentences: Sequence[str], previous_message: str) -> list[float]:
        """Return the probability of a lesson for each sentence of one prompt."""
        if not sentences:
            return []
        numbers = [[*lesson_numbers(text), *previous_numbers(text, previous_message)] for text in sentences]
        return [float(value) for value in self.lesson.scores((), numbers)[:, 0]]

    @classmethod
    def load(cls, path: Path) -> "Scorer":
        return cls(**load_models(path))


@cache
def shipped_scorer() -> Scorer:
    """Return the scorer with the weights of the package."""
    return Scorer.load(WEIGHTS)


def is_loaded() -> bool:
    """Return whether the scorer is in memory: loading, with numpy, takes a quarter of a second."""
    return shipped_scorer.cache_info().currsize > 0


@frozen
class ScoredSentence:
    """One sentence of the user in a prompt."""

    sentence: str
    probability: float
    """The probability of a lesson that lasts beyond the task."""
    is_sure: bool
    """The sentence is likely, general, understandable alone, and certainly the user's own."""

    @property
    def is_unsure(self) -> bool:
        """Return whether the sentence needs a verdict: likely enough, and no request for the current task."""
        return not self.is_sure and self.probability >= MIN_UNSURE and not is_request_at_hand(self.sentence)


def lesson_candidates(prompt: str, previous_message: str, scorer: Scorer | None = None) -> list[ScoredSentence]:
    """Return the user's own sentences of a prompt, most likely lessons first; pasted text, plans and logs have none.

    `previous_message` is the agent's last message before the prompt, or ''."""
    sentences = own_sentences(prompt, MAX_PARAGRAPH)
    probabilities = (scorer or shipped_scorer()).probabilities(sentences, previous_message)
    own = own_sentences(prompt) if any(value >= MIN_SURE for value in probabilities) else ()
    candidates = [
        ScoredSentence(sentence, value, value >= MIN_SURE and sentence in own and may_be_sure(sentence))
        for sentence, value in zip(sentences, probabilities, strict=True)
    ]
    return sorted(candidates, key=lambda candidate: -candidate.probability)


def may_be_sure(sentence: str) -> bool:
    """Return whether a sentence has the form of a lesson that needs no verdict."""
    return stands_alone(sentence) and is_standing(sentence) and not is_request_at_hand(sentence)
