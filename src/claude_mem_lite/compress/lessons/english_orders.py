"""English orders that hold beyond a step: what not to do, what to do always, one thing in the place of another."""

import re

from claude_mem_lite.compress.language.verbs import base_of
from claude_mem_lite.compress.lessons.english_no_lessons import BROKEN, VERBS, WHENEVER, is_for_once
from claude_mem_lite.compress.lessons.leads import Body, telling
from claude_mem_lite.compress.lessons.lesson import (
    GENERAL,
    HINTED,
    ONCE,
    REPEATED,
    Lesson,
    has_reason,
    order,
    small_first,
)  # fmt: skip
from claude_mem_lite.models import Kind
from claude_mem_lite.patterns import lazy

_NO_ORDER = (
    r"(?:worry|hesitate|mind|know|understand|think|see|get|care|recall|remember|have|need|you|we|they|i|it|be"
    r"|panic|feel"
    r"|stop now|give up|forget|seem|work|exist|look|mean|even know|happen|recognize|believe|expect|agree"
    r"|bother(?! (?:with|to)\b))\b"
)
_NOT = r"(?:don't|dont|do not|let's not|let us not)(?: ever| just| simply)?"
_DONT = lazy(rf"{_NOT} (?!{_NO_ORDER})(?=\w)")
_LATER_DONT = lazy(
    rf"(?:[,;:.]| [–—-]|,? so|, and|, but)\s+(?:please |so |but )?(?:don't|do not|never) (?!{_NO_ORDER}|mind\b)(?=\w)"
)
_AVOID = lazy(r"(?:avoid|refrain from) (?=\w)(?!crash|the |this |that )")
_HANDS_OFF = lazy(
    r"(?:hands off|stay away from|stay out of|keep your (?:hands|fingers) off) (?=\w)"
    r"|leave (?!it\b|that\b|this\b|them\b)(?:\S+ ){1,8}(?:alone|as (?:it |they )?(?:is|are)|untouched|unchanged)\b"
)
_NO_NEED = lazy(
    r"(?:there(?:'s| is) )?no need to (?=\w)|you (?:don't|do not) (?:need|have) to (?=\w)|you can skip (?!it|that|this)"
)
_NO_THING = lazy(r"no (?:more )?\w+(?: [\w-]+){0,7}$")
_PLEASE_LESS = lazy(
    r"(?:less|fewer|shorter|smaller|no(?: more)?) (?!rush|hurry|need|worries"
    r"|problem)\w+(?: [\w-]+){0,7}?,? please[.! ]*$"
)
_MUST_NOT = lazy(
    r"(?:you )?(?:must not|mustn't|must never|should never|should not|shouldn't|may not"
    r"|are not allowed to) (?=\w)(?!be\b|have\b)"
)
_ALWAYS = lazy(
    r"(?:(?:you|we) (?:must|should|have to|need to) |i (?:want|need|expect) you to |i'd (?:like|want) you to )?"
    r"(?:(?:never(?: ever)?|do not ever|don't ever) (?!mind|seen?\b|had|heard|got|did|been|was|is\b|works?\b|again\b"
    r"|ever\b|happen|\w+ing\b(?<!bring)|saw|knew|thought|end up|reach|get here|be here|\w+ed\b(?<!need))"
    r"|always (?!\w+s\b(?<!pass)(?<!process)|\w+ing\b(?<!bring)|been|had|was|got|this|that|the|on|in|at|off|from)"
    r"|only (?=(?:use|edit|touch|change|commit|import"
    r"|write|add|push)\b))(?=\w+(?: |$))"
)
_EVER = lazy(r"(?i)^(?:never|do not|don't) ever ")
_LATER_ALWAYS = lazy(
    r"(?:,| and| but|;) (?:please )?((?:always|never) (?!\w+(?:s|ed)\b|been|had|be\b|thrown|seen)(?=\w+ ))"
)
_FOR_ALL = lazy(r"(?:use|take|write|run|prefer) .{1,60} for (?:everything|all|every|any)\b")
_EACH_TIME = lazy(
    r"(?:whenever|every time|each time|when|before|after) (?!you(?:'re| are) (?:done|finished|ready)|you(?:'ve"
    r"| have))you \w+[^,]{0,80}, (?:please |always |also |make sure |never |don't )*(\w+)"
    r"|(?:after|before) (?:each|every) [^,]{2,60}?,? (?:please |always |also )*(\w+) "
    r"|(?:before|after|when|while) \w+ing\b[^,]{0,40}?,? (?:always|never) (\w+)"
    r"|(?:before|when|while) \w+ing\b[^,]{0,40}?, (?:please |also )*(\w+)"
)
_YOU_DID = lazy(
    r"you(?:'ve| have)? (?:just )?(?:broke|broken|removed|deleted|ignored|overwrote|overwritten|duplicated"
    r"|hardcoded|committed|pushed"
    r"|changed|renamed|added|reformatted|reintroduced|reverted|edited|touched) (?=.*(?:\bagain\b|\bwithout\b"
    r"|, (?:please|don't|i |that|which|but)))"
)
_ASK_FIRST = lazy(
    r"(?:please )?(?:ask|check with|tell|warn) me (?:first|before)|ask (?:first|before) |(?:don't|do not"
    r"|never) .{2,80} without"
    r" (?:asking|checking|telling|my )"
)
_NO_NEED_THEN = lazy(r"you (?:didn't|did not) (?:need|have) to ")
_ALWAYS_DO = lazy(r"you (always|never) (\w+)\b")
_ENOUGH = lazy(r"[,;.!–—-] .*\b(?:stop|don't|do not|not asked|never asked|annoying|enough|cut it)\b")
_IS_WRONG = lazy(r"\b(?:is|was|isn't|wasn't) (?:plain |simply |just )?(?:wrong|bad|incorrect|not|true|right)\b")
_FIRST = lazy(
    r"i (?:want|need|expect|'d like|would like) you to (?=.{2,80}\b(?:first|every time|each time|before you)\b)"
)
_APPRECIATE = lazy(
    r"i(?:'d| would) (?:appreciate|like|love|prefer|rather)(?: it)?(?: if| that)? ?you (?:would(?:n't| not)|didn't"
    r"|did not"
    r"|could (?:not|always)|always|never) ?"
)
# What goes on for a while is stopped once; what is done is stopped for good.
_STOP = lazy(
    r"(?:stop|quit) (?=\w+ing\b)(?!(?:watching|running|waiting|looking|working|listening|trying|searching|building"
    r"|generating|thinking"
    r"|polling)\b"
    r"(?!.*\b(?:every|each|always|again|all)\b))"
)
_KEEP_DOING = lazy(r"you(?:'re| are)? (?:keep|kept|still|always|constantly|again) (\w+ing\b)")
_FORGOT = lazy(r"you(?:'ve| have)? (?:(?:again|still|also|always) )?(?:forgot|forget|missed|skipped) (?:to )?")
_SHOULD_HAVE = lazy(r"you should(n't| not)? have (\w+)")
_NOT_ASKED = lazy(r"i (?:did not|didn't|never) (?:say|ask|tell|want|request)(?: you)?(?: to| for)?\s+")
_UNDID = lazy(
    r"i(?:'ve| have)? (?:just |already )?(?:had to )?(?:reverted|undid|undone|undo|revert|rolled back|backed out"
    r"|restored)"
    r" (?=(?:your|the|that|this|all|most|both)\b)"
)
_ME = lazy(r"\b(?:me|my|i)\b")


