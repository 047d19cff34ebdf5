"""Search by meaning: the nearest first, only what fits, and always as the database is at the moment."""

import random
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.db.connection import atomic, open_for_reading
from claude_mem_lite.models import Location
from claude_mem_lite.search import sign_index
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import vectors
from tests.support.fakes import NOW, SHOP, FakeEmbedder, Store

OTHER = Location(project="example.org/me/other", name="other", root="/nowhere/other")
IN_SHOP = Filters(project=SHOP.project)


class Meaning:
    """A store whose memories are embedded, and questions to it."""

    def __init__(self, store: Store) -> None:
        self.db = store.db
        self.remember = store.remember
        self.embedder = FakeEmbedder(means={"automobile": "car", "vehicle": "car"})
        self.index = VectorIndex()

    def find(self, query: str, filters: Filters = IN_SHOP, limit: int = 10) -> list[str]:
        """The titles of what is nearest, after everything was embedded."""
        while Indexing(self.db, self.embedder).step():
            pass
        return self.find_as_it_is(query, filters, limit)

    def find_as_it_is(self, query: str, filters: Filters = IN_SHOP, limit: int = 10) -> list[str]:
        (vector,) = self.embedder.embed([query])
        near = self.index.nearest(self.db, vector, filters, limit)
        assert near == sorted(near, key=lambda one: -one[1])
        found = memories.by_seq(self.db, [vectors.seq_of(document) for document, _ in near])
        return [found[vectors.seq_of(document)].title for document, _ in near]


@pytest.fixture
def meaning(store: Store) -> Meaning:
    return Meaning(store)


def test_a_text_is_found_by_what_it_means(meaning: Meaning) -> None:
    meaning.remember("Bread is baked at noon", summary="bread")
    meaning.remember("The car waits outside", summary="car")
    assert meaning.find("automobile")[0] == "The car waits outside"


def test_the_cosine_is_that_of_the_vectors(meaning: Meaning) -> None:
    kept = meaning.remember("The car waits outside")
    meaning.find("x")
    text = f"{kept.title}\n{kept.summary}"
    ((_, cosine),) = meaning.index.nearest(meaning.db, meaning.embedder.embed([text])[0], IN_SHOP, 1)
    assert cosine == pytest.approx(1.0)


def test_nothing_is_near_to_a_query_without_a_meaning(meaning: Meaning) -> None:
    meaning.remember("The car waits outside")
    assert meaning.find("") == []


def test_nothing_is_found_where_nothing_is(meaning: Meaning) -> None:
    assert meaning.find("car") == []


def test_other_projects_are_found_only_when_asked_for(meaning: Meaning) -> None:
    meaning.remember("The car waits outside", place=OTHER)
    assert meaning.find("car") == []
    assert meaning.find("car", Filters()) == ["The car waits outside"]


@pytest.mark.parametrize("scope", ["universal", "language:python"])
def test_what_holds_beyond_its_project_is_found_from_everywhere(meaning: Meaning, scope: str) -> None:
    meaning.remember("The car waits outside", place=OTHER, scope=scope)
    assert meaning.find("car") == ["The car waits outside"]


def test_a_filter_leaves_only_what_fits_it_however_many_are_nearer(meaning: Meaning) -> None:
    long_ago = NOW - timedelta(days=40)
    for number in range(250):
        meaning.remember(f"car number {number}", kind="bugfix", created_at=long_ago, scope="universal")
    far = "A vehicle among much else that is told here and makes it less near"
    meaning.remember(far, kind="decision", scope="language:python", files=("src/car.py",), branch="garage")
    meaning.remember("The old car", status="superseded")
    for filters in (
        Filters(kinds=("decision",)),
        Filters(scope="language:python"),
        Filters(file="car.py"),
        Filters(branch="garage"),
        Filters(since=NOW - timedelta(days=7)),
    ):
        assert meaning.find("car", filters, limit=3) == [far]
    assert meaning.find("car", Filters(statuses=("superseded",)), limit=3) == ["The old car"]


def test_what_is_empty_asks_for_nothing(meaning: Meaning) -> None:
    meaning.remember("The car waits outside", scope="project:anywhere")
    assert meaning.find("car", Filters(project="", scope="", file="", branch="")) == ["The car waits outside"]


def test_what_no_longer_holds_is_not_found(meaning: Meaning) -> None:
    meaning.remember("The car waits outside", status="retired")
    assert meaning.find("car") == []


def test_raw_text_is_found_beside_memories_unless_a_filter_leaves_it_out(meaning: Meaning) -> None:
    vector = meaning.embedder.embed(["car"])[0]
    meaning.db.execute(
        """insert into passages (seq, id, kind, source, session, project, created_at)
           values (7, 'p7', 'turn', 't', 's', :project, '2026-01-01T00:00:00.000000+00:00')""",
        {"project": SHOP.project},
    )
    vectors.put(meaning.db, vectors.of_passage(7), f"project:{SHOP.project}", vector)
    near = meaning.index.nearest(meaning.db, vector, IN_SHOP, 5)
    assert [document for document, _ in near] == [vectors.of_passage(7)]
    assert meaning.index.nearest(meaning.db, vector, Filters(kinds=("note",)), 5) == []


