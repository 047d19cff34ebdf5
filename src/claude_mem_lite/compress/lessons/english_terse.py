"""English orders of somebody in haste: "tabs not spaces", "no emojis. ever", "tests first, always"."""

import re

from claude_mem_lite.compress.lessons.english_no_lessons import BROKEN, VERBS, is_for_once
from claude_mem_lite.compress.lessons.leads import Body
from claude_mem_lite.compress.lessons.lesson import GENERAL, HINTED, ONCE, Lesson, order
from claude_mem_lite.patterns import lazy

_LONGEST = 12
_END = r"(?:,? please)?[.! ]*$"
# "file not found" and "still not valid" are reports: neither a state nor a part of a verb is a thing to use.
_NO_THING = (
    r"(?:found|there|here|valid|visible|available|ready|sure|yet|now|good|bad|ok|okay|fine|right|correct|true|false"
    r"|null"
    r"|empty|enough|really|set|so|that|this|it|me|you|them|even|only|just|too|today|possible|necessary|needed|unique"
    r"|equal|up|down|on|off|in|out|open|closed|sorted|safe|responsive|to|a|an|the|my|your|as|at|be|much|many|all"
    r"|any(?:thing|one)?|every\w*|if|when|because|for|by|from|with|one|another|again|read|run|built|sent|shown|seen"
    r"|done|kept|made|put|caught|hit|met|lost|drawn|known"
    r"|\w+(?:ing|ed|able|ible|en|ly))\b"
)
_NO_LEFT = (
    r"(?:it|its|it's|this|that|these|those|is|was|are|were|does|did|do|still|why|if|or|and|but|maybe|probably|certainly"
    r"|i|i'm|you|we|they|he|she|should|could|would|can|will|may|might|must|has|have|had|of|what|how|where|when|also"
    r"|just|so|only|definitely|hopefully|sadly|apparently|ok|okay|sure|yes|no|better|best|please|not|let's|am|error"
    r"|command|file|page|test|tests|build|server|\d+)\b"
)
_THING = r"[\w.+#/@-]+"
_NOT = lazy(
    rf"(?!{_NO_LEFT}){_THING},? not (?!{_NO_THING}){_THING}(?: (?:in|for|under|on) {_THING}(?: {_THING})?)?{_END}"
)
_CALLED = lazy(
    r"(?:it's|it is|that's|they're|the [\w-]+(?: [\w-]+)? (?:is|are)|our [\w-]+ (?:is|are)) (?:spelled|called|named"
    r"|written)"
    r" [^,]{1,50}?,? (?:and )?not (?=\S)"
)
_LAST_WORD = lazy(
    r"[,;.!–—-]* (?:always|ever|period|full stop|no exceptions?|every (?:single )?time|at all times)[.! ]*$"
)
_NONE_OF = lazy(
    r"no (?!idea|clue|luck|change|difference|effect|problem|worries|need|one|way|rush|hurry|output|result|response"
    r"|more)[\w-]+"
    r"(?: [\w-]+){0,4}$"
)
_FIRST_OR_ONLY = lazy(r"(?!it|this|that|the|same|still|i|you|works?|fails?)[\w-]+(?: [\w-]+){0,2} (?:first|last|only)$")
_SPOKEN = "english|german|french|spanish|chinese|italian|dutch|japanese|portuguese|russian|korean"
_ONLY_IN = lazy(
    rf"(?:only (?:{_SPOKEN})|(?:{_SPOKEN}) only) (?:in|for) \w|(?!\w+(?:s|ed) only)[\w-]+ only (?:in"
    rf"|for) [^,]{{2,60}} please[.! ]*$"
)
_IS_A_REPO = lazy(
    r"this is an? (?!new|small|simple|test|big|large|legacy|private|public|toy|side|demo|sample|personal|great|nice"
    r"|fork"
    r"|huge|fresh|different|separate|copy|local|git|good|bad)[\w.+#-]+(?: [\w.+#-]+)? (?:repo|repository|monorepo"
    r"|code ?base"
    r"|project)(?:,? not an? [\w.+# -]{2,30})?[.! ]*$"
)
_SO_USE = lazy(
    r"[^,]{3,80},? so (?:please |just )?(?:use|run|call|put|import|take|write) .{1,60}?,? (?:and not|instead of"
    r"|rather than|not)"
    r" (?=\S)(?!only|just|to\b)"
)
_THERE_IS_ONE = lazy(
    r"(?:use|reuse|call|extend|import) .{3,80}?[,;.–—-]+ (?:there's|there is|we|it|that) (?:already|have|exists)\b"
)
_USE = lazy(r"(?:use|reuse|keep|leave|follow|stick (?:to|with)) (?!it\b|that\b|this\b)\w")
_ENOUGH = lazy(r"(?:enough|no more) (?:with|of) (?:all )?(?:the |these |those |your )(?=\w+)")
_SO_NO = lazy(r"[\w-]+(?: [\w-]+){0,3}, no [\w-]+(?: [\w-]+)?[.! ]*$")
_IS_GONE = lazy(
    r"use [\w./@-]+(?: [\w./@-]+)?[,;.] [\w./@-]+(?: [\w./@-]+)? (?:is|are|was) (?:gone|dead|deprecated|removed"
    r"|legacy|banned)\b"
)
_BEFORE_YOU = lazy(r"(\w+) .{2,60} (?:before|after|when|whenever) you \w+")
_NO_ON_THIS = lazy(
    r"(?:we're|we are|this is|it's) (?:still )?(?:on |using )?[\w.+# -]{2,30}\d(?:,[^,]{2,60})?, no (?!problem|need"
    r"|idea|worries|rush"
    r"|hurry|errors?|changes?|luck|effect|output|longer|matter|way)[\w-]+(?: [\w-]+){0,2}[.! ]*$"
)


def terse(body: Body) -> Lesson | None:
    """What is said in a few words. Only short sentences: in a longer one the same words may mean anything."""
    text = body.masked
    if is_for_once(text) or BROKEN.search(text):
        return None
    if len(text.split()) <= _LONGEST and (found := _LAST_WORD.search(text)):
        left = text[: found.start()]
        if _NONE_OF.match(left) or _FIRST_OR_ONLY.match(left) or left.split(" ", 1)[0] in VERBS:
            return Lesson("rule", order(body.text[: found.start()]), GENERAL)
    if _IS_A_REPO.match(text):
        return Lesson("convention", order(body.text), HINTED)
    if _ONLY_IN.match(text):
        return Lesson("preference", order(re.sub(r"(?i),? please[.! ]*$", "", body.text)), ONCE)
    if _NOT.match(text):
        return Lesson("correction", order(body.text, with_why=True), HINTED)
    if found := _ENOUGH.match(text):
        return Lesson("correction", f"No more {order(body.text[found.end() :])}", ONCE)
    if _IS_GONE.match(text) or (body.is_polite and _SO_NO.match(text)):
        return Lesson("correction", order(body.text, with_why=True), ONCE)
    if _CALLED.match(text) or _SO_USE.match(text) or _THERE_IS_ONE.match(text):
        return Lesson("correction", order(body.text, with_why=True), ONCE)
    if _NO_ON_THIS.match(text):
        return Lesson("correction", order(body.text, with_why=True), HINTED)
    if body.is_annoyed and (found := _BEFORE_YOU.match(text)) and found[1] in VERBS:
        return Lesson("rule", order(body.text, with_why=True), ONCE)
    return Lesson("correction", order(body.text), ONCE) if body.is_annoyed and _USE.match(text) else None
