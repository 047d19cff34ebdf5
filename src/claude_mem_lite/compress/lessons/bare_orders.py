"""English orders in the bare imperative ("Use tabs in Go files"), for a text that the user asks to be remembered.

Called by the guess of a kind only: in a prompt the same words are a task. In doubt a text is no order, since a rule
that nobody gave is worse than a note."""

from claude_mem_lite.patterns import lazy

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
    disable drop enable exclude export extend extract fetch fix generate install merge migrate move notify open
    override port publish rebuild record refactor register release remove rename replace rerun reset resolve restart
    restore revert rotate set ship split start strip sync tell translate turn undo upgrade vendor warn watch""".split()  # noqa: SIM905
)
"""Verbs of work that is done once, unless the order says that it comes again."""
# "Test data", "Build agents", "Log files": what begins like an order is often a noun.
_NOUNS = frozenset(
    """build cache call cap catch check clean commit cover default deploy document export fetch fix format guard group
    import index install label link list load lock log mark measure merge mock name order pass patch pick pin place
    port prefix push quote read rebase record release render report reset return review round run scope seed set ship
    show sign sort split start store stop stub sync tag target test throw trim turn type update upgrade use version
    watch wrap write""".split()  # noqa: SIM905
)
# These stand before another noun so often that an order has to say how or when.
_NOUNS_FIRST = frozenset(
    """build cache default deploy document export group import index install list log name order port record release
    report return set start stop store sync target test type update upgrade version watch""".split()  # noqa: SIM905
)
_LEAD = lazy(
    r"(?i)^(?:(?:please|also|just|and|then)[, ]\s*"
    r"|(?:in|for|on|when|before|after|with|while|if|to) [^,]{2,60}, (?:please )?)+"
)
_VERB = lazy(r"(?:make sure|([A-Za-z]+))\b(?!-|[\w-]*[:=(])(.*)$")
_OBJECT = lazy(
    r"(?i)^ (?:the|a|an|all|any|every|each|both|one|two|three|no|only|our|your|my|its|their|this|that|these|those|it"
    r"|them|me|us|new)\b|^ [`'\"“]\S"
)
# What a noun is the subject of. It may not stand behind a comma or a word that opens another clause.
_CLAUSE = (
    r"(?:that|which|who|whose|when|whenever|where|if|unless|until|because|since|while|so|before|after|as|what|how"
    r"|whether)"
)
_AUXILIARY = (
    r"(?:is|are|was|were|has|have|had|will|would|can|cannot|could|may|might|must|should|does|did|do"
    r"|isn't|aren't|wasn't|don't|doesn't|can't|won't)"
)
_DOES = (
    r"(?:belongs?|breaks?|closes?|comes?|contains?|costs?|depends?|ends?|exists?|expires?|fails?|goes"
    r"|go (?:to|through|via|into|in)|happens?|holds?|lags?|lasts?|listens?|lives?|locks?|means?|moves?|needs?|opens?"
    r"|points?|reads?|rely|relies|requires?|returns?|runs?|sits?|starts?|stays?|takes?|uses?|waits?|works?|writes?)"
)
_IS_SUBJECT = lazy(rf"(?i)^(?:(?! {_CLAUSE}\b) [^\s,;:.]+){{0,5}}? {_AUXILIARY}\b")
_NOUN_DOES = lazy(rf"(?i)^(?:(?! {_CLAUSE}\b) [^\s,;:.]+){{1,5}}? {_DOES}\b")
_LABEL = lazy(r"^(?: [\w-]+){1,2}: ")
_PLURAL = lazy(r"^ (?:[\w-]+ )?(?!\w*ss\b)[a-z]+s\b")
_OF = lazy(r"(?i)^ (?:of|at|by|for|from)\b")
_HOW = lazy(
    r"(?i)\b(?:with|without|within|before|after|by|as|at|once|per|when|first|instead|to|into|via|through|for)\b"
)
_AGAIN = lazy(
    r"(?i)\b(?:every|each|all|any|always|only|unless|until|per|(?<!the )new|whenever"
    r"|(?:before|after|when|with|without|for|in) (?:a|an|every|each|any|all|\w+ing|\w+s)\b|never|first)\b"
)
_MOMENT = lazy(
    r"(?i)\b(?:today|tomorrow|tonight|now|later|soon|asap|again|this (?:time|week|month|sprint|once|afternoon|evening)"
    r"|next (?:time|week|month|sprint|year)|just once|before (?:lunch|the (?:meeting|demo|release|call))"
    r"|(?:on|by|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
)
_CLAUSES_AFTER = frozenset(("ensure", "verify", "assert", "let", "make"))


def is_bare_order(text: str) -> bool:
    """Whether a sentence orders something that is done more than once."""
    body = _LEAD.sub("", text.strip().rstrip(".!"))
    found = _VERB.match(body)
    if found is None or _MOMENT.search(body):
        return False
    verb, rest = (found[1] or "make").lower(), found[2]
    if not rest.strip() or not (found[1] is None or verb in _HABITS or verb in _DEEDS):
        return False
    if _is_noun(verb, rest):
        return False
    is_general = _AGAIN.search(rest) or (verb != "fix" and _PLURAL.match(rest))
    return verb in _HABITS or bool(is_general)


def _is_noun(verb: str, rest: str) -> bool:
    """Whether the word that could be a verb is the subject of the sentence, or stands before it."""
    if _OBJECT.match(rest) or verb in _CLAUSES_AFTER:
        return False
    if _IS_SUBJECT.match(rest):
        return True
    if verb not in _NOUNS:
        return False
    if _OF.match(rest) or _LABEL.match(rest) or _NOUN_DOES.match(rest):
        return True
    return verb in _NOUNS_FIRST and _HOW.search(rest) is None