# Keeping up.


def test_what_is_new_and_what_changed_is_found_without_loading_again(meaning: Meaning) -> None:
    kept = meaning.remember("Bread is baked at noon", summary="bread")
    assert meaning.find("bread") == ["Bread is baked at noon"]
    meaning.remember("The car waits outside", summary="car")
    assert meaning.find("car", limit=1) == ["The car waits outside"]
    with atomic(meaning.db):
        memories.rewrite(meaning.db, replace(kept, title="A whale sings below", summary="whale"))
    assert meaning.find("whale", limit=1) == ["A whale sings below"]


def test_what_was_removed_is_not_found(meaning: Meaning) -> None:
    kept = meaning.remember("The car waits outside")
    assert meaning.find("car") == ["The car waits outside"]
    with atomic(meaning.db):
        memories.remove(meaning.db, [kept.id], NOW)
    assert meaning.find("car") == []


def test_what_was_made_anew_by_another_embedder_is_all_that_is_held(meaning: Meaning) -> None:
    for title in ("The car waits outside", "Bread is baked at noon"):
        meaning.remember(title)
    meaning.find("car")
    with atomic(meaning.db):
        vectors.clear(meaning.db)
    assert meaning.find_as_it_is("car") == []
    vectors.put(meaning.db, vectors.of_memory(2), f"project:{SHOP.project}", meaning.embedder.embed(["fish"])[0])
    assert meaning.find_as_it_is("fish") == ["Bread is baked at noon"]


def test_what_was_let_go_is_loaded_again(meaning: Meaning) -> None:
    meaning.remember("The car waits outside")
    meaning.find("car")
    meaning.index.release()
    assert meaning.find("car") == ["The car waits outside"]


def test_several_threads_may_search_while_one_writes(meaning: Meaning) -> None:
    (wanted,) = meaning.embedder.embed(["car"])
    path = Path(meaning.db.execute("pragma database_list").fetchone()["file"])
    meaning.remember("The car waits outside")
    meaning.find("car")
    done = threading.Event()
    seen: list[int] = []
    errors: list[BaseException] = []

    def search() -> None:
        try:
            with closing(open_for_reading(path)) as db:
                while not done.is_set():
                    seen.append(len(meaning.index.nearest(db, wanted, IN_SHOP, 1)))
        except BaseException as error:  # noqa: BLE001  told below
            errors.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(100):
        with atomic(meaning.db):
            vectors.put(meaning.db, 2 * (number + 2), "universal", wanted)
        if number % 20 == 0:
            meaning.index.release()
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert set(seen) == {1}


def test_numpy_is_not_imported_before_the_first_search() -> None:
    code = "import sys, claude_mem_lite.worker.composition; print('numpy' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


# Sketches.


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_sketches_that_are_put_follow_the_order_of_what_was_put_last(data: st.DataObject) -> None:
    changes = data.draw(st.lists(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 3)), max_size=12), max_size=6))
    held = sign_index.Sketches(0)
    expected: dict[int, int] = {}
    for change in changes:
        latest = dict(change)  # a document is in a change once
        held.put(b"".join(_record(document, scope) for document, scope in latest.items()))
        expected |= latest
    now = held.held()
    assert dict(zip(now.documents.tolist(), now.scopes.tolist(), strict=True)) == expected
    assert len(now) == len(expected)
    assert [int(word) for word in now.bits[0]] == now.documents.tolist()


def test_nearly_all_of_the_nearest_are_among_the_candidates() -> None:
    random_ = np.random.default_rng(5)
    centres = random_.normal(size=(200, 256))
    given_ = centres[random_.integers(0, 200, 8_000)] + 1.2 * random_.normal(size=(8_000, 256))
    scaled = np.clip(np.rint(508 * given_ / np.linalg.norm(given_, axis=1, keepdims=True)), -127, 127).astype(np.int8)
    held = sign_index.Sketches(0)
    held.append(
        b"".join(
            number.to_bytes(8, "little") + bytes(8) + vectors.signs(one.tobytes()) for number, one in enumerate(scaled)
        )
    )
    kept = 0
    for number in random.Random(1).sample(range(8_000), 50):
        exact = scaled.astype(np.int32) @ scaled[number].astype(np.int32)
        true = set(np.argsort(-exact)[:10].tolist())
        kept += len(true & set(sign_index.nearest(held.held(), scaled[number].tobytes(), None, 400)[:100]))
    assert kept >= 0.95 * 500


def test_the_number_of_candidates_is_kept_although_many_are_equally_far() -> None:
    held = sign_index.Sketches(0)
    held.append(b"".join(_record(document, 0) for document in [5] * 100))
    assert len(sign_index.nearest(held.held(), bytes([1]) * 256, None, 30)) == 30
    assert len(sign_index.nearest(held.held(), bytes([1]) * 256, None, 300)) == 100


def _record(document: int, scope: int) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in (document, scope, document, 0, 0, 0))
