"""What a German sentence teaches."""

from claude_mem_lite.compress.lessons.leads import Body
from claude_mem_lite.compress.lessons.lesson import GENERAL, ONCE, REPEATED, Lesson, order
from claude_mem_lite.patterns import lazy

_QUESTION = lazy(
    r"(?:kannst|könntest|kann|könnte|sollen|soll|hast|habt|ist|sind|gibt|warum|wieso|was|wie|wer|wo|wann|welche\w*"
    r"|weißt|wenn|falls|sobald|ja)\b|.*\?\s*$"
)
_APPROVAL = lazy(
    r"(?:das|so|es|alles)(?: \w+)? (?:passt|ist (?:ok|okay|gut|so ok|richtig)|geht|stimmt|gut|reicht)|danke|noch nicht"
    r"|keine (?:ahnung|sorge)|ich (?:hab|habe|weiß|bin|glaube|denke)"
)
_THIS_ONCE = lazy(r"\b(?:noch nichts?|erstmal|vorerst|jetzt noch|im moment|diesmal|nichts)\b")
_DO = (
    r"(?:nimm|nutze?|benutze?|verwende?|mache?|schreibe?|setze?|lege?|rufe?|lasse?|fasse?|ändere?|lösche?"
    r"|committe?|pushe?)"
)
_RATHER = lazy(rf"{_DO} .{{1,150}}?(?: statt | anstatt | anstelle |,? und nicht |, nicht )")
_DO_NOT = lazy(rf"(?:{_DO} .{{0,150}}\b(?:nicht|kein\w*|nie)\b|(?:keine?n?|nicht) .{{2,150}}\w+en[.!]*$)")
_NEVER = lazy(r"(?:nie|niemals|auf keinen fall|immer|stets) .{2,200}\w+en\b")
_WE = lazy(
    r"wir (?!haben|müssen|brauchen|sollten|könnten|hätten|wollten)\w+en\b.{0,200}\b(?:immer|nie|niemals|hier"
    r"|grundsätzlich|stets|in diesem (?:projekt|repo)|bei uns|nicht|kein\w*)\b"
)
_WISH = lazy(
    r"ich (?:bevorzuge|mag (?:keine?|lieber|es nicht)|hätte (?:lieber|gerne? immer)|möchte (?:immer|nie|lieber|keine?)"
    r"|will (?:keine?|nie|immer))\b"
)
_ALWAYS_ASK = lazy(
    r"(?!das|es|der|die|er|sie|ich|wir|noch|immer|ist|geht)\w+ (?:(?:mich|mir|dann|dabei|vorher) )*(?:immer|nie"
    r"|niemals|stets|vorher)\b"
)
_RATHER_SO = lazy(r"lieber \w+")
_PLEASE = lazy(r"[\wäöüß-]+ bitte (?:auf|in|nur|immer|nicht|ohne|mit|nie)\b")
_NONE = lazy(r"keine?n? (?!sorge|ahnung|panik|eile|angst|umstände|fehler|zeit|idee)[\wäöüß-]{3,}")
_BUT = lazy(r"nicht .{1,120}?,? sondern ")
_FROM_NOW = lazy(r"(?:ab jetzt|ab sofort|von jetzt an|künftig|in zukunft)\b[,:]? ")
_STOP = lazy(r"lass .{2,80} in ruhe|h(?:ö|oe)r (?:bitte )?(?:endlich )?auf\b")
_WRONG = lazy(r"das (?:ist|war|stimmt) (?:falsch|nicht(?: richtig)?|verkehrt)\s*[,:;–—-]\s*(?=\w+ \w+ \w+)")
_ORDER = lazy(rf"(?:{_DO}|das (?:muss|soll|gehört)|es (?:muss|soll)|der|die|das|wir|du sollst) ")
_PLEASE_LAST = lazy(r"(?i),? bitte[.! ]*$")
_YOU_SHALL = lazy(r"(?i)^du sollst ")


def lesson(body: Body) -> Lesson | None:
    """What the sentence teaches, or nothing."""
    text = body.masked
    if _QUESTION.match(text) or _APPROVAL.match(text):
        return None
    told = _PLEASE_LAST.sub("", _YOU_SHALL.sub("", body.text))
    is_polite = body.is_polite or told != body.text
    if body.is_reminder:
        return Lesson("correction", order(told), REPEATED)
    if _RATHER.match(text) or _STOP.match(text) or _BUT.match(text):
        return Lesson("correction", order(told), ONCE)
    if found := _WRONG.match(text):
        return Lesson("correction", order(told[found.end() :]), ONCE)
    if _WISH.match(text) or _FROM_NOW.match(text) or _PLEASE.match(text):
        return Lesson("preference", order(told), GENERAL)
    if _WE.match(text):
        return Lesson("convention", order(told), GENERAL)
    if _THIS_ONCE.search(text):
        return None
    if _RATHER_SO.match(text) or (is_polite and _NONE.match(text) and not _DO_NOT.match(text)):
        return Lesson("preference", order(told), GENERAL)
    if _NEVER.match(text) or (body.is_polite and _ALWAYS_ASK.match(text)):
        return Lesson("rule", order(told), GENERAL)
    if _DO_NOT.match(text) or (body.says_no and _ORDER.match(text) and len(text.split()) > 2):
        return Lesson("correction", order(told), ONCE)
    return None
