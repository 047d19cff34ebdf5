"""Tests of `knowledge/outcomes.py` and `knowledge/usage_evidence.py`: use of injected items, by the words and actions
of the session."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.knowledge import forget, outcomes
from claude_mem_lite.models import Memory, Receipt, ReceiptItem, SessionSummary, SymbolChange, Tally, Turn
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memories, receipts, symbol_changes
from claude_mem_lite.worker import background
from tests.support.fakes import NOW, SHOP, Store
from tests.support.running import spool_name

HERE = "5e55104a-1111-4222-8333-abcdefabcdef"


@dataclass(slots=True)
class Judged:
    """A session that is given things, works and is judged."""

    store: Store
    queue: Queue

    def give(self, *sources: str, session: str = HERE, reached: bool = True, name: str = "") -> str:
        name = name or spool_name("SessionStart")
        items = tuple(ReceiptItem(source, "observations", "recent work", 20) for source in sources)
        receipt = Receipt(
            name,
            session,
            SHOP.project,
            "startup",
            items,
            ("observations",),
            (),
            20,
            2000,
            1.0,
            NOW,
            NOW if reached else None,
        )
        with atomic(self.store.db):
            receipts.add(self.store.db, receipt)
        return name

    def call(self, tool: str, session: str = HERE, **given: str) -> None:
        """A tool call of the session as the inbox keeps it."""
        payload = {"hook_event_name": "PostToolUse", "session_id": session, "tool_name": tool, "tool_input": given}
        name = spool_name("PostToolUse")
        self.queue.add([Arrival(name, "PostToolUse", session, json.dumps(payload), 1)], NOW.timestamp())
        for unit in self.queue.claim(NOW.timestamp(), flush=True):
            self.queue.finish([row.id for row in unit], NOW.timestamp())

    def outcome(self, source: str) -> str | None:
        """What comes of an item when the session is over."""
        outcomes.judge(self.store.db, self.queue, HERE)
        found = [
            item.outcome
            for one in receipts.newest(self.store.db, limit=99)
            for item in one.items
            if item.source == source
        ]
        assert len(set(found)) == 1
        return found[0]


@pytest.fixture
def judged(home: Home, store: Store) -> Iterator[Judged]:
    with closing(open_for_writing(home.inbox_db)) as inbox:
        migrate(inbox, INBOX_MIGRATIONS, NOW)
        yield Judged(store, Queue(inbox))


def remember(store: Store, **more: object) -> Memory:
    title, summary = "Guard the flamingo ledger against double refresh", "Two refreshes at once logged people out."
    made = replace(store.remember(title, summary=summary, session="earlier"), **more)  # type: ignore[arg-type]
    with atomic(store.db):
        memories.rewrite(store.db, made)
    return made


def test_what_the_session_never_came_near_is_ignored(judged: Judged) -> None:
    made = remember(judged.store, files=("src/ledger.py",))
    judged.give(made.id)
    judged.store.turn("t1", "Paint the lid of the basket green", "The lid is green.", session=HERE)
    assert judged.outcome(made.id) == "ignored"


@pytest.mark.parametrize("length", [6, 10])
def test_an_id_that_is_asked_for_was_used(judged: Judged, length: int) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    judged.store.turn("t1", "go on", "Done.", session=HERE)
    judged.call("Bash", command=f"claude-mem-lite show {made.id[:length]}")
    assert judged.outcome(made.id) == "used"


@pytest.mark.parametrize("said", ["asked", "answered"])
def test_an_id_in_a_prompt_or_a_reply_was_used(judged: Judged, said: str) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    words = f"As #{made.id[:6]} says."
    judged.store.turn("t1", words if said == "asked" else "go on", words if said == "answered" else "ok", session=HERE)
    assert judged.outcome(made.id) == "used"


def test_fewer_characters_of_an_id_are_any_word(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    judged.store.turn("t1", f"go on with {made.id[:5]}", "ok", session=HERE)
    assert judged.outcome(made.id) == "ignored"


def test_our_own_block_in_a_prompt_is_no_sign_of_use(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    pasted = f"<claude-mem-lite>\n- {made.title}. #{made.id[:6]}\n</claude-mem-lite>\nPaint the lid"
    judged.store.turn("t1", pasted, "ok", session=HERE)
    assert judged.outcome(made.id) == "ignored"


@pytest.mark.parametrize("moment", ["startup", "prompt"])
def test_paths_and_common_words_are_no_evidence(judged: Judged, moment: str) -> None:
    summary = "Carts of the user are kept in tmp until somebody opens them at home."
    made = judged.store.remember("Open the cart from the home page", session="earlier", summary=summary)
    said(judged, "t1", "run it for me", "It ran.", at=timedelta())
    given_at(judged, moment, made.id, at=timedelta() if moment == "startup" else SOON)
    called(judged, "Bash", command="cd /home/user/tmp/cart && ./open/run.sh", at=LATER)
    called(judged, "Read", file_path="/home/user/tmp/cart/open/home.txt", at=LATER)
    assert judged.outcome(made.id) == ("ignored" if moment == "startup" else "unknown")


def test_a_start_is_never_proven_to_be_of_use_by_traces(judged: Judged) -> None:
    symbol = SymbolChange("src/app.py", "Ledger.add_once", "modified")
    made = remember(judged.store, files=("src/ledger.py",), symbols=(symbol,))
    judged.give(made.id)
    judged.store.turn("t1", f"{made.title} by add_once", "ok", session=HERE)
    judged.store.session(HERE, SessionSummary(files_edited=("src/ledger.py",)))
    assert judged.outcome(made.id) == "unknown"


def test_a_file_that_was_read_counts_with_its_folder(judged: Judged) -> None:
    made = remember(judged.store, files=("src/ledger.py",))
    other = judged.store.remember("Another thing altogether", session="earlier", files=("lib/ledger.py",))
    judged.give(made.id, other.id)
    judged.store.turn("t1", "go on", "ok", session=HERE)
    judged.call("Read", file_path="/home/me/shop/src/ledger.py")
    assert (judged.outcome(made.id), judged.outcome(other.id)) == ("unknown", "ignored")


def test_fewer_than_half_of_the_files_are_ignored(judged: Judged) -> None:
    made = remember(judged.store, files=("src/ledger.py", "src/lid.py", "src/basket.py"))
    judged.give(made.id)
    judged.store.turn("t1", "go on", "ok", session=HERE)
    judged.call("Read", file_path="/home/me/shop/src/ledger.py")
    assert judged.outcome(made.id) == "ignored"
    judged.call("Read", file_path="/home/me/shop/src/lid.py")
    assert judged.outcome(made.id) == "unknown"


def test_a_file_that_is_only_named_or_that_every_project_has_tells_nothing(judged: Judged) -> None:
    made = remember(judged.store, files=("src/ledger.py",))
    general = judged.store.remember("Another thing altogether", session="earlier", files=("src/__init__.py",))
    judged.give(made.id, general.id)
    judged.store.turn("t1", "what is wrong in ledger.py and __init__.py", "ok", session=HERE)
    judged.call("Read", file_path="/home/me/shop/src/__init__.py")
    assert (judged.outcome(made.id), judged.outcome(general.id)) == ("ignored", "ignored")


def test_a_file_that_nearly_every_session_touches_tells_nothing(judged: Judged) -> None:
    made = remember(judged.store, files=("src/app.py",))
    judged.give(made.id)
    for number in range(5):
        judged.store.session(f"before-{number}", SessionSummary(headline="Work", files_edited=("src/app.py",)))
    judged.store.turn("t1", "go on", "ok", session=HERE)
    judged.store.session(HERE, SessionSummary(files_edited=("src/app.py",)))
    assert judged.outcome(made.id) == "ignored"


def test_a_function_that_is_named_counts_when_its_name_is_no_plain_word(judged: Judged) -> None:
    made = remember(judged.store, symbols=(SymbolChange("src/app.py", "Ledger.add_once", "modified"),))
    plain = judged.store.remember("Another thing", session="earlier", symbols=(SymbolChange("a.py", "refresh", "new"),))
    judged.give(made.id, plain.id)
    judged.store.turn("t1", "does add_once need a refresh?", "ok", session=HERE)
    assert (judged.outcome(made.id), judged.outcome(plain.id)) == ("unknown", "ignored")


def test_half_of_its_words_in_one_paragraph_are_not_ignored(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    judged.store.turn("t1", "people are logged out when two flamingo ledgers refresh at once", "ok", session=HERE)
    assert judged.outcome(made.id) == "unknown"


def test_rare_words_far_from_each_other_tell_nothing(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    judged.store.turn(
        "t1", "Feed the flamingo\n\nPaint the ledger\n\nGuard the lid\n\nDouble the price", "ok", session=HERE
    )
    assert judged.outcome(made.id) == "ignored"


def test_words_that_many_memories_have_tell_nothing(judged: Judged) -> None:
    for number in range(8):
        judged.store.remember(f"Guard the flamingo ledger against refresh {number}", turn=f"x{number}", kind="decision")
    made = judged.store.remember("Guard the flamingo ledger against refresh", session="earlier", summary="")
    judged.give(made.id)
    judged.store.turn("t1", "guard the flamingo ledger", "ok", session=HERE)
    assert judged.outcome(made.id) == "ignored"


def test_words_alone_prove_no_use(judged: Judged) -> None:
    made = judged.store.remember("Use pnpm", session="earlier", kind="preference", scope="universal", summary="")
    said(judged, "t1", "install it", "ok", at=timedelta())
    given_at(judged, "prompt", made.id, at=SOON)
    called(judged, "Bash", command="pnpm install", at=LATER)
    assert judged.outcome(made.id) == "unknown"


def test_words_that_are_written_without_spaces_count_as_well(judged: Judged) -> None:
    made = judged.store.remember("部署前先运行数据库迁移脚本", session="earlier", summary="")
    judged.give(made.id)
    judged.store.turn("t1", "数据库迁移脚本失败了", "好", session=HERE)
    assert judged.outcome(made.id) == "unknown"


def test_a_blob_in_a_prompt_holds_nothing_up(judged: Judged) -> None:
    made = remember(judged.store, files=("src/ledger.py",))
    judged.give(made.id)
    judged.store.turn("t1", f"{'a/' * 150_000} and \n{' ' * 100_000}x", "ok", session=HERE)
    assert judged.outcome(made.id) == "ignored"


def test_a_session_is_judged_by_its_files_and_its_headline(judged: Judged) -> None:
    judged.store.session("a", SessionSummary(headline="Teach the flamingo to count ledgers", files_edited=("x.py",)))
    judged.store.session("b", SessionSummary(headline="Something else", files_edited=("src/ledger.py",)))
    judged.store.session("c", SessionSummary(headline="Paint everything purple", files_edited=("y.py",)))
    judged.give("a", "b", "c")
    judged.store.turn("t1", "the flamingo counts the ledgers twice", "ok", session=HERE)
    judged.call("Read", file_path="/home/me/shop/src/ledger.py")
    assert [judged.outcome(one) for one in "abc"] == ["unknown", "unknown", "ignored"]


def test_a_session_is_not_judged_by_its_own_work(judged: Judged) -> None:
    made = remember(judged.store, session=HERE)
    judged.give(made.id, HERE)
    judged.store.turn("t1", made.title, "ok", session=HERE)
    assert (judged.outcome(made.id), judged.outcome(HERE)) == (None, None)


def test_a_session_in_which_nobody_asked_anything_judges_nothing(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    judged.store.session(HERE, SessionSummary())
    assert judged.outcome(made.id) is None


def test_what_did_not_reach_the_agent_is_not_judged(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id, reached=False)
    judged.store.turn("t1", "Paint the lid", "ok", session=HERE)
    assert judged.outcome(made.id) is None


def test_an_outcome_only_rises_when_a_session_is_judged_again(judged: Judged) -> None:
    used, ignored = remember(judged.store), judged.store.remember("Feed the quokka at noon", session="earlier")
    judged.give(used.id, ignored.id)
    judged.store.turn("t1", f"see {used.id}", "ok", session=HERE)
    assert (judged.outcome(used.id), judged.outcome(ignored.id)) == ("used", "ignored")
    for asked, outcome in (("who feeds the quokka at noon", "unknown"), ("hello", "unknown"), (ignored.id, "used")):
        with atomic(judged.store.db):
            judged.store.db.execute("update prompts set text = ?", (asked,))
        assert (judged.outcome(used.id), judged.outcome(ignored.id)) == ("used", outcome)
    before = receipts.newest(judged.store.db, limit=9)
    outcomes.judge(judged.store.db, judged.queue, HERE)
    assert receipts.newest(judged.store.db, limit=9) == before


def test_a_tally_counts_each_session_once(judged: Judged) -> None:
    made = remember(judged.store)
    for session in (HERE, HERE, "s-2", "s-3"):
        judged.give(made.id, session=session)
        judged.store.turn(f"t-{session}", "see it" if session != HERE else made.id, "ok", session=session)
    judged.give(made.id, session="s-4")
    for session in (HERE, "s-2", "s-3"):
        outcomes.judge(judged.store.db, judged.queue, session)
    assert receipts.tallies(judged.store.db, [made.id, "nobody"]) == {made.id: Tally(used=1, ignored=2)}


def test_a_session_that_fell_silent_is_judged_when_it_is_closed(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    judged.store.turn("t1", f"see {made.id}", "ok", session=HERE, at=NOW - timedelta(days=2))
    background.tidy(judged.queue, judged.store.db, NOW)
    assert receipts.tallies(judged.store.db, [made.id]) == {made.id: Tally(used=1)}


def test_receipts_are_kept_for_half_a_year(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    background.tidy(judged.queue, judged.store.db, NOW + timedelta(days=179))
    assert len(receipts.newest(judged.store.db, limit=9)) == 1
    background.tidy(judged.queue, judged.store.db, NOW + timedelta(days=181))
    assert receipts.newest(judged.store.db, limit=9) == []
    assert judged.store.db.execute("select count(*) from receipt_items").fetchone()[0] == 0


def test_what_is_forgotten_leaves_the_receipts_of_others_and_their_tallies(judged: Judged) -> None:
    made, kept = remember(judged.store), judged.store.remember("Feed the quokka at noon", session="earlier")
    judged.give(made.id, kept.id)
    judged.store.turn("t1", f"see {made.id}", "ok", session=HERE)
    outcomes.judge(judged.store.db, judged.queue, HERE)
    with atomic(judged.store.db):
        forget.forget(judged.store.db, [made.id], [], NOW)
    (receipt,) = receipts.newest(judged.store.db, limit=9)
    assert [item.source for item in receipt.items] == [kept.id]
    assert receipts.tallies(judged.store.db, [made.id]) == {}
    assert memories.find(judged.store.db, kept.id) is not None


# What is given at a moment of need counts as used only by what comes after it.


def given_at(judged: Judged, moment: str, *sources: str, at: timedelta, name: str = "") -> None:
    """Something that reached the session at a moment of need."""
    items = tuple(ReceiptItem(source, "decision", "words", 20) for source in sources)
    made = NOW + at
    name = name or spool_name("UserPromptSubmit")
    receipt = Receipt(name, HERE, SHOP.project, moment, items, (), (), 20, 2000, 1.0, made, made)
    with atomic(judged.store.db):
        receipts.add(judged.store.db, receipt)


def said(judged: Judged, key: str, asked: str, answered: str, *, at: timedelta) -> None:
    judged.store.turn(key, asked, answered, session=HERE, at=NOW + at)


def called(judged: Judged, tool: str, *, at: timedelta, **given: object) -> str:
    """A tool call of the session at a moment; returns the name of its event."""
    name = spool_name("PostToolUse", int((NOW + at).timestamp() * 1e9))
    payload = {"hook_event_name": "PostToolUse", "session_id": HERE, "tool_name": tool, "tool_input": given}
    judged.queue.add([Arrival(name, "PostToolUse", HERE, json.dumps(payload), 1)], NOW.timestamp())
    for unit in judged.queue.claim(NOW.timestamp(), flush=True):
        judged.queue.finish([row.id for row in unit], NOW.timestamp())
    return name


SOON, LATER, LAST = timedelta(seconds=1), timedelta(minutes=5), timedelta(minutes=10)
ASKED = "Why are people logged out when the flamingo ledger is refreshed?"


def test_what_a_prompt_was_given_is_never_proven_to_be_ignored(judged: Judged) -> None:
    made = remember(judged.store, files=("src/ledger.py",))
    said(judged, "t1", ASKED, "The tide was high.", at=timedelta())
    given_at(judged, "prompt", made.id, at=SOON)
    assert judged.outcome(made.id) == "unknown"


def test_a_reply_or_a_prompt_that_repeats_what_was_asked_is_no_sign_of_use(judged: Judged) -> None:
    symbol = SymbolChange("src/app.py", "Ledger.add_once", "modified")
    made = remember(judged.store, symbols=(symbol,))
    said(judged, "t1", f"{ASKED} Is it add_once?", "It is add_once of the flamingo ledger.", at=timedelta())
    given_at(judged, "prompt", made.id, at=SOON)
    said(judged, "t2", "So the refresh by add_once logged them out?", "Yes.", at=LATER)
    assert judged.outcome(made.id) == "unknown"


def test_what_was_said_before_is_no_sign_of_use(judged: Judged) -> None:
    made = remember(judged.store, files=("src/ledger.py",))
    said(judged, "t1", f"See {made.id} about the double guard", f"{made.title} in src/ledger.py", at=timedelta())
    called(judged, "Read", file_path="/home/me/shop/src/ledger.py", at=SOON)
    said(judged, "t2", "Go on with the refreshes", "The tide was high.", at=LATER)
    given_at(judged, "prompt", made.id, at=LATER + SOON)
    assert judged.outcome(made.id) == "unknown"


@pytest.mark.parametrize("how", ["id", "file", "symbol"])
def test_what_a_prompt_was_given_is_used_by_what_comes_after_it(judged: Judged, how: str) -> None:
    symbol = SymbolChange("src/app.py", "Ledger.add_once", "modified")
    made = remember(judged.store, files=("src/ledger.py",), symbols=(symbol,))
    replies = {
        "id": f"As #{made.id[:6]} says.",
        "symbol": "It is add_once that has to wait.",
    }
    said(judged, "t1", "Why is the flamingo sad?", replies.get(how, "ok"), at=timedelta())
    given_at(judged, "prompt", made.id, at=SOON)
    if how == "file":
        called(judged, "Read", file_path="/home/me/shop/src/ledger.py", at=LATER)
    assert judged.outcome(made.id) == "used"


def test_what_the_turn_of_the_prompt_changed_was_of_use(judged: Judged) -> None:
    made = remember(judged.store, symbols=(SymbolChange("src/app.py", "Ledger.add", "modified"),))
    said(judged, "t1", "Mend it", "ok", at=timedelta())
    given_at(judged, "prompt", made.id, at=SOON)
    change = CodeChange("src/app.py", "Ledger.add", "method", "modified", "def add(self)", "", "1", "2")
    with atomic(judged.store.db):
        turn = Turn("t1", HERE, SHOP.project, "", ())
        symbol_changes.add(judged.store.db, "t1", turn, "main", [change], NOW + LATER)
    assert judged.outcome(made.id) == "used"


@pytest.mark.parametrize("moment", ["file", "asked"])
def test_at_moments_that_were_never_measured_only_an_id_tells(judged: Judged, moment: str) -> None:
    made, other = remember(judged.store, files=("src/ledger.py",)), judged.store.remember("Feed", session="earlier")
    said(judged, "t1", "Mend it", "ok", at=timedelta())
    given_at(judged, moment, made.id, other.id, at=SOON)
    called(judged, "Edit", file_path="/home/me/shop/src/ledger.py", old_string="a", new_string="b", at=LATER)
    called(judged, "Bash", command=f"claude-mem-lite show {other.id}", at=LATER)
    assert (judged.outcome(made.id), judged.outcome(other.id)) == ("unknown", "used")


def test_each_giving_is_judged_by_itself_and_a_session_counts_once_by_its_best(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    said(judged, "t1", "Paint the lid", "ok", at=timedelta())
    given_at(judged, "prompt", made.id, at=SOON)
    outcomes.judge(judged.store.db, judged.queue, HERE)
    found = {one.moment: one.items[0].outcome for one in receipts.newest(judged.store.db, limit=9)}
    assert found == {"startup": "ignored", "prompt": "unknown"}
    assert receipts.tallies(judged.store.db, [made.id]) == {made.id: Tally(unknown=1)}


# What nobody has use for sinks until it is silent, and comes back when it is seen again.


def ignore(judged: Judged, source: str, times: int, *, moment: str = "startup", since: timedelta = LATER) -> None:
    """So many sessions that were given something and had no use for it."""
    for number in range(times):
        name, at = spool_name("SessionStart"), NOW + since
        item = ReceiptItem(source, "project", "holds", 20, outcome="ignored")
        receipt = Receipt(name, f"s-{number}", SHOP.project, moment, (item,), (), (), 20, 2000, 1.0, at, at)
        with atomic(judged.store.db):
            receipts.add(judged.store.db, receipt)


def test_starts_and_moments_of_need_do_not_count_for_each_other(judged: Judged) -> None:
    made = remember(judged.store)
    ignore(judged, made.id, 3)
    ignore(judged, made.id, 2, moment="prompt")
    ignore(judged, made.id, 1, moment="file")
    ignore(judged, made.id, 4, moment="failure")  # a fix that did not work says nothing about prompts
    assert receipts.tallies_since_last_seen(judged.store.db, [made.id], at_need=False) == {made.id: Tally(0, 3)}
    assert receipts.tallies_since_last_seen(judged.store.db, [made.id], at_need=True) == {made.id: Tally(0, 2)}
    assert receipts.tallies(judged.store.db, [made.id]) == {made.id: Tally(0, 4)}


def test_who_ignored_it_before_it_was_seen_again_does_not_count_and_who_used_it_does(judged: Judged) -> None:
    made = remember(judged.store)
    judged.give(made.id)
    judged.store.turn("t1", f"see {made.id}", "ok", session=HERE)
    outcomes.judge(judged.store.db, judged.queue, HERE)
    ignore(judged, made.id, 9)
    assert receipts.tallies_since_last_seen(judged.store.db, [made.id], at_need=False) == {made.id: Tally(1, 9)}
    with atomic(judged.store.db):
        memories.rewrite(judged.store.db, replace(made, last_seen_at=NOW + LAST))
    assert receipts.tallies_since_last_seen(judged.store.db, [made.id], at_need=False) == {made.id: Tally(1, 0)}
    ignore(judged, made.id, 2, since=2 * LAST)
    assert receipts.tallies_since_last_seen(judged.store.db, [made.id], at_need=False) == {made.id: Tally(1, 2)}


def test_a_session_that_goes_on_starts_anew_as_well(judged: Judged) -> None:
    judged.store.session("a", SessionSummary(headline="Paint"), at=NOW)
    ignore(judged, "a", 8)
    assert receipts.tallies_since_last_seen(judged.store.db, ["a"], at_need=False) == {"a": Tally(0, 8)}
    judged.store.session("a", SessionSummary(headline="Paint more"), at=NOW + LAST)
    assert receipts.tallies_since_last_seen(judged.store.db, ["a"], at_need=False) == {}
