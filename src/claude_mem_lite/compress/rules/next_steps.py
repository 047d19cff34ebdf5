"""Steps that a closing message says are left: under an explicit heading, behind an explicit label, or in so many words.

Measured by `python -m benchmarks.left_steps`: a rule stays only while it is right four times in five. Pure."""

from claude_mem_lite.compress.compose.candidates import Candidate
from claude_mem_lite.compress.prose.verbs import reported
from claude_mem_lite.lazy_regex import lazy

_LEFT = (
    r"(?:(?:the |all |other )?(?:remaining|outstanding|pending)(?: [\w.#-]+){0,4}|next (?:steps?|up)|to[- ]?dos?"
    r"|(?:what(?:'s| is| was) )?(?:still )?(?:left|open|not (?:yet )?(?:done|covered|implemented|started))"
    r"(?: (?:to do|for later|open|yet|items?|issues?|questions?|points?|work|tasks?))?"
    r"|still (?:to do|outstanding|pending|tabled|needed)|follow[- ]?ups?|deferred|for later)"
)
_HEADING = lazy(rf"(?i)^{_LEFT}\W*(?:\([^)]*\))?\W*$")
_LEAD = lazy(
    r"(?i)^(?:(?:the )?remaining (?:steps?|work|tasks?|items?)\b|still (?:outstanding|open|to do|left|missing)\b"
    r"|what(?:'s| is) (?:still )?left\b|left (?:to do|for later|open)\b|next steps?\W*$|to[- ]?dos?\W*$"
    r"|things (?:(?:you|we) (?:should|need to|have to)|to) do before\b|not (?:yet )?done\b)"
)
_LABEL = lazy(
    r"(?i)^(?:(?:next(?: steps?| up)?(?: when [\w ]{2,24})?|to[- ]?dos?(?:\([^)]{0,40}\))?"
    r"|remaining(?: [\w#-]+){0,3}"
    r"|still (?:to do|open|tabled|missing|outstanding|left|pending|needed)(?: [\w ]{2,30})?"
    r"|left(?: for later| open| to do)?|deferred(?!.*\b(?:is|are|was|were)\b)|not (?:yet )?done(?: yet)?"
    r"|outstanding|(?:for )?later)\s*:\s+(?=\S))"
)
# What a thing lacks until somebody works on it; anything else that it needs it may need for ever.
_WORK = (
    r"(?:work|tests?|docs?|documentation|examples?|pages?|reviews?|repro(?:duction)?|fix(?:es)?|migration|clean-?up"
    r"|refactor(?:ing)?|rewrite|rework|update|changelog|release|decision|approval|sign-off|verification|validation"
    r"|coverage|implementation|follow-?up|attention|handling|support)"
)
_STATED = (
    lazy(
        r"(?i)^(?!.*\b(?:you'd|we'd|would|could|if) still\b)(?!.*\b(?:we|i|you) still\b).*\bstill (?:ha(?:s|ve) to\b"
        rf"|needs? (?:to\b|\w+ing\b|(?:\S+ ){{0,5}}?(?:{_WORK}\b"
        r"|\w+ed(?=\W*$| (?:before|in|by|to|for|on|with|from|at|and)\b))))"
    ),
    lazy(r"(?i)\b(?:still|remains?) (?:open|outstanding|unactioned|unresolved|undone)\b(?! upstream\b)"),
)
_ALL_DONE = lazy(
    r"(?i)(?:^|[.;:!,–—] )(?:(?:and|so|now|then|with that|there(?:'s| is| are)),? )*"
    r"(?:nothing (?:else |more )?(?:is left|left|remains|remaining|outstanding|to do)\b"
    r"|no (?:remaining|outstanding|open|further) (?:work|items?|issues?|tasks?|steps?|to-?dos?)"
    r"(?: (?:left|now|remain(?:s|ing)?|to do|are left|is left))*(?=\W*$|[.;:!,])"
    r"|all (?:of the |the |\w+ )?(?:next steps|remaining|to-?dos?|tasks?|items?|steps?|follow-?ups?)(?: \w+){0,2} "
    r"(?:(?:is|are|have been|were|now) )*(?:done|complete|completed|finished|addressed|implemented|resolved)\b)"
)
# What was done, then what was not: "Added the cart, but checkout still needs tests".
_AND_LEFT = lazy(r"(?i)[;:–—]|\b(?:but|though|although|while|however|yet)\b")
_CONDITION = lazy(r"(?i)^\W*(?:if|when|whenever|once|unless|until|as soon as|after|while)\b")
_FINISHED = lazy(r"(?i)^\W*~~|✅|✔|\b(?:done|merged|complete|completed|resolved)\W*$")
_ASIDE = lazy(
    r"(?i)^(?:if|when|once|unless|option(?:al)?|could|should|would|can)\b|\b(?:the|this|that) (?:pr|issue|bug|ticket)\b"
)
_FOR_REVIEWERS = lazy(r"(?i)^(?:test(?:ing| plan)?|checklist|how to (?:test|verify)|verification)\b")
_ITEMS = ("item", "row", "todo")
_MIN_WORDS = 2


def step_of(said: Candidate) -> str:
    """Return the step that a sentence names as left; '' when it names none."""
    text = said.text.strip()
    if said.source != "closing" or text.endswith(("?", ":")) or _FINISHED.search(text):
        return ""
    if label := _LABEL.match(text):
        return text[label.end() :]
    if reported(text) and not _AND_LEFT.search(text):
        return ""
    if said.kind in _ITEMS and said.first_of_passage and len(text.split()) >= _MIN_WORDS and _is_listed(said):
        return text
    is_stated = said.kind != "row" and not _ASIDE.search(text) and any(stated.search(text) for stated in _STATED)
    return text if is_stated else ""


def says_all_done(sentence: str) -> bool:
    """Return whether a sentence says that nothing is left."""
    return _ALL_DONE.search(sentence) is not None and not _CONDITION.match(sentence)


def _is_listed(said: Candidate) -> bool:
    """Return whether a list item is an open box, or stands under words that announce what is left."""
    if said.lead:
        return _LEAD.match(said.lead) is not None
    is_box = said.kind == "todo" and not _FOR_REVIEWERS.match(said.under)
    return is_box or _HEADING.match(said.under) is not None
