"""Titles of errors and commit subjects, and the weight of a title."""

import re

from claude_mem_lite.compress.prose.markdown import capital, plain
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import MAX_TITLE_LENGTH

MAX_HEADLINE = 90
"""Maximum of characters of a title by rules."""
_MAX_CHARACTERS = 120

_COMMIT_PREFIX = lazy(
    r"^(?P<type>[a-z]{2,12}|(?i:fix|bugfix|hotfix|feat|feature|refactor|perf|docs?|chore|tests?|ci|build|style|revert))"
    r"(?:\((?P<scope>[^)\n]{1,60})\))?!?:\s+(?P<rest>\S.*)$"
)
"""The prefix of a conventional commit. With a capital, only a known type is a prefix: "Parser: …" names a place."""
_DANGLING_WORDS = """
a an the and or but to of in on at for with from into by as is are was were be been that which when if it its this
these those their our your my not no than then so because while where via using per about over under between new
regardless including
i we you they he she has have had do does did will would should can could may might must only just also both all any
"""
_DANGLING = frozenset(_DANGLING_WORDS.split())
_VAGUE = lazy(
    r"(?i)\b(?:it|this|that|them|those|these|both|same|above|below|following|everything|something|stuff|things?"
    r"|option|one|two|three"
    r"|issues?|bugs?|problems?|changes?|fix(?:es)?|errors?|comments?|feedback|suggestions?|files?|code|tests?|items?"
    r"|points?|findings?|reviews?|address|follow-?ups?|critical|minor|various|misc|works?|working|correctly|properly|successfully|verify|verified)\b"
)
_EMPTY_SUBJECT = lazy(
    r"(?i)(?:initial commit|first commit|wip|checkpoint|save|updates?|merge (?:branch|pull|remote|origin).*)\W*$"
)
_CONTENT_WORD = lazy(r"[A-Za-z_][\w./:-]{2,}|\d+\w*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def cut(text: str, words: int, limit: int = _MAX_CHARACTERS) -> str:
    """Return the first words of a line that is no sentence, such as an error, within a limit."""
    kept = text.split()[:words]
    while len(" ".join(kept)) > limit and len(kept) > 1:
        kept.pop()
    return _without_dangling(" ".join(kept)[:limit])


def split_subject(subject: str) -> tuple[str, str, str]:
    """Return type in lower case, scope and rest of the subject of a commit; '' for a missing type or scope."""
    match = _COMMIT_PREFIX.match(subject)
    return (match["type"].lower(), match["scope"] or "", match["rest"]) if match else ("", "", subject)


def from_commit(subject: str) -> tuple[str, str]:
    """Return the title of a commit without the conventional prefix, and the type ('fix', 'feat', …)."""
    type_, scope, rest = split_subject(plain(subject))
    rest = capital(rest.rstrip(". "))
    if scope and scope.lower() not in rest.lower():
        rest = f"{rest} ({scope})"
    return rest[:MAX_TITLE_LENGTH], type_


def weight(title: str) -> float:
    """Return the weight of a title: number of words with a meaning, less a penalty for words that need context."""
    if _EMPTY_SUBJECT.match(title):
        return 0.0
    words = {word.lower() for word in _CONTENT_WORD.findall(title)} - _DANGLING
    content = [word for word in words if not _VAGUE.fullmatch(word)]
    marked = sum(1 for word in content if re.search(r"[_./:\d]|[a-z][A-Z]", word)) * 0.5
    penalty = (
        1.0 if re.search(r"(?i)\b(?:it|this|that|them|those|these|both|following|same|above|there)\b", title) else 0.0
    )
    # "Add it to the list": the object is missing.
    penalty += (
        2.0 if re.match(r"(?i)\w+ (?:it|this|that|them|those|these|both|all|what|me|us)\b(?! \w+s\b)", title) else 0.0
    )
    return min(len(content), 7) + min(marked, 1.0) - penalty


def _without_dangling(text: str) -> str:
    if text.count('"') % 2:
        before = text[: text.rindex('"')]
        text = before if len(before.split()) >= 4 else text.replace('"', "")
    for opening, closing in ("[]", "()"):
        if text.count(opening) > text.count(closing):
            text = text[: text.rindex(opening)]
    parts = text.split()
    while len(parts) > 2 and parts[-1].strip(".,;:()'\"").lower() in _DANGLING:
        parts.pop()
    return " ".join(parts).rstrip(" .,;:!-–—(")
