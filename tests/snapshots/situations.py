"""Situations in which a session starts, each with the text that it is given.

The texts stand beside this file, one for each. After a change that is meant, look at what became of them:

    python -m tests.snapshots.situations   # writes them anew
    git diff tests/snapshots
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from claude_mem_lite.code.freshness.checkout_view import NoCheckout
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.compress.lessons.lesson import GENERAL
from claude_mem_lite.config import Config
from claude_mem_lite.context.builder import build
from claude_mem_lite.context.presets import BALANCED, BY_CODES, BY_LAYERS, Preset
from claude_mem_lite.db.connection import atomic, open_for_reading
from claude_mem_lite.knowledge.remember import reconcile
from claude_mem_lite.models import Event, Location, Receipt, SessionSummary
from claude_mem_lite.paths import Home
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.store import memories, receipts
from claude_mem_lite.worker.answers import prerendered
from claude_mem_lite.worker.answers.session_start import context_request_for
from tests.snapshots.busy_project import TOLD, decide, fill, know, python_project
from tests.support.fakes import NOW, SHOP, FakeEmbedder, Store

FOLDER = Path(__file__).parent
OTHER = Location(project="example.org/me/other", name="other", root="/nowhere/other")
Situation = Callable[[Store, Path], str]


def started(
    store: Store, place: Location = SHOP, *, moment: str = "startup", session: str = "mine", preset: Preset = BALANCED
) -> str:
    """What a session is given when it starts."""
    event = Event("000-SessionStart", "SessionStart", session, NOW, place.root, source=moment)
    search = Search(FakeEmbedder(), VectorIndex()).search
    request = replace(context_request_for(store.db, event, place, NOW), search=search)
    return build(store.connect, request, Config().budget_tokens, preset).text


def first_session_ever(store: Store, folder: Path) -> str:
    return started(store)


def one_session(store: Store, folder: Path) -> str:
    store.session("s0", TOLD)
    decide(store, "s0")
    return started(store)


def busy_project(store: Store, folder: Path) -> str:
    fill(store)
    return started(store, python_project(folder))


def nothing_relevant(store: Store, folder: Path) -> str:
    """What was seen once, is not sure, is not trusted or holds for other languages."""
    store.remember("The mail server is slow on Mondays", kind="gotcha")
    store.remember("Carts may be too large", kind="convention", confidence=0.3)
    store.remember("Poison in a page", kind="rule", origin="web")
    store.remember("Use gofmt", kind="convention", scope="language:go", origin="user")
    store.remember("Sort imports", kind="convention", scope="universal")
    return started(store)


def other_project_only(store: Store, folder: Path) -> str:
    store.session("theirs", TOLD, place=OTHER)
    store.remember("Never touch the ledger", kind="rule", origin="user", place=OTHER)
    return started(store)


def resume(store: Store, folder: Path) -> str:
    fill(store)
    _given(store, "s1", NOW - timedelta(hours=3))
    return started(store, python_project(folder), moment="resume", session="s1")


def resume_without_news(store: Store, folder: Path) -> str:
    fill(store)
    _given(store, "s1", NOW - timedelta(hours=1))
    return started(store, python_project(folder), moment="resume", session="s1")


def compact(store: Store, folder: Path) -> str:
    """The session's own work is told as well: it is about to be forgotten."""
    store.session("mine", TOLD)
    decide(store, "mine")
    store.remember("Freeze the clock", session="mine")
    know(store)
    _given(store, "mine", NOW - timedelta(hours=3))
    return started(store, python_project(folder), moment="compact")


def clear(store: Store, folder: Path) -> str:
    store.session("before", TOLD)
    decide(store, "before")
    store.remember("Freeze the clock", session="before")
    know(store)
    return started(store, python_project(folder), moment="clear")


def worker_away(store: Store, folder: Path) -> str:
    """The file that a hook prints when it finds no worker: dates instead of ages, for nobody in particular."""
    home = Home(folder.parent / "home")
    home.make()
    place = find_location("/")  # a folder that is there everywhere: ids are made of its path
    with Store(home.memory_db) as own:
        own.session("s0", TOLD, place=place)
        decide(own, "s0", place)
        own.remember("Write sums in cents", kind="rule", origin="user", confidence=GENERAL, place=place)
        own.remember("Count the tax into the sum", kind="feature", place=place)
        prerendered.refresh(
            home, own.db, partial(open_for_reading, home.memory_db), Config(), {""}, NOW, lambda *_: NoCheckout()
        )
    reply = json.loads(home.rendered_for(place.root).read_bytes().split(b"\n", 3)[3])
    return str(reply["hookSpecificOutput"]["additionalContext"])


