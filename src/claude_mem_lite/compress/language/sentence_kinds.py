"""Sentences that are just talk, the result of a check, a decision, or an order to whoever reads them."""

import re

from claude_mem_lite.compress.language.acknowledgements import acknowledges
from claude_mem_lite.compress.language.agent_duties import SPEAKS_OF_AN_AGENT
from claude_mem_lite.compress.language.instructions import looks_like_instructions
from claude_mem_lite.patterns import lazy

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
    r"would you", r"do you", r"did you", r"want me", r"shall i", r"let me", r"feel free",
    r"if you(?:'d| would)? (?:like|want|prefer|need)",
    r"i can (?:also|now|help|then)", r"i could", r"happy to", r"just (?:say|tell)",
    r"please (?:let|tell|confirm|review)", r"ready (?:to|for)\b",
    r"here's", r"here (?:is|are)", r"below (?:is|are)", r"i'll", r"i will now", r"i'm going to", r"now i\b",
    r"now let", r"looking at",
    r"(?:good|great|excellent) (?:idea|question|point|catch|thinking|news|call)", r"thanks", r"thank you", r"sorry",
    r"ah\b", r"hmm",
    r"you're (?:absolutely |totally )?(?:right|welcome|correct)",
    r"(?:that|this)(?:'s| is) (?:a |an )?(?:right|correct|good|great|excellent|fair|nice|interesting)\b",
    r"no response requested", r"api error", r"i see\b", r"i understand", r"sounds good",
    r"to (?:clarify|answer|summarize)\b", r"sources?:",
    r"options?:", r"for example", r"what (?:do|would) you", r"which (?:one|option|approach)", r"stopped\b", r"got it",
    r"(?:try|please try) (?:it|again|starting|running)\b", r"you can (?:now )?(?:try|test|run|see|also)",
    r"i (?:think|believe|hope)\b.*\?",
    r"is there anything", r"does (?:this|that)", r"makes sense", r"i (?:need|would need) (?:more|your|to know)",
    r"could you",
    r"i've (?:read|reviewed|looked|checked|analyzed|got)\b", r"(?:ok|okay|yes|no|sure|understood|right)[,.! ]*$",
    r"agreed\b", r"claude code\b.{0,40}$", r"(?:good|great|perfect|excellent|nice|awesome|cool)\s*[-–—!,:]\s",
    r"now for\b",
)  # fmt: skip
_TO_THE_USER = _has(
    r"\byour call\b", r"\bup to you\b", r"\blet me know\b", r"\bfeel free\b",
    r"\bif you(?:'d| would) (?:like|prefer)\b",
    r"\b(?:as )?you(?:'ve)? (?:just |can |already )*(?:saw|see|seen|typed|pasted|mentioned|asked|said|noticed)\b",
    r"\byou were (?:right|correct)\b",
)  # fmt: skip
_CHECKED = (
    r"(?:tests?|builds?|lint(?:ing|er)?|checks?|code|everything|type ?checks?|ci|(?:test )?suite|project|formatting)"
)
_CHECKS_PASS = lazy(
    rf"(?i)^(?:now |and )?(?:(?:all|the|both|every|unit|integration|existing|full|new|\d+)\s+)*{_CHECKED}"
    rf"(?:(?:,| and|, and)\s+(?:the\s+)?(?:unit |integration )?{_CHECKED})*"
    r"\s+(?:(?:all|now|still|is|are|also|have|has)\s+)*(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|work(?:s|ing)?|clean"
    r"|green|compiles?|builds?|successful)\b.{0,60}$"
)
_TICKED = lazy(
    rf"(?i)^(?:(?:all|unit|integration|full)\s+)*{_CHECKED}\s*:\s*\W{{0,3}}\s*(?:all |no |0 )?"
    r"(?:pass\w*|clean|ok|green|issues?|errors?|success\w*)?$"
)
_WORK = (
    r"(?:changes?|tasks?|work|implementation|fix(?:es)?|features?|plan|steps?|items?|points?|issues?|bugs?|everything|it"
    r"|this|refactor(?:ing)?|clean-?up|updates?|tests?|code|migration)"
)
_THE = r"(?:(?:all|the|both|every|these|those|your|requested|planned|of|new|\d+|\w+ion)\s+)"
_ALL_IN_PLACE = lazy(
    rf"(?i)^{_THE}*{_WORK}(?:(?:,| and|, and)\s+(?:the\s+)?{_WORK})*"
    r"\s+(?:(?:is|are|has|have|been|was|were|now|all|fully|successfully|should be)\s+)+"
    r"(?:complete[d]?|done|implemented|verified|in place|ready|working|finished|applied|made|fixed|addressed|resolved"
    r"|committed|good to go)(?:,? (?:and|successfully|now|with|all) ?[\w ]{0,40})?$"
    r"|^(?:i|we)(?:'ve| have)? (?:now |successfully )?(?:fixed|implemented|completed|made|done|finished|addressed"
    rf"|updated) {_THE}+{_WORK}$"
    r"|^(?:(?:i|we)(?:'ve| have)? )?(?:found|identified|fixed|resolved)(?: and (?:fixed|resolved))? the (?:root )?"
    r"(?:cause|issue|bug|problem)(?: of the \w+)?$"
)
_DECIDED = _has(
    r"^decision\b", r"\bdecided (?:to|on|against|not)\b",
    r"\b(?:i|we) (?:have )?(?:also )?(?:decided|chose|opted|agreed|picked|went with)\b",
    r"^(?:decided|chose|opted|picked|went with|settled on)\b", r"\bthe decision (?:was |is )?to\b", r"\bsettled on\b",
    r"\bopted (?:for|to)\b",
    r"\b(?:we|i)(?:'ll| will) (?:use|go with|keep|stick (?:with|to))\b", r"\bchose .{2,80} over\b",
    r"\bwas chosen (?:over|because|since|to)\b",
    r"^(?:(?:i|we)\s+)?(?:deliberately|intentionally)\b", r"\bgoing with\b",
)  # fmt: skip
_RATHER = _has(r"\binstead of\b", r"\brather than\b", r"\bas opposed to\b", r"\bin favou?r of\b")
_CHOICE = _begins(
    r"(?:i|we|i've|used?|using|kept|keep|stored?|switched|moved|made|put|picked|replaced|implemented|wrote|set"
    r"|avoid(?:ed)?|prefer(?:red)?)\b"
)
_WHY = _has(
    r"\bbecause\b", r"\bsince\b", r"\bso that\b", r"\bso (?:the|it|we|they|that)\b",
    r"\bto (?:avoid|keep|prevent|ensure|allow|reduce)\b",
    r"\bas (?:it|this|the)\b", r"\bdue to\b", r"\bwhich (?:avoids|keeps|prevents|lets|allows|is)\b",
)  # fmt: skip
_HEDGED = _begins(
    r"if\b", r"when\b", r"once\b", r"unless\b", r"optionally\b", r"you (?:could|may|might)\b", r"consider\b",
    r"we could\b", r"this could\b", r"could\b",
    r"maybe\b", r"perhaps\b", r"should\b",
)  # fmt: skip


