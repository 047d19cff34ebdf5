"""Memories received from a teammate, wherever they are injected: with author and age, below one's own, never as a word
of the user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from benchmarks.call_anchors import anchors_of_call

from claude_mem_lite.code.freshness.checkout_view import NoCheckout
from claude_mem_lite.code.freshness.verdicts import Freshness, Verdict
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.failure_hints import known_fixes
from claude_mem_lite.context.file_hints import about_file
from claude_mem_lite.context.item_block import BlockItem, block
from claude_mem_lite.context.order import OUTRANKED
from claude_mem_lite.context.presets import BALANCED
from claude_mem_lite.context.prompt.scoring import Match, PromptScore
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import AT_START, is_stated, score
from claude_mem_lite.context.user_rules import RULE_KINDS, is_users_rule
from claude_mem_lite.context.value_selection import NOT_WORTH_IT
from claude_mem_lite.models import Memory, SessionSummary, Tally, ToolCall
from claude_mem_lite.store import memories
from tests.support.fakes import NOW, SHOP, Store

REQUEST = ContextRequest(SHOP, NOW, "now")
FILE = "src/auth/jwt.py"
ERROR = "Traceback (most recent call last):\n  File \"run.py\", line 1\nModuleNotFoundError: No module named 'yaml'\n"


def received(store: Store, title: str, author: str = "Ana", **more: Any) -> Memory:
    values: dict[str, Any] = {
        "kind": "decision",
        "session": "",
        "last_seen_at": NOW - timedelta(days=3),
        "trust": 0.5,
        **more,
    }
    return store.remember(title, origin="team", author=author, **values)


def context(store: Store, explained: bool = False) -> Context:
    return build(store.connect, replace(REQUEST, explained=explained), 2000, BALANCED)


def line_of(text: str, memory: Memory) -> str:
    return next(line for line in text.splitlines() if f"#{memory.id}" in line)


def test_a_line_of_a_start_context_names_author_and_age(store: Store) -> None:
    memory = received(store, "Keep invoices in PostgreSQL")
    assert line_of(context(store).text, memory).startswith("- [decision, Ana, 3d ago] Keep invoices in PostgreSQL")


def test_a_rule_of_a_teammate_is_project_knowledge_and_never_a_rule_of_the_user(store: Store) -> None:
    own = store.remember("Never commit to main", kind="rule", origin="user", made_by="user", trust=1.0, confidence=1.0)
    theirs = received(store, "Always run the linter before a commit", kind="rule", confidence=1.0)
    text = context(store).text
    rules, notes = text.split("## Notes")
    assert f"#{own.id}" in rules
    assert f"#{theirs.id}" in notes
    assert "[rule, Ana, 3d ago]" in notes
    assert "the user" not in line_of(text, theirs)


def test_no_received_memory_counts_as_a_word_of_the_user(store: Store) -> None:
    for kind in RULE_KINDS:
        memory = received(store, f"Rule of kind {kind}", kind=kind, confidence=1.0, made_by="user")
        assert not is_users_rule(replace(memory, trust=1.0, pinned=True))
        assert not is_stated(memory)


def test_a_received_memory_stands_behind_ones_own_of_the_same_score(store: Store) -> None:
    theirs = received(store, "Keep invoices in PostgreSQL", id="aaaaaaaaaa")
    own = store.remember(
        "Ship labels on Mondays", kind="decision", id="bbbbbbbbbb", last_seen_at=theirs.last_seen_at, session=""
    )
    text = context(store).text
    assert text.index(own.id) < text.index(theirs.id)


def test_a_score_says_by_how_much_a_received_memory_is_placed_lower(store: Store) -> None:
    made = score(received(store, "Keep invoices in PostgreSQL"), NOW, None, Tally())
    assert made.rank == made.total * 0.9
    assert f"placed by {made.total:g} × team 0.9 = " in made.explained(AT_START)


def test_a_busy_team_does_not_crowd_out_ones_own(store: Store) -> None:
    old = NOW - timedelta(days=60)
    own = store.remember("Ship labels on Mondays", kind="decision", last_seen_at=old, confidence=0.6)
    for number in range(80):
        received(store, f"Decision number {number} of the team about invoice {number * 7}", id=f"team{number:06d}")
    found = memories.in_scope(store.db, own.scope, ["decision"], since=None, limit=30)
    assert own.id in {memory.id for memory in found}
    assert sum(memory.origin == "team" for memory in found) == 10


def test_a_prompt_ranks_a_received_memory_lower_and_says_so() -> None:
    own = PromptScore(1.0, 1.0, Match(4.0, 0.5), 0.0, 1.0, 1.0, 1.0)
    theirs = replace(own, team=0.9)
    assert theirs.total < own.total
    assert "× team 0.9" in theirs.explained()
    assert "team" not in own.explained()


def test_a_block_names_author_and_age(store: Store) -> None:
    memory = received(store, "Keep invoices in PostgreSQL", author="ana", kind="gotcha")
    text = block([BlockItem(memory, "", None, "guidance")], NOW, 500).text
    assert "[gotcha] Keep invoices in PostgreSQL, because it was asked for (ana, 3 days ago)" in text
    assert "stated by" not in text


def failing() -> ToolCall:
    return ToolCall("Bash", {"command": "python run.py"}, error=f"Exit code 1\n{ERROR}")


def fix(store: Store, title: str, **more: Any) -> Memory:
    values: dict[str, Any] = {"kind": "bugfix", "anchors": anchors_of_call(failing()), "summary": f"{title}.", **more}
    return received(store, title, **values)


def test_a_fix_of_a_teammate_is_given_at_the_same_failure_with_the_name(store: Store) -> None:
    memory = fix(store, "Fix ModuleNotFoundError by installing pyyaml")
    (given,) = known_fixes(store.db, failing(), REQUEST, ())
    assert given.memory.id == memory.id
    assert given.reason == "same failure; received from Ana's device, so below fixes of one's own"
    text = block([given], NOW, 500).text
    assert "(Ana, 3 days ago)" in text
    assert "[worked for Ana 2026-02-28]" in text


@dataclass(frozen=True)
class Seen(NoCheckout):
    """Checkout with one verdict for all code."""

    verdict: Verdict

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        return {memory.id: Freshness(self.verdict) for memory in memories}


@pytest.mark.parametrize(("verdict", "stale"), [("fresh", [False]), ("changed", [True]), ("gone", [])])
def test_a_fix_of_a_teammate_is_checked_against_the_local_checkout(
    store: Store, verdict: Verdict, stale: list[bool]
) -> None:
    fix(store, "Fix ModuleNotFoundError by installing pyyaml")
    given = known_fixes(store.db, failing(), replace(REQUEST, checkout=Seen(verdict)), ())
    assert [item.is_stale for item in given] == stale


def test_a_fix_of_a_teammate_stands_behind_ones_own_that_worked_earlier(store: Store) -> None:
    theirs = fix(store, "Fix ModuleNotFoundError by installing pyyaml from the mirror")
    old = NOW - timedelta(days=30)
    own = store.remember(
        "Fix ModuleNotFoundError by editing run.py to use json",
        anchors=theirs.anchors,
        turn="t-own",
        created_at=old,
        last_seen_at=old,
    )
    given = known_fixes(store.db, failing(), REQUEST, ())
    assert [item.memory.id for item in given] == [own.id, theirs.id]


def test_an_opened_file_ranks_a_received_memory_below_ones_own(store: Store) -> None:
    at = NOW - timedelta(days=3)
    theirs = received(store, "Tokens are in milliseconds because the gateway says so", kind="gotcha", files=(FILE,))
    own = store.remember("Clocks drift, so renew early", kind="gotcha", files=(FILE,), last_seen_at=at, trust=0.8)
    given = about_file(store.db, f"{SHOP.root}/{FILE}", REQUEST, ())
    assert [item.memory.id for item in given] == [own.id, theirs.id]
    assert given[1].reason == f"about {FILE}, received from Ana's device"
    assert "(Ana, 3 days ago)" in block(given, NOW, 500).text


def test_open_work_of_a_teammate_names_the_author(store: Store) -> None:
    memory = received(store, "Left open: the logout test", kind="handoff", summary="Left open: Freeze the clock.")
    assert line_of(context(store).text, memory).startswith("- [Ana, 3d ago] Left open earlier:")


EDITED = SessionSummary(headline="Renewed the tokens", files_edited=(f"{SHOP.root}/{FILE}",))
EARLIER, LATER = NOW - timedelta(days=5), NOW - timedelta(hours=1)


def own_past(store: Store, at: datetime = NOW - timedelta(hours=2)) -> None:
    """Sessions on one file, so that there is a forecast and the full floor of value."""
    for number in range(12):
        summary = replace(EDITED, headline=f"Renewed token {number}")
        store.session(f"own-{number}", summary, at=at - timedelta(hours=number))


def test_a_decision_of_a_teammate_about_other_files_is_not_shown_in_every_session(store: Store) -> None:
    own_past(store)
    memory = received(store, "Keep invoices in PostgreSQL", files=("src/invoices.py",), created_at=EARLIER)
    built = context(store, explained=True)
    assert memory.id not in built.text
    (reason,) = {placed.item.left_out for placed in built.left_out if placed.item.memory == memory.id} - {OUTRANKED}
    assert reason == NOT_WORTH_IT


def test_a_decision_of_a_teammate_is_news_to_the_first_session_after_it_came(store: Store) -> None:
    own_past(store)
    memory = received(store, "Keep invoices in PostgreSQL", files=("src/invoices.py",), created_at=LATER)
    assert memory.id in context(store).text
    store.session("own-next", replace(EDITED, headline="Renewed once more"), at=NOW - timedelta(minutes=30))
    assert memory.id not in context(store).text


def test_a_fix_of_a_teammate_in_other_files_is_no_news(store: Store) -> None:
    own_past(store)
    memory = received(store, "Fixed the totals of invoices", kind="bugfix", files=("src/inv.py",), created_at=LATER)
    assert memory.id not in context(store).text


def test_an_old_fix_of_a_teammate_in_files_of_the_coming_work_is_shown(store: Store) -> None:
    own_past(store)
    memory = received(store, "Fixed the drift of clocks", kind="bugfix", files=(FILE,), created_at=EARLIER)
    built = context(store)
    assert memory.id in built.text
    (item,) = (item for item in built.items if item.source == memory.id)
    assert item.reason == "about the coming work, received from Ana's device"


def test_of_fixes_of_teammates_in_one_file_one_is_shown(store: Store) -> None:
    own_past(store)
    for number in range(9):
        title = f"Fixed the drift of clock {number} in zone {number * 7}"
        received(store, title, kind="bugfix", files=(FILE,), created_at=EARLIER)
    assert context(store).text.count("Ana, 3d ago") == 1


def test_a_fix_of_a_teammate_is_shown_beside_ones_own_about_the_same_file(store: Store) -> None:
    own_past(store)
    own = store.remember("Renew tokens early since clocks drift", kind="gotcha", files=(FILE,), times_seen=9)
    theirs = received(store, "Fixed the size of keys", kind="bugfix", files=(FILE,), created_at=EARLIER)
    text = context(store).text
    assert own.id in text
    assert theirs.id in text


def test_a_team_changes_no_line_of_ones_own(store: Store) -> None:
    own_past(store)
    for number in range(6):
        title = f"Decided on the shape of part {number} and of {number * 11}"
        store.remember(title, kind="decision" if number % 2 else "bugfix", files=(FILE,), session=f"own-{number}")
    alone = context(store).text.splitlines()
    for number in range(30):
        kind = "decision" if number % 2 else "bugfix"
        title = f"Chose the colour of item {number} and of {number * 13}"
        received(store, title, kind=kind, files=(FILE, f"src/{number}.py"), created_at=LATER)
    with_team = context(store).text.splitlines()
    assert any(", Ana, " in line for line in with_team)
    assert [line for line in with_team if ", Ana, " not in line] == alone


def test_without_a_forecast_a_newcomer_gets_what_the_team_decided(store: Store) -> None:
    memory = received(store, "Keep invoices in PostgreSQL", files=("src/invoices.py",), created_at=EARLIER)
    assert memory.id in context(store).text


def test_a_pinned_memory_of_a_teammate_is_always_shown(store: Store) -> None:
    own_past(store)
    memory = received(store, "Keep invoices in PostgreSQL", created_at=EARLIER, pinned=True)
    assert memory.id in context(store).text
