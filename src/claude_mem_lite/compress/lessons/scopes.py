"""Where a lesson holds, when the sentence says so: "in all my projects", "in Python …"."""

import re
from dataclasses import dataclass

from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.scopes import language_name

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
