"""What was asked about commits in vain is not asked again by somebody who has no more time for it."""

from claude_mem_lite.code.freshness.commit_memo import RETRY_S, CommitQueryCache
from claude_mem_lite.deadline import NEVER, PAST, Deadline
from tests.code.branch_watcher import Watcher, work
from tests.support.fakes import SetSeconds
from tests.support.git_repositories import Checkout

QUESTION = ("work", "head", "tip")


def never() -> int | None:
    raise AssertionError("it is not to be asked")


def asked_in_vain(clock: SetSeconds) -> CommitQueryCache:
    """Answers of which one took longer than there was time."""
    answers = CommitQueryCache()

    def too_long() -> None:
        clock.now += 5

    assert answers.ask(QUESTION, too_long, Deadline.after(5, clock)) == (None, True)
    return answers


def test_what_took_too_long_is_asked_again_by_whoever_has_more_time() -> None:
    clock = SetSeconds()
    answers = asked_in_vain(clock)
    assert answers.ask(QUESTION, never, Deadline.after(4, clock)) == (None, True), "with no more time it is not"
    assert answers.ask(QUESTION, never, Deadline.after(5.001, clock)) == (None, True), "nor with hardly more"
    assert answers.ask(QUESTION, lambda: 1, NEVER) == (1, False)
    assert answers.ask(QUESTION, never, PAST) == (1, False), "what is known takes no time"


def test_what_took_too_long_long_ago_is_asked_again() -> None:
    clock = SetSeconds()
    answers = asked_in_vain(clock)
    clock.now += RETRY_S
    assert answers.ask(QUESTION, lambda: 1, Deadline.after(4, clock)) == (1, False)


def test_what_cannot_be_told_whatever_the_time_is_asked_again() -> None:
    answers = CommitQueryCache()
    assert answers.ask(QUESTION, lambda: None, NEVER) == (None, False)
    assert answers.ask(QUESTION, lambda: 0, NEVER) == (0, False), "its commits may have been fetched since"


def test_a_look_says_whether_it_lacked_time(shop: Checkout) -> None:
    watcher = Watcher()
    work(shop, watcher)
    assert Watcher(rows=watcher.rows).look(shop, deadline=PAST).lacked_time
    assert not watcher.look(shop).lacked_time
    assert not watcher.look(shop, deadline=PAST).lacked_time, "all was told before"
