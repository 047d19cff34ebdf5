"""Lessons in German sentences."""

from claude_mem_lite.compress.lessons.lesson import GENERAL, ONCE, REPEATED, Lesson, order
from claude_mem_lite.lazy_regex import lazy

_QUESTION = lazy(
    r"(?i)(?:kannst|könntest|kann|könnte|sollen|soll|hast|habt|ist|sind|gibt|warum|wieso|was|wie|wer|wo|wann|welche\w*"
    r"|weißt|wenn|falls|sobald|ja)\b|.*\?\s*$"
)
_APPROVAL = lazy(
    r"(?i)(?:das|so|es|alles)(?: \w+)? (?:passt|ist (?:ok|okay|gut|so ok|richtig)|geht|stimmt|gut|reicht)|danke"
    r"|noch nicht|keine (?:ahnung|sorge)|ich (?:hab|habe|weiß|bin|glaube|denke)"
)
_THIS_ONCE = lazy(r"(?i)\b(?:noch nichts?|erstmal|vorerst|jetzt noch|im moment|diesmal|nichts)\b")
_DO = (
    r"(?:nimm|nutze?|benutze?|verwende?|mache?|schreibe?|setze?|lege?|rufe?|lasse?|fasse?|ändere?|lösche?|committe?"
    r"|pushe?)"
)
_RATHER = lazy(rf"(?i){_DO} .{{1,150}}?(?: statt | anstatt | anstelle |,? und nicht |, nicht )")
_DO_NOT = lazy(rf"(?i)(?:{_DO} .{{0,150}}\b(?:nicht|kein\w*|nie)\b|(?:keine?n?|nicht) .{{2,150}}\w+en[.!]*$)")
_NEVER = lazy(r"(?i)(?:nie|niemals|auf keinen fall|immer|stets) .{2,200}\w+en\b")
_WE = lazy(
    r"(?i)wir (?!haben|müssen|brauchen|sollten|könnten|hätten|wollten)\w+en\b.{0,200}\b(?:immer|nie|niemals|hier"
    r"|grundsätzlich|stets|in diesem (?:projekt|repo)|bei uns|nicht|kein\w*)\b"
)
_WISH = lazy(
    r"(?i)ich (?:bevorzuge|mag (?:keine?|lieber|es nicht)|hätte (?:lieber|gerne? immer)|möchte (?:immer|nie|lieber"
    r"|keine?)|will (?:keine?|nie|immer))\b"
)
_ALWAYS_ASK = lazy(
    r"(?i)(?!das|es|der|die|er|sie|ich|wir|noch|immer|ist|geht)\w+ (?:(?:mich|mir|dann|dabei|vorher) )*(?:immer|nie"
    r"|niemals|stets|vorher)\b"
)
_RATHER_SO = lazy(r"(?i)lieber \w+")
_PLEASE = lazy(r"(?i)[\wäöüß-]+ bitte (?:auf|in|nur|immer|nicht|ohne|mit|nie)\b")
_NONE = lazy(r"(?i)keine?n? (?!sorge|ahnung|panik|eile|angst|umstände|fehler|zeit|idee)[\wäöüß-]{3,}")
_BUT = lazy(r"(?i)nicht .{1,120}?,? sondern ")
_FROM_NOW = lazy(r"(?i)(?:ab jetzt|ab sofort|von jetzt an|künftig|in zukunft)\b[,:]? ")
_STOP = lazy(r"(?i)lass .{2,80} in ruhe|h(?:ö|oe)r (?:bitte )?(?:endlich )?auf\b")
_WRONG = lazy(r"(?i)das (?:ist|war|stimmt) (?:falsch|nicht(?: richtig)?|verkehrt)\s*[,:;–—-]\s*(?=\w+ \w+ \w+)")
_ORDER = lazy(
    rf"(?i)(?:{_DO}|das (?:muss|soll|gehört)|es (?:muss|soll)|der|die|das|wir|du sollst|nicht (?:in|im|als|mit)) "
)
_PLEASE_LAST = lazy(r"(?i),? bitte[.! ]*$")
_OF_THE_PROGRAM = lazy(r"(?i)\b(?:button|schaltfläche|knopf|farbe|überschrift|spalte|links sein|rechts sein)\b")
_YOU_SHALL = lazy(r"(?i)^du sollst ")


_IS_GERMAN = lazy(
    r"(?i)\b(?:nicht|nein|bitte|niemals|immer|ich|wir|du|dass|statt|kein(?:e|en|er)?|und|auf|die|der|hör|lass"
    r"|ab (?:jetzt|sofort))\b"
)
_LEAD = lazy(
    r"(?i)(?:(?P<no>nein|nee|no)(?:\s*[,.!:;–—-]+\s*|\s+)|(?P<polite>bitte)[\s,]+|(?:ach|doch|also|aber|na ja|mensch"
    r"|mann|verdammt|schon wieder|nochmal|zum letzten mal|ok(?:ay)?)\b[\s,.!:;–—-]+|(?P<again>ich hab(?:e)? (?:(?:doch"
    r"|dir|es|schon|bereits|ja|\w+mal|mehrfach) )*gesagt,? (?:dass )?|wie gesagt[,:]? ))"
)


def lesson(text: str) -> Lesson | None:
    """Return the lesson of a German sentence, if any."""
    if not _IS_GERMAN.search(text):
        return None
    leads: set[str] = set()
    while (lead := _LEAD.match(text)) and lead.end() < len(text):
        leads.add(lead.lastgroup or "")
        text = text[lead.end() :]
    return _classify(text, leads)


def _classify(text: str, leads: set[str]) -> Lesson | None:
    statement = _PLEASE_LAST.sub("", _YOU_SHALL.sub("", text))
    is_polite = "polite" in leads or statement != text
    if _QUESTION.match(text) or _APPROVAL.match(text) or _OF_THE_PROGRAM.search(text):
        return None
    if "again" in leads:
        return Lesson("correction", order(statement), REPEATED)
    if _RATHER.match(text) or _STOP.match(text) or _BUT.match(text):
        return Lesson("correction", order(statement), ONCE)
    if match := _WRONG.match(text):
        return Lesson("correction", order(statement[match.end() :]), ONCE)
    if _WISH.match(text) or _FROM_NOW.match(text) or _PLEASE.match(text):
        return Lesson("preference", order(statement), GENERAL)
    if _WE.match(text):
        return Lesson("convention", order(statement), GENERAL)
    if _THIS_ONCE.search(text):
        return None
    if _RATHER_SO.match(text) or (is_polite and _NONE.match(text) and not _DO_NOT.match(text)):
        return Lesson("preference", order(statement), GENERAL)
    if _NEVER.match(text) or ("polite" in leads and _ALWAYS_ASK.match(text)):
        return Lesson("rule", order(statement), GENERAL)
    if _DO_NOT.match(text) or ("no" in leads and _ORDER.match(text) and len(text.split()) > 2):
        return Lesson("correction", order(statement), ONCE)
    return None
