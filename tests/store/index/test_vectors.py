"""Vectors and their sketches in the database: what is kept, what follows a change, what waits."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.store.index import index_queue, vectors
from claude_mem_lite.store.index.vectors import SKETCH_BYTES
from tests.support.fakes import Store

ONES = bytes([1]) * 256
MINUS = bytes([255]) * 256


def numbers_of(records: bytes) -> list[int]:
    assert len(records) % SKETCH_BYTES == 0
    return [struct.unpack_from("<q", records, at)[0] for at in range(0, len(records), SKETCH_BYTES)]


@given(st.binary(min_size=256, max_size=256))
def test_a_sketch_has_one_bit_for_each_sign(vector: bytes) -> None:
    bits = f"{int.from_bytes(vectors.signs(vector)):0256b}"
    assert [bit == "0" for bit in bits] == [number > 127 for number in vector]


@pytest.mark.parametrize("scope", ["universal", "language:python"])
def test_all_that_holds_beyond_a_project_has_one_scope_number(scope: str) -> None:
    assert vectors.scope_number(scope) == vectors.EVERYWHERE


@given(st.text())
def test_a_project_has_a_scope_number_of_its_own(project: str) -> None:
    number = vectors.scope_number(f"project:{project}")
    assert 0 < number < 2**63
    assert number != vectors.scope_number(f"project:{project}.")


def test_a_vector_is_read_back_as_it_was_put_last(store: Store) -> None:
    vectors.put(store.db, 2, "universal", ONES)
    vectors.put(store.db, 4, "universal", ONES)
    vectors.put(store.db, 2, "universal", MINUS)
    assert vectors.exact(store.db, [2, 4, 6]) == {2: MINUS, 4: ONES}
    assert vectors.count(store.db) == 2


def test_a_vector_of_zeros_is_not_kept_and_takes_the_former_with_it(store: Store) -> None:
    vectors.put(store.db, 2, "universal", ONES)
    vectors.put(store.db, 2, "universal", bytes(256))
    assert vectors.exact(store.db, [2]) == {}
    assert vectors.count(store.db) == 0


def test_only_what_was_put_since_is_told_as_changed(store: Store) -> None:
    for document in (2, 4, 6):
        vectors.put(store.db, document, "universal", ONES)
    newest, records = vectors.changes(store.db, 0, 10)
    assert sorted(numbers_of(records)) == [2, 4, 6]
    vectors.put(store.db, 4, "project:x", MINUS)
    newer, records = vectors.changes(store.db, newest, 10)
    assert numbers_of(records) == [4]
    assert struct.unpack_from("<q", records, 8)[0] == vectors.scope_number("project:x")
    assert vectors.changes(store.db, newer, 10) == (newer, b"")


def test_changes_come_in_parts_as_small_as_wanted(store: Store) -> None:
    for document in range(2, 12, 2):
        vectors.put(store.db, document, "universal", ONES)
    change, seen = 0, []
    while True:
        change, records = vectors.changes(store.db, change, 2)
        if not records:
            break
        assert len(records) <= 2 * SKETCH_BYTES
        seen += numbers_of(records)
    assert seen == [2, 4, 6, 8, 10]


def test_change_numbers_go_on_after_everything_was_cleared(store: Store) -> None:
    vectors.put(store.db, 2, "universal", ONES)
    seen, _ = vectors.changes(store.db, 0, 10)
    vectors.clear(store.db)
    assert vectors.first_change(store.db) is None
    vectors.put(store.db, 2, "universal", ONES)
    first = vectors.first_change(store.db)
    assert first is not None
    assert first > seen


def test_what_is_left_of_documents_that_are_gone_can_be_removed(store: Store) -> None:
    store.remember("Rotate the signing keys")
    store.turn("t1", "Rotate them", "Done")
    there = [vectors.of_memory(1), vectors.of_passage(1)]
    for document in (*there, vectors.of_memory(2), vectors.of_passage(2)):
        vectors.put(store.db, document, "universal", bytes([1]) * vectors.DIMENSIONS)
    vectors.remove_orphans(store.db)
    assert sorted(vectors.exact(store.db, range(9))) == there
    assert vectors.count(store.db) == 2


def test_documents_are_told_apart_in_their_order() -> None:
    assert vectors.apart([7, 4, 2, 1]) == ([2, 1], [3, 0])
    assert vectors.apart([]) == ([], [])


# What waits.


def test_what_is_stored_waits_for_its_vector_newest_first(store: Store) -> None:
    for title in ("The first one", "Another matter", "Something else"):
        store.remember(title)
    assert index_queue.waiting(store.db, 2) == [(vectors.of_memory(3), False), (vectors.of_memory(2), False)]
    index_queue.done(store.db, [vectors.of_memory(3)])
    assert index_queue.count(store.db) == 2


def test_everything_may_be_asked_for_again_and_words_once_asked_for_stay_so(store: Store) -> None:
    store.remember("Rotate the signing keys")
    index_queue.all_again(store.db, words=True)
    index_queue.all_again(store.db, words=False)
    assert index_queue.waiting(store.db, 10) == [(vectors.of_memory(1), True)]
    index_queue.words_done(store.db, [vectors.of_memory(1)])
    assert index_queue.waiting(store.db, 10) == [(vectors.of_memory(1), False)]
    assert index_queue.waiting(store.db, 10, words_only=True) == []
    assert vectors.count_documents(store.db) == 1


def test_a_part_of_the_index_remembers_what_made_it(store: Store) -> None:
    assert index_queue.version_of(store.db, "words") == ""
    index_queue.set_version(store.db, "words", "1")
    index_queue.set_version(store.db, "words", "2")
    assert index_queue.version_of(store.db, "words") == "2"
    assert index_queue.version_of(store.db, "vectors") == ""