def huge_memories(store: Store, folder: Path) -> str:
    long = "It went on and on about carts and orders and sums. " * 60
    store.session("s0", SessionSummary(headline=long, request=long, completed=long, next_steps=(long, long)))
    for number in range(6):
        store.remember(f"Rule number {number}", summary=long, kind="rule", origin="user", confidence=GENERAL)
        store.remember(f"Change number {number}", summary=long, kind="feature", session=f"s{number}")
        store.remember(
            f"規則 {number}", summary="税込みの金額で計算する。" * 100, kind="rule", origin="user", confidence=GENERAL
        )
    return started(store)


def conflicting_decisions(store: Store, folder: Path) -> str:
    store.session("s0", SessionSummary(headline="Talk about storage", completed="Nothing was changed."))
    # The agent's newer word does not replace the user's.
    store.remember("Keep carts in SQLite", kind="decision", origin="user", last_seen_at=NOW - timedelta(days=40))
    newer = store.remember("Keep carts in Redis", kind="decision", last_seen_at=NOW - timedelta(days=2))
    store.remember("Name branches after tickets", kind="decision", last_seen_at=NOW - timedelta(days=20))
    with atomic(store.db):
        reconcile(store.db, newer, "turn", NOW)
    return started(store)


def superseded_decision(store: Store, folder: Path) -> str:
    store.session("s0", SessionSummary(headline="Move the carts", completed="Carts are in Redis now."))
    store.remember("Keep carts in SQLite", kind="decision", last_seen_at=NOW - timedelta(days=40))
    newer = store.remember("Keep carts in Redis", kind="decision", last_seen_at=NOW - timedelta(days=2))
    with atomic(store.db):
        reconcile(store.db, newer, "turn", NOW)
    return started(store)


def open_handoff(store: Store, folder: Path) -> str:
    store.session("s0", TOLD)
    decide(store, "s0")
    store.remember(
        "Left open: Freeze it in the logout test too",
        id=memories.handoff_id("s0"),
        kind="handoff",
        summary="Open when it stopped: Freeze it in the logout test too.",
        facts=("Branch: main", "Still failing: pytest tests/test_logout.py"),
        session="s0",
    )
    store.session("asked", SessionSummary(headline="Ask what the clock does"), at=NOW - timedelta(hours=1))
    return started(store)


def preset_layers(store: Store, folder: Path) -> str:
    fill(store)
    return started(store, python_project(folder), preset=BY_LAYERS)


def preset_codes(store: Store, folder: Path) -> str:
    fill(store)
    return started(store, python_project(folder), preset=BY_CODES)


def preset_codes_without_codes(store: Store, folder: Path) -> str:
    """Where there was a session, something is said, whatever the preset."""
    store.session("s0", SessionSummary(headline="Ask what the clock does"))
    return started(store, preset=BY_CODES)


SITUATIONS: dict[str, Situation] = {
    one.__name__: one
    for one in (
        first_session_ever,
        one_session,
        busy_project,
        nothing_relevant,
        other_project_only,
        resume,
        resume_without_news,
        compact,
        clear,
        worker_away,
        huge_memories,
        conflicting_decisions,
        superseded_decision,
        open_handoff,
        preset_layers,
        preset_codes,
        preset_codes_without_codes,
    )
}


def told_in(name: str, tmp_path: Path) -> str:
    """The text of one situation, in an empty folder."""
    folder = tmp_path / "shop"
    folder.mkdir()
    with Store(tmp_path / "memory.db") as store:
        return SITUATIONS[name](store, folder)


def text_file(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def _given(store: Store, session: str, at: datetime) -> None:
    """A session had a context at this time."""
    made = Receipt("name-of-its-start", session, SHOP.project, "startup", (), (), (), 1, 2000, 1.0, at, at)
    with atomic(store.db):
        receipts.add(store.db, made)


def _write_anew() -> None:
    for name in SITUATIONS:
        with tempfile.TemporaryDirectory() as folder:
            text_file(name).write_text(told_in(name, Path(folder)), "utf-8")


if __name__ == "__main__":
    _write_anew()
