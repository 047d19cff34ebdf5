"""Raw text that can be found: turns and session summaries, as long as they are there."""

from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.knowledge import forget
from claude_mem_lite.models import Location, Passage, SessionSummary
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories, turns
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.index import passages, vectors
from claude_mem_lite.text import query_words
from tests.support.fakes import NOW, SHOP, Store

OTHER = Location(project="example.org/me/other", name="other", root="/nowhere/other")
DERIVED = ("unindexed", "vectors", "sketches")


def search(store: Store, query: str, filters: Filters | None = None) -> list[Passage]:
    found = passages.search(store.db, query_words(query), filters or Filters(), 10)
    by_seq = passages.by_seq(store.db, [seq for seq, _ in found])
    return [by_seq[seq] for seq, _ in found]


def test_a_turn_is_found_by_what_was_asked_and_what_was_answered(store: Store) -> None:
    store.turn("t1", "\n  Why is the login slow?\nIt hangs.", "The pool was exhausted.", at=NOW)
    for query in ("login", "hangs", "exhausted pools"):
        (found,) = search(store, query)
        assert found == Passage(
            id=short_id("turn", "t1"),
            kind="turn",
            title="Why is the login slow?",
            text="The pool was exhausted.",
            session="s1",
            project=SHOP.project,
            created_at=NOW,
            asked="\n  Why is the login slow?\nIt hangs.",
            answered="The pool was exhausted.",
        )


def test_a_turn_without_a_prompt_is_called_by_its_answer(store: Store) -> None:
    store.turn("t1", "", "Went on with the login.\nDone.")
    (found,) = search(store, "login")
    assert (found.title, found.text) == ("Went on with the login.", "Went on with the login.\nDone.")


def test_a_turn_in_which_nothing_was_said_is_no_passage(store: Store) -> None:
    store.turn("t1", "", "")
    assert store.db.execute("select count(*) from passages").fetchone()[0] == 0


def test_a_session_is_found_by_every_part_of_its_summary_as_it_is_told_now(store: Store) -> None:
    store.session("s1", SessionSummary(headline="Obsolete"), at=NOW - timedelta(hours=3))
    told = SessionSummary(
        headline="Fix the login",
        request="Requested",
        completed="Completed",
        learned="Learned",
        investigated="Investigated",
        notes="Noted",
        key_decisions=("Decided",),
        next_steps=("Planned",),
        files_edited=("src/edited.py",),
        files_read=("src/reading.py",),
    )
    store.session("s1", told, at=NOW)
    words = "login requested completed learned investigated noted decided planned edited.py reading.py"
    for word in words.split(" "):
        (found,) = search(store, word)
        assert (found.kind, found.title, found.created_at) == ("session", "Fix the login", NOW)
    assert "Completed" in found.text
    assert found.text.startswith("Requested")
    assert search(store, "obsolete") == []


def test_passages_of_other_projects_are_found_only_when_asked_for(store: Store) -> None:
    store.turn("t1", "Rotate the keys", "", place=OTHER)
    assert search(store, "keys", Filters(SHOP.project)) == []
    assert len(search(store, "keys", Filters(OTHER.project))) == 1
    assert len(search(store, "keys")) == 1


@pytest.mark.parametrize(
    ("filters", "is_found"),
    [
        (Filters(since=NOW - timedelta(days=3)), True),
        (Filters(since=NOW - timedelta(days=1)), False),
        (Filters(until=NOW - timedelta(days=1)), True),
        (Filters(until=NOW - timedelta(days=3)), False),
        (Filters(kinds=("bugfix",)), False),
        (Filters(scope="universal"), False),
        (Filters(file="a.py"), False),
        (Filters(branch="main"), False),
        (Filters(statuses=("retired",)), False),
        (Filters(statuses=()), True),
        (Filters(project="", scope="", file="", branch=""), True),
    ],
)
def test_a_filter_leaves_out_passages_that_do_not_fit_it(store: Store, filters: Filters, is_found: bool) -> None:
    store.turn("t1", "Rotate the keys", "", at=NOW - timedelta(days=2))
    assert bool(search(store, "keys", filters)) is is_found


def test_a_passage_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    store.turn("t1", "Rotate the keys", "Done")
    id_ = short_id("turn", "t1")
    assert passages.get(store.db, id_) == passages.get(store.db, f"#{id_[:4].upper()}")
    for wanted in ("", "abc", "zzzzzz", "%___", f"{id_}x", "日本語日本語"):
        with pytest.raises(NotFound):
            passages.get(store.db, wanted)


def test_a_beginning_that_fits_several_passages_is_refused(store: Store) -> None:
    store.turn("t1", "One", "")
    store.turn("t2", "Two", "")
    store.db.execute("update passages set id = 'aaaa' || seq")
    with pytest.raises(Ambiguous):
        passages.get(store.db, "aaaa")
    assert passages.get(store.db, "aaaa2").title == "Two"


