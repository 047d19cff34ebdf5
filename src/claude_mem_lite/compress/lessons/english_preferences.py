"""English sentences that say how the user likes it, or how things are done in a project."""

import re

from claude_mem_lite.compress.lessons.english_no_lessons import BROKEN, VERBS, is_for_once
from claude_mem_lite.compress.lessons.leads import Body
from claude_mem_lite.compress.lessons.lesson import GENERAL, HINTED, ONCE, Lesson, of_the_user, order
from claude_mem_lite.models import Kind
from claude_mem_lite.patterns import lazy

_CHOICE = (
    r"(?:option|the (?:first|second|third|last|other|latter|former|\w+ (?:one|option|version|variant|approach"
    r"|solution))\b|that\b|this\b|it\b|number|\d|variant|approach"
    r"|yours)"
)
_PREFER = lazy(
    rf"(?:i(?:'d| would)? (?:(?:really|much|generally|strongly|also|usually|always) )*)?prefer (?:to "
    rf"|if )?(?!{_CHOICE})"
)
# A wish for the step at hand more often than a habit: "I'd prefer we update the docs first".
_WOULD_PREFER = lazy(r"i(?:'d| would) (?:\w+ )?prefer (?:if |that )?(?:we|you) ")
_RATHER_HAVE = lazy(
    rf"i(?:'d| would)(?: much)? rather (?:have |use |see |keep )?(?=\w)(?!{_CHOICE}|not (?:decide|do|say|talk"
    rf"|discuss|go))"
)
_MY_PREFERENCE = lazy(r"my (?:strong |personal )?preference is (?:to |for )?(?!option|the (?:first|second|third|last))")
_BE = lazy(
    r"be (?:(?:more|less|very|as) )?(?:concise|brief|careful|consistent|explicit|precise|short|strict|conservative"
    r"|specific|terse)\b"
)
_SPEAK = lazy(
    r"(?:speak|answer|reply|respond|write|talk)(?: to me| with me)?(?: in)? (?:english|german|french|spanish"
    r"|chinese|italian|dutch|japanese)\b"
)
_DISLIKE = lazy(
    r"i(?:'m| am) not a (?:big |huge )?fan of |i (?:really |still |just )?(?:don't like|do not like|dislike|hate"
    r"|can't stand) (?!how this|that it|this\b|that\b|the \w+$|it\b)"
)
_LIKE_BETTER = lazy(r"i like (?:it )?(?:better|best|more|most|when)\b|i like (?:my|to see|to have|your)\b")
_DONT_WANT = lazy(
    r"(?:i|we) (?:really )?(?:don't|do not|never) want (?!to (?!see|have|use|add|depend|introduce|break|change|lose"
    r"|touch)\w)(?=\w)"
)
_FROM_NOW = lazy(
    r"(?:from now on|going forward|in (?:the )?future|for the future)[,:]? (?!it|there|this|we (?:will|might|could"
    r"|may))"
)
_FROM_NOW_LAST = lazy(r",? (?:from now on|in (?:the )?future|going forward)(?:,? please)?[.! ]*$")
_PLEASE_USE = lazy(r"(?:use|write|speak|answer|reply) (?!the\b|this\b|that\b|it\b)(?:\S+ ){0,3}\S+[.! ]*$")
_PLACED = lazy(r"\b(?:in|to|for|from|here|on)\b(?! (?:english|german|chinese|french|spanish|one|a single)\b)")
_EVERY = lazy(
    r"(?:all|every|each|any|new|everything|everyone|nothing)(?: [\w./-]+){0,7}? (?:must|has to|have to"
    r"|should always|should never"
    r"|needs? (?:to|an?|its|their)|shall|may only|(?:is|are) not allowed)\b"
)
_ARTEFACT = (
    r"(?:commits?|messages|branch(?:es)?|tests|comments|docstrings|functions|methods|class(?:es)?|variables|names"
    r"|files|imports|prs"
    r"|pull requests|migrations|components|docs|types|errors|logs|endpoints|dependencies|constants|tickets|hooks"
    r"|queries|fixtures)"
)
_KEEP = lazy(rf"keep (?:(?:your|our|my|answers|replies) |(?:the |all |your )?{_ARTEFACT} )")
_MUST_STAY = lazy(
    r"(?:it|this|everything|the [\w./ -]{2,40}) (?:must|has to|have to|needs to) (?:stay|remain|keep|continue|still) "
)
_NAMED_PLEASE = lazy(
    rf"(?:[a-z-]+ )?{_ARTEFACT} (?:in|with|without|as|under|on|only)\b.{{2,80}} please[.! ]*$"
    rf"|(?:[a-z-]+ )?{_ARTEFACT} (?:lower ?case|upper ?case|capitali[sz]ed|short|shorter|small|smaller|imperative"
    rf"|alphabetical"
    rf"|sorted|typed|english|snake_case|camelcase|kebab-case|singular|plural),? please[.! ]*$"
)
_ARTEFACTS = lazy(
    rf"(?!the |these |those |this |my |all )(?:[a-z-]+ )?{_ARTEFACT} (?:should|must|need to|have to) (?:always "
    rf"|never |not |only )?(?!pass|work|run\b|fail|show|appear)\w+"
)
_ONLY_BY = lazy(
    r"(?:the|our) (?!user|page|button|app|list|modal|message|response|request|client"
    r"|server)[\w./ -]{2,60}? (?:must|may|should) (?:only|never|always) "
)
_MAKE_SURE = lazy(r"(?:make sure|ensure) (?:that )?(?:you |to )?(?:always|never|every|all|each)\b")
# What goes with a step of the work holds each time; "make sure it works" is a task.
_STEP = (
    r"(?:commit|push|merg|deploy|releas|finish|stop|edit|answer|repl[yi]|open|rebas|delet|renam|touch|migrat|creat|add"
    r"|writ|chang|publish|tag)\w*"
)
_WITH_EACH_STEP = lazy(
    rf"(?:(?:make|be) sure|ensure|see to it|take care)(?: that)? (?:you |to )(?=(\w+) .{{2,100}}\b(?:before|after"
    rf"|whenever|when|each time|every time) (?:you |every |each |any )?{_STEP}\b(?! (?:this|that|it)\b))"
)
_EACH_STEP = lazy(
    r"(?=(\w+) .{2,80}\b(?:before|after|with|on) (?:every|each|any) (?:single )?(?:commit|push|pr|pull request|merge"
    r"|release|deploy(?:ment)?|change|edit)\b)"
)
_WE_DO = lazy(
    r"we (?:always|never|usually|generally|only ever|normally|consistently|strictly|typically) (?!had|been|got|see"
    r"|saw|get|\w+ed\b(?<!need))\w+ "
    r"|we (?:have )?(?:agreed|settled) (?:on|to|that) |we (?:pin|squash|sign|lint|vendor|version) (?:all|every"
    r"|each|our) "
    r"|we (?:follow|stick to|adhere to|target|require|enforce) "
)
_WE_DO_LATER = lazy(r"[,;.:–—-] (?:because |since |as )?(we (?:always|never) (?!had|been|got|see|saw|get)\w+ )")
_NO_LONGER = lazy(r"we (?:no longer|don't|do not) use |we(?:'re| are) not \w+ing (?!sure|going)|we stopped using ")
_ENFORCED = lazy(
    r"(?:our|the) (?:linter|ci|style ?guide|formatter|team|reviewers?|policy|pipeline"
    r"|compiler settings) (?:forbids?|requires?|enforces?"
    r"|expects?|rejects?|wants?|does(?:n't| not) allow|only (?:accepts|allows)) "
)
_WE_USE = lazy(r"we (?:use|write|name|keep|put|follow|prefer|call|run|store|log|deploy|test|commit|format|do) ")
_HERE = lazy(r"\b(?:here|in this (?:repo|repository|project|code ?base|team)|everywhere|by convention)\b")
_RATHER = lazy(r"(?:,| and|,? but)? (?:not|instead of|rather than|never) (?=\S)")
_WE_DONT = lazy(
    r"we (?:don't|do not) (?:use|do|write|put|commit|mock|merge|push|allow|import|deploy|squash"
    r"|abbreviate) (?!that yet|it yet)"
)
_WE_HERE = lazy(
    r"we (?!have|had|need|want|see|saw|get|got|are|were|can|could|should|must|might|may|will|lost|met|came|went"
    r"|\w+ed\b)\w+"
    r" (?!to\b)[^,?]{2,80} (?:around )?here[.! ]*$"
)
_OUR_THINGS = lazy(rf"our (?:[a-z-]+ )?{_ARTEFACT} (?:start|end|begin|use|follow|go|live|carry|come) ")
_IN_THIS = lazy(
    r"in (?:this|our) (?:repo|repository|project|code ?base|team|monorepo|company)\b,? "
    r"(?!(?:i|i'd|i'm|can|could|there|what|how|do|does|is|are|why|let's) |we (?:need|want|should|have|see|could) )"
)
_IN_THIS_LAST = lazy(r" (?:in|across|throughout) (?:this|our|the) (?:repo|repository|project|code ?base|team)[.! ]*$")
_REPO_USES = lazy(
    r"(?:this|our|the) (?:repo|repository|project|code ?base|team|package|library|service|app) (?:uses|follows"
    r"|requires|targets|only"
    r"|never|always|is (?:written|built|on)|runs on|sticks to) "
)
_OUR_WAY = lazy(
    r"(?:our|the) (?:\w+ )?(?:convention|style|policy|rule|standard|guideline|practice)s?(?: here"
    r"| in this \w+)? (?:is|are|says?)\b"
)
_ARE_DONE = lazy(
    r"(?!these|those)(?:[a-z-]+ )?[a-z-]+s (?:are|go|belong|live) (?:always |never |only )?(?:named|called|written"
    r"|stored|kept|spelled|formatted|prefixed"
    r"|suffixed|versioned|pinned|sorted|in|into|under|next to|to) "
)
# Where something lies may be told of this task alone: "results are in out/report.md".
_ARE_IN = lazy(r"(?!our )(?:[a-z-]+ )?[a-z-]+s are (?:in|into|under|next to|to) ")
_BELONGS = lazy(r"[\w./ -]{2,60}? belongs? (?:in|to|into|under|on|next to) ")
_TRUTH = lazy(r"\(?.{2,80} should be (?:the |our )?(?:single )?source of truth")
_WE_WANT_TO_BE = lazy(r"(?:with .{2,40} )?we want to (?:be|keep|avoid|stay) ")
_PLEASE_LAST = lazy(r"(?i),? please[.! ]*$")