def undone(body: Body) -> Lesson | None:
    """A change that the user took back."""
    found = _UNDID.match(body.masked)
    if found is None:
        return None
    return Lesson(
        "correction",
        f"The user undid {small_first(order(re.sub(r'(?i)^your ', 'the ', body.text[found.end() :])))}",
        ONCE,
    )


def not_to_do(body: Body) -> Lesson | None:
    """What is not to be done, or needs not."""
    text = body.masked
    if _ASK_FIRST.match(text):
        return Lesson("rule", order(body.text), GENERAL)
    if _AVOID.match(text) and not WHENEVER.search(text):
        return Lesson("anti_pattern", order(body.text), ONCE)
    if _HANDS_OFF.match(text) and not is_for_once(text):
        return Lesson("correction", order(body.text), ONCE)
    if _PLEASE_LESS.match(text) or (
        (body.is_polite or body.is_again) and not body.says_no and _NO_THING.match(text.rstrip(" .!"))
    ):
        return Lesson("preference", order(re.sub(r"(?i),? please[.! ]*$", "", body.text)), ONCE)
    if found := _NO_NEED.match(text):
        return None if is_for_once(text) else Lesson("preference", order(body.text), ONCE)
    found = _DONT.match(text)
    later = None if found else _LATER_DONT.search(text)
    if later and WHENEVER.search(text, 0, later.start()):
        return None  # "if it is there, don't ask": how the program shall behave
    matched = found or later
    if matched is None:
        return None
    rest = body.after(matched.end())
    if is_for_once(rest.masked) or (BROKEN.search(rest.masked) and not has_reason(rest.masked)):
        return None
    is_never = later is not None and later[0].rstrip().endswith("never")
    is_pattern = has_reason(rest.masked) or rest.masked.startswith(("use ", "rely "))
    kind: Kind = "rule" if is_never else "anti_pattern" if is_pattern and not body.is_reminder else "correction"
    if later and telling(body, later.end()) is body.text:
        return Lesson(kind, order(body.text, with_why=True), HINTED)
    lead = "Never" if is_never else "Don't"
    return Lesson(kind, order(f"{lead} {small_first(rest.text)}"), ONCE if found else HINTED)


