"""Summaries of sessions: only valid parts are shown, and nothing twice."""

from dataclasses import replace
from datetime import timedelta

import pytest

from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.presets import BALANCED, BY_CODES, Preset, make_preset
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Memory, SessionSummary
from claude_mem_lite.store import memories, memory_links, retirements
from tests.support.fakes import NOW, SHOP, Store

HERE = ContextRequest(SHOP, NOW, explained=True)
HANDOFF = make_preset("handoff", {"handoff": 900, "project": 900})
BOTH = pytest.mark.parametrize("preset", [BALANCED, BY_CODES], ids=lambda preset: preset.name)
DECIDED = "Decided to keep carts in SQLite, because one file is easy to back up."


def made(store: Store, preset: Preset = BALANCED, budget: int = 2000) -> Context:
    return build(store.connect, HERE, budget, preset)


def decided(store: Store, **more: object) -> Memory:
    """A session that decided something, and the memory of it."""
    store.session("s1", SessionSummary(headline="Talk about storage", key_decisions=(DECIDED,)))
    values: dict[str, object] = {"summary": DECIDED, **more}
    return store.remember("Keep carts in SQLite", kind="decision", **values)  # type: ignore[arg-type]


def left_open(store: Store, session: str = "s1", **more: object) -> Memory:
    values: dict[str, object] = {"summary": "Open when it stopped: Freeze the logout test.", **more}
    id_ = memories.handoff_id(session)
    return store.remember("Left open: Freeze it", kind="handoff", id=id_, session=session, **values)  # type: ignore[arg-type]


def layers_with(built: Context, memory: Memory) -> list[str]:
    """Return the layers that show a memory, in its own line or in a line of a session."""
    return [one.layer for one in built.chosen if memory.id in (one.item.memory, *one.item.covers)]


@BOTH
def test_a_decision_that_holds_is_told_once(store: Store, preset: Preset) -> None:
    memory = decided(store)
    built = made(store, preset)
    assert built.text.count("carts in SQLite") == 1
    (layer,) = layers_with(built, memory)
    assert layer in ("dec", "handoff", "project")


@BOTH
def test_a_decision_that_was_replaced_is_not_told_as_where_work_stopped(store: Store, preset: Preset) -> None:
    old = decided(store)
    new = store.remember("Keep carts in Redis", kind="decision", session="s1", turn="later")
    with atomic(store.db):
        retirements.replace_by(store.db, old.id, new.id)
    built = made(store, preset)
    assert "SQLite" not in built.text
    assert layers_with(built, new) == ["project"]


@BOTH
@pytest.mark.parametrize("how", ["retired", "forgotten"])
def test_a_decision_that_was_given_up_is_not_told(store: Store, how: str, preset: Preset) -> None:
    memory = decided(store)
    with atomic(store.db):
        if how == "retired":
            memories.retire(store.db, memory.id)
        else:
            memories.remove(store.db, [memory.id], NOW)
    assert "SQLite" not in made(store, preset).text


@BOTH
def test_a_decision_that_the_user_put_in_other_words_is_told_in_those(store: Store, preset: Preset) -> None:
    memory = decided(store)
    with atomic(store.db):
        edited = replace(memory, summary="Keep carts in SQLite until June.", made_by="user", origin="user")
        memories.rewrite(store.db, edited)
    built = made(store, preset)
    assert "until June" in built.text
    assert "easy to back up" not in built.text


def test_decisions_that_contradict_each_other_stand_together_not_with_a_session(store: Store) -> None:
    one = decided(store)
    other = store.remember("Keep carts in Redis", kind="decision", session="s0")
    with atomic(store.db):
        memory_links.note_conflict(store.db, one.id, other.id, NOW)
    assert [layers_with(made(store), memory) for memory in (one, other)] == [["project"], ["project"]]


def test_a_decision_that_was_made_again_is_told_once(store: Store) -> None:
    first = store.remember("Keep carts in SQLite", kind="decision", summary=DECIDED, session="s0")
    store.session("s1", SessionSummary(headline="Talk about storage", key_decisions=(DECIDED,)), at=NOW)
    store.turn("again", "and the carts?", DECIDED, session="s1", at=NOW)
    at = NOW + timedelta(seconds=1)
    title = "Keep carts in SQLite"
    store.remember(title, turn="again", kind="decision", summary=DECIDED, created_at=at, last_seen_at=at, id="again-0")
    built = made(store)
    assert len(layers_with(built, first)) == 1
    assert built.text.count("easy to back up") == 1
    assert layers_with(made(store, HANDOFF), first) == ["handoff"]