def preference(body: Body) -> Lesson | None:
    """How the user likes it."""
    text = body.masked
    for pattern, lead in (
        (_PREFER, "Prefer "),
        (_RATHER_HAVE, "Prefer "),
        (_MY_PREFERENCE, "Prefer "),
        (_DISLIKE, "Avoid "),
        (_FROM_NOW, ""),
    ):
        if found := pattern.match(text):
            sure = ONCE if _WOULD_PREFER.match(text) else GENERAL
            return Lesson("preference", order(f"{lead}{body.text[found.end() :]}"), sure)
    if (
        _LIKE_BETTER.match(text)
        or (_KEEP.match(text) and not is_for_once(text))
        or _BE.match(text)
        or _SPEAK.match(text)
    ):
        return Lesson("preference", order(of_the_user(body.text)), GENERAL)
    if _DONT_WANT.match(text):
        return Lesson("preference", order(of_the_user(body.text), with_why=True), GENERAL)
    if _NAMED_PLEASE.match(text):
        return Lesson("preference", order(_PLEASE_LAST.sub("", body.text)), GENERAL)
    if (found := _FROM_NOW_LAST.search(text)) and begins_with_verb(text):
        kind: Kind = "rule" if _MAKE_SURE.match(text) else "preference"
        return Lesson(kind, order(body.text[: found.start()]), GENERAL)
    if body.is_polite and _PLEASE_USE.match(text) and not _PLACED.search(text):
        return Lesson("preference", order(body.text), HINTED)
    return None


