"""What an English sentence teaches. Each reader knows some forms of saying it; the first that does decides."""

from collections.abc import Callable
from dataclasses import replace

from claude_mem_lite.compress.lessons.english_facts import put_right, right_and_wrong
from claude_mem_lite.compress.lessons.english_no_lessons import POLITE_ORDER, is_for_once, is_no_order, is_unsaid
from claude_mem_lite.compress.lessons.english_orders import always, habit, not_to_do, undone
from claude_mem_lite.compress.lessons.english_preferences import (
    begins_with_verb,
    convention,
    disliked,
    preference,
    rule,
)
from claude_mem_lite.compress.lessons.english_terse import terse
from claude_mem_lite.compress.lessons.leads import Body
from claude_mem_lite.compress.lessons.lesson import GENERAL, ONCE, REPEATED, Lesson, order, small_first
from claude_mem_lite.patterns import lazy

_READERS: tuple[Callable[[Body], Lesson | None], ...] = (
    undone, right_and_wrong, not_to_do, always, habit, preference, rule, convention, terse, put_right,
)  # fmt: skip
_SAID_LATER = lazy(
    r"[,;.:?–—-]\s*(?:but |because |and |when )?i (?:already |just |clearly |explicitly )*(?:said|told you"
    r"|asked(?! (?!you\b|for\b|to\b|that\b)(?:\w+ ){1,2}(?:for|to|about|if|whether)\b)(?: you)?(?: for)?"
    r"|wanted)(?: to| that)?[:,]?\s+(?=\w)"
)
_REMEMBER_LAST = lazy(r",? (?:remember|as i said|like i said|i told you)[?!. ]*$")
_UNDO_ONLY = lazy(r"(?:revert|undo|remove|delete|go back|restore)\b[^,:;–—-]*$")
_FOR_WHAT = lazy(
    r"(?:for|in|with|on) (?!now\b|me\b|this\b|that\b|it\b|case\b)[\w./-]+(?: [\w./-]+){0,2}?,? (?=(?:use|don't"
    r"|do not|never|always"
    r"|prefer|avoid|put|write|only) )"
)
_GREETING = lazy(
    r"(?:the (?:first|second|third|last|other) (?:one|option)\b|it would|it will|hello|hi|yes|so|it|something"
    r"|nothing|goodbye|okay?|that)\b"
)
_I_WANT = lazy(r"(?i)^i want ")


def lesson(body: Body) -> Lesson | None:
    """What the sentence teaches, or nothing."""
    body = _meant(body)
    if (what := _FOR_WHAT.match(body.masked)) and (inner := lesson(body.after(what.end()))):
        return replace(inner, title=f"{order(body.text[: what.end()])}: {small_first(inner.title)}")
    if not body.is_reminder and is_no_order(body.masked):
        polite = POLITE_ORDER.match(body.masked)
        if polite is None:
            return disliked(body)
        is_why = polite[0].startswith(("why", "how come"))
        body = replace(body.after(polite.end()), is_polite=True, is_complaint=is_why)
        text, masked = body.text.rstrip("? "), body.masked.rstrip("? ")
        if masked.startswith("not "):
            text, masked = f"don't{text[3:]}", f"don't{masked[3:]}"
        body = replace(body, text=text, masked=masked)
    found = next((one for reader in _READERS if (one := reader(body)) is not None), None) or _by_lead(body)
    if found is not None and (body.is_reminder or body.is_again):
        found = replace(found, confidence=max(found.confidence, REPEATED))
    return found


def _meant(body: Body) -> Body:
    """The sentence from where the user repeats what they said before, or up to "remember?"."""
    if found := _SAID_LATER.search(body.masked):
        return replace(body.after(found.end()), is_reminder=True)
    if (found := _REMEMBER_LAST.search(body.masked)) and found.start():
        return replace(body, text=body.text[: found.start()], masked=body.masked[: found.start()], is_reminder=True)
    return body


def _by_lead(body: Body) -> Lesson | None:
    """A plain order or statement that counts because of how it begins: "no, …", "I told you to …", "in Python …"."""
    text = body.masked
    if body.is_reminder and text.startswith("not to "):
        return Lesson("correction", order(f"don't {body.text[7:]}"), REPEATED)
    if body.is_reminder:
        return (
            None
            if _GREETING.match(text) and (not text.startswith("it ") or text.startswith(("it would", "it will")))
            else Lesson("correction", order(body.text), REPEATED)
        )
    if body.is_general and len(text.split()) > 1:
        return Lesson("preference", order(_I_WANT.sub("", body.text), with_why=True), GENERAL)
    if not body.says_no or is_unsaid(text) or is_for_once(text) or _UNDO_ONLY.match(text):
        return None
    is_order = begins_with_verb(text)
    least = 2 if is_order else 3 if text.startswith("not ") else 4
    return Lesson("correction", order(body.text, with_why=not is_order), ONCE) if len(text.split()) >= least else None
