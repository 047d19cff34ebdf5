"""What is asked about commits again and again, answered once: commits never change, so neither do the answers."""

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from claude_mem_lite.code.git.repository import Repository

_MAX_KEPT = 4_096
_MAX_STEPS = 200
_TRY_AGAIN_S = 600.0
"""After so long: a machine may have been busy."""
_STILL_THE_SAME_S = 15 * 60
"""How long after a commit a memory may be made that tells of it: the turn goes on for a while."""


class _InVain(NamedTuple):
    """How long something was tried that could not be told, and when, on the monotonic clock."""

    for_s: float
    at: float


class CommitAnswers:
    """Answers that were given, kept while the worker lives. What could not be told is asked again, but not by somebody
    who has no more time than it took in vain: each context would give up all of its time, for nothing."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], int] = {}
        self._in_vain: dict[tuple[str, ...], _InVain] = {}
        self._lock = threading.Lock()

    def within(self, repository: Repository, deadline: float) -> "Asking":
        """For one look at a repository, which has to end at a moment of the monotonic clock."""
        return Asking(self, repository, deadline)

    def ask(self, key: tuple[str, ...], ask: Callable[[], int | None], deadline: float) -> tuple[int | None, bool]:
        """The answer, or None; and whether there might be one if there were more time."""
        now = time.monotonic()
        left_s = deadline - now
        with self._lock:
            known, in_vain = self._known.get(key), self._in_vain.get(key)
        if known is not None:
            return known, False
        if left_s <= 0 or (in_vain is not None and left_s <= in_vain.for_s and now < in_vain.at + _TRY_AGAIN_S):
            return None, True
        told = ask()
        is_late = told is None and time.monotonic() >= deadline
        with self._lock:
            if told is not None:
                _keep(self._known, key, told)
            elif is_late:
                _keep(self._in_vain, key, _InVain(left_s, now))
        return told, is_late


@dataclass(slots=True)
class Asking:
    """What one look asks."""

    answers: CommitAnswers
    repository: Repository
    deadline: float
    lacked_time: bool = False
    """Whether anything could not be told for want of time."""

    def contains(self, heads: tuple[str, ...], tip: str) -> bool | None:
        """Whether a tip is one of some heads or their ancestors; None when that cannot be told."""
        return _as_bool(
            self._ask(("contains", _key(heads), tip), lambda: self.repository.any_contains(heads, tip, self.deadline))
        )

    def has_same_work(self, heads: tuple[str, ...], tip: str) -> bool | None:
        """Whether the work of a tip is in some heads by squash or rebase; None when that cannot be told."""
        return _as_bool(
            self._ask(("work", _key(heads), tip), lambda: self.repository.any_has_same_work(heads, tip, self.deadline))
        )

    def here_until(self, head: str, tip: str, default: str) -> int | None:
        """Up to when the line that leads to a tip is in a head too, in seconds since 1970; 0 when none of it is.

        None when that cannot be told. What is in the default branch does not count: a branch that was rebased onto it
        is no older for that."""
        return self._ask(
            ("until", head, tip, default), lambda: _here_until(self.repository, head, tip, default, self.deadline)
        )

    def _ask(self, question: tuple[str, ...], ask: Callable[[], int | None]) -> int | None:
        told, is_late = self.answers.ask((str(self.repository.common), *question), ask, self.deadline)
        self.lacked_time |= is_late
        return told


Value = TypeVar("Value")


def _keep(values: dict[tuple[str, ...], Value], key: tuple[str, ...], value: Value) -> None:
    while len(values) >= _MAX_KEPT:
        del values[next(iter(values))]
    values[key] = value


def _key(heads: tuple[str, ...]) -> str:
    return heads[0] if len(heads) == 1 else hashlib.sha256(" ".join(heads).encode()).hexdigest()


def _as_bool(told: int | None) -> bool | None:
    return None if told is None else bool(told)


def _here_until(repository: Repository, head: str, tip: str, default: str, deadline: float) -> int | None:
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
