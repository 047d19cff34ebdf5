"""What counts as the same failure, on whole outputs: as the client hands over a call of Bash that failed."""

import pytest

from .failed_calls import Pair
from .other_failures import OTHER
from .same_failures import SAME


def test_there_are_forty_pairs_of_each_sort() -> None:
    assert len(SAME) >= 40
    assert len(OTHER) >= 40


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_the_same_failure_is_known_again(pair: Pair) -> None:
    first, second = pair
    assert first.anchors() & second.anchors()


@pytest.mark.parametrize("pair", OTHER.values(), ids=OTHER.keys())
def test_a_failure_that_only_looks_alike_is_another(pair: Pair) -> None:
    first, second = pair
    assert first.anchors()
    assert second.anchors()
    assert not first.anchors() & second.anchors()
