"""A sentence of the user -> an explicit lesson: a request to remember, an order with "always", and common forms of
German and Chinese. All other English is left to the scorer.

Called with sentences of limited length (see user_voice.py); in doubt a sentence states nothing."""

from dataclasses import replace

from claude_mem_lite.compress.lessons import other_languages
from claude_mem_lite.compress.lessons.lesson import (
    CJK,
    GENERAL,
    STATED,
    Lesson,
    names_project,
    order,
    says_something,
    without_scope,
)
from claude_mem_lite.compress.lessons.statement import is_order, named_kind, without_lead
from claude_mem_lite.compress.lessons.user_voice import MAX_SENTENCE_LENGTH
from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.compress.prose.sentence_types import states_decision
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Kind
from claude_mem_lite.scopes import UNIVERSAL_KINDS

_REMEMBER = lazy(
    r"(?i)^(?:(?:please|pls|and|also|ok(?:ay)?|btw|so|but|bitte|hey claude|claude)[,:]?\s+)*(?:(?:remember"
    r"|keep in mind|bear in mind|make a note|take note|merk(?:e)? (?:dir|es dir)|denk(?:e)? (?:bitte )?daran"
    r"|vergiss (?:bitte )?nicht)(?: (?:this|bitte|für später|for later|for next time|for the future"
    r"|from now on))*(?:\s*[,:–—-]\s*(?:that |dass )?|\s+(?:that|dass)\s+|\s+(?=(?:to|i|i'm|i've|we|we're|the|you|our"
    r"|my|all|there|it's|not|never|always|in|on|for)\s))|(?:don't|do not|never) forget that |(?:note for later"
    r"|note to self|for (?:later|future) reference|for the record|(?:save|add|put)(?: this| that)? (?:to|in"
    r"|into) (?:your )?memory|notiz für später)\s*[,:–—-]\s*(?:that |dass )?|(?:请)?(?:记住|记得|记一下|牢记|别忘了"
    r"|不要忘记)\s*[：:，,]?\s*)"
)
_REMEMBER_LAST = lazy(
    r"(?i)[\s,;.–—-]+(?:(?:please|so) )?(?:remember|memorize|note|keep) (?:that|this|it)(?: in mind| for (?:later"
    r"|next time|the future))?[.! ]*$|[，,。]\s*(?:请)?记住(?:这一?点|这个)?[。！!]*$"
)
_REMEMBERED_DEED = lazy(r"(?i)^(?:not\s+to|to\s+not|to)\s+(?=\w)")
_YOU = lazy(r"(?i)^you (?=(?:always|never) )")
_TIME = lazy(
    r"(?i)\b(?:(?:when|once|as soon as) (?:(?:you|we|it|i|they|that|this)(?:'\w+| are| is| have| has)\b|done|finished"
    r"|ready|the \w+ (?:is|are|has)\b)|after(?:wards?)?(?! (?:every|each|any|you|all)\b| \w+ing\b)|later|today"
    r"|tomorrow|tonight|now|then|first|next|at the end|in the end|this (?:time|once)|before (?:i|we|lunch"
    r"|the (?:meeting|demo|release))|before you (?:go|stop|leave|finish|are|start))\b"
)
_NO_CONTENT = lazy(r"(?i)^(?:when|how|what|the (?:time|bug|day|issue|error) (?:when|we|that))\b|[?？]|吗[。]?$")
_ALWAYS = lazy(
    r"(?i)^(?:(?:you|we) (?:must|should|have to|need to) |i (?:want|need|expect) you to )?((?:always"
    r"|never(?: ever)?) (?=([a-z]+) \S).*)$"
)
_FROM_NOW = lazy(r"(?i)^(?:from now on|going forward)[,:]? (?!it\b|there\b|this\b)(.+)$")
_PREFER = lazy(
    r"(?i)^i(?:'d| would)? (?:really |strongly |generally |usually |always )?(?=prefer (?!option|the \w+ (?:one|option)"
    r"|the (?:first|second|last)|that\b|this\b|it\b|we\b|you\b|if\b))"
)
_NOT_STANDING = lazy(
    r"(?i)\?\s*$|\b(?:is|was) (?:wrong|bad|incorrect|misspelled)\b|\bfor now\b|\bthis time\b|\byet\b|^never mind"
    r"|^(?:always|never) (?:show|render|display|hide|redirect|scroll|reload|animate|log (?:in|out))\b(?! me\b)"
)
_MIN_CONTENT = 8


