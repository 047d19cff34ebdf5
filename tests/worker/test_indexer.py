"""The index is filled in the background, made anew when another version made it, and never in anybody's way."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic, open_for_reading
from claude_mem_lite.models import SessionSummary
from claude_mem_lite.paths import Home
from claude_mem_lite.search import indexer
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, index_queue, passages, vectors
from claude_mem_lite.worker.api import admin, status
from claude_mem_lite.worker.background import MANY_BATCHES
from claude_mem_lite.worker.services import Services
from tests.support.fakes import NOW, FakeEmbedder, Store
from tests.support.patience import PATIENT
from tests.support.running import Machine, leave, running_loop, turn, wait_until
from tests.worker.conftest import SetClock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as made:
        yield made


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


def finish(work: Indexing) -> None:
    while work.step():
        pass


def has_vector(db: sqlite3.Connection, seq: int) -> bool:
    return vectors.of_memory(seq) in vectors.exact(db, [vectors.of_memory(seq)])


def found_by_words(db: sqlite3.Connection, *words: str) -> list[int]:
    return [seq for seq, _ in fts.search(db, words, Filters(), 10)]


def test_every_memory_gets_a_vector_of_what_a_person_would_read(store: Store, embedder: FakeEmbedder) -> None:
    store.remember("Rotate the keys", summary="Every month", facts=("By cron",), detail="At night", files=("keys.py",))
    finish(Indexing(store.db, embedder))
    assert embedder.asked == ["Rotate the keys\nEvery month\nBy cron\nAt night"]
    assert has_vector(store.db, 1)
    assert index_queue.count(store.db) == 0


def test_a_batch_at_a_time_is_worked_on_the_newest_first(store: Store, embedder: FakeEmbedder) -> None:
    number = indexer.BATCH + 1
    for at in range(number):
        store.remember(f"Matter {at * 7919} of {at * 104729}")
    work = Indexing(store.db, embedder)
    assert work.step()
    assert has_vector(store.db, number)
    assert not has_vector(store.db, 1)
    assert not work.step()
    assert has_vector(store.db, 1)


def test_a_memory_that_changes_gets_another_vector(store: Store, embedder: FakeEmbedder) -> None:
    kept = store.remember("Rotate the keys")
    work = Indexing(store.db, embedder)
    finish(work)
    before = vectors.exact(store.db, [2])
    with atomic(store.db):
        memories.rewrite(store.db, replace(kept, title="Never rotate anything"))
    finish(work)
    assert vectors.exact(store.db, [2]) != before


def test_what_another_embedder_made_is_made_anew(store: Store, embedder: FakeEmbedder) -> None:
    store.remember("Rotate the keys")
    first = Indexing(store.db, embedder)
    first.begin()
    finish(first)
    again = Indexing(store.db, embedder)
    again.begin()
    assert index_queue.count(store.db) == 0
    other = FakeEmbedder(name="fake-2")
    changed = Indexing(store.db, other)
    changed.begin()
    assert vectors.count(store.db) == 0
    finish(changed)
    assert vectors.count(store.db) == 1
    assert index_queue.version_of(store.db, "vectors").startswith("fake-2")


def test_words_that_another_version_indexed_are_indexed_anew(store: Store, embedder: FakeEmbedder) -> None:
    store.remember("Rotate the keys")
    work = Indexing(store.db, embedder)
    work.begin()
    finish(work)
    fts.remove(store.db, 1)
    index_queue.set_version(store.db, "words", "0")
    work.begin()
    finish(work)
    assert found_by_words(store.db, "rotate") == [1]


def test_turns_and_sessions_of_before_become_findable(store: Store, embedder: FakeEmbedder) -> None:
    store.db.execute(
        """insert into prompts (turn, session, prompt_id, text, reply, created_at)
           values ('t1', 's1', '', 'Where do the keys lie?', 'Below the mat.', :at)""",
        {"at": NOW.isoformat(timespec="microseconds")},
    )
    finish(Indexing(store.db, embedder))
    assert embedder.asked == ["Where do the keys lie?\nBelow the mat."]
    assert vectors.of_passage(1) in vectors.exact(store.db, [vectors.of_passage(1)])


def test_a_rebuild_leaves_nothing_of_what_is_gone(store: Store, embedder: FakeEmbedder) -> None:
    store.remember("Rotate the keys")
    store.remember("Water the plants")
    store.turn("t1", "Rotate the keys", "Done")
    store.turn("t2", "Water the plants", "Done")
    work = Indexing(store.db, embedder)
    finish(work)
    store.db.execute("delete from memories where seq = 2")
    store.db.execute("delete from prompts where turn = 't2'")
    work.rebuild()
    assert work.waiting(store.db) == 2
    finish(work)
    for table in ("memories", "memories_fts", "passages", "passages_fts"):
        assert [row[0] for row in store.db.execute(f"select rowid from {table}")] == [1]
    for table in ("vectors", "sketches"):
        assert {row["document"] for row in store.db.execute(f"select document from {table}")} == {2, 3}


@pytest.mark.parametrize("table", ["memories_fts", "passages_fts"])
def test_a_rebuild_mends_a_damaged_word_index(store: Store, embedder: FakeEmbedder, table: str) -> None:
    memory = store.remember("Rotate the signing keys")
    store.session("s7", SessionSummary(headline="Move the importer to Rust"))
    store.db.execute(f"update {table}_data set block = zeroblob(length(block)) where id > 1")
    with pytest.raises(sqlite3.DatabaseError):
        store.db.execute(f"insert into {table} ({table}) values ('integrity-check')")
    work = Indexing(store.db, embedder)
    work.rebuild()
    finish(work)
    store.db.execute(f"insert into {table} ({table}) values ('integrity-check')")
    assert [memories.by_seq(store.db, found_by_words(store.db, "signing"))[1].id] == [memory.id]


def test_a_rebuild_has_raw_text_found_in_the_project_of_its_session(store: Store, embedder: FakeEmbedder) -> None:
    store.turn("t1", "Rotate the keys", "Done")
    work = Indexing(store.db, embedder)
    finish(work)
    store.db.execute("update sessions set project = 'elsewhere'")
    work.rebuild()
    finish(work)
    there = Filters(project="elsewhere")
    assert [seq for seq, _ in passages.search(store.db, ["keys"], there, 10)] == [1]
    (vector,) = embedder.embed(["Rotate the keys\nDone"])
    assert [document for document, _ in VectorIndex().nearest(store.db, vector, there, 10)] == [vectors.of_passage(1)]


# What goes wrong.


def test_a_broken_embedder_costs_nothing_but_the_vectors(
    store: Store, embedder: FakeEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    for title in ("Rotate the keys", "Water the plants"):
        store.remember(title)
    fts.remove(store.db, 1)
    index_queue.all_again(store.db, words=True)
    embedder.is_broken = True
    work = Indexing(store.db, embedder)
    finish(work)
    assert not work.step()
    assert found_by_words(store.db, "rotate") == [1]
    assert work.problem
    assert work.waiting(store.db) == 0
    assert index_queue.count(store.db) == 2
    assert [record.message for record in caplog.records] == ["no vectors can be made; search goes by words alone"]


def test_vectors_that_could_not_be_made_are_made_by_the_next_worker(store: Store, embedder: FakeEmbedder) -> None:
    store.remember("Rotate the keys")
    embedder.is_broken = True
    finish(Indexing(store.db, embedder))
    embedder.is_broken = False
    finish(Indexing(store.db, embedder))
    assert has_vector(store.db, 1)


def test_a_document_that_cannot_be_indexed_is_left_out_alone(
    store: Store, embedder: FakeEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    for title in ("Rotate the keys", "Beware of the basilisk", "Water the plants"):
        store.remember(title)
    embedder.unbearable = "basilisk"
    work = Indexing(store.db, embedder)
    finish(work)
    assert [has_vector(store.db, seq) for seq in (1, 2, 3)] == [True, False, True]
    assert index_queue.count(store.db) == 0
    assert not work.problem
    assert [record.message for record in caplog.records] == ["document not indexed"]


def test_what_is_gone_before_its_turn_comes_is_crossed_off(store: Store, embedder: FakeEmbedder) -> None:
    store.db.execute("insert into unindexed (document, words) values (246, 1), (247, 1)")
    finish(Indexing(store.db, embedder))
    assert index_queue.count(store.db) == 0
    assert vectors.count(store.db) == 0


# In the worker.


@contextmanager
def looped(home: Home, clock: SetClock, embedder: FakeEmbedder) -> Iterator[Services]:
    with running_loop(home, clock, embedder=embedder) as loop:
        yield loop


def counts(home: Home) -> tuple[int, int]:
    """Documents that wait, and vectors that are there."""
    with closing(open_for_reading(home.memory_db)) as db:
        return index_queue.count(db), vectors.count(db)


def test_what_is_remembered_is_found_by_its_meaning(home: Home, clock: SetClock) -> None:
    embedder = FakeEmbedder(means={"automobile": "car"})
    with looped(home, clock, embedder) as loop:
        command = {"command": "remember", "kind": "note", "text": "My car is red", "cwd": "/"}
        loop.commands.put(command).result(30)
        wait_until(lambda: counts(home) == (0, 1), "a vector")
        with closing(open_for_reading(home.memory_db)) as db:
            (hit,) = loop.search.search(db, "automobile", Filters(), clock(), 5)
    assert hit.found.title == "My car is red"


def test_what_is_forgotten_is_gone_from_the_vectors(home: Home, clock: SetClock, embedder: FakeEmbedder) -> None:
    with looped(home, clock, embedder) as loop:
        kept = loop.commands.put({"command": "remember", "kind": "note", "text": "My car is red", "cwd": "/"}).result(
            30
        )
        wait_until(lambda: counts(home) == (0, 1), "a vector")
        loop.commands.put({"command": "forget", "ids": kept}).result(30)
        assert counts(home) == (0, 0)
        with closing(open_for_reading(home.memory_db)) as db:
            assert db.execute("select count(*) from sketches").fetchone()[0] == 0


def test_many_documents_are_indexed_without_waiting_between_batches(home: Home, clock: SetClock) -> None:
    """Two seconds between passes would take these twenty batches over the time that is waited here."""
    number = 20 * indexer.BATCH
    with Store(home.memory_db) as store, atomic(store.db):
        store.db.executemany(
            "insert into unindexed (document, words) values (?, 0)", [(2 * at,) for at in range(1, number)]
        )
    with looped(home, clock, FakeEmbedder()):
        wait_until(lambda: counts(home)[0] == 0, "everything to be crossed off")


def test_what_embedding_has_loaded_is_let_go_after_many_batches(home: Home, clock: SetClock) -> None:
    embedder = FakeEmbedder()
    with Store(home.memory_db) as store, atomic(store.db):
        store.db.executemany(
            "insert into unindexed (document, words) values (?, 0)",
            [(2 * at,) for at in range(1, (MANY_BATCHES + 1) * indexer.BATCH)],
        )
    with looped(home, clock, embedder):
        wait_until(lambda: embedder.times_let_go > 0, "the embedder to be let go")
        assert counts(home)[0] == 0


def test_what_embedding_has_loaded_is_let_go_when_nobody_searches(
    home: Home, clock: SetClock, embedder: FakeEmbedder
) -> None:
    with running_loop(home, clock, embedder=embedder, limits=replace(PATIENT, rest_s=0.0)) as loop:
        loop.commands.put({"command": "remember", "kind": "note", "text": "My car is red", "cwd": "/"}).result(30)
        wait_until(lambda: embedder.times_let_go > 0, "the embedder to be let go")
        assert counts(home) == (0, 1)


def test_health_tells_why_no_vectors_are_made_and_counts_only_what_this_worker_will_do(
    home: Home, clock: SetClock, embedder: FakeEmbedder
) -> None:
    embedder.is_broken = True
    with looped(home, clock, embedder) as loop:
        loop.commands.put({"command": "remember", "kind": "note", "text": "My car is red", "cwd": "/"}).result(30)
        wait_until(lambda: loop.indexing.problem != "", "the embedder to be found broken")
        loop.writes.execute_write(lambda _: None).result(30)  # the step that found it is over
        health = status.health(loop)
        assert counts(home) == (1, 0)
    assert health.unindexed == 0
    assert health.index_problem.startswith("no vectors can be made: ")


@dataclass
class WaitingEmbedder(FakeEmbedder):
    """One that embeds nothing until it may go on."""

    may_go_on: threading.Event = field(default_factory=threading.Event)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.may_go_on.wait(30)
        return super().embed(texts)


def test_a_rebuild_joins_the_one_that_is_under_way(home: Home, clock: SetClock) -> None:
    embedder = WaitingEmbedder()
    embedder.may_go_on.set()
    with looped(home, clock, embedder) as loop:
        loop.commands.put({"command": "remember", "kind": "note", "text": "My car is red", "cwd": "/"}).result(30)
        wait_until(lambda: counts(home) == (0, 1), "a vector")
        embedder.may_go_on.clear()
        asked = len(embedder.asked)
        assert admin.rebuild(loop).joined is False
        assert admin.rebuild(loop).joined is True
        embedder.may_go_on.set()
        wait_until(lambda: counts(home) == (0, 1), "the vector to be made anew")
    assert len(embedder.asked) == 2 * asked


def test_everything_is_made_anew_on_demand_and_found_meanwhile(served: Machine) -> None:
    for given in turn("s-index", "sharpen the zanzibarium"):
        leave(served.home, given)
    served.post("/api/memories", {"kind": "note", "text": "The zanzibarium is blue", "cwd": "/"})
    served.drain()
    wait_until(lambda: served.get("/api/index")["waiting"] == 0, "the index")
    told = served.post("/api/rebuild", {})
    assert told["documents"] >= 2
    assert served.get("/api/search?query=zanzibarium&all_projects=true")["hits"] != []
    wait_until(lambda: served.get("/api/index")["waiting"] == 0, "the index to be made anew")
    assert served.get("/api/search?query=zanzibarium&all_projects=true")["hits"] != []
    assert served.get("/api/health")["unindexed"] == 0
