"""What the user said, said back by the agent: "Understood, I will use pnpm." It decides, reports and finds nothing."""

from claude_mem_lite.compress.language.verbs import reported
from claude_mem_lite.patterns import lazy

_YES = (
    r"(?:ok(?:ay)?|sure(?: thing)?|al(?:l )?right|right|yes|yep|fine|of course|absolutely|certainly|thanks?(?: you)?)"
)
_WILL = r"(?:i|we)(?:'ll| will| won't)\b"
_FROM_NOW_ON = r"(?:from now on|going forward|in (?:the )?future)"
_PAUSE = r"[\s,.!:;–—-]"
_ACKNOWLEDGED = lazy(
    rf"(?i)(?:understood|acknowledged|(?:duly |well )?noted|will do|roger|got it)\b(?: that)?{_PAUSE}*"
    rf"|(?:{_YES}{_PAUSE}+)?{_FROM_NOW_ON}\b[\s,]*(?={_WILL})"
    rf"|{_YES}\b{_PAUSE}+(?={_WILL})"
    r"|(?:i|we)(?:'ve| have)? (?:noted|remembered) "
    r"|i(?: will|'ll) (?:now )?(?:always|never|only|not|remember|respect|follow|stick to|make sure"
    r"|keep (?:that|this|it) in mind)\b"
    rf"|{_WILL}.{{2,120}}\b(?:{_FROM_NOW_ON}|as you (?:asked|prefer|want|like|said))\b"
    r"|i won't\b"
)


def acknowledges(sentence: str) -> bool:
    """Whether it only says back what the user said; a report may follow: "Noted, I removed it"."""
    found = _ACKNOWLEDGED.match(sentence)
    return found is not None and not reported(sentence[found.end() :])