def read(sentence: str) -> Lesson | None:
    """Return the explicit lesson of a sentence, or None."""
    text = sentence.strip().replace("’", "'")
    if not text or len(text) > MAX_SENTENCE_LENGTH:
        return None
    if asked := _REMEMBER.match(text):
        return _remembered(text[asked.end() :])
    if (last := _REMEMBER_LAST.search(text)) and last.start() > _MIN_CONTENT:
        return _remembered(without_lead(text[: last.start()]))
    scoped = without_scope(without_lead(text))
    lesson = _stated(scoped.text, is_general=scoped.is_general)
    if lesson is None or not says_something(lesson.title):
        return None
    return replace(lesson, scope=scoped.scope)


def kind_asked(text: str) -> Kind:
    """Return the probable kind of a text that the user stores by command, as if it began with "remember that"."""
    content = _content(text)
    lesson = _remembered(content)
    if lesson is not None and lesson.kind != "note":
        return lesson.kind
    return "decision" if states_decision(content) else "note"


def scope_asked(text: str, named: Kind | None = None) -> str:
    """Return the scope of a text that the user stores by command: `universal`, `language:NAME` or `project`.

    Without a kind named by the user, the words decide, as in a prompt."""
    content = _content(text)
    is_universal = named in UNIVERSAL_KINDS and not names_project(content)
    return without_scope(content).scope or ("universal" if is_universal else "project")


def _content(text: str) -> str:
    """Return the first sentence of a text, without "remember that"; '' for a long sentence."""
    first = next(iter(sentences(text.replace("’", "'"))), "")
    return _REMEMBER.sub("", first, count=1) if len(first) <= MAX_SENTENCE_LENGTH else ""


def _remembered(content: str) -> Lesson | None:
    """Return the lesson of a text that the user asks to remember, with a kind by the content."""
    if _NO_CONTENT.search(content) or len(content) < 3:
        return None
    scoped = without_scope(content)
    deed = _REMEMBERED_DEED.match(scoped.text)
    if deed and _TIME.search(scoped.text):
        return None  # "remember to push when you're done" is a task
    text = _YOU.sub("", without_lead(scoped.text[deed.end() :] if deed else scoped.text))
    if deed and "not" in deed[0]:
        text = f"don't {text}"
    lesson = _stated(text, is_general=False)
    kind = lesson.kind if lesson else named_kind(text) or ("rule" if deed or is_order(text) else "note")
    title = lesson.title if lesson else order(text, with_why=True)
    return (
        Lesson("rule" if kind == "correction" else kind, title, STATED, scoped.scope) if says_something(title) else None
    )


def _stated(text: str, *, is_general: bool) -> Lesson | None:
    if CJK.search(text):
        return other_languages.chinese_lesson(text)
    if lesson := other_languages.german_lesson(text):
        return lesson
    if _NOT_STANDING.search(text):
        return None
    text = _YOU.sub("", text) if is_general else text
    if (match := _ALWAYS.match(text)) and is_order(match[1].partition(" ")[2].removeprefix("ever "), is_standing=True):
        return Lesson("rule", order(match[1].replace("ever ever", "ever")), GENERAL)
    if match := _PREFER.match(text):
        return Lesson("preference", order(text[match.end() :]), GENERAL)
    if match := _FROM_NOW.match(text):
        return Lesson(named_kind(match[1]) or "preference", order(match[1], with_why=True), GENERAL)
    # "In all my projects: …", "In Python …": a sentence that begins with the scope is meant as a rule.
    if is_general and (is_order(text) or named_kind(text)):
        return Lesson(named_kind(text) or "preference", order(text, with_why=True), GENERAL)
    return None
