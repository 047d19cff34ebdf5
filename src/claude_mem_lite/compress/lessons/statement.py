"""A sentence of the user as a statement: without lead words, and tests for questions, rules, missing context and kind.

Pure, for English; in doubt a sentence cannot be understood alone, and a text has no kind and is a note."""

import re

from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.verbs import BASES
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Kind
from claude_mem_lite.text import stems

MIN_WORDS = 4
# "No mocks" is a rule: "no" is a lead only before a punctuation mark.
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
# The position distinguishes a verb from a noun ("tests", "comments").
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
_AVOID = lazy(r"(?i)^(?:(?:don't|do not|never) (?:use|rely on) |avoid \w|(?:don't|do not) .* because )")
_LIKE = lazy(
    r"(?i)^(?:(?:i|we)(?:'d| would)? (?:\w+ly |much )?(?:prefer|like|love|hate|dislike|want|don't (?:like|want))\b"
    r"|(?:my |our )?prefer(?:ence)?\b|keep (?:your |the )?(?:answers|replies)\b|(?:answer|reply|speak) )"
)
_MUST = lazy(
    r"(?i)^(?:(?:you |we )?(?:must|always|never|should (?:always|never)|have to)\b|don't |do not |only \w+ \w"
    r"|make sure \w+ \w|(?:all|every|each|any|new)\b.{1,60}\b(?:must|ha(?:s|ve) to|needs?)\b)"
)
_WE_DO = lazy(
    r"(?i)^(?:we|this (?:repo|project|team)|our (?:team|code\w*)) (?:all |only )?(?:use|write|name|keep|put|follow|call"
    r"|run|store|test|commit|format|squash|pin)s?\b"
)
_NAMED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("anti_pattern", _AVOID), ("preference", _LIKE), ("rule", _MUST), ("convention", _WE_DO),
)  # fmt: skip
_HABITS = frozenset(
    """align annotate ask assert avoid cache call cap capitalize catch check choose cite commit compare cover declare
    default define document encode enforce ensure escape expose favor favour follow format generate give group guard
    handle hide hold import include indent inject keep label leave let limit link lint list load lock log lowercase
    maintain make mark measure mention mock name order pass pick pin place prefer prefix preserve prune push put quote
    raise read rebase redact reject render report require respect return reuse review round run sanitize save scope
    seed send separate serialize show sign skip sort specify spell squash start stay stick store stop stub suffix tag
    target test throw treat trim type update use validate verify version wrap write""".split()  # noqa: SIM905
)
_DEEDS = frozenset(
    """add archive attach back build bump clean clear close configure convert copy create delete deploy deprecate
    disable drop edit enable exclude export extend extract fetch fix install merge migrate move multiply notify open
    override port publish rebuild record refactor register release remove rename replace rerun reset resolve restart
    restore revert rotate set ship split strip sync tell touch translate turn undo upgrade vendor warn watch""".split()  # noqa: SIM905
)
"""Verbs of work that is done once, unless the order says otherwise."""
_ORDER_LEAD = lazy(
    r"(?i)^(?:(?:please|also|just|and|then)[, ]\s*|(?:in|for|on|when|before|after|with|while|if|to) [^,]{2,60}, )+"
)
_VERB = lazy(r"(?!make sure$)([A-Za-z]+)\b(?!-|[\w-]*[:=(])( .*)$")
# "Test data lives in …", "Commit hooks live in …": the first word is a noun.
_NOUN = lazy(
    r"(?i)^ (?:of|at|by)\b|^ (?!the\b|an?\b|all\b|any\b|every\b|each\b|that\b)(?:(?!that|which|when|if|before|after|so"
    r"|as|for)[^\s,;:.]+ ){0,4}?(?:is|are|was|were|has|have|had|will|can|may|must|should|does|do|lives?|takes?|needs?"
    r"|goes|go (?:to|through|via|into|in)|belongs?|fails?|runs?)\b|^(?: [\w-]+){1,2}: "
)
_AGAIN = lazy(
    r"(?i)\b(?:every|each|all|any|always|only|unless|until|per|whenever|never|first|(?:before|after|when|with|without"
    r"|for|in) (?:a|an|every|each|any|all|\w+ing|\w+s))\b"
)
_TIME = lazy(
    r"(?i)\b(?:today|tomorrow|tonight|now|later|soon|again|(?:this|next) (?:time|week|month|sprint|once)|just once)\b"
)


def without_lead(text: str) -> str:
    """Return a sentence without lead words: "no, ", "please ", "ok so "."""
    return _LEAD.sub("", text, count=1)


def statement_of(sentence: str) -> str:
    """Return a sentence in the form for a memory: "no, can you please use pnpm" as "Use pnpm."."""
    text = without_lead(sentence.strip())
    bare = without_lead(_REQUEST.sub("", text, count=1))
    is_asked = text.rstrip().endswith(("?", "？")) and bare == text
    bare = (_LAST.sub("", bare) or bare).rstrip(" \t.,;:!?–—-。！？")
    return f"{capital(bare)}{'?' if is_asked else '.'}"


def is_question(sentence: str) -> bool:
    """Return whether a sentence is a question, with or without a question mark; a polite request is none."""
    return _ASKS.search(statement_of(sentence)) is not None


def stands_alone(sentence: str) -> bool:
    """Return whether a sentence can be understood alone: no question, no fragment, no reference to the conversation."""
    text = statement_of(sentence)
    if len(text.split()) < MIN_WORDS or is_question(sentence):
        return False
    if _POINTS_BACK.search(text) or _POINTS_AWAY.search(text) or not _has_verb(text):
        return False
    pronoun = _PRONOUN.search(text)
    return pronoun is None or any(word not in _NO_NAMES for word in stems(text[: pronoun.start()]).values())


def is_standing(sentence: str) -> bool:
    """Return whether a sentence states a rule, a habit or a duty, without a file, symbol or step of a task."""
    text = statement_of(sentence)
    return len(text) <= _MAX_STANDING and _STANDS.search(text) is not None and _OF_NOW.search(text) is None


def _has_verb(text: str) -> bool:
    return _AUXILIARY.search(text) is not None or any(verb in BASES for verb in _PLACE_OF_VERB.findall(text.lower()))


def named_kind(text: str) -> Kind | None:
    """Return the kind by the first words of a text: rule, preference, convention, anti-pattern; None in doubt."""
    return next((kind for kind, pattern in _NAMED if pattern.match(text)), None)


def is_order(text: str, *, is_standing: bool = False) -> bool:
    """Return whether a sentence in the bare imperative orders recurring work; `is_standing` when other words already
    say that the work recurs."""
    match = _VERB.match(_ORDER_LEAD.sub("", text.strip().rstrip(".!")))
    if match is None or _TIME.search(text) or _NOUN.match(match[2]):
        return False
    verb = match[1].lower()
    return verb in _HABITS or (verb in _DEEDS and (is_standing or _AGAIN.search(match[2]) is not None))
