"""A user's sentence as one statement: without the words that only lead to it, and whether it can be understood alone.

Pure, for English; in doubt a sentence cannot be understood alone."""

from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.verbs import BASES
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import stems

MIN_WORDS = 4
# "No mocks" is the rule: only with a mark behind it "no" is a lead.
_LEAD = lazy(
    r"(?i)^(?:(?:no|nope|nah|well|sorry|wait|right|thanks|good|great|yes|yeah|yep|again|reminder"
    r"|one (?:more )?thing)\s*[,.!:;–—-]+\s*|(?:(?:hi|hello|hey)(?: there| claude)?|claude|please|pls|fyi"
    r"|just so you know|but|so|also|and|ok(?:ay)?|hm+|oh|btw|actually|just)\b(?:\s*[,.!:;–—-]+\s*|\s+))+(?=\S)"
)
_REQUEST = lazy(
    r"(?i)^(?:(?:can|could|would|will) you\b|i(?:'d| would)? (?:like|want|need|expect) you to\b|go ahead and\b"
    r"|i think(?: that)?\b(?= (?:we|you|the|our|all|every)\b))[\s,]*(?:please\b[\s,]*)?(?=\S)"
)
_LAST = lazy(r"(?i)[\s,;.!–—-]+(?:please|pls|thanks|thank you|ok(?:ay)?|right|claude)[\s.!?]*$")
_POINTS_BACK = lazy(
    r"(?i)^\W*(?:this|that|it|these|those|they|them|then|yes|yeah|yep|sure|go|great|perfect|thanks?|good|therefore"
    r"|instead|agree|\d+|[a-d]|in (?:this|that)|the (?:first|second|last|other)|not)\b|\boption \w\b"
)
_PLACE = r"(?:repo\w*|project|code ?base|team|company|package|library|app|product|machine)\b"
_POINTS_AWAY = lazy(
    rf"(?i)@|\b(?:this|these|those)\b(?! {_PLACE})|\bthere(?=\W*$|[,;.])|\binstead\b(?! of)|\bthe same\b(?!.* as\b)"
    r"|(?:^|[,;:.–—-] |\b(?:and|but|so|if|because|while|when|do|does|did|doing|like|of|for|with|after|before) )that\b"
    r"|\bthat(?:'?s\b|(?= (?:way|one|case|pr|file|branch|commit|change))|\W*$|(?=[,;.]))"
    r"|\b(?:the|your) (?:above|previous|changes?|plan|pr|branch|issue|ones?|other (?:one|thing)s?)\b"
    r"|\byou (?:just |already |have )?(?:did|tried|added|made|said|wrote|changed|removed|suggested|proposed|used)\b"
    r"|\b(?:now|today|tomorrow|yet|so far|at the moment|this time)\b(?<!from now)"
)
_SUBJECT = r"(?:we|you|i|it|they|there|this|that|these|those|the|our|your|my|an?|any)"
_HAPPENS = r"(?:is|are|was|were|can|could|should|would|will|must|may|shall)(?:n'?t)?|can'?t|won'?t"
_ASKS = lazy(
    r"(?i)[?？]\s*$|^(?:why|how come|how about|what about|what if)\b"
    rf"|^(?:what|which|who|whose|where|when|how)(?: \w+)? (?:{_HAPPENS}|(?:do|does|did|has|have)(?:n'?t)?) {_SUBJECT}\b"
    rf"|^(?:{_HAPPENS}) {_SUBJECT}\b|^(?:do|does|did|has|have)(?:n'?t)? (?:we|you|i|they)\b"
)
_PRONOUN = lazy(r"(?i)\b(?:it|its|it's|they|them|their|they're)\b")
_AUXILIARY = lazy(
    r"(?i)\b(?:is|are|am|was|were|be|has|have|had|do|does|did|can|cannot|could|must|should|shall|will|would|may|might"
    r"|\w+n'?t|(?:we|you|they|i)'(?:re|ve|ll|d))\b|(?:'s|s) (?:not|only|never|always|to)\b"
)
# A verb is told from a noun ("tests", "comments") by its place.
_PLACE_OF_VERB = lazy(r"(?:^|\b(?:we|you|they|i|to|never|always|only|just|and|or|but)\s)([a-z]+)")
_NO_NAMES = BASES | {"always", "never", "want", "need", "think", "like", "prefer"}
_MAX_STANDING = 220
_STANDS = lazy(
    r"(?i)\bwe (?:\w+ly |all |also |still )?(?:only|use|keep|want|need|write|run|treat|store|support|follow|call"
    r"|test|put)\b|\b(?:should(?:n'?t)?|must|needs? to|ha(?:s|ve) to|never|always|don'?t|do not|avoid|prefer|no need"
    r"|ensure|make sure|rather than|instead of)\b"
)
_OF_NOW = lazy(
    r"(?i)[/`_#]|\w\.\w|(?-i:[a-z][A-Z])|\d{3}|\.\.|\?|\blet'?s\b|\byou(?: are|'re| were)\b|\bwhy\b"
    r"|\bi(?:'m| am|'ve| have| was| see| just| thought| meant| noticed| asked| did| can| want to| need| realize"
    r"| \w+ed)\b|^(?:don'?t|do not) \w+ anything\b"
)


def without_lead(text: str) -> str:
    """Return a sentence without what only leads to it: "no, ", "please ", "ok so "."""
    return _LEAD.sub("", text, count=1)


def statement_of(sentence: str) -> str:
    """Return a sentence as it stands in a memory: "no, can you please use pnpm" as "Use pnpm."."""
    text = without_lead(sentence.strip())
    bare = without_lead(_REQUEST.sub("", text, count=1))
    is_asked = text.rstrip().endswith(("?", "？")) and bare == text
    bare = (_LAST.sub("", bare) or bare).rstrip(" \t.,;:!?–—-。！？")
    return f"{capital(bare)}{'?' if is_asked else '.'}"


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks, with a question mark or without; a request that is put as a question does not."""
    return _ASKS.search(statement_of(sentence)) is not None


def stands_alone(sentence: str) -> bool:
    """Return whether a sentence says all that is needed to follow it: no question, no fragment, and nothing in it that
    only the conversation explains."""
    text = statement_of(sentence)
    if len(text.split()) < MIN_WORDS or is_question(sentence):
        return False
    if _POINTS_BACK.search(text) or _POINTS_AWAY.search(text) or not _has_verb(text):
        return False
    pronoun = _PRONOUN.search(text)
    return pronoun is None or any(word not in _NO_NAMES for word in stems(text[: pronoun.start()]).values())


def is_standing(sentence: str) -> bool:
    """Return whether a sentence is put as a rule, a habit or a duty, and of no file, symbol or step of a task."""
    text = statement_of(sentence)
    return len(text) <= _MAX_STANDING and _STANDS.search(text) is not None and _OF_NOW.search(text) is None


def _has_verb(text: str) -> bool:
    return _AUXILIARY.search(text) is not None or any(verb in BASES for verb in _PLACE_OF_VERB.findall(text.lower()))
