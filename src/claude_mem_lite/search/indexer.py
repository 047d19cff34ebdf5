"""Background indexing: missing words, and vectors of every document.

The job loop runs one batch per pass, after all work that somebody may be waiting for. Nothing depends on complete
vectors: a document without a vector is found by its words."""

import logging
import sqlite3
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.embed.embedder import parts_of
from claude_mem_lite.models import Memory, Passage
from claude_mem_lite.providers import Embedder
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, index_queue, passages, vectors

WORDS_VERSION = "2"
"""Version of the word index. A new version reindexes all words; needed when `text.py` or the columns of the index
change."""
VECTORS_VERSION = "1"
"""Version of the vectors. A new version embeds all documents again; needed when another part of a document is
embedded."""
# Raw text names its subject at the beginning; a vector of the complete text would be near to everything.
LEAD = 600
# Some 50 ms of work, which a hook that requests a context may have to wait for.
BATCH = 200
log = logging.getLogger(__name__)


class Document(NamedTuple):
    scope: str
    text: str
    """Text for people, and input of the vector."""
    parts: list[str]
    source: Memory | Passage


class Indexing:
    """Indexing of one database. Used by the job thread alone, except for `problem` and `used_at`."""

    def __init__(self, db: sqlite3.Connection, embedder: Embedder) -> None:
        self.problem = ""
        """Reason why no vectors are made; empty when all is well. A new worker tries again."""
        self.used_at = 0.0
        """Time of the last embedding, on the monotonic clock."""
        self._db = db
        self._embedder = embedder
        self._are_all_passages_there = False
        self._began = False

    def begin(self) -> None:
        """Queue everything that another version made."""
        with atomic(self._db):
            version = f"{self._embedder.name}/{VECTORS_VERSION}"
            if index_queue.version_of(self._db, "vectors") != version:
                vectors.clear(self._db)
                index_queue.all_again(self._db, words=False)
                index_queue.set_version(self._db, "vectors", version)
            if index_queue.version_of(self._db, "words") != WORDS_VERSION:
                index_queue.all_again(self._db, words=True)
                index_queue.set_version(self._db, "words", WORDS_VERSION)

    def rebuild(self) -> None:
        """Queue everything for a rebuild. Orphaned rows are removed at once; every other row stays until it is
        replaced, so that search works meanwhile."""
        self.problem = ""
        self._are_all_passages_there = False
        with atomic(self._db):
            fts.repair(self._db)
            passages.repair(self._db)
            fts.remove_orphans(self._db)
            vectors.remove_orphans(self._db)
            index_queue.all_again(self._db, words=True)

    def waiting(self, db: sqlite3.Connection) -> int:
        """Return the number of documents that this worker has to index."""
        return index_queue.count(db, words_only=bool(self.problem))

    def step(self) -> bool:
        """Index one batch; return True if more is waiting."""
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
            if _is_of_the_database(error):  # no fault of the documents, and the loop reports the error
                raise
            if len(batch) > 1:
                for entry in batch:
                    self._work_on([entry])
                return
            # A faulty document must not block the others, nor be tried for ever.
            log.exception("document not indexed", extra={"document": batch[0][0]})
            with atomic(self._db):
                index_queue.done(self._db, [batch[0][0]])

    def _index(self, batch: Sequence[tuple[int, bool]]) -> None:
        """Index words and vectors of a batch, all or none. Documents that are gone are only removed from the queue."""
        documents = read_documents(self._db, [document for document, _ in batch])
        embedded = self._embedded(documents)
        left = set(documents) - set(embedded)
        with atomic(self._db):
            for document, words in batch:
                if words and document in documents:
                    _index_words(self._db, vectors.seq_of(document), documents[document].source)
            for document, (vector, *parts) in embedded.items():
                vectors.put(self._db, document, documents[document].scope, vector, parts)
            index_queue.words_done(self._db, left)
            index_queue.done(self._db, {document for document, _ in batch} - left)

    def _embedded(self, documents: Mapping[int, Document]) -> dict[int, list[bytes]]:
        """Return the vectors of documents, of the whole and of the parts; none if the embedder is broken."""
        if self.problem or not documents:
            return {}
        self.used_at = time.monotonic()
        try:
            made_vectors = iter(
                self._embedder.embed(
                    [text for content in documents.values() for text in (content.text, *content.parts)]
                )
            )
        except Exception as error:
            if self._can_embed():
                raise
            log.exception("no vectors can be made; search goes by words alone")
            self.problem = f"no vectors can be made: {type(error).__name__}"
            return {}
        return {document: list(islice(made_vectors, 1 + len(content.parts))) for document, content in documents.items()}

    def _can_embed(self) -> bool:
        """Return True if the embedder works at all, so that a failure is the fault of a text."""
        try:
            self._embedder.embed(["text"])
        except Exception:  # noqa: BLE001  whoever asks tells of the failure that made it ask
            return False
        return True


def _is_of_the_database(error: Exception) -> bool:
    """Return True for an error of the database as a whole, such as a full disk or a corrupt file."""
    is_of_a_row = isinstance(error, sqlite3.DataError | sqlite3.IntegrityError)
    return isinstance(error, sqlite3.DatabaseError) and not is_of_a_row


def read_documents(db: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Document]:
    """Return the embedded texts of documents by number, without documents that are gone."""
    of_memories, of_passages = vectors.apart(numbers)
    documents = {}
    for seq, memory in memories.by_seq(db, of_memories).items():
        text = "\n".join((memory.title, memory.summary, *memory.facts, memory.detail))
        documents[vectors.of_memory(seq)] = Document(memory.scope, text, parts_of(text), memory)
    for seq, passage in passages.by_seq(db, of_passages).items():
        lead, parts = f"{passage.asked}\n{passage.answered[:LEAD]}", parts_of(f"{passage.asked}\n{passage.answered}")
        documents[vectors.of_passage(seq)] = Document(f"project:{passage.project}", lead, parts, passage)
    return documents


def _index_words(db: sqlite3.Connection, seq: int, source: Memory | Passage) -> None:
    if isinstance(source, Passage):
        passages.index_words(db, seq, source)
    else:
        fts.remove(db, seq)
        fts.add(db, seq, source)