def disliked(body: Body) -> Lesson | None:
    """A dislike that ends in a question: "I don't like X, any other ideas?"."""
    found = _DISLIKE.match(body.masked)
    if found is None or "," not in body.masked:
        return None
    return Lesson("preference", order(f"Avoid {body.text[found.end() : body.masked.index(',')]}"), ONCE)


def rule(body: Body) -> Lesson | None:
    """What holds for everything of a sort."""
    text = body.masked
    if (found := _WITH_EACH_STEP.match(text) or _EACH_STEP.match(text)) and found[1] in VERBS and not is_for_once(text):
        return Lesson("rule", order(body.text[found.end() :]), GENERAL)
    is_rule = _EVERY.match(text) or _MAKE_SURE.match(text) or _ARTEFACTS.match(text) or _ONLY_BY.match(text)
    is_rule = is_rule or _MUST_STAY.match(text)
    return Lesson("rule", order(body.text), GENERAL) if is_rule and not is_for_once(body.masked) else None


def convention(body: Body) -> Lesson | None:
    """How things are done here."""
    text = body.masked
    if _WE_DO.match(text):
        return Lesson("convention", order(body.text, with_why=True), GENERAL)
    if BROKEN.search(text) or (begins_with_verb(text) and ", we " not in text and not _WE_DO_LATER.search(text)):
        return None
    is_said = _OUR_WAY.match(text) or _WE_DONT.match(text) or _IN_THIS.match(text) or _REPO_USES.match(text)
    if (comma := text.find(", we ")) > 0 and _WE_HERE.match(text, comma + 2):
        return Lesson("convention", order(body.text[comma + 2 :], with_why=True), ONCE)
    if found := _WE_DO_LATER.search(text):
        return Lesson("convention", order(body.text[found.start(1) :], with_why=True), ONCE)
    is_said = (
        is_said or _WE_HERE.match(text) or _OUR_THINGS.match(text) or _NO_LONGER.match(text) or _ENFORCED.match(text)
    )
    is_told = _TRUTH.match(text) or _IN_THIS_LAST.search(text) or _BELONGS.match(text)
    if is_said or is_told or (_WE_USE.match(text) and (_HERE.search(text) or _RATHER.search(text))):
        return Lesson("convention", order(body.text.strip("()"), with_why=True), GENERAL)
    if _ARE_DONE.match(text):
        sure = ONCE if _ARE_IN.match(text) and not body.is_general else GENERAL
        return Lesson("convention", order(body.text, with_why=True), sure)
    return Lesson("convention", order(body.text, with_why=True), HINTED) if _WE_WANT_TO_BE.match(text) else None


def begins_with_verb(text: str) -> bool:
    """Whether it begins with a verb of software work, as an order does."""
    word = re.match(r"[a-z]+", text)
    return word is not None and word[0] in VERBS
