"""A sentence of a user -> what it teaches, if anything, by rules. What counts is defined in docs/corrections.md.

Called with sentences of bounded length (see spoken.py); in doubt a sentence teaches nothing: a rule that nobody gave
is worse than one that has to be given twice."""

import re
from dataclasses import replace

from claude_mem_lite.compress.lessons import chinese, german
from claude_mem_lite.compress.lessons.english import lesson as english
from claude_mem_lite.compress.lessons.leads import without_leads
from claude_mem_lite.compress.lessons.lesson import STATED, Lesson, order, says_something
from claude_mem_lite.compress.lessons.scopes import without_scope
from claude_mem_lite.compress.lessons.spoken import LONGEST_SENTENCE

_QUOTED = re.compile(r'"[^"]{0,400}"|“[^”]{0,400}”|«[^»]{0,400}»|(?<!\w)\'[^\']{2,400}\'(?!\w)')
_REMEMBER = re.compile(
    r"(?i)^(?:(?:please|pls|and|also|ok(?:ay)?|btw|so|but|bitte|hey claude|claude)[,:]?\s+)*"
    r"(?:(?:remember|keep in mind|bear in mind|make a note|take note"
    r"|merk(?:e)? (?:dir|es dir)|denk(?:e)? (?:bitte )?daran|vergiss (?:bitte )?nicht)"
    r"(?: (?:this|bitte|für später|for later|for next time|for the future|from now on))*"
    r"(?:\s*[,:–—-]\s*(?:that |dass )?|\s+(?:that|dass)\s+|\s+(?=(?:to|i|i'm|i've|we|we're|the|you|our|my|all"
    r"|there|it's|not|never|always|in|on|for)\s))"
    r"|(?:don't|do not|never) forget that |(?:note for later|note to self|for (?:later|future) reference"
    r"|for the record|(?:save|add|put)(?: this| that)?"
    r" (?:to|in|into) (?:your )?memory|notiz für später)\s*[,:–—-]\s*(?:that |dass )?"
    r"|(?:请)?(?:记住|记得|记一下|牢记|别忘了|不要忘记)\s*[：:，,]?\s*)"
)
_REMEMBER_LAST = re.compile(
    r"(?i)[\s,;.–—-]+(?:(?:please|so) )?(?:remember|memorize|note|keep) (?:that|this|it)(?: in mind| for (?:later"
    r"|next time|the future))?"
    r"[.! ]*$|[，,。]\s*(?:请)?记住(?:这一?点|这个)?[。！!]*$"
)
_REMEMBERED_DEED = re.compile(r"(?i)^to\s+(?=\w)")
_NO_CONTENT = re.compile(r"(?i)^(?:when|how|what|the (?:time|bug|day|issue|error) (?:when|we|that))\b|[?？]|吗[。]?$")
_FYI = re.compile(r"(?i)^(?:fyi|btw|note|just so you know)[,:]?\s+")
_LEAST_CONTENT = 8
_CJK = re.compile(r"[\u4e00-\u9fff]")
_GERMAN = re.compile(
    r"(?i)\b(?:nicht|nein|bitte|niemals|immer|ich|wir|du|dass|statt|kein(?:e|en|er)?|und|auf|die|der|hör|lass"
    r"|ab (?:jetzt|sofort))\b"
)


def read(sentence: str) -> Lesson | None:
    """What a sentence teaches; None when it is a task, a question, a report, an answer or just talk."""
    text = sentence.strip().replace("’", "'")
    if not text or len(text) > LONGEST_SENTENCE:
        return None
    asked = _REMEMBER.match(text)
    if asked:
        return _remembered(text[asked.end() :])
    if (last := _REMEMBER_LAST.search(text)) and last.start() > _LEAST_CONTENT:
        return _remembered(_FYI.sub("", text[: last.start()]))
    scoped = without_scope(text)
    found = _told(scoped.text, is_general=scoped.is_general)
    if found is None or not says_something(found.title):
        return None
    return replace(found, scope=scoped.scope)


def _remembered(content: str) -> Lesson | None:
    """What is to be kept because the user asks for it: of the kind that its content has."""
    if _NO_CONTENT.search(content) or len(content) < 3:
        return None
    scoped = without_scope(content)
    deed = _REMEMBERED_DEED.match(scoped.text)
    text = scoped.text[deed.end() :] if deed else scoped.text
    found = _told(text, is_general=scoped.is_general)
    kind = found.kind if found else "rule" if deed else "note"
    title = found.title if found else order(text, with_why=True)
    if kind == "correction":
        kind = "rule"
    return Lesson(kind, title, STATED, scoped.scope) if says_something(title) else None


def _told(text: str, *, is_general: bool) -> Lesson | None:
    if _CJK.search(text):
        return chinese.lesson(text)
    body = without_leads(text, _masked(text))
    if _GERMAN.search(text) and (found := german.lesson(body)):
        return found
    return english(replace(body, is_general=is_general))


def _masked(text: str) -> str:
    """The sentence in lower case, of the same length, with what it quotes blotted out: that is not its own word."""
    blotted = _QUOTED.sub(lambda found: f"{found[0][0]}{'_' * (len(found[0]) - 2)}{found[0][-1]}", text)
    # A letter whose small form is longer would shift everything behind it.
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in blotted)
