"""When a search is sure of a hit, and when it has only the nearest; in small and large homes, and in other scripts."""

import pytest

from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.search import rank_fusion
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.search.rank_fusion import Certainty, rarity
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters, Hit
from tests.docs.pages import page
from tests.support.fakes import NOW, SHOP, FakeEmbedder, Store

KNOWN = (
    ("Keep the shopping carts in SQLite", "One file is easy to back up, and carts are small."),
    ("Serve the model with vLLM", "The server batches requests and streams tokens; a page of its docs was read."),
    ("Retry the payment webhook five times", "The provider drops one call in ten."),
    ("SymbolRename Customer to Account", "The table was renamed; the API still says customer."),
    ("Add a CSV export of invoices", "The export streams rows with a semicolon for German Excel."),
)
UNRELATED = (
    "banana smoothie recipe",
    "how tall is Mount Kilimanjaro",
    "FPGA timing closure",
    "Rezept für Apfelstrudel",
)
RELATED = (
    "shopping carts sqlite",
    "why are carts in SQLite?",
    "payment webhook retries",
    "export invoices as CSV",
    "vLLM",
    "customer renamed",
)


def fill(store: Store, more: int) -> None:
    for title, summary in KNOWN:
        store.remember(title, turn=title, summary=summary)
    for number in range(more):
        told = f"Token {number} of the parser was read twice by the lexer of part {number % 7}."
        store.remember(f"Move part {number} of the parser", turn=f"t{number}", summary=told)
    indexing = Indexing(store.db, StaticTable())
    indexing.begin()
    while indexing.step():
        pass


def find(store: Store, query: str, *, everywhere: bool = False, search: Search | None = None) -> list[Hit]:
    search = search or Search(StaticTable(), VectorIndex())
    return search.search(store.db, query, Filters(project=None if everywhere else SHOP.project), NOW, 10)


@pytest.mark.parametrize("more", [0, 400], ids=["5 memories", "405 memories"])
@pytest.mark.parametrize("everywhere", [False, True], ids=["one project", "all projects"])
def test_an_unrelated_query_has_no_certain_hit_and_a_related_one_has_one(
    store: Store, more: int, everywhere: bool
) -> None:
    fill(store, more)
    for query in UNRELATED:
        assert not any(hit.is_certain for hit in find(store, query, everywhere=everywhere)), query
    for query in RELATED:
        hits = find(store, query, everywhere=everywhere)
        assert hits[0].is_certain, (query, hits[0].why)


def test_the_nearest_are_shown_all_the_same(store: Store) -> None:
    fill(store, 0)
    (hit, *_) = find(store, "recipe for a page of bread")
    assert not hit.is_certain


def test_a_hit_that_is_not_among_the_nearest_by_meaning_has_its_cosine_all_the_same(store: Store) -> None:
    fill(store, 400)
    hit = next(hit for hit in find(store, "parser lexer vLLM") if hit.found.title == KNOWN[1][0])
    assert " cosine " in hit.why[-1]


def test_without_meaning_words_alone_decide(store: Store) -> None:
    store.remember("用户登录失败时要重试", summary="登录服务偶尔超时。")
    (hit,) = find(store, "用户登录失败怎么办")
    assert hit.is_certain
    assert hit.why[-1].endswith(f"the floor is {rank_fusion.FLOOR_BY_WORDS:g}, by words alone")
    store.remember("这个接口怎么用", summary="先登录。")
    assert not any(hit.is_certain for hit in find(store, "番茄炒蛋怎么做"))


def test_a_broken_embedder_leaves_the_words(store: Store) -> None:
    fill(store, 0)
    deaf = Search(FakeEmbedder(is_broken=True), VectorIndex())
    assert find(store, "shopping carts", search=deaf)[0].is_certain
    assert not any(hit.is_certain for hit in find(store, "banana smoothie for the customer of a bakery", search=deaf))


def test_what_a_hit_is_sure_by_does_not_change_the_order(store: Store) -> None:
    fill(store, 40)
    search = Search(StaticTable(), VectorIndex())
    for query in (*UNRELATED, *RELATED):
        explained = search.search(store.db, query, Filters(), NOW, 20)
        plain = search.search_without_reasons(store.db, query, Filters(), NOW, 20)
        assert [(hit.found.id, hit.score) for hit in explained] == [(hit.found.id, hit.score) for hit in plain]
        assert [hit.score for hit in explained] == sorted((hit.score for hit in explained), reverse=True)


def test_a_word_counts_by_its_rarity() -> None:
    weights = [rarity(having, 1_000) for having in (0, 1, 10, 100, 1_000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == 1.0
    assert weights[-1] > 0
    assert rarity(5, 5) < rarity(1, 5) < rarity(0, 5)


def test_the_floor_belongs_to_what_is_certain() -> None:
    at_it = Certainty({"cart": 0.5}, 1.0, rank_fusion.FLOOR - 0.5)
    assert at_it.is_certain()
    assert not Certainty({"cart": 0.5}, 1.0, rank_fusion.FLOOR - 0.52).is_certain()
    assert Certainty({}, 2.0, -0.04).explained() == (
        "certainty -0.04 = words 0 - cosine 0.04; words 0 = (0) / 2; the floor is 0.75"
    )


def test_the_floor_that_the_docs_tell_is_the_floor() -> None:
    assert f"A hit is certain from {rank_fusion.FLOOR} on" in page("docs/search.md").text
