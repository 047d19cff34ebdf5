"""Notes of the worker about turns: digests that came with them, and turns without a failed command."""

from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.worker.known_turns import KnownTurns

DIGEST = TurnDigest(drafts=(), log="made elsewhere")


def test_digests_are_known_until_the_end_of_their_request() -> None:
    known = KnownTurns()
    with known.with_digests({"a": DIGEST}):
        assert known.has_digests
        assert known.digest("a") is DIGEST
        assert known.digest("b") is None
    assert known.digest("a") is None
    assert not known.has_digests


def test_the_end_of_a_request_leaves_the_digests_of_another() -> None:
    known = KnownTurns()
    with known.with_digests({"a": DIGEST}):
        with known.with_digests({"b": DIGEST}):
            assert known.digest("b") is DIGEST
        assert known.digest("a") is DIGEST


def test_a_turn_that_nothing_is_known_of_may_have_failed() -> None:
    known = KnownTurns()
    known.note_without_failure("a")
    assert known.are_without_failure(["a"])
    assert not known.are_without_failure(["a", "b"])


def test_of_many_turns_the_last_ones_are_known() -> None:
    known = KnownTurns()
    for number in range(1000):
        known.note_without_failure(str(number))
    assert known.are_without_failure(["999", "950"])
    assert not known.are_without_failure(["0"])