def always(body: Body) -> Lesson | None:
    """What is to be done always, never, or in one way only."""
    text = body.masked
    found = _MUST_NOT.match(text) or _ALWAYS.match(text)
    if found:
        if is_for_once(text) or WHENEVER.match(text) or _IS_WRONG.search(text):
            return None
        is_barred = _MUST_NOT.match(text) is not None
        word = re.match(r".*?(?=(?:never|do not ever|don't ever|always|only) )", text) if not is_barred else None
        rest = body.text[word.end() :] if word else body.text[found.end() :]
        title = order(f"Never {rest}" if is_barred else _EVER.sub("Never ", rest))
        says_me = _ME.search(text) and not title.startswith("Never")
        return Lesson("preference" if says_me else "rule", title, GENERAL)
    if (found := _EACH_TIME.match(text)) and found[found.lastindex or 1] in VERBS and not is_for_once(text):
        return Lesson("rule", order(body.text, with_why=True), GENERAL)
    if _FOR_ALL.match(text):
        return Lesson("rule", order(body.text), GENERAL)
    if (found := _FIRST.match(text)) and not is_for_once(text):
        return Lesson("preference", order(body.text[found.end() :]), GENERAL)
    if found := _APPRECIATE.match(text):
        lead = "Don't " if "n't" in found[0] or " not" in found[0] else ""
        return Lesson("preference", f"{lead}{small_first(order(body.text[found.end() :]))}", GENERAL)
    if (found := _LATER_ALWAYS.search(text)) and not WHENEVER.search(text, 0, found.start()):
        return Lesson("rule", order(body.text[found.start(1) :], with_why=True), ONCE)
    return None


def habit(body: Body) -> Lesson | None:
    """What the agent does again and again, left out, or did unasked."""
    text = body.masked
    found = _ALWAYS_DO.match(text)
    if found and found[2] in VERBS and (body.is_kept or body.is_reminder or body.is_general):
        return Lesson("rule", order(body.text[found.start(1) :]), GENERAL)
    if body.is_kept and text.startswith("you"):
        return None
    if found := _STOP.match(text):
        return (
            None
            if is_for_once(text)
            else Lesson("correction", f"Stop {small_first(order(body.text[found.end() :]))}", REPEATED)
        )
    if found := _KEEP_DOING.match(text):
        doing = re.split(r"[,;.?]", body.text[found.start(1) :])[0]
        return Lesson("correction", f"Stop {small_first(order(doing))}", REPEATED)
    if found := _FORGOT.match(text):
        rest = small_first(order(re.sub(r"(?i) again\b", "", body.text[found.end() :])))
        # What was left out once is to be made up for; only what is left out time and again is a lesson.
        if not re.search(r"\b(?:again|always|still|to|every time)\b", text):
            return None
        to = "to " if found[0].endswith("to ") else ""
        return Lesson("correction", f"Don't forget {to}{rest}", REPEATED if " again" in text else ONCE)
    if found := _SHOULD_HAVE.match(text):
        base = base_of(found[2]) or (found[2][:-2] if found[2].endswith("ed") else "")
        rest = order(f"{base} {body.text[found.end() :].strip()}")
        return Lesson("correction", f"Don't {small_first(rest)}" if found[1] else rest, ONCE) if base else None
    if (found := _ALWAYS_DO.match(text)) and found[1] == "always" and found[2] in VERBS:
        # Without a word of complaint it may as well be how it is to be done.
        if not body.is_complaint and not _ENOUGH.search(text):
            return None
        doing = re.split(r"[,;.?]", body.text[found.start(2) :])[0]
        return Lesson("correction", f"Don't always {doing}", REPEATED)
    if _YOU_DID.match(text) or _NO_NEED_THEN.match(text):
        return Lesson("correction", order(body.text, with_why=True), REPEATED if " again" in text else ONCE)
    if found := _NOT_ASKED.match(text):
        return Lesson("correction", f"Not asked for: {small_first(order(body.text[found.end() :]))}", ONCE)
    return None
