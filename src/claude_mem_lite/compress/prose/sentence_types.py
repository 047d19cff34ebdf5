"""Types of sentences: talk, decision, order to the reader."""

import re

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.injection import looks_like_instructions, speaks_of_an_agent

_ORDER = lazy(
    r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|all|earlier|instructions?|rules?)\b"
    r"|\b(?:you|assistant|claude)\b.{0,20}\b(?:must|should|shall|have to)\b.{0,10}\b(?:always|never|now|at once)\b"
    r"|\b(?:ai|coding|language) (?:assistant|agent|model)s?\b|\bsystem (?:prompt|message|reminder)\b"
    r"|^\W*(?:system|assistant|human|user|important)\s*:|</?(?:system|assistant|human|user|claude)"
)


def _begins(*phrases: str) -> re.Pattern[str]:
    return lazy(rf"(?i)^(?:{'|'.join(phrases)})")


def _has(*phrases: str) -> re.Pattern[str]:
    return lazy(rf"(?i)(?:{'|'.join(phrases)})")


_TALK = _begins(
    r"would you", r"do you", r"want me", r"shall i", r"let me", r"if you(?:'d| would)? (?:like|want|prefer|need)",
    r"please (?:let|tell|confirm|review)", r"ready (?:to|for)\b", r"here(?:'s| is| are)", r"now i\b",
    r"(?:(?:understood|noted|ok(?:ay)?|sure|got it|will do|from now on)\b[\s,:.!]*)*(?:i|we)(?:'ll| will)\b",
    r"looking at", r"(?:good|great|excellent) (?:idea|question|point|catch|thinking|news|call)",
    r"you're (?:absolutely |totally )?(?:right|welcome|correct)",
    r"(?:that|this)(?:'s| is) (?:a |an )?(?:right|correct|good|great|excellent|fair|nice|interesting)\b",
    r"to (?:clarify|answer|summarize)\b", r"options?:", r"for example", r"what (?:do|would) you",
    r"which (?:one|option|approach)", r"got it", r"does (?:this|that)", r"makes sense",
    r"(?:ok|okay|yes|no|sure|understood|right)[,.! ]*$", r"now for\b",
    r"(?:good|great|perfect|excellent|nice|awesome|cool)\s*[-–—!,:]\s",
)  # fmt: skip
_TO_THE_USER = _has(
    r"\byour call\b", r"\blet me know\b",
    r"\b(?:as )?you(?:'ve)? (?:just |can |already )*(?:saw|see|seen|typed|pasted|mentioned|asked|said|noticed)\b",
)  # fmt: skip
_DECIDED = lazy(
    r"(?i)^\W*(?:decision\b|(?:(?:i|we)(?:'ve| have)? )?decided:\s"
    r"|(?:(?:so|therefore|instead|for now|in the end)[, ]+)?(?:(?:i|we)(?:'ve| have)? )?(?:also )?"
    r"(?:decided (?:to|on|against|not)|chose|opted|picked|went with|settled on|agreed (?:to|on)|deliberately"
    r"|intentionally)\b)"
)
"""A decision of the agent; decisions of other people do not count."""
_PREFERRED = lazy(
    r"(?i)^(?:i|we|i've|used|using|kept|stored|switched|moved|made|put|replaced|set)\b(?=.*\b(?:instead of|rather than"
    r"|in favou?r of)\b).*\b(?:because|since|so that|due to|to (?:avoid|keep|prevent|ensure|allow|reduce))\b"
)
"""A replacement with a reason."""
_HEDGED = _begins(
    r"if\b", r"when\b", r"once\b", r"unless\b", r"optionally\b", r"you (?:could|may|might)\b", r"consider\b",
    r"we could\b", r"this could\b", r"could\b",
    r"maybe\b", r"perhaps\b", r"should\b",
)  # fmt: skip


def is_talk(sentence: str) -> bool:
    """Return whether a sentence is addressed to the user or only an introduction, without work or findings."""
    text = sentence.strip()
    if text.endswith(("?", ":")) or len(text.split()) < 3:
        return True
    return _TALK.match(text) is not None or _TO_THE_USER.search(text) is not None


def states_decision(sentence: str) -> bool:
    """Return whether a sentence states a decision explicitly."""
    if is_talk(sentence) or _HEDGED.match(sentence):
        return False
    return _DECIDED.match(sentence) is not None or _PREFERRED.match(sentence) is not None


def reads_like_an_order(text: str) -> bool:
    """Return whether a line, not by user or assistant, may be an order to the reader. Such lines are not repeated."""
    is_order = _ORDER.search(text) is not None or speaks_of_an_agent(text)
    return is_order or looks_like_instructions(text) != ""
