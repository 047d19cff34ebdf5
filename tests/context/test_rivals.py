"""Start contexts without values that a later statement replaced, and without one alone of two that contradict."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.checkout_view import NoCheckout
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.layers.layer import Item, Layer
from claude_mem_lite.context.presets import BALANCED, BY_LAYERS, Preset
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.rivals import CONTESTED, leave_out_contested
from claude_mem_lite.context.selection import LayerSelection
from claude_mem_lite.context.statements import OUTDATED
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import Kind, Memory, Origin, SessionSummary
from tests.support.fakes import NOW, SHOP, Store

OWNER = "The owner of `load_carts` is Ada Byron."
OTHER = "The new owner of `load_carts` is Grace Hopper."
DAY = timedelta(days=1)
REQUEST = ContextRequest(SHOP, NOW)
FEATURE = replace(SHOP, branch="feature")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as made:
        yield made


def context(store: Store, preset: Preset = BALANCED) -> Context:
    return build(store.connect, ContextRequest(SHOP, NOW), 2000, preset)


def note(store: Store, text: str, at: datetime, *, pinned: bool = False, kind: Kind = "note") -> Memory:
    return store.remember(
        text,
        summary="",
        kind=kind,
        origin="user",
        made_by="user",
        trust=1.0,
        confidence=1.0,
        session="",
        pinned=pinned,
        created_at=at,
        last_seen_at=at,
    )


def talk(store: Store, session: str, asked: str, answered: str, at: datetime, headline: str) -> None:
    store.turn(f"turn-{session}", asked, answered, session=session, at=at)
    store.session(session, SessionSummary(headline=headline, request="Look at it", completed="Looked."), at=at)


def reasons(given: Context) -> dict[str, str]:
    return {placed.item.line: placed.item.left_out for placed in given.left_out}


def reason_of(given: Context, value: str) -> str:
    return next(why for line, why in reasons(given).items() if value in line)


@pytest.mark.parametrize("preset", [BALANCED, BY_LAYERS], ids=lambda preset: preset.name)
def test_of_two_notes_on_the_same_code_only_the_later_is_shown(store: Store, preset: Preset) -> None:
    note(store, OWNER, NOW - 3 * DAY)
    note(store, OTHER, NOW - 2 * DAY)
    given = context(store, preset)
    assert "Grace Hopper" in given.text
    assert "Ada Byron" not in given.text
    assert reason_of(given, "Ada Byron") == OUTDATED


def test_a_later_statement_in_raw_text_replaces_a_note(store: Store) -> None:
    note(store, OWNER, NOW - 3 * DAY)
    store.turn("later", f"{OTHER} Now look at the carts.", "Looked.", session="s2", at=NOW - 2 * DAY)
    assert "Ada Byron" not in context(store).text


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (f"Summarise this page for me:\n\nA blog\n\n{OTHER}\n\nSubscribe.", "It is about carts."),
        (f"Summarise this page:\n```\n{OTHER}\n```", "It is about carts."),
        ("", f"Read the page. {OTHER}"),
        (f'<teammate-message teammate_id="reviewer">\n{OTHER}\n</teammate-message>', "Noted."),
    ],
)
def test_pasted_text_and_answers_do_not_silence_a_note_of_the_user(store: Store, asked: str, answered: str) -> None:
    note(store, OWNER, NOW - 3 * DAY)
    store.turn("later", asked, answered, session="s2", at=NOW - 2 * DAY)
    assert "Ada Byron" in context(store).text


def test_of_two_notes_of_the_same_moment_both_are_shown(store: Store) -> None:
    for text in (OWNER, OTHER):
        note(store, text, NOW - 3 * DAY)
    given = context(store).text
    assert "Ada Byron" in given
    assert "Grace Hopper" in given


def test_a_headline_that_contradicts_the_user_is_not_shown_alone(store: Store) -> None:
    talk(store, "s1", f"{OWNER} Now look at the carts.", "Looked.", NOW - 3 * DAY, "Look at the carts")
    talk(store, "s2", "Look again.", f"I looked again. {OTHER}", NOW - 2 * DAY, OTHER.rstrip("."))
    given = context(store)
    assert "Grace Hopper" not in given.text
    assert reason_of(given, "Grace Hopper") == CONTESTED


def test_a_headline_without_the_name_is_read_in_its_session(store: Store) -> None:
    first, second = (f"We settled on the bucket {name} for the logs of load_carts." for name in ("eu_west", "us_east"))
    talk(store, "s1", "Look at it.", f"Done. {first}", NOW - 3 * DAY, "Settled on the bucket eu_west")
    talk(store, "s2", "Look again.", f"Done. {second}", NOW - 2 * DAY, "Settled on the bucket us_east")
    given = context(store).text
    assert "us_east" in given
    assert "eu_west" not in given


def test_a_headline_stands_for_what_its_own_session_said(store: Store) -> None:
    first, second = (f"We settled on the bucket {name} for the logs of load_carts." for name in ("eu_west", "us_east"))
    talk(store, "s1", "Look at it.", f"Done. {first}", NOW - 4 * DAY, "Settled on the bucket eu_west")
    talk(store, "s2", "Look again.", f"Done. {second}", NOW - 3 * DAY, "Settled on the bucket us_east")
    other = first.replace("logs of load_carts", "pages of send_mail")
    talk(store, "s3", "Look at the mails.", f"Done. {other}", NOW - 2 * DAY, "Look at the mails")
    assert reason_of(context(store), "Settled on the bucket eu_west") == OUTDATED


def test_what_contradicts_a_replaced_statement_alone_is_shown(store: Store) -> None:
    talk(store, "s1", f"{OWNER} Now look at the carts.", "Looked.", NOW - 4 * DAY, "Look at the carts")
    talk(store, "s2", "Look again.", f"I looked again. {OTHER}", NOW - 3 * DAY, OTHER.rstrip("."))
    store.turn("agreed", f"{OTHER} Now go on.", "Gone on.", session="s3", at=NOW - 2 * DAY)
    given = context(store).text
    assert "Grace Hopper" in given
    assert "Ada Byron" not in given


def test_work_on_the_same_code_is_no_contradiction(store: Store) -> None:
    for number, flag in enumerate(("fast_path", "slow_path"), 1):
        done = f"Added the flag {flag} to load_carts"
        talk(store, f"s{number}", "Add a flag.", f"{done}.", NOW - number * DAY, done)
    assert {OUTDATED, CONTESTED}.isdisjoint(reasons(context(store)).values())


def test_work_of_two_sessions_with_other_numbers_is_no_contradiction(store: Store) -> None:
    for days, seconds in ((3, 30), (2, 60)):
        done = f"Raised the timeout of load_carts to {seconds} seconds"
        talk(store, f"s{seconds}", "Look at the timeout.", f"{done}.", NOW - days * DAY, done)
    assert {OUTDATED, CONTESTED}.isdisjoint(reasons(context(store)).values())


@pytest.mark.parametrize("status", ["active", "retired", "superseded", "quarantined"])
def test_a_memory_that_is_not_active_replaces_nothing(store: Store, status: str) -> None:
    store.remember(OWNER, kind="decision", summary="", session="", last_seen_at=NOW - 3 * DAY)
    store.remember(OTHER, kind="decision", summary="", session="", status=status, last_seen_at=NOW - 2 * DAY)
    assert ("Ada Byron" in context(store).text) == (status != "active")


def test_an_agent_does_not_silence_a_note_of_the_user(store: Store) -> None:
    note(store, OWNER, NOW - 3 * DAY)
    talk(store, "s2", "Look again.", f"I looked again. {OTHER}", NOW - 2 * DAY, "Look again at the carts")
    assert "Ada Byron" in context(store).text


def test_a_pinned_note_stays(store: Store) -> None:
    note(store, OWNER, NOW - 3 * DAY, pinned=True)
    note(store, OTHER, NOW - 2 * DAY)
    given = context(store).text
    assert "Ada Byron" in given
    assert "Grace Hopper" in given


@pytest.mark.parametrize("kind", ["note", "rule", "anti_pattern", "convention", "decision"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Do not edit `schema.sql` by hand; run `make schema`.", "Do not edit `api.json` by hand; run `make schema`."),
        ("Never call `load_carts` from `render_page`.", "Never call `load_carts` from `send_mail`."),
        ("Run `make lint` before a commit in `src/api/v1`.", "Run `make types` before a commit in `src/api/v1`."),
        ("`api/server.py` depends on `redis`.", "`api/server.py` depends on `kafka`."),
    ],
    ids=["edit", "call", "run", "depend"],
)
def test_rules_and_dependencies_with_other_values_hold_beside_each_other(
    store: Store, first: str, second: str, kind: Kind
) -> None:
    note(store, first, NOW - 3 * DAY, kind=kind)
    note(store, second, NOW - 2 * DAY, kind=kind)
    given = context(store)
    assert {OUTDATED, CONTESTED}.isdisjoint(reasons(given).values())
    assert all(text.rstrip(".") in given.text for text in (first, second))


def test_of_rules_only_numbers_exclude_each_other(store: Store) -> None:
    for days, owner, rows in ((3, "Ada Byron", "30"), (2, "Grace Hopper", "60")):
        note(store, f"The owner of `load_carts` is {owner}.", NOW - days * DAY, kind="rule")
        note(store, f"A page of `send_mail` has {rows} rows at most.", NOW - days * DAY, kind="rule")
    given = context(store).text
    assert "Ada Byron" in given
    assert "60 rows" in given
    assert "30 rows" not in given


def test_what_was_said_on_an_unmerged_branch_replaces_nothing(store: Store) -> None:
    note(store, OWNER, NOW - 3 * DAY)
    event = {"session": "s2", "place": FEATURE, "at": NOW - 2 * DAY}
    store.turn("later", f"{OTHER} Now look at the carts.", "Looked.", **event)  # type: ignore[arg-type]
    checkout = NoCheckout()
    checkout.hidden = (("feature", None),)
    assert "Ada Byron" in given_for(store, replace(REQUEST, checkout=checkout))
    assert "Ada Byron" not in given_for(store, replace(REQUEST, location=FEATURE, checkout=checkout))


def test_a_memory_of_an_unmerged_branch_replaces_nothing(store: Store) -> None:
    store.remember(OWNER, kind="decision", summary="", session="", last_seen_at=NOW - 3 * DAY)
    day = NOW - 2 * DAY
    store.remember(OTHER, kind="decision", summary="", session="", branch="feature", last_seen_at=day)
    checkout = NoCheckout()
    checkout.hidden = (("feature", None),)
    assert "Ada Byron" in given_for(store, replace(REQUEST, checkout=checkout))
    assert "Ada Byron" not in given_for(store, replace(REQUEST, location=FEATURE, checkout=checkout))


def test_what_was_said_of_code_that_is_gone_replaces_nothing(store: Store) -> None:
    store.remember(OWNER, kind="decision", summary="", session="", last_seen_at=NOW - 3 * DAY)
    later = store.remember(OTHER, kind="decision", summary="", session="", last_seen_at=NOW - 2 * DAY)
    assert "Ada Byron" not in given_for(store, REQUEST)
    assert "Ada Byron" in given_for(store, replace(REQUEST, checkout=Without(later.id)))


@pytest.mark.parametrize("origin", ["web", "mcp", "import", "team"])
def test_a_memory_from_outside_silences_no_own_line(store: Store, origin: Origin) -> None:
    store.remember(OWNER, kind="decision", summary="", session="", last_seen_at=NOW - 3 * DAY)
    store.remember(OTHER, kind="decision", summary="", session="", origin=origin, last_seen_at=NOW - 2 * DAY)
    assert "Ada Byron" in given_for(store, REQUEST)


def test_lines_without_a_single_value_cost_no_query(store: Store) -> None:
    lines = ["Never call `load_carts` from `send_mail`.", "`load_carts` depends on `db_pool`.", "Added a flag to a_b."]
    asked = Queries(store.connect())
    leave_out_contested(asked.db, REQUEST, [selection(*(noted(note(store, line, NOW)) for line in lines))])
    assert asked.made == []


@pytest.mark.parametrize(("before", "kept"), [("", False), ("Some words. " * 200, True)], ids=["at once", "far behind"])
def test_a_value_is_searched_in_the_first_characters_of_a_line(store: Store, before: str, kept: bool) -> None:
    line = replace(noted(note(store, OWNER, NOW - 3 * DAY)), wording=before + OWNER)
    note(store, OTHER, NOW - 2 * DAY)
    selected = selection(line)
    leave_out_contested(store.connect(), REQUEST, [selected])
    assert (selected.selected == [line]) is kept


def test_of_many_similar_statements_some_are_compared(store: Store) -> None:
    line = noted(note(store, "The timeout of `load_carts` is 5000 seconds.", NOW - 90 * DAY))
    for number in range(60):
        said = " ".join(f"The timeout of `load_carts` is {number}{place:02d} seconds." for place in range(40))
        store.turn(f"t{number}", said, "Looked.", session=f"s{number}", at=NOW - number * DAY)
    asked, looks = Queries(store.connect()), Looks()
    selected = selection(line)
    leave_out_contested(asked.db, replace(REQUEST, deadline=Deadline(1.0, looks)), [selected])
    assert selected.selected == []
    assert len(asked.made) < 20
    assert looks.number < 60


def test_no_line_is_compared_after_the_deadline(store: Store) -> None:
    line = noted(note(store, OWNER, NOW - 3 * DAY))
    note(store, OTHER, NOW - 2 * DAY)
    asked, selected = Queries(store.connect()), selection(line)
    leave_out_contested(asked.db, replace(REQUEST, deadline=Deadline(0.0, Looks())), [selected])
    assert selected.selected == [line]
    assert asked.made == []


def test_a_line_whose_comparison_meets_the_deadline_stays(store: Store) -> None:
    line = noted(note(store, OWNER, NOW - 3 * DAY))
    note(store, OTHER, NOW - 2 * DAY)
    for seconds, kept in ((0.0, []), (1.0, [line])):
        selected = selection(line)
        looks = Looks(seconds)
        leave_out_contested(store.connect(), replace(REQUEST, deadline=Deadline(0.5, looks)), [selected])
        assert (selected.selected, looks.number > 1) == (kept, True)


EMPTY = Preset("empty", (Layer("nothing", "## Nothing", 500, lambda *_: []),))
"""Preset whose context is one of the last resort."""


@pytest.mark.parametrize("preset", [BALANCED, EMPTY], ids=lambda preset: preset.name)
def test_a_comparison_that_fails_leaves_out_no_line_and_says_so(store: Store, preset: Preset) -> None:
    talk(store, "s1", f"{OWNER} Now look at the carts.", "Looked.", NOW - 3 * DAY, "Look at the carts")
    talk(store, "s2", "Look again.", f"I looked again. {OTHER}", NOW - 2 * DAY, OTHER.rstrip("."))
    assert "Grace Hopper" not in context(store, preset).text

    def without_passages() -> sqlite3.Connection:
        def permit(_: int, table: str | None, *__: str | None) -> int:
            return sqlite3.SQLITE_DENY if table == "passages_fts" else sqlite3.SQLITE_OK

        db = store.connect()
        db.set_authorizer(permit)
        return db

    given = build(without_passages, REQUEST, 2000, preset)
    assert "Grace Hopper" in given.text
    failed = [(one.layer, one.reason) for one in given.layers_skipped if "failed" in one.reason]
    assert failed == [("comparison", "failed: DatabaseError")]


def given_for(store: Store, request: ContextRequest) -> str:
    return build(store.connect, request, 2000, BALANCED).text


def noted(memory: Memory) -> Item:
    return Item(f"- [note] {memory.title}", memory.id, "newest first", memory=memory.id)


def selection(*items: Item) -> LayerSelection:
    return LayerSelection(Layer("notes", "Notes:", 2000, lambda *_: []), [], list(items))


@dataclass(frozen=True, slots=True)
class Without(NoCheckout):
    """A checkout without the code of one memory."""

    memory: str

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        return {one.id: Freshness("gone") for one in memories if one.id == self.memory}


class Queries:
    """A connection that notes its queries, without those that the word index makes itself."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.made: list[str] = []
        db.set_trace_callback(self._note)

    def _note(self, statement: str) -> None:
        if statement.lstrip().startswith("select"):
            self.made.append(statement)


class Looks:
    """A clock that counts how often it is read, and stands from the second time on."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.number = 0
        self._seconds = seconds

    def __call__(self) -> float:
        self.number += 1
        return 0.0 if self.number == 1 else self._seconds


def test_a_statement_with_a_date_in_the_future_replaces_nothing(store: Store) -> None:
    note(store, OWNER, NOW - DAY)
    note(store, OTHER, NOW + 3_650 * DAY)
    given = context(store)
    assert OUTDATED not in reasons(given).values()


def test_a_turn_with_a_date_in_the_future_hides_no_statement_as_outdated(store: Store) -> None:
    note(store, OWNER, NOW - DAY)
    store.turn("later", OTHER, "Looked.", session="s2", at=NOW + 3_650 * DAY)
    assert OUTDATED not in reasons(context(store)).values()
