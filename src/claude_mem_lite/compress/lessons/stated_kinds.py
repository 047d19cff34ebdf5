"""Kinds of what users ask to be remembered, by its first words. In doubt a text has none: it is a note."""

import re

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Kind

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
"""Verbs of work that is done once, unless the order says that it comes again."""
_LEAD = lazy(
    r"(?i)^(?:(?:please|also|just|and|then)[, ]\s*|(?:in|for|on|when|before|after|with|while|if|to) [^,]{2,60}, )+"
)
_VERB = lazy(r"(?!make sure$)([A-Za-z]+)\b(?!-|[\w-]*[:=(])( .*)$")
# "Test data lives in …", "Commit hooks live in …": a noun stands before its own verb.
_NOUN = lazy(
    r"(?i)^ (?:of|at|by)\b|^ (?!the\b|an?\b|all\b|any\b|every\b|each\b|that\b)(?:(?!that|which|when|if|before|after|so"
    r"|as|for)[^\s,;:.]+ ){0,4}?(?:is|are|was|were|has|have|had|will|can|may|must|should|does|do|lives?|takes?|needs?"
    r"|goes|go (?:to|through|via|into|in)|belongs?|fails?|runs?)\b|^(?: [\w-]+){1,2}: "
)
_AGAIN = lazy(
    r"(?i)\b(?:every|each|all|any|always|only|unless|until|per|whenever|never|first|(?:before|after|when|with|without"
    r"|for|in) (?:a|an|every|each|any|all|\w+ing|\w+s))\b"
)
_MOMENT = lazy(
    r"(?i)\b(?:today|tomorrow|tonight|now|later|soon|again|(?:this|next) (?:time|week|month|sprint|once)|just once)\b"
)


def named_kind(text: str) -> Kind | None:
    """Return the kind that the first words of a text tell: a rule, a preference, a convention, something to avoid."""
    return next((kind for kind, pattern in _NAMED if pattern.match(text)), None)


def is_order(text: str, *, is_standing: bool = False) -> bool:
    """Return whether a sentence in the bare imperative orders something that is done more than once; one that is
    said to stand need not tell that again."""
    found = _VERB.match(_LEAD.sub("", text.strip().rstrip(".!")))
    if found is None or _MOMENT.search(text) or _NOUN.match(found[2]):
        return False
    verb = found[1].lower()
    return verb in _HABITS or (verb in _DEEDS and (is_standing or _AGAIN.search(found[2]) is not None))
