"""A sentence of a user -> what it teaches, if anything, by rules. What counts is defined in docs/corrections.md.

Called with sentences of bounded length (see spoken.py); in doubt a sentence teaches nothing: a rule that nobody gave
is worse than one that has to be given twice."""

import re
from dataclasses import replace

from claude_mem_lite.compress.language.prose import sentences
from claude_mem_lite.compress.language.sentence_kinds import states_decision
from claude_mem_lite.compress.lessons import chinese, german
from claude_mem_lite.compress.lessons.bare_orders import is_bare_order
from claude_mem_lite.compress.lessons.english import lesson as english
from claude_mem_lite.compress.lessons.leads import without_leads
from claude_mem_lite.compress.lessons.lesson import STATED, Lesson, order, says_something
from claude_mem_lite.compress.lessons.programs import is_of_the_program
from claude_mem_lite.compress.lessons.scopes import is_about_here, without_scope
from claude_mem_lite.compress.lessons.spoken import LONGEST_SENTENCE
from claude_mem_lite.models import Kind
from claude_mem_lite.patterns import lazy
from claude_mem_lite.scopes import UNIVERSAL_KINDS

_QUOTED = lazy(r'"[^"]{0,400}"|“[^”]{0,400}”|«[^»]{0,400}»|(?<!\w)\'[^\']{2,400}\'(?!\w)')
_REMEMBER = lazy(
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
_REMEMBER_LAST = lazy(
    r"(?i)[\s,;.–—-]+(?:(?:please|so) )?(?:remember|memorize|note|keep) (?:that|this|it)(?: in mind| for (?:later"
    r"|next time|the future))?"
    r"[.! ]*$|[，,。]\s*(?:请)?记住(?:这一?点|这个)?[。！!]*$"
)
_REMEMBERED_DEED = lazy(r"(?i)^(?:not\s+to|to\s+not|to)\s+(?=\w)")
_MOMENT = lazy(
    r"(?i)\b(?:(?:when|once|as soon as) (?:(?:you|we|it|i|they|that|this)(?:'\w+| are| is| have| has)\b|done"
    r"|finished|ready"
    r"|the \w+ (?:is|are|has)\b)|after(?:wards?)?(?! (?:every|each|any|you|all)\b| \w+ing\b)|later|today|tomorrow"
    r"|tonight"
    r"|now|then|first|next|at the end|in the end|this (?:time|once)|before (?:i|we|lunch|the (?:meeting|demo|release))"
    r"|before you (?:go|stop|leave|finish|are|start))\b"
)
# In haste nobody types them.
_NO_APOSTROPHE = lazy(
    r"(?i)\b(?:(do|does|did|is|are|was|were|should|would|could|must|have|has|ca|wo)nt"
    r"|(that|there|what|here)s(?= (?:a|an|the|no|not|already|one|wrong|how|what|why)\b)"
    r"|(it)s(?= (?:a|an|the|not|spelled|called|named|written|generated|in|on|already|\w+ed)\b)|(you|they)re\b"
    r"|(we)re(?= (?:on|using|not)\b))"
)
_SHORTENED = ("n't", "'s", "'s", "'re", "'re")
_NO_CONTENT = lazy(r"(?i)^(?:when|how|what|the (?:time|bug|day|issue|error) (?:when|we|that))\b|[?？]|吗[。]?$")
_FYI = lazy(r"(?i)^(?:fyi|btw|note|just so you know)[,:]?\s+")
_LEAST_CONTENT = 8
_CJK = lazy(r"[\u4e00-\u9fff]")
_GERMAN = lazy(
    r"(?i)\b(?:nicht|nein|bitte|niemals|immer|ich|wir|du|dass|statt|kein(?:e|en|er)?|und|auf|die|der|hör|lass"
    r"|ab (?:jetzt|sofort))\b"
)


def read(sentence: str) -> Lesson | None:
    """What a sentence teaches; None when it is a task, a question, a report, an answer or just talk."""
    text = _with_apostrophes(sentence.strip().replace("’", "'"))
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


def kind_asked(text: str) -> Kind:
    """Guess the kind of what the user asks by command to be remembered, as if "remember that" stood before it."""
    lesson = _remembered(_content(text))
    if lesson is not None and lesson.kind != "note":
        return lesson.kind
    content = _content(text)
    if states_decision(content):
        return "decision"
    return "rule" if is_bare_order(without_scope(content).text) else "note"


def scope_asked(text: str, named: Kind | None = None) -> str:
    """Return where such a text holds: `universal`, `language:NAME` or `project`.

    Without a kind that the user named, the words decide as they do in a prompt."""
    content = _content(text)
    is_universal = named in UNIVERSAL_KINDS and not is_about_here(content)
    return without_scope(content).scope or ("universal" if is_universal else "project")


def _content(text: str) -> str:
    """The first sentence of a text, without the words that ask to remember it; '' when it is too long to be read."""
    first = next(iter(sentences(text.replace("’", "'"))), "")
    if len(first) > LONGEST_SENTENCE:
        return ""
    asked = _REMEMBER.match(first)
    return first[asked.end() :] if asked else first


def _remembered(content: str) -> Lesson | None:
    """What is to be kept because the user asks for it: of the kind that its content has."""
    if _NO_CONTENT.search(content) or len(content) < 3:
        return None
    scoped = without_scope(content)
    deed = _REMEMBERED_DEED.match(scoped.text)
    if deed and _MOMENT.search(scoped.text):
        return None  # "remember to push when you're done" is a task
    text = scoped.text[deed.end() :] if deed else scoped.text
    if deed and "not" in deed[0]:
        text = f"don't {text}"
    found = _told(text, is_general=scoped.is_general, is_kept=True)
    kind = found.kind if found else "rule" if deed else "note"
    title = found.title if found else order(text, with_why=True)
    if kind == "correction":
        kind = "rule"
    if not says_something(title):
        return None
    return Lesson(kind, title, STATED, scoped.scope)


def _told(text: str, *, is_general: bool, is_kept: bool = False) -> Lesson | None:
    if _CJK.search(text):
        return None if is_of_the_program(text) and not is_kept else chinese.lesson(text)
    body = without_leads(text, _masked(text))
    is_said_for_good = is_kept or is_general or body.is_reminder or body.is_again
    if not is_said_for_good and is_of_the_program(body.masked):
        return None
    if _GERMAN.search(text) and (found := german.lesson(body)):
        return found
    return english(replace(body, is_general=is_general, is_kept=is_kept))


def _with_apostrophes(text: str) -> str:
    def put(found: re.Match[str]) -> str:
        at = found.lastindex or 1
        return f"{found[at]}{_SHORTENED[at - 1]}"

    return _NO_APOSTROPHE.sub(put, text)


def _masked(text: str) -> str:
    """The sentence in lower case, of the same length, with what it quotes blotted out: that is not its own word."""
    blotted = _QUOTED.sub(lambda found: f"{found[0][0]}{'_' * (len(found[0]) - 2)}{found[0][-1]}", text)
    # A letter whose small form is longer would shift everything behind it.
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in blotted)