def is_talk(sentence: str) -> bool:
    """Addressed to the user or leading on to something else: nothing that was done or found out."""
    text = sentence.strip()
    if text.endswith(("?", ":")) or len(text.split()) < 3:
        return True
    return _TALK.match(text) is not None or _TO_THE_USER.search(text) is not None or acknowledges(text)


def is_check_result(sentence: str) -> bool:
    """Whether it only says that tests, build or lint are fine, or that the work is done."""
    bare = sentence.strip().rstrip(".!✓✔✅ ")
    return (
        _CHECKS_PASS.match(bare) is not None or _ALL_IN_PLACE.match(bare) is not None or _TICKED.match(bare) is not None
    )


def states_decision(sentence: str) -> bool:
    """Whether it says what was chosen; "instead of" counts when the choice and its reason are both there."""
    if is_talk(sentence) or _HEDGED.match(sentence):
        return False
    if _DECIDED.search(sentence):
        return True
    return bool(_RATHER.search(sentence) and _CHOICE.match(sentence) and _WHY.search(sentence))


def reads_like_an_order(text: str) -> bool:
    """Whether a line, not written by user or assistant, speaks to whoever reads it: in doubt it is not repeated."""
    is_order = _ORDER.search(text) is not None or SPEAKS_OF_AN_AGENT.fits(text, f" {text.lower()}")
    return is_order or looks_like_instructions(text) != ""
