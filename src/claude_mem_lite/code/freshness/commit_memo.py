"""Cache of answers about commits: commits never change, so neither do the answers."""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.deadline import Deadline

_MAX_KEPT = 4_096
_MAX_STEPS = 200
_MORE_TIME = 1.5
"""Factor of the time allowed by which an attempt has to exceed a failed one: the time left varies by microseconds."""
RETRY_S = 600.0
"""Pause after a timeout: the machine may have been busy."""
_STILL_THE_SAME_S = 15 * 60
"""Longest delay of a memory after the commit described: a turn continues for a while."""


class _Timeout(NamedTuple):
    """Failed attempt: the time allowed, and the end of the pause after the attempt."""

    for_s: float
    pause: Deadline


class CommitQueryCache:
    """Answers, cached for the life of the worker. After a timeout, a query is repeated only for callers with more time:
    otherwise each context would spend all of its time in vain."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], int] = {}
        self._timeouts: dict[tuple[str, ...], _Timeout] = {}
        self._lock = threading.Lock()

    def within(self, repository: Repository, deadline: Deadline) -> "CommitQueries":
        """Return the queries for one request on a repository."""
        return CommitQueries(self, repository, deadline)

    def ask(self, key: tuple[str, ...], ask: Callable[[], int | None], deadline: Deadline) -> tuple[int | None, bool]:
        """Return the answer or None, and True if more time might give an answer."""
        left_s, pause = deadline.left_s(), Deadline.after(RETRY_S, deadline.clock)
        with self._lock:
            known, timeout = self._known.get(key), self._timeouts.get(key)
        if known is not None:
            return known, False
        if left_s <= 0 or (timeout is not None and left_s < _MORE_TIME * timeout.for_s and not timeout.pause.is_past()):
            return None, True
        answer = ask()
        is_late = answer is None and deadline.is_past()
        with self._lock:
            if answer is not None:
                _store(self._known, key, answer)
            elif is_late:
                _store(self._timeouts, key, _Timeout(left_s, pause))
        return answer, is_late


@dataclass(slots=True)
class CommitQueries:
    """Queries of one request."""

    answers: CommitQueryCache
    repository: Repository
    deadline: Deadline
    lacked_time: bool = False
    """True if any query ran out of time."""

    def contains(self, heads: tuple[str, ...], tip: str) -> bool | None:
        """Return True if a tip is a head or an ancestor of a head. None: unknown."""
        return _as_bool(
            self._ask(("contains", _key(heads), tip), lambda: self.repository.any_contains(heads, tip, self.deadline))
        )

    def has_same_work(self, heads: tuple[str, ...], tip: str) -> bool | None:
        """Return True if some heads have the work of a tip by squash or rebase. None: unknown."""
        return _as_bool(
            self._ask(("work", _key(heads), tip), lambda: self.repository.any_has_same_work(heads, tip, self.deadline))
        )

    def here_until(self, head: str, tip: str, default: str) -> int | None:
        """Return the time until which a head shares the line of a tip, in seconds since 1970; 0 if nothing is shared.

        None: unknown. Commits of the default branch do not count: a rebase onto the default branch makes a branch no
        older."""
        return self._ask(
            ("until", head, tip, default), lambda: _here_until(self.repository, head, tip, default, self.deadline)
        )

    def _ask(self, question: tuple[str, ...], ask: Callable[[], int | None]) -> int | None:
        answer, is_late = self.answers.ask((str(self.repository.common), *question), ask, self.deadline)
        self.lacked_time |= is_late
        return answer


Value = TypeVar("Value")


def _store(values: dict[tuple[str, ...], Value], key: tuple[str, ...], value: Value) -> None:
    while len(values) >= _MAX_KEPT:
        del values[next(iter(values))]
    values[key] = value


def _key(heads: tuple[str, ...]) -> str:
    return heads[0] if len(heads) == 1 else hashlib.sha256(" ".join(heads).encode()).hexdigest()


def _as_bool(answer: int | None) -> bool | None:
    return None if answer is None else bool(answer)


def _here_until(repository: Repository, head: str, tip: str, default: str, deadline: Deadline) -> int | None:
    at, next_time = tip, None
    for _ in range(_MAX_STEPS):
        here, made_at = repository.contains(head, at, deadline), repository.commit_time(at)
        if here is None or made_at is None:
            return None
        if here:
            in_default = repository.contains(default, at, deadline)
            if in_default is None:
                return None
            until = made_at + _STILL_THE_SAME_S
            return 0 if in_default else min(until, next_time) if next_time is not None else until
        at, next_time = repository.first_parent(at), made_at
        if not at:
            return 0
    return 0
