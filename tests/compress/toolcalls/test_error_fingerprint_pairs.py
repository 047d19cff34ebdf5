"""Tests of `compress/toolcalls/error_fingerprints.py` and `compress/toolcalls/diagnostics.py`: pairs of whole
outputs of failed calls."""

import pytest

from .failure_pairs import Pair, failure_pairs

SAME = failure_pairs("same")
DIFFERENT = failure_pairs("different")


def test_there_are_forty_pairs_of_each_sort() -> None:
    assert len(SAME) >= 40
    assert len(DIFFERENT) >= 40


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME.keys())
def test_the_same_failure_is_known_again(pair: Pair) -> None:
    first, second = pair
    assert first.anchors() & second.anchors()


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_a_failure_that_only_looks_alike_is_another(pair: Pair) -> None:
    first, second = pair
    assert first.anchors()
    assert second.anchors()
    assert not first.anchors() & second.anchors()
