"""Patterns compiled at first use. The rules have seven hundred patterns, a quarter of a worker's start, and the first
answer to a session needs none of them."""

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer", "groups", "groupindex")


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of `re.compile`, compiled at first use. A test compiles all patterns, to find wrong ones."""
    return cast(re.Pattern[str], Lazy(pattern, flags))


class Lazy:
    """Stand-in for a compiled pattern, as fast as the pattern itself from the second use on."""

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