def test_what_has_text_and_no_passage_gets_one(store: Store) -> None:
    store.session("s1", SessionSummary(headline="Fix the login"))
    store.session("s2", SessionSummary())
    store.turn("t1", "Why is it slow?", "The pool")
    store.turn("t2", "", "")
    before = passages.by_seq(store.db, range(9))
    store.db.execute("delete from passages")
    store.db.execute("delete from passages_fts")
    with atomic(store.db):
        assert passages.add_missing(store.db, 1) == 1
        assert passages.add_missing(store.db, 9) == 1
        assert passages.add_missing(store.db, 9) == 0
    assert sorted(passages.by_seq(store.db, range(9)).values(), key=str) == sorted(before.values(), key=str)
    assert len(search(store, "login pool")) == 2


def test_the_words_of_a_passage_can_be_written_again(store: Store) -> None:
    store.turn("t1", "Why is it slow?", "The pool")
    store.db.execute("delete from passages_fts")
    passage = passages.by_seq(store.db, [1])[1]
    for _ in range(2):
        passages.index_words(store.db, 1, passage)
        assert len(search(store, "pool")) == 1


def test_a_passage_has_all_that_it_is_found_by(store: Store) -> None:
    told = SessionSummary(headline="Fix the login", request="It hangs", completed="Pool", next_steps=("Test",))
    store.session("s1", told)
    (found,) = search(store, "pool")
    assert (found.asked, found.answered) == ("Fix the login\nIt hangs", "Pool\nTest")
    assert found.text == "It hangs\nPool\nTest"


@pytest.mark.parametrize(
    "change",
    [
        "delete from prompts",
        "update prompts set text = '', reply = ''",
        "delete from sessions",
        "update sessions set headline = '', next_steps = '[]'",
    ],
)
def test_a_passage_whose_source_is_gone_or_tells_nothing_goes_with_its_words(store: Store, change: str) -> None:
    store.turn("t1", "Fix the login", "Done")
    store.session("s1", SessionSummary(headline="Fix the login", next_steps=("Test",)))
    store.db.execute(change)
    passages.repair(store.db)
    (left,) = search(store, "login")
    assert left.kind == ("session" if "prompts" in change else "turn")
    assert store.db.execute("select count(*) from passages_fts").fetchone()[0] == 1


def test_a_passage_is_of_the_project_that_its_session_is_of(store: Store) -> None:
    store.turn("t1", "Fix the login", "Done")
    store.turn("t2", "Fix the login", "Done", session="s2")
    store.db.execute("update sessions set project = ? where id = 's1'", (OTHER.project,))
    store.db.execute("delete from sessions where id = 's2'")
    passages.repair(store.db)
    projects = {one.session: one.project for one in passages.by_seq(store.db, range(9)).values()}
    assert projects == {"s1": OTHER.project, "s2": SHOP.project}


def test_what_is_new_or_changed_waits_for_its_vector(store: Store) -> None:
    store.session("s1", SessionSummary(headline="Fix the login"))
    made = store.remember("Fix the login")
    assert _waiting(store) == {vectors.of_passage(1): 0, vectors.of_memory(1): 0}
    store.db.execute("delete from unindexed")
    with atomic(store.db):
        memories.retire(store.db, made.id)
    assert _waiting(store) == {}
    store.session("s1", SessionSummary(headline="Fix the logout"))
    assert _waiting(store) == {vectors.of_passage(1): 0}


def test_nothing_derived_is_left_of_what_was_forgotten(store: Store, tmp_path: Path) -> None:
    made = store.remember("Zanzibar is secret", turn="t1")
    store.turn("t1", "Tell me of Zanzibar", "Zanzibar is secret")
    store.session("s1", SessionSummary(headline="Zanzibar", learned="Zanzibar is secret"))
    for document in (vectors.of_memory(1), vectors.of_passage(1), vectors.of_passage(2)):
        store.db.execute("insert into vectors values (?, x'00')", (document,))
        store.db.execute("insert into sketches (document, sketch) values (?, x'00')", (document,))
    with atomic(store.db):
        forget.forget(store.db, [made.id], ["s1"], NOW)
    store.db.execute("pragma wal_checkpoint(truncate)")
    for table in (*DERIVED, "passages", "passages_fts", "memories_fts"):
        assert store.db.execute(f"select count(*) from {table}").fetchone()[0] == 0
    assert not any(b"anzibar" in path.read_bytes() for path in tmp_path.glob("memory.db*"))


def test_a_forgotten_turn_is_no_passage_and_its_session_tells_less(store: Store) -> None:
    secret = "The vault opens at full moon"
    made = store.remember(secret, turn="t1", summary=secret)
    store.turn("t1", "When does it open?", secret)
    store.turn("t2", "Fix billing", "Done")
    store.session("s1", SessionSummary(headline="Fix billing", learned=f"Caches help. {secret}."))
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    assert search(store, "vault moon") == []
    assert {found.title for found in search(store, "billing")} == {"Fix billing"}
    assert turns.stored_turns(store.db, ["t1"]) == {"t1"}


def _waiting(store: Store) -> dict[int, int]:
    return {row["document"]: row["words"] for row in store.db.execute("select document, words from unindexed")}
