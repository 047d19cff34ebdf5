"""Open steps in a closing message, and open steps that later reports of the session say are done, or may be done.

Open steps stand under an explicit heading, behind an explicit label, or in an explicit sentence. Measured by
`python -m benchmarks.left_steps`: a rule must be right four times in five. Only sentences that report finished work
close a step, not denials or reverts. A step with an edited file, or in the subject of a commit, may be done and is no
longer reported as open. Pure."""

import re
from collections.abc import Iterable
from functools import lru_cache

from claude_mem_lite.compress.compose.candidates import SentenceCandidate
from claude_mem_lite.compress.prose.mentions import GENERAL_NAMES, files_named
from claude_mem_lite.compress.prose.verbs import reported
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Draft, Memory
from claude_mem_lite.text import query_words, tokens_of, words_among

_MAX_KEPT = 1_024
_MIN_SHARED = 0.7
_COMMIT = re.compile(r"^Commit [^:]*: (?:\w+(?:\([^)]*\))?!?: )?(?P<subject>.*?)(?: \(\d+ files? changed.*\))?$")
# Numbers of issues and names of code, which two texts seldom share by chance. `end-to-end`, `GitHub`, `macOS` and
# `e.g.` are words.
_NAME = re.compile(
    r"#\d+\b|\b[^\W\d]\w+(?:\.[^\W\d]\w+)+|\b[^\W\d_][^\W_]*(?:_+[^\W_]+)+|\b_\w{3,}|\b[a-z]{2,}(?:[A-Z][a-z\d]+)+\b"
)
_ADDRESS = re.compile(r"(?i)\.(?:com|org|net|io|dev|ai|de)$")
_MIN_STEP_WORDS = 2
# Words of any step, which do not identify a step.
_COMMON = frozenset(
    "add fix update write implement make create run check change finish continue next step".split()  # noqa: SIM905
)
_CLAUSE_END = re.compile(
    r"(?<=[.!?;:])\s+|[\n;]+|,?\s+(?:but|however|although|though|while|aber|jedoch)\s+"
    r"|,\s+(?:so|because|which|and|then|yet)\s+",
    re.I,
)
_BESIDES = re.compile(r"(?i)\b(?:without|instead of|rather than|except|apart from|leaving out|ohne|statt)\b")
_DENIED = re.compile(
    r"(?i)\b(?:not|nor|never|cannot|left (?:out|open|for)|leaves?|skip(?:s|ped|ping)?|later|to-?do|next steps?"
    r"|remain(?:s|ing)?|missing|pending|outstanding|postponed?|deferred|unable|failed to|still|tried|nicht|kein\w*|noch"
    r"|nie)\b|\b\w+n['’]t\b|\bno (?!longer\b)|没有|还没|未|不"
)
# Proposals and conditions.
_PROPOSED = re.compile(
    r"(?i)\?\W*$|^\W*(?:if|unless|once|when|whenever|ideally|maybe|perhaps)\b"
    r"|\b(?:should|could|would|will|wants?|shall|might|recommend\w*|suggest\w*|propos\w+)\b|\b\w+['’](?:ll|d)\b"
)
# Verbs that remove a thing, or only mention the thing.
_UNDOING = re.compile(
    r"(?i)\b(?:remov|delet|drop|revert|undid|undo|disabl|explain|describ|discuss|plann|propos|review|postpon)\w*"
)
_IRREGULAR = frozenset("written wrote made ran built sent kept undid undone".split())  # noqa: SIM905
_NOT_PAST = frozenset("need feed speed seed proceed exceed succeed indeed embed shed red bed".split())  # noqa: SIM905
_WORD = re.compile(r"[^\W\d_]+")
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
# Nouns of missing work; a thing may need anything else for ever.
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
# Finished work before open work: "Added the cart, but checkout still needs tests".
_AND_LEFT = lazy(r"(?i)[;:–—]|\b(?:but|though|although|while|however|yet)\b")
_CONDITION = lazy(r"(?i)^\W*(?:if|when|whenever|once|unless|until|as soon as|after|while)\b")
_FINISHED = lazy(r"(?i)^\W*~~|✅|✔|\b(?:done|merged|complete|completed|resolved)\W*$")
_ASIDE = lazy(
    r"(?i)^(?:if|when|once|unless|option(?:al)?|could|should|would|can)\b|\b(?:the|this|that) (?:pr|issue|bug|ticket)\b"
)
_FOR_REVIEWERS = lazy(r"(?i)^(?:test(?:ing| plan)?|checklist|how to (?:test|verify)|verification)\b")
_ITEMS = ("item", "row", "todo")
_MIN_WORDS = 2


