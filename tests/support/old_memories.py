"""A home whose memories look as if an older composer had made them, for the tests of `rebuild --memories`."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.store import memories, memory_links, turns
from claude_mem_lite.store.ids import short_id
from tests.support.fakes import Store
from tests.support.past_sessions import LONG_AGO, fixed_bug
from tests.support.running import Machine

CRUMB = "Change the RATE in tax.py"


def write_sessions(machine: Machine, number: int) -> None:
    """Write so many transcripts, of two turns each, where the client keeps them."""
    for each in range(number):
        session = fixed_bug(f"s{each}", each, LONG_AGO + timedelta(days=each))
        session.prompt(f"And now the tax of total_{each}")
        session.edits("/home/dev/shop/tax.py", "RATE = 5", f"RATE = {each}")
        session.says(f"I decided to keep the rate {each} in one place because total_{each} needs it too.")
        session.write(transcripts(machine))


def transcripts(machine: Machine) -> Path:
    return machine.user_home / ".claude" / "projects" / "-home-dev-shop"


@contextmanager
def stopped(machine: Machine) -> Iterator[Store]:
    """The database of a home whose worker is stopped meanwhile."""
    machine.stop_worker()
    with Store(machine.view.memory_db) as store:
        yield store
    machine.start_worker()


def age(machine: Machine, *, reword: bool = True) -> None:
    """Make what is stored look as if an older composer had made it: its own words, a crumb beside each memory, and
    no log."""
    with stopped(machine) as store, atomic(store.db):
        store.db.execute("update prompts set composer = 0, left_by = 0")
        for (turn,) in store.db.execute("select turn from prompts where text <> ''").fetchall():
            asked, answered, tasks, _ = turns.texts_of(store.db, turn)
            turns.set_texts(store.db, turn, asked, answered, tasks, "")
            age_turn(store.db, turn, reword=reword)


def age_turn(db: sqlite3.Connection, turn: str, *, reword: bool) -> None:
    made = [one for one in memories.by_ids(db, memory_links.memories_in(db, [turn])) if one.kind != "handoff"]
    for memory in made if reword else ():
        title = f"Older words: {memory.title}"
        memories.rewrite(db, replace(memory, title=title, kind="change", prompt_version=""))
    crumb = short_id(turn, "9")
    if made and memories.find(db, crumb) is None:
        told = replace(made[0], id=crumb, kind="change", title=CRUMB, summary="The tests are green.", made_by="rules")
        told = replace(told, files=(), anchors=(), facts=(), detail="", prompt_version="")
        memories.insert(db, told, told.created_at)
        memory_links.note_sighting(db, crumb, turn)


def forget_events(machine: Machine) -> None:
    """Have the inbox be as it is when finished events are trimmed."""
    with stopped(machine):
        with closing(sqlite3.connect(machine.view.inbox_db)) as db, db:
            db.execute("delete from inbox")
        shutil.rmtree(machine.view.journal_folder, ignore_errors=True)
