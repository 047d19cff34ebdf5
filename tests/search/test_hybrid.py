"""Search by words and meaning: the right ones first, from the right places, with reasons. Any input is safe."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.models import Location, Memory, Passage, SessionSummary
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.rank_fusion import RULE, RankingRule, fuse
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, vectors
from claude_mem_lite.store.index.ranking import SCORING_LIMITS, ScoringLimits
from claude_mem_lite.store.memory_queries import listed
from claude_mem_lite.worker.api.records import excerpt
from tests.support.fakes import NOW, SHOP, FakeEmbedder, Store

OTHER = Location(project="example.org/me/other", name="other", root="/nowhere/other")
SYNONYMS = {"sluggish": "slow", "lagging": "slow", "signin": "login"}


def embed_all(store: Store, embedder: FakeEmbedder) -> None:
    """What the worker does in the background."""
    for row in store.db.execute("select seq, title, summary, scope from memories").fetchall():
        (vector,) = embedder.embed([f"{row['title']} {row['summary']}"])
        vectors.put(store.db, vectors.of_memory(row["seq"]), row["scope"], vector)


def find(
    store: Store,
    query: str,
    filters: Filters | None = None,
    limit: int = 10,
    rule: RankingRule = RULE,
    limits: ScoringLimits = SCORING_LIMITS,
) -> list[Hit]:
    embedder = FakeEmbedder(means=SYNONYMS)
    embed_all(store, embedder)
    search = Search(embedder, VectorIndex(), rule, limits)
    return search.search(store.db, query, filters or Filters(project=SHOP.project), NOW, limit)


def titles(hits: list[Hit]) -> list[str]:
    return [hit.found.title for hit in hits]


def test_words_are_found_in_any_order_and_by_their_stems(store: Store) -> None:
    store.remember("Refresh tokens are stored in UTC")
    store.remember("Something else altogether")
    assert titles(find(store, "UTC token refreshing")) == ["Refresh tokens are stored in UTC"]


def test_what_means_the_same_is_found_without_a_common_word(store: Store) -> None:
    store.remember("Parser slow", summary="slow slow")
    store.remember("Rotate the signing keys", summary="Rotate the signing keys")
    assert titles(find(store, "sluggish lagging")) == ["Parser slow"]


def test_what_has_the_words_and_the_meaning_outranks_what_has_the_words_alone(store: Store) -> None:
    store.remember("Login page fails", summary="unrelated talk about colours and fonts in the header")
    store.remember("Login fails", summary="signin login")
    assert titles(find(store, "login fails"))[0] == "Login fails"


def test_without_vectors_words_are_found_as_before(store: Store) -> None:
    store.remember("Rotate the signing keys")
    search = Search(FakeEmbedder(is_broken=True), VectorIndex())
    (hit,) = search.search(store.db, "signing keys", Filters(), NOW, 10)
    assert hit.found.title == "Rotate the signing keys"
    assert hit.score > 0.9


def test_a_search_made_ready_ahead_finds_what_was_stored_before_and_after(store: Store) -> None:
    embedder = FakeEmbedder(means=SYNONYMS)
    store.remember("Parser slow", summary="slow slow")
    embed_all(store, embedder)
    store.db.commit()
    search = Search(embedder, VectorIndex())
    search.make_ready(store.connect)
    store.remember("Login slow", summary="slow slow")
    embed_all(store, embedder)
    found = search.search(store.db, "sluggish lagging", Filters(), NOW, 10)
    assert sorted(titles(found)) == ["Login slow", "Parser slow"]


def test_nothing_is_loaded_ahead_for_a_home_without_vectors(store: Store) -> None:
    embedder = FakeEmbedder()
    Search(embedder, VectorIndex()).make_ready(store.connect)
    assert embedder.asked == []


def test_a_database_that_cannot_be_opened_is_left_to_the_first_search(store: Store, tmp_path: Path) -> None:
    search = Search(FakeEmbedder(), VectorIndex())
    search.make_ready(lambda: open_for_reading(tmp_path / "missing.db"))
    store.remember("Rotate the signing keys")
    assert titles(search.search(store.db, "signing keys", Filters(), NOW, 10)) == ["Rotate the signing keys"]


def test_hits_without_reasons_are_the_same_hits(store: Store) -> None:
    for number in range(5):
        store.remember(f"Rotate the signing keys of host {number}", summary="keys " * number)
    search = Search(FakeEmbedder(is_broken=True), VectorIndex())
    explained = search.search(store.db, "signing keys", Filters(), NOW, 3)
    assert all(hit.why for hit in explained)
    found = search.search_without_reasons(store.db, "signing keys", Filters(), NOW, 3)
    assert found == [replace(hit, why=(), is_certain=None, matched={}, share=0.0) for hit in explained]


def test_a_word_that_most_have_is_scored_only_beside_others(store: Store) -> None:
    for number in range(12):
        store.remember(f"Shop has part number {number}", summary=f"It is green{number}" if number % 4 else "It is red")
    few = titles(find(store, "red part", limit=12))
    many = titles(find(store, "red part", limit=12, limits=ScoringLimits(tiny=10)))
    assert set(many[:3]) == set(few[:3]) == {f"Shop has part number {number}" for number in (0, 4, 8)}
    assert len(many) == 12, "the others follow, as far as there is room"
    assert set(many) == set(few)


def test_a_word_that_the_first_memories_have_is_not_taken_for_one_that_all_have(store: Store) -> None:
    for number in range(12):
        store.remember(f"Number {number}", summary="It is zebra striped" if number < 4 else "It is plain, and a lemur")
    store.remember("Number 12", summary="A lemur and a quokka")
    limits = ScoringLimits(max_scored=2, tiny=10)
    found = fts.search(store.db, ["zebra", "quokka", "lemur"], Filters(), 5, limits=limits)
    first, *others = (seq for seq, _ in found)
    assert (first, set(others)) == (13, {1, 2, 3, 4}), "more have the lemur"


def test_nothing_is_found_by_meaning_that_is_far_from_it(store: Store) -> None:
    store.remember("Rotate the signing keys", summary="Rotate the signing keys")
    assert find(store, "unheard of things entirely") == []


def test_a_title_outranks_a_mention_in_the_detail(store: Store) -> None:
    store.remember("Mention", summary="x", detail="the parser was slow")
    store.remember("Make the parser fast", summary="x")
    assert titles(find(store, "parser"))[0] == "Make the parser fast"


def test_recency_never_outranks_relevance(store: Store) -> None:
    store.remember("Retry webhook deliveries with backoff", last_seen_at=NOW - timedelta(days=700))
    store.remember("Webhook", summary="renamed", last_seen_at=NOW, pinned=True)
    assert titles(find(store, "retry webhook backoff"))[0] == "Retry webhook deliveries with backoff"


def test_of_two_that_are_as_relevant_the_newer_is_first(store: Store) -> None:
    store.remember("Rotate signing keys by hand", summary="x", last_seen_at=NOW - timedelta(days=300))
    store.remember("Rotate signing keys by cron", summary="y", last_seen_at=NOW)
    assert titles(find(store, "rotate signing keys"))[0] == "Rotate signing keys by cron"


def test_other_projects_are_found_only_when_asked_for(store: Store) -> None:
    store.remember("Rotate the signing keys", place=OTHER)
    assert find(store, "signing keys") == []
    assert titles(find(store, "signing keys", Filters())) == ["Rotate the signing keys"]


@pytest.mark.parametrize("scope", ["universal", "language:python"])
def test_what_holds_beyond_its_project_is_found_from_everywhere(store: Store, scope: str) -> None:
    store.remember("Prefer small commits", place=OTHER, scope=scope)
    assert titles(find(store, "small commits")) == ["Prefer small commits"]


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        (Filters(SHOP.project, kinds=("decision",)), "Cache orders"),
        (Filters(SHOP.project, scope="universal"), "Cache nothing"),
        (Filters(SHOP.project, file="cache.py"), "Cache users"),
        (Filters(SHOP.project, branch="topic"), "Cache users"),
        (Filters(SHOP.project, since=NOW - timedelta(days=7), kinds=("feature",)), "Cache users"),
        (Filters(SHOP.project, until=NOW - timedelta(days=7)), "Cache orders"),
        (Filters(SHOP.project, statuses=("superseded",)), "Cache sessions"),
    ],
)
def test_a_filter_leaves_out_what_does_not_fit_it(store: Store, filters: Filters, left: str) -> None:
    store.remember("Cache users", kind="feature", files=("src/cache.py",), branch="topic")
    store.remember("Cache orders", kind="decision", created_at=NOW - timedelta(days=40))
    store.remember("Cache sessions", status="superseded")
    store.remember("Cache nothing", kind="rule", scope="universal")
    assert titles(find(store, "cache", filters)) == [left]


def test_what_no_longer_holds_is_not_found(store: Store) -> None:
    store.remember("Superseded advice", status="superseded")
    store.remember("Quarantined advice", status="quarantined")
    assert find(store, "advice") == []


def test_raw_text_is_found_beside_the_memories(store: Store) -> None:
    store.session("s7", SessionSummary(headline="Move the importer to Rust", request="port the importer"))
    (hit,) = find(store, "importer in rust")
    assert isinstance(hit.found, Passage)
    assert hit.found.session == "s7"


def test_raw_text_never_stands_above_a_good_memory(store: Store) -> None:
    store.remember("Importer moved to Rust", summary="It was slow.", session="s7")
    store.session("s7", SessionSummary(headline="Rust importer importer Rust", request="importer Rust Rust importer"))
    hits = find(store, "importer rust", rule=RankingRule(share_of_meaning=0, good=0.5))
    assert [type(hit.found) for hit in hits] == [Memory, Passage]
    assert any("raw text" in reason for reason in hits[1].why)
    assert hits[0].score >= hits[1].score


def test_raw_text_stands_above_a_memory_that_hardly_fits(store: Store) -> None:
    store.remember("Rust", summary="Colours of the header were changed to rust and ochre by the designers.")
    store.session("s7", SessionSummary(headline="Move the importer to Rust", request="port the importer to Rust"))
    assert isinstance(find(store, "move importer rust")[0].found, Passage)


def test_hits_that_say_nearly_the_same_are_one(store: Store) -> None:
    told = "Rotate the signing keys every month by the cron job on the build host"
    store.remember(told, summary="x", place=OTHER)
    store.remember(told, summary="x")
    (hit,) = find(store, "rotate signing keys", Filters())
    assert len(hit.alike) == 1


def test_a_memory_is_never_hidden_behind_raw_text_that_says_the_same(store: Store) -> None:
    told = "Keep the shopping carts in SQLite for the whole shop"
    memory = store.remember(told, summary=told, last_seen_at=NOW - timedelta(days=400))
    store.session("s7", SessionSummary(headline=told, request=told, next_steps=("voucher",)))
    words_alone = replace(RULE, good=1.01, share_of_meaning=0.0)
    (hit,) = find(store, "shopping carts SQLite voucher", rule=words_alone)
    assert hit.found == memory
    assert hit.alike == ("s7",)


def test_every_hit_says_why_it_was_found(store: Store) -> None:
    store.remember("Rotate the signing keys", pinned=True)
    (hit,) = find(store, "rotate keys")
    told = " ".join(hit.why)
    for part in ("words", "rotate, keys", "meaning", "cosine", "recency", "pinned"):
        assert part in told


def terms(hit: Hit) -> list[float]:
    """The terms of a score, as the reasons tell them."""
    found = (re.match(r"(?:words|meaning|recency|pinned|held back) (-?\d\.\d{4}) \(", reason) for reason in hit.why)
    return [float(term[1]) for term in found if term]


def test_the_parts_of_a_score_add_up_to_it(store: Store) -> None:
    store.remember("Rotate the signing keys", pinned=True)
    store.remember("Keys of the piano")
    for hit in find(store, "rotate keys"):
        assert sum(terms(hit)) == pytest.approx(hit.score, abs=3e-4)


def test_scores_go_down_and_none_is_above_one(store: Store) -> None:
    for number in range(30):
        store.remember(f"Rotate key {number} of the {'signing ' * (number % 3)}service", summary=f"a{number} b{number}")
    scores = [hit.score for hit in find(store, "rotate signing key", limit=20)]
    assert len(scores) == 20
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= scores[0] <= 1


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(query=st.text(max_size=300))
def test_any_text_is_a_safe_query(store: Store, query: str) -> None:
    store.remember("Rotate the signing keys", summary="Rotate the signing keys")
    assert all(hit.found.title == "Rotate the signing keys" for hit in find(store, query))


@pytest.mark.parametrize("query", ['"', "'; drop table memories; --", "a AND OR NOT", "title:x", "NEAR(a b)", "*", ""])
def test_the_index_language_means_nothing_in_a_query(store: Store, query: str) -> None:
    store.remember("Rotate the signing keys")
    assert find(store, query) == []


def test_words_alone_count_in_full_when_meaning_cannot_be_told() -> None:
    assert fuse({1: 4.0, 2: 2.0}, None, RULE)[1].value == 1.0
    assert fuse({1: 4.0, 2: 2.0}, None, RULE)[2].value == 0.5


def test_the_best_of_poor_matches_by_meaning_does_not_count_in_full() -> None:
    rule = RankingRule(share_of_meaning=0.4, least_cosine=0.3, from_cosine=0.2, full_cosine=0.6)
    fused = fuse({3: 1.0}, [(1, 0.40), (2, 0.25), (3, 0.25)], rule)
    assert set(fused) == {1, 3}
    assert fused[1].value == pytest.approx(0.4 * (0.40 - 0.2) / (0.6 - 0.2))
    assert fused[3].value == pytest.approx(0.6 + 0.4 * (0.25 - 0.2) / (0.6 - 0.2))


def test_what_says_the_same_many_times_does_not_hide_what_says_something_else(store: Store) -> None:
    for number in range(150):
        store.remember(
            f"Flaky: the payment webhook test fails now and then on the build host, run {number}",
            summary="It timed out.",
            scope=f"project:p{number}",
            kind="failure",
        )
    for number, title in enumerate(
        ("Webhook retries back off", "Payment webhooks are signed", "Webhook secrets rotate")
    ):
        store.remember(title, summary=f"Decided for reason {number}.", scope=f"project:q{number}")
    hits = find(store, "payment webhook", Filters())
    assert {"Webhook retries back off", "Payment webhooks are signed", "Webhook secrets rotate"} < set(titles(hits))
    assert len(next(hit for hit in hits if hit.found.title.startswith("Flaky")).alike) == 149


def test_an_excerpt_begins_where_most_of_the_words_stand() -> None:
    told = "## Summary\n\nAll is well. The importer was slow. **Tokens** are refreshed by the cron job. Done."
    assert excerpt(told, ["token", "refresh"], 60) == "… Tokens are refreshed by the cron job. Done."
    assert excerpt(told, ["nothing"], 30) == "Summary All is well. The…"


def test_what_has_every_word_is_first_however_common_each_of_them_is(store: Store) -> None:
    for number in range(60):
        word = "webhook" if number % 2 else "retry"
        store.remember(f"{word} item{number} thing{number}", summary=f"x{number}", created_at=NOW)
    store.remember("Webhook retry is limited to five tries", summary="y", created_at=NOW - timedelta(days=300))
    found = find(store, "webhook retry", limits=ScoringLimits(small=50, max_scored=45))
    assert titles(found)[0] == "Webhook retry is limited to five tries"


def test_a_memory_with_every_word_stands_above_raw_text_also_in_a_young_home(store: Store) -> None:
    """Words that most memories have weigh nothing among them, and a lot among turns that hardly have them."""
    for number, title in enumerate(
        ("Refresh token rotates on every use", "Refresh token lasts a day", "Token refresh")
    ):
        store.remember(title, summary=f"Reason {number}.")
    for number in range(30):
        store.session(f"s{number}", SessionSummary(headline=f"Paint button {number}", request="blue, please"))
    store.session("s99", SessionSummary(headline="Make the button blue", request="the refresh token, too"))
    kinds = [type(hit.found) for hit in find(store, "refresh token")]
    assert kinds[:3] == [Memory] * 3


@pytest.mark.parametrize("query", ["как испечь хлеб", "빵 굽는 법", "今天天气很好", "サッカーの試合"])
def test_of_scripts_that_the_table_does_not_know_words_alone_are_asked(store: Store, query: str) -> None:
    for title in ("Исправлена ошибка входа", "로그 파일을 나눴다", "日志文件按天切割", "データベース接続が切れる"):
        store.remember(title, summary=title)
    table = StaticTable()
    for row in store.db.execute("select seq, title, scope from memories").fetchall():
        vectors.put(store.db, vectors.of_memory(row["seq"]), row["scope"], table.embed([row["title"]])[0])
    found = Search(table, VectorIndex()).search(store.db, query, Filters(), NOW, 10)
    assert [hit.why for hit in found if not hit.why[0].startswith("words")] == []


def test_a_long_text_is_as_near_as_the_nearest_of_its_parts(store: Store) -> None:
    embedder = FakeEmbedder()
    wanted = store.remember("Meeting", summary="colours fonts headers margins paddings borders shadows")
    (seq,) = store.db.execute("select seq from memories").fetchone()
    whole, part, question = embedder.embed([wanted.summary, "quarterly invoices overdue", "invoices overdue"])
    vectors.put(store.db, vectors.of_memory(seq), wanted.scope, whole, [whole, part])
    (near,) = VectorIndex().nearest(store.db, question, Filters(), 10)
    assert near[1] > 0.7


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(age=st.integers(0, 5000), other_age=st.integers(0, 5000), pinned=st.booleans(), other_pinned=st.booleans())
def test_age_and_pins_never_outrank_what_is_clearly_more_relevant(
    store: Store, age: int, other_age: int, pinned: bool, other_pinned: bool
) -> None:
    ids = [row["id"] for row in store.db.execute("select id from memories").fetchall()]
    memories.remove(store.db, ids, NOW)
    store.db.execute("delete from tombstones")
    store.remember("Rotate signing keys monthly", summary="x", last_seen_at=NOW - timedelta(days=age), pinned=pinned)
    store.remember(
        "Keys of the piano are worn", summary="y", last_seen_at=NOW - timedelta(days=other_age), pinned=other_pinned
    )
    search = Search(FakeEmbedder(is_broken=True), VectorIndex())
    found = search.search(store.db, "rotate signing keys monthly", Filters(), NOW, 10)
    assert found[0].found.title == "Rotate signing keys monthly"


def test_the_same_title_with_another_story_is_another_hit(store: Store) -> None:
    store.remember("Rotate keys", summary="The old ones leaked into a log of the build server.", place=OTHER)
    store.remember("Rotate keys", summary="Compliance asks for it every quarter, by decree of the auditors.")
    assert len(find(store, "rotate keys", Filters())) == 2


def test_a_memory_of_a_teammate_stands_behind_ones_own_of_the_same_words_and_says_why(store: Store) -> None:
    theirs = store.remember("Rotate the signing keys weekly for invoices", id="aaaaaaaaaa", origin="team", author="Ana")
    own = store.remember("Rotate the signing keys weekly for labels", id="bbbbbbbbbb")
    hits = find(store, "rotate signing keys weekly")
    assert [hit.found.id for hit in hits] == [own.id, theirs.id]
    (term,) = (why for why in hits[1].why if why.startswith("team "))
    assert term.startswith("team -0.")
    assert term.endswith("(received from Ana's device)")
    terms = [float(why.split()[1]) for why in hits[1].why if re.match(r"(words|meaning|recency|pinned|team) ", why)]
    assert sum(terms) == pytest.approx(hits[1].score, abs=0.0003)
    assert not any(why.startswith("team") for why in hits[0].why)


def test_a_search_of_an_origin_finds_nothing_else(store: Store) -> None:
    theirs = store.remember("Rotate the signing keys weekly for invoices", origin="team", author="Ana")
    store.remember("Rotate the signing keys weekly for labels")
    filters = Filters(project=SHOP.project, origins=("team",))
    assert [hit.found.id for hit in find(store, "rotate signing keys", filters)] == [theirs.id]
    assert [memory.id for memory in listed(store.db, filters, 10)] == [theirs.id]
