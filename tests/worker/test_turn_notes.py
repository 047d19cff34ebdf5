"""Notes of the worker about turns: digests that came with them, and turns without a failed command."""

from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.worker.turn_notes import TurnNotes

DIGEST = TurnDigest(drafts=(), log="made elsewhere")


def test_digests_are_known_until_the_end_of_their_request() -> None:
    notes = TurnNotes()
    with notes.with_digests({"a": DIGEST}):
        assert notes.has_digests
        assert notes.digest("a") is DIGEST
        assert notes.digest("b") is None
    assert notes.digest("a") is None
    assert not notes.has_digests


def test_the_end_of_a_request_leaves_the_digests_of_another() -> None:
    notes = TurnNotes()
    with notes.with_digests({"a": DIGEST}):
        with notes.with_digests({"b": DIGEST}):
            assert notes.digest("b") is DIGEST
        assert notes.digest("a") is DIGEST


def test_a_turn_that_nothing_is_known_of_may_have_failed() -> None:
    notes = TurnNotes()
    notes.note_without_failure("a")
    assert notes.are_without_failure(["a"])
    assert not notes.are_without_failure(["a", "b"])


def test_of_many_turns_the_last_ones_are_known() -> None:
    notes = TurnNotes()
    for number in range(1000):
        notes.note_without_failure(str(number))
    assert notes.are_without_failure(["999", "950"])
    assert not notes.are_without_failure(["0"])