def test_what_the_user_stated_is_told_in_those_words_and_not_as_decided_by_a_session(store: Store) -> None:
    memory = decided(store)
    stated = store.remember(
        "Keep carts in SQLite, one file is easy to back up", kind="rule", origin="user", last_seen_at=NOW
    )
    pinned = store.remember("Carts expire after a week", pinned=True, kind="decision")
    store.session(
        "s1",
        SessionSummary(headline="Storage", key_decisions=(DECIDED, "Carts expire after a week.")),
    )
    built = made(store)
    assert [one for one in built.chosen if one.layer == "handoff" and "Decided" in one.item.line] == []
    assert layers_with(built, stated) == layers_with(built, pinned) == ["project"]
    assert layers_with(built, memory) == ["project"]


@BOTH
def test_what_was_left_open_is_told_until_somebody_took_it_up(store: Store, preset: Preset) -> None:
    summary = SessionSummary(headline="Clocks", completed="Clocks stand.", next_steps=("Freeze the logout test.",))
    store.session("s1", summary)
    assert made(store, preset).text.count("Freeze the logout test") == 1
    left = left_open(store)
    assert made(store, preset).text.count("Freeze the logout test") == 1
    with atomic(store.db):
        memories.retire(store.db, left.id)
    assert "logout" not in made(store, preset).text
    with atomic(store.db):
        memories.remove(store.db, [left.id], NOW)
    assert "logout" not in made(store, preset).text


@BOTH
def test_what_is_open_for_another_language_is_not_told_here(store: Store, preset: Preset) -> None:
    store.session("s1", SessionSummary(headline="Clocks", completed="Clocks stand."))
    left_open(store, session="another", scope="language:cobol")
    assert "logout" not in made(store, preset).text


def test_of_several_steps_codes_tell_those_that_are_left(store: Store) -> None:
    steps = ("Freeze the logout test.", "Write the changelog.")
    notes = "The deploy is blocked by the staging server."
    store.session("s1", SessionSummary(headline="Clocks", next_steps=steps, notes=notes))
    assert "block: The deploy is blocked by the staging server" in made(store, BY_CODES).text
    left_open(store, summary="Open when it stopped: Write the changelog.")
    text = made(store, BY_CODES).text
    assert "next: Write the changelog" in text
    assert "logout" not in text
    assert "staging" not in text


def test_a_handoff_in_the_words_of_the_user_is_what_codes_tell(store: Store) -> None:
    store.session("s1", SessionSummary(headline="Clocks", next_steps=("Freeze the logout test.",)))
    left_open(store, summary="Open when it stopped: Ask Ann about the ledger.", made_by="user")
    assert "] next: Ask Ann about the ledger" in made(store, BY_CODES).text


@pytest.mark.parametrize("preset", [HANDOFF, BY_CODES], ids=lambda preset: preset.name)
def test_what_was_done_does_not_repeat_what_was_decided_or_learned(store: Store, preset: Preset) -> None:
    learned = "The token expired because the clock ran on."
    decided(store)
    done = f"{DECIDED} {learned} Moved the carts of the shop into SQLite."
    store.session("s1", SessionSummary(headline="x", key_decisions=(DECIDED,), learned=learned, completed=done))
    text = made(store, preset).text
    assert text.count("easy to back up") == 1
    assert text.count("the clock ran on") == (1 if preset is HANDOFF else 0)
    assert "Moved the carts of the shop into SQLite" in text


def test_a_label_is_told_once(store: Store) -> None:
    store.session("s1", SessionSummary(headline="Clocks", completed="Clocks stand."))
    left_open(store, summary="Open when it stopped: Still open: freeze the logout test.")
    store.session("s0", SessionSummary(headline="Before"), at=NOW - timedelta(days=1))
    left_open(store, "s0", summary="Open when it stopped: Next steps: write the changelog.")
    text = made(store).text
    assert "Open when it stopped: freeze the logout test." in text
    assert "Left open earlier: write the changelog." in text
    store.remember("Left open: Still open: x", summary="Ask Ann.", kind="handoff", origin="user", session="")
    assert "Left open: x. Ask Ann." in made(store).text


@pytest.mark.parametrize(
    ("title", "summary"),
    [
        ("Add the footer in src/footer.js", "Added the footer in src/footer.js."),
        ("pytest fails: test_logout", "pytest failed: test_logout."),
        ("Write sums in cents", "Wrote sums in cents, because floats lose some."),
    ],
)
def test_a_title_that_its_summary_says_in_the_past_is_not_told_beside_it(
    store: Store, title: str, summary: str
) -> None:
    store.remember(title, summary=summary, kind="change")
    text = made(store).text
    assert f"] {summary}" in text
    assert title not in text


def test_a_title_with_another_number_is_told_beside_its_summary(store: Store) -> None:
    store.remember("Set the limit of carts to 40", summary="Set the limit of carts to 50.", kind="change")
    assert "] Set the limit of carts to 40. Set the limit of carts to 50." in made(store).text
