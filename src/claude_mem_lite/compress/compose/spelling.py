"""Names of tools that a turn writes in lower case: they keep it at the beginning of a title or a sentence. Pure."""

import re
from collections.abc import Iterable, Sequence

from claude_mem_lite.compress.prose.verbs import BASES
from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.steps import Ran, Step
from claude_mem_lite.lazy_regex import lazy

_CALLED = lazy(r"`([a-z][a-z0-9-]*) [^`\n]+`")
_FIRST_WORD = lazy(r"(?:^|(?<=[.!?] ))[A-Z][a-z0-9-]*(?=[\s:,])")
_WORD = lazy(r"[a-z][a-z0-9-]*")
_CAPITALISED = lazy(r"\b[A-Z][a-z0-9-]*\b")


def lower_case_names(steps: Sequence[Step], texts: Iterable[str]) -> frozenset[str]:
    """Return the programs that a turn ran or quotes with arguments, but for verbs, and those that somebody wrote with
    a capital."""
    said = "\n".join(texts)
    ran = {shell.tool(step.command).partition(" ")[0] for step in steps if isinstance(step, Ran)}
    names = {name for name in ran | set(_CALLED.findall(said)) if _WORD.fullmatch(name)} - BASES
    return frozenset(names - {word.lower() for word in _CAPITALISED.findall(said)})


def keep_case(text: str, names: frozenset[str]) -> str:
    """Return a text with the names at the beginning of its sentences in lower case."""

    def spelled(found: re.Match[str]) -> str:
        word = found[0].lower()
        return word if word in names else found[0]

    return _FIRST_WORD.sub(spelled, text)
