"""What is asked about commits again and again, answered once: commits never change, so neither do the answers."""

import hashlib
import threading
from collections.abc import Callable

from claude_mem_lite.git.repository import Repository

_MOST_KEPT = 4_096
_MOST_STEPS = 200
_STILL_THE_SAME_S = 15 * 60
"""How long after a commit a memory may be made that tells of it: the turn goes on for a while."""


class CommitAnswers:
    """Answers that were given, kept while the worker lives. What could not be told is asked again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], int] = {}
        self._lock = threading.Lock()

    def contains(self, repository: Repository, heads: tuple[str, ...], tip: str, deadline: float) -> bool | None:
        """Whether a tip is one of some heads or their ancestors; None when that cannot be told."""
        key = ("contains", str(repository.common), _key(heads), tip)
        return _as_bool(self._ask(key, lambda: repository.any_contains(heads, tip, deadline)))

    def has_same_work(self, repository: Repository, heads: tuple[str, ...], tip: str, deadline: float) -> bool | None:
        """Whether the work of a tip is in some heads by squash or rebase; None when that cannot be told."""
        key = ("work", str(repository.common), _key(heads), tip)
        return _as_bool(self._ask(key, lambda: repository.any_has_same_work(heads, tip, deadline)))

    def here_until(self, repository: Repository, head: str, tip: str, default: str, deadline: float) -> int | None:
        """Up to when the line that leads to a tip is in a head too, in seconds since 1970; 0 when none of it is.

        None when that cannot be told. What is in the default branch does not count: a branch that was rebased onto it
        is no older for that."""
        key = ("until", str(repository.common), head, tip, default)
        return self._ask(key, lambda: _here_until(repository, head, tip, default, deadline))

    def _ask(self, key: tuple[str, ...], ask: Callable[[], int | None]) -> int | None:
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            return known
        told = ask()
        if told is not None:
            with self._lock:
                while len(self._known) >= _MOST_KEPT:
                    del self._known[next(iter(self._known))]
                self._known[key] = told
        return told


def _key(heads: tuple[str, ...]) -> str:
    return heads[0] if len(heads) == 1 else hashlib.sha256(" ".join(heads).encode()).hexdigest()


def _as_bool(told: int | None) -> bool | None:
    return None if told is None else bool(told)


def _here_until(repository: Repository, head: str, tip: str, default: str, deadline: float) -> int | None:
    at, next_time = tip, None
    for _ in range(_MOST_STEPS):
        here, time = repository.contains(head, at, deadline), repository.commit_time(at)
        if here is None or time is None:
            return None
        if here:
            in_default = repository.contains(default, at, deadline)
            if in_default is None:
                return None
            until = time + _STILL_THE_SAME_S
            return 0 if in_default else min(until, next_time) if next_time is not None else until
        at, next_time = repository.first_parent(at), time
        if not at:
            return 0
    return 0
