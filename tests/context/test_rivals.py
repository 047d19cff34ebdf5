"""Start contexts without values that a later statement replaced, and without one alone of two that contradict."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.presets import BALANCED, BY_LAYERS, Preset
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.rivals import CONTESTED
from claude_mem_lite.context.statements import OUTDATED
from claude_mem_lite.models import SessionSummary
from tests.support.fakes import NOW, SHOP, Store

OWNER = "The owner of `load_carts` is Ada Byron."
OTHER = "The new owner of `load_carts` is Grace Hopper."
DAY = timedelta(days=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as made:
        yield made


def context(store: Store, preset: Preset = BALANCED) -> Context:
    return build(store.connect, ContextRequest(SHOP, NOW), 2000, preset)


def note(store: Store, text: str, at: datetime, *, pinned: bool = False) -> None:
    store.remember(
        text,
        summary="",
        kind="note",
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


def test_a_retired_note_replaces_nothing(store: Store) -> None:
    note(store, OWNER, NOW - 3 * DAY)
    store.remember(OTHER, summary="", kind="note", status="retired", session="", last_seen_at=NOW - 2 * DAY)
    assert "Ada Byron" in context(store).text


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
