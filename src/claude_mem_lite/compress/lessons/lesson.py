"""A lesson of a user, and how its words become a title.

Where a lesson holds, when the sentence says so: "in all my projects", "in Python …"."""

import re
from dataclasses import dataclass

from claude_mem_lite.compress.prose.drafts import whole_clauses
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Kind
from claude_mem_lite.scopes import language_name
from claude_mem_lite.text import STOPWORDS

STATED = 1.0
"""How sure it is: the user asked for it to be remembered."""
REPEATED = 0.9
"""It was said before: "I told you", "again"."""
GENERAL = 0.85
"""It is put as holding always: a rule, a preference, a convention."""
ONCE = 0.75

_MAX_TITLE_LENGTH = 120
_WORD = lazy(r"[^\W\d_][\w'./-]*|\d+")
_EMPTY = STOPWORDS | frozenset(
    """don't never always one ones thing things way stuff instead again mean meant prefer avoid user stop forget asked
    doing""".split()  # noqa: SIM905
)
# What is cut must be a reason beyond doubt: "deprecated since 3.10" and "so that CI breaks" are part of the rule.
_WHY = lazy(
    r"(?i)[\s,;:–—-]+(?:because|weil)\b|[,;] (?:otherwise|cause|sonst)\b|[,;] since (?:it|they|we|i|you|there|that"
    r"|this|those|these|the \w+|our \w+)(?:'\w+)? (?:\w+ )*\w+|[,;] (?:(?:it|they|this|those|these)(?:'\w+)?"
    r"|that's) [^,;]*$|[；;，,](?:因为|否则|不然)"
)
_DASH = lazy(r"\s[–—-]\s")
_POINTING = lazy(r"(?:Stop|Don't|Never|Always) \w+ (?:it|them|that|this|those)(?: \w{1,5})?$")
_MIN_RULE = 4
_CJK = lazy(r"[\u4e00-\u9fff]")

_WISHES = {
    "i don't want": "The user does not want", "i do not want": "The user does not want", "i never want":
    "The user never wants", "i want": "The user wants", "i need": "The user needs", "i wanted": "The user wanted",
    "i like": "The user likes", "i asked for": "Asked for was", "i'd like": "The user wants",
    "i would like": "The user wants", "i meant": "Meant was",
}  # fmt: skip
_WISH = lazy(rf"(?i)^({'|'.join(_WISHES)})\b")


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing taught."""

    kind: Kind
    title: str
    """What is to be done or to be known, understood without the sentence."""
    confidence: float
    scope: str = ""
    """`universal` or `language:NAME`; '' is the project at hand."""


def order(text: str, *, with_why: bool = False) -> str:
    """A clause as a title: without its end, its reason unless it is asked for, and what is too long."""
    body = text.strip(" \t,;:.!–—-。！，；：")
    if not with_why and _is_whole(bare := _without_why(body)):
        body = bare
    return capital(whole_clauses(body, _MAX_TITLE_LENGTH).strip(" \t,;:.!–—-。！，；："))


def _without_why(body: str) -> str:
    if found := _WHY.search(body, min(len(body), 4)):
        body = body[: found.start()]
    # Between two dashes stands a remark, behind one a reason.
    parts = _DASH.split(body)
    return parts[0] if len(parts) == 2 else body


def _is_whole(rule: str) -> bool:
    """Whether a rule without its reason still says what it did."""
    return len(_CJK.findall(rule)) >= _MIN_RULE or len(rule.split()) >= _MIN_RULE


def of_the_user(text: str) -> str:
    """A wish as it is told of somebody: "I don't want X" as "The user does not want X"."""
    return _WISH.sub(lambda found: _WISHES[found[1].lower()], text, count=1)


def says_something(title: str) -> bool:
    """Whether a title names anything: "Use it" could be about everything."""
    return not _POINTING.match(title) and any(word.lower() not in _EMPTY for word in _WORD.findall(title))


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
_HERE = lazy(rf"(?i)\b(?:(?:in|for|of) (?:this|our) {_PLACES}|here)\b")
_LAST = lazy(rf"(?i)([\s,;:(–—-]+){_EVERYWHERE}\s*[).!]*$")
# "Don't enable it in all projects" says: in some. Only a comma makes it clear.
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


@dataclass(frozen=True, slots=True)
class Scoped:
    """A sentence without the words that say where it holds."""

    text: str
    scope: str = ""
    is_general: bool = False
    """It begins with where it holds: what follows is meant as a rule."""


def is_about_here(text: str) -> bool:
    """Whether a sentence speaks of the project at hand: it says so, or names a file."""
    return _HERE.search(text) is not None or bool(files_named(text))


def without_scope(text: str) -> Scoped:
    """The sentence and where it holds; a language that is named is the narrower of two."""
    scope, is_general = "", False
    if found := _FIRST.match(text):
        scope, is_general, text = "universal", True, text[found.end() :]
    elif found := _THIS_PROJECT.match(text):
        is_general, text = True, text[found.end() :]
    if found := _LANGUAGE.match(text):
        scope, is_general, text = f"language:{language_name(found[1])}", True, text[found.end() :]
    if (found := _LAST.search(text)) and (found[1].strip() or not _NEGATIVE.search(text)):
        scope, text = scope or "universal", text[: found.start()]
    return Scoped(text, scope, is_general)
