"""What was asked about commits in vain is not asked again by somebody who has no more time for it."""

import time
from math import inf

import pytest

from claude_mem_lite.code.freshness import commit_memo
from claude_mem_lite.code.freshness.commit_memo import CommitQueryCache
from tests.git_repositories import Checkout
from tests.unit.codebase.branching import Watcher, work

QUESTION = ("work", "head", "tip")


def never() -> int | None:
    raise AssertionError("it is not to be asked")


def asked_in_vain(within_s: float) -> CommitQueryCache:
    """Answers of which one took longer than there was time."""
    answers, deadline = CommitQueryCache(), time.monotonic() + within_s

    def too_long() -> None:
        time.sleep(max(deadline - time.monotonic(), 0) + 0.01)

    assert answers.ask(QUESTION, too_long, deadline) == (None, True)
    return answers


def test_what_took_too_long_is_asked_again_by_whoever_has_more_time() -> None:
    answers = asked_in_vain(within_s=0.05)
    assert answers.ask(QUESTION, never, time.monotonic() + 0.04) == (None, True), "with no more time it is not"
    assert answers.ask(QUESTION, lambda: 1, inf) == (1, False)
    assert answers.ask(QUESTION, never, 0) == (1, False), "what is known takes no time"


def test_what_took_too_long_long_ago_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = asked_in_vain(within_s=0.05)
    monkeypatch.setattr(commit_memo, "_TRY_AGAIN_S", 0.0)
    assert answers.ask(QUESTION, lambda: 1, time.monotonic() + 0.04) == (1, False)


def test_what_cannot_be_told_whatever_the_time_is_asked_again() -> None:
    answers = CommitQueryCache()
    assert answers.ask(QUESTION, lambda: None, inf) == (None, False)
    assert answers.ask(QUESTION, lambda: 0, inf) == (0, False), "its commits may have been fetched since"


def test_a_look_says_whether_it_lacked_time(shop: Checkout) -> None:
    watcher = Watcher()
    work(shop, watcher)
    assert Watcher(rows=watcher.rows).look(shop, deadline=0).lacked_time
    assert not watcher.look(shop).lacked_time
    assert not watcher.look(shop, deadline=0).lacked_time, "all was told before"
