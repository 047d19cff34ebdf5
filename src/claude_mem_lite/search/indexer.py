"""Fills the index in the background: words where they are missing, and what every document means.

The job loop calls it, a batch a pass, after all that somebody may be waiting for. Nothing depends on it being done:
what has no vector yet is found by its words."""

import logging
import sqlite3
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.embed.embedder import parts_of
from claude_mem_lite.models import Embedder, Memory, Passage
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, index_queue, passages, vectors

WORDS_VERSION = "2"
"""Another one has all words indexed anew: for when `words.py` or the columns of the index change."""
VECTORS_VERSION = "1"
"""Another one has all vectors made anew: for when something else of a document is embedded."""
# What raw text is about stands at its beginning; a vector of all of it would be near to everything.
LEAD = 600
# Some 50 ms of work, which a hook that asks for context may have to wait for.
BATCH = 200
log = logging.getLogger(__name__)


class Document(NamedTuple):
    scope: str
    text: str
    """What a person would read, and what its vector is made of."""
    parts: list[str]
    source: Memory | Passage


class Indexing:
    """Used by the job thread alone, but for `problem` and `used_at`."""

    def __init__(self, db: sqlite3.Connection, embedder: Embedder) -> None:
        self.problem = ""
        """Why no vectors are made; empty when all is well. They are tried again when a worker starts."""
        self.used_at = 0.0
        """When something was last embedded, on the monotonic clock."""
        self._db = db
        self._embedder = embedder
        self._are_all_passages_there = False
        self._began = False

    def begin(self) -> None:
        """Have made anew what another version made."""
        with atomic(self._db):
            made_by = f"{self._embedder.name}/{VECTORS_VERSION}"
            if index_queue.version_of(self._db, "vectors") != made_by:
                vectors.clear(self._db)
                index_queue.all_again(self._db, words=False)
                index_queue.set_version(self._db, "vectors", made_by)
            if index_queue.version_of(self._db, "words") != WORDS_VERSION:
                index_queue.all_again(self._db, words=True)
                index_queue.set_version(self._db, "words", WORDS_VERSION)

    def rebuild(self) -> None:
        """Have everything made anew. What belongs to nothing goes at once; every other row stays until it is replaced,
        so that all can be found meanwhile."""
        self.problem = ""
        self._are_all_passages_there = False
        with atomic(self._db):
            fts.mend(self._db)
            passages.mend(self._db)
            fts.remove_orphans(self._db)
            vectors.remove_orphans(self._db)
            index_queue.all_again(self._db, words=True)

    def waiting(self, db: sqlite3.Connection) -> int:
        """How many documents are to be worked on by this worker."""
        return index_queue.count(db, words_only=bool(self.problem))

    def step(self) -> bool:
        """Work on one batch; returns whether more is waiting."""
        if not self._began:
            self.begin()
            self._began = True
        if not self._are_all_passages_there:
            with atomic(self._db):
                self._are_all_passages_there = passages.add_missing(self._db, BATCH) == 0
        batch = index_queue.waiting(self._db, BATCH, words_only=bool(self.problem))
        if batch:
            self._work_on(batch)
        return len(batch) == BATCH or not self._are_all_passages_there

    def _work_on(self, batch: Sequence[tuple[int, bool]]) -> None:
        try:
            self._index(batch)
        except Exception as error:
            if _is_of_the_database(error):  # no fault of the documents, and the loop tells of it
                raise
            if len(batch) > 1:
                for one in batch:
                    self._work_on([one])
                return
            # One that cannot be worked on must not keep the others waiting, nor be tried for ever.
            log.exception("document not indexed", extra={"document": batch[0][0]})
            with atomic(self._db):
                index_queue.done(self._db, [batch[0][0]])

    def _index(self, batch: Sequence[tuple[int, bool]]) -> None:
        """Words and vectors of some documents, all or none. What is gone meanwhile is only crossed off."""
        found = read_documents(self._db, [document for document, _ in batch])
        made = self._embedded(found)
        left = set(found) - set(made)
        with atomic(self._db):
            for document, words in batch:
                if words and document in found:
                    _index_words(self._db, vectors.seq_of(document), found[document].source)
            for document, (vector, *parts) in made.items():
                vectors.put(self._db, document, found[document].scope, vector, parts)
            index_queue.words_done(self._db, left)
            index_queue.done(self._db, {document for document, _ in batch} - left)

    def _embedded(self, found: Mapping[int, Document]) -> dict[int, list[bytes]]:
        """The vectors of documents, of the whole and of its parts; none, once the embedder turns out to be broken."""
        if self.problem or not found:
            return {}
        self.used_at = time.monotonic()
        try:
            made = iter(self._embedder.embed([text for one in found.values() for text in (one.text, *one.parts)]))
        except Exception as error:
            if self._can_embed():
                raise
            log.exception("no vectors can be made; search goes by words alone")
            self.problem = f"no vectors can be made: {type(error).__name__}"
            return {}
        return {document: list(islice(made, 1 + len(one.parts))) for document, one in found.items()}

    def _can_embed(self) -> bool:
        """Whether the embedder works at all, so that a failure is the fault of a text."""
        try:
            self._embedder.embed(["text"])
        except Exception:  # noqa: BLE001  whoever asks tells of the failure that made it ask
            return False
        return True


def _is_of_the_database(error: Exception) -> bool:
    """A full disk or a damaged file, say."""
    is_of_a_row = isinstance(error, sqlite3.DataError | sqlite3.IntegrityError)
    return isinstance(error, sqlite3.DatabaseError) and not is_of_a_row


def read_documents(db: sqlite3.Connection, wanted: Sequence[int]) -> dict[int, Document]:
    """What is embedded of documents, by their numbers; without those that are gone."""
    of_memories, of_passages = vectors.apart(wanted)
    found = {}
    for seq, memory in memories.by_seq(db, of_memories).items():
        text = "\n".join((memory.title, memory.summary, *memory.facts, memory.detail))
        found[vectors.of_memory(seq)] = Document(memory.scope, text, parts_of(text), memory)
    for seq, passage in passages.by_seq(db, of_passages).items():
        lead, parts = f"{passage.asked}\n{passage.answered[:LEAD]}", parts_of(f"{passage.asked}\n{passage.answered}")
        found[vectors.of_passage(seq)] = Document(f"project:{passage.project}", lead, parts, passage)
    return found


def _index_words(db: sqlite3.Connection, seq: int, source: Memory | Passage) -> None:
    if isinstance(source, Passage):
        passages.index_words(db, seq, source)
    else:
        fts.remove(db, seq)
        fts.add(db, seq, source)
