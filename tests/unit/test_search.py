"""Search by words: any order, any input, the right project, reasons given."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_lite.models import Hit, Place
from claude_mem_lite.search.lexical import Filters, search
from tests.fakes import NOW, SHOP, Store

OTHER = Place(project="example.org/me/other", name="other", root="/nowhere/other")


def find(store: Store, query: str, filters: Filters | None = None) -> list[Hit]:
    return search(store.db, query, filters or Filters(project=SHOP.project), NOW, 10)


def titles(hits: list[Hit]) -> list[str]:
    return [hit.memory.title for hit in hits]


def test_words_are_found_in_any_order_and_by_their_stems(store: Store) -> None:
    store.remember("Refresh tokens are stored in UTC")
    store.remember("Something else altogether")
    assert titles(find(store, "UTC token refreshing")) == ["Refresh tokens are stored in UTC"]


@pytest.mark.parametrize("query", ["getUserById", "user by id", "get_user_by_id"])
def test_an_identifier_is_found_whole_and_by_its_parts(store: Store, query: str) -> None:
    store.remember("Cache getUserById for a minute")
    assert titles(find(store, query)) == ["Cache getUserById for a minute"]


def test_a_file_is_found_by_its_name(store: Store) -> None:
    store.remember("Verify signatures", files=("src/auth/jwt.py",))
    assert titles(find(store, "jwt.py")) == ["Verify signatures"]


def test_a_title_outranks_a_mention_in_the_detail(store: Store) -> None:
    store.remember("Mention", summary="x", detail="the parser was slow")
    store.remember("Make the parser fast", summary="x")
    assert titles(find(store, "parser"))[0] == "Make the parser fast"


def test_recency_never_outranks_relevance(store: Store) -> None:
    store.remember("Retry webhook deliveries with backoff", last_seen_at=NOW - timedelta(days=700))
    store.remember("Webhook", summary="renamed", last_seen_at=NOW)
    assert titles(find(store, "retry webhook backoff"))[0] == "Retry webhook deliveries with backoff"


def test_other_projects_are_found_only_when_asked_for(store: Store) -> None:
    store.remember("Rotate the signing keys", place=OTHER)
    assert find(store, "signing keys") == []
    assert titles(find(store, "signing keys", Filters())) == ["Rotate the signing keys"]


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        (Filters(SHOP.project, kinds=("decision",)), "Cache orders"),
        (Filters(SHOP.project, file="cache.py"), "Cache users"),
        (Filters(SHOP.project, since=NOW - timedelta(days=7)), "Cache users"),
        (Filters(SHOP.project, until=NOW - timedelta(days=7)), "Cache orders"),
    ],
)
def test_a_filter_leaves_out_what_does_not_fit_it(store: Store, filters: Filters, left: str) -> None:
    store.remember("Cache users", kind="feature", files=("src/cache.py",))
    store.remember("Cache orders", kind="decision", created_at=NOW - timedelta(days=40))
    assert titles(find(store, "cache", filters)) == [left]


@pytest.mark.parametrize("scope", ["universal", "language:python"])
def test_what_holds_beyond_its_project_is_found_from_everywhere(store: Store, scope: str) -> None:
    store.remember("Prefer small commits", place=OTHER, scope=scope)
    assert titles(find(store, "small commits")) == ["Prefer small commits"]


def test_what_no_longer_holds_is_not_found(store: Store) -> None:
    store.remember("Superseded advice", status="superseded")
    assert find(store, "advice") == []


def test_every_hit_says_why_it_was_found(store: Store) -> None:
    store.remember("Rotate the signing keys")
    (hit,) = find(store, "rotate keys")
    assert any("rotate" in reason and "keys" in reason for reason in hit.why)
    assert any("recency" in reason for reason in hit.why)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=300))
def test_any_text_is_a_safe_query_and_finds_only_what_has_its_words(store: Store, query: str) -> None:
    store.remember("Rotate the signing keys", summary="Rotate the signing keys")
    assert all(
        any(word in reason for reason in hit.why for word in ("rotat", "sign", "key", "stems"))
        for hit in find(store, query)
    )


@pytest.mark.parametrize("query", ['"', "'; drop table memories; --", "a AND OR NOT", "title:x", "NEAR(a b)", "*", ""])
def test_the_index_language_means_nothing_in_a_query(store: Store, query: str) -> None:
    store.remember("Rotate the signing keys")
    assert find(store, query) == []
