"""Patterns that are compiled when they are first used: the rules have seven hundred, which is a quarter of a
worker's start, and the session that waits for its first answer needs none of them."""

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer", "groups", "groupindex")


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` makes, later; a pattern that is wrong is only found out then, so a test compiles all."""
    return cast(re.Pattern[str], Lazy(pattern, flags))


class Lazy:
    """Stands for a compiled pattern, and is as quick as one from its second use on."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
