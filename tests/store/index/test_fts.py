"""The word index over memories: everything is found by its words, filters hold, and common words cost no answer."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import KINDS, Kind, Location, Memory, Status, SymbolChange
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.index import filter_tokens, fts
from claude_mem_lite.store.index.ranking import SCORING_LIMITS, ScoringLimits
from claude_mem_lite.text import query_words
from tests.support.fakes import NOW, SHOP, Store

OTHER = Location(project="example.org/me/other", name="other", root="/nowhere/other")


FEW = ScoringLimits(max_scored=50, small=100, max_counted=500)
"""Limits by which fifty rows are many."""


def search(
    store: Store,
    query: str,
    filters: Filters | None = None,
    limit: int = 10,
    limits: ScoringLimits = SCORING_LIMITS,
) -> list[str]:
    """The titles of what is found, best first."""
    found = fts.search(store.db, query_words(query), filters or Filters(), limit, limits=limits)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    by_seq = memories.by_seq(store.db, [seq for seq, _ in found])
    return [by_seq[seq].title for seq, _ in found]


@pytest.mark.parametrize("word", ["titled", "summed", "factual", "named.py", "symbolic", "tagged", "detailed"])
def test_a_memory_is_found_by_whatever_it_tells(store: Store, word: str) -> None:
    store.remember(
        "Titled",
        summary="summed",
        facts=("factual",),
        files=("a/named.py",),
        symbols=(SymbolChange("x", "isSymbolic", "new"),),
        tags=("tagged",),
        detail="detailed",
    )
    assert search(store, word) == ["Titled"]


def test_a_word_in_the_title_outranks_one_in_the_detail(store: Store) -> None:
    store.remember("Make the parser fast", summary="x")
    store.remember("Mention", summary="x", detail="the parser was slow")
    assert search(store, "parser") == ["Make the parser fast", "Mention"]


def test_a_rare_word_outranks_a_common_one(store: Store) -> None:
    store.remember("Parser of zanzibar", summary="")
    for number in range(20):
        store.remember(f"Parser number {number}", summary="", kind="note")
    assert search(store, "parser zanzibar")[0] == "Parser of zanzibar"


def test_a_word_that_nobody_wrote_is_taken_for_the_beginning_of_one(store: Store) -> None:
    store.remember("Datenbankverbindung bricht ab", summary="")
    assert search(store, "Datenbank") == ["Datenbankverbindung bricht ab"]
    store.remember("Datenbank erneuern", summary="")
    assert search(store, "Datenbank") == ["Datenbank erneuern"]


def test_what_other_projects_wrote_does_not_change_what_a_beginning_finds(store: Store) -> None:
    store.remember("Datenbankverbindung bricht ab", summary="")
    store.remember("Datenbank erneuern", summary="", place=OTHER)
    assert search(store, "Datenbank", Filters(SHOP.project)) == ["Datenbankverbindung bricht ab"]


def test_a_retired_memory_is_found_as_such_only(store: Store) -> None:
    made = store.remember("Rotate the keys")
    with atomic(store.db):
        memories.retire(store.db, made.id)
    assert search(store, "keys") == []
    assert search(store, "keys", Filters(statuses=("retired",))) == ["Rotate the keys"]
    assert search(store, "keys", Filters(statuses=())) == ["Rotate the keys"]


def test_a_changed_memory_is_found_by_its_new_words_and_marks_alone(store: Store) -> None:
    made = store.remember("Rotate the keys", summary="")
    with atomic(store.db):
        memories.rewrite(store.db, replace(made, title="Burn the bridges", branch="dev", kind="rule"))
    assert search(store, "keys") == []
    assert search(store, "bridges", Filters(branch="dev", kinds=("rule",))) == ["Burn the bridges"]
    assert search(store, "bridges", Filters(kinds=("bugfix",))) == []


def test_what_fits_is_found_however_many_better_ones_do_not(store: Store) -> None:
    with atomic(store.db):
        for number in range(700):
            memories.insert(store.db, _memory(f"Parser {number}", status="retired"), NOW)
    store.remember("Mention", summary="", detail="among much else that is told here, a parser is named in passing")
    assert search(store, "parser", limit=5) == ["Mention"]


@pytest.mark.parametrize(
    ("wanted", "is_found"),
    [
        ("src/auth/jwt.py", True),
        ("jwt.py", True),
        ("auth/jwt.py", True),
        ("/home/me/shop/src/auth/jwt.py", True),
        ("wt.py", False),
        ("jwt", False),
        ("src/jwt.py", False),
        ("%", False),
        ("lib/---", True),
    ],
)
def test_a_file_is_named_by_its_path_or_the_end_of_it(store: Store, wanted: str, is_found: bool) -> None:
    store.remember("Check tokens", files=("src/auth/jwt.py", "lib/---"))
    assert bool(search(store, "tokens", Filters(file=wanted))) is is_found


# Common words.


@pytest.fixture
def crowd(store: Store) -> Store:
    """Four hundred memories with two common words and one of them with a rare one, where fifty are many."""
    with atomic(store.db):
        for number in range(400):
            title = f"Number {number} of the {'parser' if number % 2 else 'lexer'} {'test' if number % 3 else ''}"
            location = SHOP if number % 10 else OTHER
            memories.insert(store.db, _memory(title + (" zanzibar" if number == 7 else ""), location), NOW)
    return store


def test_a_rare_word_is_asked_before_common_ones(crowd: Store) -> None:
    assert search(crowd, "test of the parser in zanzibar", limits=FEW)[0] == "Number 7 of the parser test zanzibar"


def test_among_common_words_those_who_have_all_come_first_and_new_before_old(crowd: Store) -> None:
    found = search(crowd, "parser test", limit=2, limits=FEW)
    assert found == [
        "Number 397 of the parser test",
        "Number 395 of the parser test",
    ]


def test_common_words_find_as_many_as_asked_for(crowd: Store) -> None:
    assert len(search(crowd, "parser", limit=150, limits=FEW)) == 150
    assert len(search(crowd, "parser lexer test", limit=500, limits=FEW)) == 400
    assert len(search(crowd, "zanzibar lexer", limit=500, limits=FEW)) == 201


def test_common_words_find_what_fits_although_it_is_old(crowd: Store) -> None:
    first = memories.by_seq(crowd.db, [1])[1]
    with atomic(crowd.db):
        memories.rewrite(crowd.db, replace(first, branch="old"))
    assert search(crowd, "lexer", Filters(branch="old"), limits=FEW) == [first.title]


def test_common_words_are_all_asked_where_few_memories_hold(crowd: Store) -> None:
    found = search(crowd, "lexer test", Filters(OTHER.project), limit=50, limits=FEW)
    assert len(found) == 40
    assert all("test" in title for title in found[:20])


def test_of_a_long_question_the_rarest_words_are_asked(crowd: Store) -> None:
    noise = " ".join(f"unknown{first}{second}" for first in "abcdef" for second in "abcdefghij")
    found = search(crowd, f"parser test {noise} zanzibar", limit=1, limits=FEW)
    assert found == ["Number 7 of the parser test zanzibar"]


# Any text, any filter.

WORDS = st.sampled_from(
    ["parser", "größe", "用户登录", "データベース", "사용자", "ошибка", "ID", "x1", "мир", "سلام", "हिन्दी"]
)


@settings(max_examples=60, deadline=None)
@given(before=st.text(max_size=40), word=WORDS, after=st.text(max_size=40))
def test_any_text_is_found_by_itself(before: str, word: str, after: str) -> None:
    title = f"{before} {word} {after}"
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.db") as store:
        store.remember(title, summary="")
        assert search(store, title) == [title]
        assert search(store, title.upper()) == [title]


@settings(max_examples=60, deadline=None)
@given(query=st.text(st.characters(), max_size=80), limit=st.integers(0, 5))
def test_no_query_raises(query: str, limit: int) -> None:
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.db") as store:
        store.remember("The parser", summary="")
        strange = Filters(file=query, branch=query, project=query, scope=f"language:{query}")
        assert fts.search(store.db, query_words(query), strange, limit) == []
        assert len(fts.search(store.db, [*query_words(query), "parser"], Filters(), limit)) == min(limit, 1)


MOMENTS = st.sampled_from(
    [
        datetime(1999, 5, 5, tzinfo=UTC),
        datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(2024, 1, 1, tzinfo=UTC),
        datetime(2024, 2, 29, 12, tzinfo=UTC),
        NOW - timedelta(days=3),
        NOW - timedelta(hours=1),
        NOW,
        datetime(2077, 1, 1, tzinfo=UTC),
    ]
)
SCOPES = ("universal", "language:python", f"project:{SHOP.project}", f"project:{OTHER.project}")
FILES = ("src/auth/jwt.py", "jwt.py", "auth/jwt.py", "src/cache.py")
STATUSES: tuple[Status, ...] = ("active", "superseded", "retired", "quarantined")
SOME_KINDS: tuple[Kind, ...] = KINDS[:3]

MADE = st.builds(
    lambda scope, kind, status, branch, at, files, word: _memory(
        f"Known {word}", scope=scope, kind=kind, status=status, branch=branch, created_at=at, files=tuple(files)
    ),
    st.sampled_from(SCOPES),
    st.sampled_from(SOME_KINDS),
    st.sampled_from(STATUSES),
    st.sampled_from(("", "main", "dev")),
    MOMENTS,
    st.lists(st.sampled_from(FILES), max_size=2),
    st.sampled_from(("parser", "lexer")),
)
ASKED = st.builds(
    Filters,
    project=st.sampled_from((None, SHOP.project, OTHER.project, "nobody's")),
    kinds=st.lists(st.sampled_from(SOME_KINDS), max_size=2).map(tuple),
    scope=st.sampled_from((None, *SCOPES, "language:go")),
    file=st.sampled_from((None, *FILES)),
    branch=st.sampled_from((None, "main", "dev")),
    since=st.none() | MOMENTS,
    until=st.none() | MOMENTS,
    statuses=st.lists(st.sampled_from(STATUSES), max_size=2).map(tuple) | st.just(("active",)),
)


@settings(max_examples=60, deadline=None)
@given(
    made=st.lists(MADE, min_size=1, max_size=25),
    asked=st.lists(ASKED, min_size=1, max_size=8),
    most_scored=st.sampled_from((1, 5, 1_000)),
)
def test_filters_give_what_a_plain_look_at_every_memory_gives(
    made: list[Memory], asked: list[Filters], most_scored: int
) -> None:
    limits = ScoringLimits(max_scored=most_scored, small=most_scored)
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.db") as store:
        with atomic(store.db):
            for number, memory in enumerate(made):
                memories.insert(store.db, replace(memory, id=short_id(str(number))), NOW)
        seqs = range(1, len(made) + 1)
        for filters in asked:
            fitting = {seq for seq in seqs if fits(made[seq - 1], filters)}
            assert {seq for seq, _ in fts.search(store.db, ["parser", "lexer"], filters, 50, limits=limits)} == fitting
            assert filter_tokens.matching(store.db, filters, seqs) == fitting


def fits(memory: Memory, filters: Filters) -> bool:
    """The filters as they are meant, in plain words."""
    return (
        (filters.project is None or memory.scope == f"project:{filters.project}" or "project:" not in memory.scope)
        and (not filters.kinds or memory.kind in filters.kinds)
        and (not filters.statuses or memory.status in filters.statuses)
        and (filters.scope is None or memory.scope == filters.scope)
        and (filters.branch is None or memory.branch == filters.branch)
        and (filters.since is None or memory.created_at >= filters.since)
        and (filters.until is None or memory.created_at <= filters.until)
        and (filters.file is None or any(_is_end(file, filters.file) for file in memory.files))
    )


def _is_end(file: str, other: str) -> bool:
    return f"/{file}".endswith(f"/{other}") or f"/{other}".endswith(f"/{file}")


def _memory(title: str, location: Location = SHOP, **more: object) -> Memory:
    made = Memory(
        id=short_id(title),
        kind="note",
        title=title,
        summary="",
        created_at=NOW,
        last_seen_at=NOW,
        scope=f"project:{location.project}",
        project=location.project,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def test_titles_with_the_words_of_another_are_found_in_any_number_newest_first(store: Store) -> None:
    made = [store.remember(title) for title in ("Lock the file", "File locks for tests", "Lock", "Files")]
    seqs = fts.with_most(store.db, ["locks", "file"], f"project:{SHOP.project}", 10)
    found = memories.by_seq(store.db, seqs)
    assert [found[seq].id for seq in seqs] == [made[1].id, made[0].id]
    assert fts.with_most(store.db, [], f"project:{SHOP.project}", 10) == []


def test_titles_of_another_scope_take_no_place_from_those_of_the_scope(store: Store) -> None:
    made = store.remember("Lock the file")
    for number in range(3):
        store.remember(f"Lock the file {number}", place=OTHER)
    seqs = fts.with_most(store.db, ["lock", "file"], f"project:{SHOP.project}", 3)
    assert [memory.id for memory in memories.by_seq(store.db, seqs).values()] == [made.id]
