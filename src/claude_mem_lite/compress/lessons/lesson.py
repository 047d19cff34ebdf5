"""A lesson of the user: title, confidence, and scope from words such as "in all my projects", "in Python …"."""

import re

from claude_mem_lite.compress.prose.drafts import whole_clauses
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Kind
from claude_mem_lite.scopes import language_name
from claude_mem_lite.text import STOPWORDS
from claude_mem_lite.values import frozen

STATED = 1.0
"""Confidence of a lesson that the user asked to remember."""
REPEATED = 0.9
"""Confidence of a repeated lesson: "I told you", "again"."""
GENERAL = 0.85
"""Confidence of a general statement: a rule, a preference, a convention."""
ONCE = 0.75

_MAX_TITLE_LENGTH = 120
_WORD = lazy(r"[^\W\d_][\w'./-]*|\d+")
_EMPTY = STOPWORDS | frozenset(
    """don't never always one ones thing things way stuff instead again mean meant prefer avoid user stop forget asked
    doing""".split()  # noqa: SIM905
)
# Only certain reasons are cut: "deprecated since 3.10" and "so that CI breaks" are part of the rule.
_WHY = lazy(
    r"(?i)[\s,;:–—-]+(?:because|weil)\b|[,;] (?:otherwise|cause|sonst)\b|[,;] since (?:it|they|we|i|you|there|that"
    r"|this|those|these|the \w+|our \w+)(?:'\w+)? (?:\w+ )*\w+|[,;] (?:(?:it|they|this|those|these)(?:'\w+)?"
    r"|that's) [^,;]*$|[；;，,](?:因为|否则|不然)"
)
_DASH = lazy(r"\s[–—-]\s")
_POINTING = lazy(r"(?:Stop|Don't|Never|Always) \w+ (?:it|them|that|this|those)(?: \w{1,5})?$")
_MIN_RULE = 4
CJK = lazy(r"[\u4e00-\u9fff]")

_WISHES = {
    "i don't want": "The user does not want", "i do not want": "The user does not want", "i never want":
    "The user never wants", "i want": "The user wants", "i need": "The user needs", "i wanted": "The user wanted",
    "i like": "The user likes", "i asked for": "Asked for was", "i'd like": "The user wants",
    "i would like": "The user wants", "i meant": "Meant was",
}  # fmt: skip
_WISH = lazy(rf"(?i)^({'|'.join(_WISHES)})\b")
_PLACES = r"(?:projects?|repos?|repositor(?:y|ies)|code ?bases?)"
_EVERYWHERE = (
    rf"(?:(?:in|for|across|with) (?:all|every|each|any)(?: of)?(?: (?:my|our|the|your))? {_PLACES}|(?:in|für) (?:all"
    rf"|jed)\w* (?:(?:meine|unsere)\w* )?(?:projekte?n?|repos?)"
    rf"|(?:在)?(?:我的)?(?:所有|任何)(?:的)?(?:项目|仓库)(?:里|中)?(?:都)?)"
)
_FIRST = lazy(
    rf"(?i)^(?:(?:and|also|please|no|but)[,:]?\s+)?(?:in general,? )?(?:{_EVERYWHERE}\s*[,:，：–—-]?"
    rf"|everywhere\s*[,:–—])\s*"
)
_THIS_PROJECT = lazy(
    rf"(?i)^(?:(?:for|in) (?:this|our) {_PLACES}|as a (?:general )?rule|(?:our |the |house |general )?(?:rules?"
    rf"|convention|policy))\s*[:,]\s*"
)
_IN_PROJECT = lazy(rf"(?i)\b(?:(?:in|for|of) (?:this|our) {_PLACES}|here)\b")
_LAST = lazy(rf"(?i)([\s,;:(–—-]+){_EVERYWHERE}\s*[).!]*$")
# "Don't enable it in all projects" means some projects, except with a comma.
_NEGATIVE = lazy(r"(?i)\b(?:\w+n't|dont|not|never|no|stop|quit|avoid|without|nie|niemals|nicht|kein\w*)\b|不|别|禁止")
NAMES = (
    "python", "typescript", "javascript", "rust", "golang", "java", "kotlin", "swift", "ruby", "php", "c#", "c++",
    "scala", "elixir", "haskell", "bash", "shell", "zsh", "sql", "html", "css", "lua", "perl", "dart", "zig", "js",
    "ts", "py", "cpp", "csharp",
)  # fmt: skip
_LANGUAGE = lazy(
    rf"^(?:[Ii]n|[Ff]or|[Bb]ei)\s+((?i:{'|'.join(map(re.escape, NAMES))})|Go|C|R)(?:\s+(?:code|files|projects"
    rf"|scripts))?"
    r"\s*[,:]?\s+(?=\S)"
)


@frozen
class Lesson:
    kind: Kind
    title: str
    """The rule or the fact, understandable without the sentence."""
    confidence: float
    scope: str = ""
    """`universal` or `language:NAME`; '' is the current project."""


def order(text: str, *, with_why: bool = False) -> str:
    """Return a clause as a title within the limit, without the reason unless requested."""
    body = text.strip(" \t,;:.!–—-。！，；：")
    if not with_why and _is_whole(bare := _without_why(body)):
        body = bare
    return capital(whole_clauses(body, _MAX_TITLE_LENGTH).strip(" \t,;:.!–—-。！，；："))


def _without_why(body: str) -> str:
    if match := _WHY.search(body, min(len(body), 4)):
        body = body[: match.start()]
    # Text between two dashes is a remark, text behind a single dash a reason.
    parts = _DASH.split(body)
    return parts[0] if len(parts) == 2 else body


def _is_whole(rule: str) -> bool:
    """Return whether a rule is long enough without the reason."""
    return len(CJK.findall(rule)) >= _MIN_RULE or len(rule.split()) >= _MIN_RULE


def in_third_person(text: str) -> str:
    """Return a wish in the third person: "I don't want X" as "The user does not want X"."""
    return _WISH.sub(lambda match: _WISHES[match[1].lower()], text, count=1)


def says_something(title: str) -> bool:
    """Return whether a title names a subject: "Use it" could be about anything."""
    return not _POINTING.match(title) and any(word.lower() not in _EMPTY for word in _WORD.findall(title))


@frozen
class Scoped:
    """A sentence without the words of the scope."""

    text: str
    scope: str = ""
    is_general: bool = False
    """The sentence begins with the scope: the rest is meant as a rule."""


def names_project(text: str) -> bool:
    """Return whether a sentence is about the current project: by words, or by the name of a file."""
    return _IN_PROJECT.search(text) is not None or bool(files_named(text))


def without_scope(text: str) -> Scoped:
    """Return the sentence and the scope; a language is narrower than all projects."""
    scope, is_general = "", False
    if match := _FIRST.match(text):
        scope, is_general, text = "universal", True, text[match.end() :]
    elif match := _THIS_PROJECT.match(text):
        is_general, text = True, text[match.end() :]
    if match := _LANGUAGE.match(text):
        scope, is_general, text = f"language:{language_name(match[1])}", True, text[match.end() :]
    if (match := _LAST.search(text)) and (match[1].strip() or not _NEGATIVE.search(text)):
        scope, text = scope or "universal", text[: match.start()]
    return Scoped(text, scope, is_general)
