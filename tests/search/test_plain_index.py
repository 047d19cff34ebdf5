"""Search without numpy finds what search with numpy finds."""

import sqlite3
from dataclasses import replace

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.embed.embedder import shared_table
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.search.plain_index import MAX_DOCUMENTS, PlainIndex, plain_search, suffices
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store.index import vectors
from tests.support.fakes import NOW, SHOP, Store

SUBJECTS = ("carts", "sessions", "hooks", "databases", "reports", "keys", "prompts", "branches")
ACTS = ("Keep {} in SQLite", "{} are lost after a restart", "Read {} before the build", "Never log {}")
QUERIES = ("where do shopping carts live", "session lost on restart", "reading hooks at build time", "secret keys")
OTHER = replace(SHOP, project="other")


@pytest.fixture
def filled(store: Store) -> sqlite3.Connection:
    for number, subject in enumerate(SUBJECTS):
        for act in ACTS:
            store.remember(act.format(subject), place=SHOP if number % 2 else OTHER)
    indexing = Indexing(store.db, shared_table())
    indexing.begin()
    while indexing.step():
        pass
    return store.db


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("project", [None, SHOP.project])
def test_the_nearest_documents_are_those_of_the_index_with_numpy(
    filled: sqlite3.Connection, query: str, project: str | None
) -> None:
    (vector,) = shared_table().embed([query])
    filters = Filters(project=project)
    plain = PlainIndex().nearest(filled, vector, filters, 5)
    stored = VectorIndex().nearest(filled, vector, filters, 5)
    assert [document for document, _ in plain] == [document for document, _ in stored] != []
    assert [cosine for _, cosine in plain] == pytest.approx([cosine for _, cosine in stored], abs=1e-6)


@pytest.mark.parametrize("query", QUERIES)
def test_the_hits_are_those_of_the_search_with_numpy(filled: sqlite3.Connection, query: str) -> None:
    search = Search(shared_table(), VectorIndex())
    plain = plain_search().search_without_reasons(filled, query, Filters(), NOW, 8)
    stored = search.search_without_reasons(filled, query, Filters(), NOW, 8)
    assert [hit.found.id for hit in plain] == [hit.found.id for hit in stored] != []


def test_a_vector_of_zeros_is_near_to_nothing(filled: sqlite3.Connection) -> None:
    assert PlainIndex().nearest(filled, bytes(vectors.DIMENSIONS), Filters(), 5) == []


def test_many_documents_are_left_to_numpy(filled: sqlite3.Connection, store: Store) -> None:
    assert suffices(store.connect)
    (some,) = shared_table().embed(["carts"])
    with atomic(filled):
        for document in range(1_000_000, 1_000_000 + MAX_DOCUMENTS):
            vectors.put(filled, document, "user", some)
    assert not suffices(store.connect)
