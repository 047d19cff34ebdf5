"""Deadlines on a clock that the test moves."""

import math

from claude_mem_lite.deadline import NEVER, PAST, Deadline
from tests.support.fakes import SetSeconds


def test_time_runs_out() -> None:
    clock = SetSeconds()
    deadline = Deadline.after(2.0, clock)
    assert (deadline.left_s(), deadline.is_past()) == (2.0, False)
    clock.now += 2.0
    assert (deadline.left_s(), deadline.is_past()) == (0.0, True)
    clock.now += 5.0
    assert deadline.left_s() == 0.0


def test_a_share_is_of_the_time_left_now() -> None:
    clock = SetSeconds()
    deadline = Deadline.after(10.0, clock)
    clock.now += 5.0
    assert deadline.share(0.6).left_s() == 3.0
    clock.now += 10.0
    assert deadline.share(0.6).is_past()


def test_the_earlier_of_two_limits_counts() -> None:
    clock = SetSeconds()
    deadline = Deadline.after(10.0, clock)
    assert deadline.at_most(3.0).left_s() == 3.0
    assert deadline.at_most(30.0) == deadline


def test_without_a_limit_there_is_no_timeout() -> None:
    assert (NEVER.is_past(), NEVER.left_s(), NEVER.timeout_s()) == (False, math.inf, None)
    assert NEVER.share(0.5) == NEVER
    assert Deadline.after(4.0, SetSeconds()).timeout_s() == 4.0


def test_the_past_leaves_no_time() -> None:
    assert (PAST.is_past(), PAST.left_s(), PAST.share(0.5).is_past()) == (True, 0.0, True)