def split_done_and_denied(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the sentences of texts into those that report work done and those that deny it; leave out questions."""
    done: list[str] = []
    denied: list[str] = []
    for clause in (clause.strip() for text in texts for clause in _CLAUSE_END.split(text) if clause.strip()):
        before, *besides = _BESIDES.split(clause, maxsplit=1)
        if _DENIED.search(before):
            denied.append(before.strip())
        elif not _PROPOSED.search(clause):
            done.append(before.strip())
        denied += besides
    return tuple(clause for clause in done if clause), tuple(denied)


def in_the_past(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the clauses with a verb in the past: an entry of a list without a verb may be a plan."""
    done, _ = split_done_and_denied(texts)
    return tuple(clause for clause in done if any(map(_is_past, _WORD.findall(clause.lower()))))


def is_done_by(step: str, sentence: str) -> bool:
    """Return whether a report of finished work is about a step."""
    if _UNDOING.search(sentence) and not _UNDOING.search(step):
        return False
    # A single common word is only the subject: the verb must be the same, too.
    verb = rf"(?i)\b{re.escape(step.split()[0])}(?:e?d|s)?\b(?!\.\w)"
    is_same_deed = len(_key_words(step)) >= _MIN_STEP_WORDS or re.search(verb, sentence) is not None
    return is_same_deed and is_about(step, sentence)


def is_about(step: str, text: str) -> bool:
    """Return whether a text has most of the key words of a step."""
    words = _key_words(step)
    shared = len(words_among(words, _tokens(text)))
    return bool(words) and shared >= max(_MIN_SHARED * len(words), min(_MIN_STEP_WORDS, len(words)))


def may_be_done(step: str, files: Iterable[str], subjects: Iterable[str]) -> bool:
    """Return whether a file that a step names was edited, or a commit mentions the step."""
    named = [file.removeprefix("./").lower() for file in files_named(step)]
    # `index.ts` or `README.md` changes for many reasons, and a project has several such files.
    ends = tuple(f"/{file}" for file in named if file not in GENERAL_NAMES)
    is_edited = any(f"/{file.lower()}".endswith(ends) for file in files)
    return is_edited or any(_mentions(subject, step) for subject in subjects)


def subjects_of(memories: Iterable[Draft | Memory]) -> tuple[str, ...]:
    """Return the subjects of the commits in the facts of memories."""
    matches = (_COMMIT.match(fact) for memory in memories for fact in memory.facts)
    return tuple(commit["subject"] for commit in matches if commit)


def _mentions(subject: str, step: str) -> bool:
    """Return whether the subject of a commit shares a name with a step, or has most of the key words."""
    return not _names(subject).isdisjoint(_names(step)) or is_done_by(step, subject)


def _names(text: str) -> set[str]:
    """Return the names of code in a text, except files, which are compared by path; `Node.js` looks like a file."""
    for file in files_named(text):
        text = text.replace(file, " ")
    return {name.lower() for name in _NAME.findall(text) if not _ADDRESS.search(name)}


# Each sentence is compared with every open step, a hundred steps and more.
@lru_cache(maxsize=_MAX_KEPT)
def _tokens(text: str) -> frozenset[str]:
    return tokens_of(text)


@lru_cache(maxsize=_MAX_KEPT)
def _key_words(step: str) -> list[str]:
    words = query_words(step.lower())  # `TypeScript` is one word of a step, not three
    return [word for word in words if word not in _COMMON] or words


def _is_past(word: str) -> bool:
    """Return whether a word can only be a past form."""
    return (word.endswith("ed") and word not in _NOT_PAST) or word in _IRREGULAR


def step_of(candidate: SentenceCandidate) -> str:
    """Return the open step that a sentence names, or ''."""
    text = candidate.text.strip()
    if candidate.source != "closing" or text.endswith(("?", ":")) or _FINISHED.search(text):
        return ""
    if label := _LABEL.match(text):
        return text[label.end() :]
    if reported(text) and not _AND_LEFT.search(text):
        return ""
    if (
        candidate.kind in _ITEMS
        and candidate.first_of_block
        and len(text.split()) >= _MIN_WORDS
        and _is_listed(candidate)
    ):
        return text
    is_stated = candidate.kind != "row" and not _ASIDE.search(text) and any(stated.search(text) for stated in _STATED)
    return text if is_stated else ""


def says_all_done(sentence: str) -> bool:
    """Return whether a sentence says that no work is left."""
    return _ALL_DONE.search(sentence) is not None and not _CONDITION.match(sentence)


def _is_listed(candidate: SentenceCandidate) -> bool:
    """Return whether a list item is an open checkbox, or is below words that announce open steps."""
    if candidate.lead:
        return _LEAD.match(candidate.lead) is not None
    is_box = candidate.kind == "todo" and not _FOR_REVIEWERS.match(candidate.under)
    return is_box or _HEADING.match(candidate.under) is not None
