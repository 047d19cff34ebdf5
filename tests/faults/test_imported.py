"""Tests of `store/imported_sessions.py`: what was imported is in no inbox, so backups and tombstones are all that stand
between it and a damaged file."""

from datetime import UTC, datetime

from claude_mem_lite.event_names import IMPORTED_PROMPT, IMPORTED_SUMMARY, past_name
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.imports import ImportedRows
from claude_mem_lite.worker.api import import_claude_mem, transfer
from claude_mem_lite.worker.services import Services
from tests.faults.losses import prompts, spoil_header, worked
from tests.support.running import dump, query

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SESSION = import_claude_mem.PastSession(
    id="c-1", name="shop", project="shop", root="", cwd="", status="completed", started_at=AT, ended_at=AT
)
ASKED = {"count the apples": "p-1", "count the plums": "p-2"}


def import_all(loop: Services) -> ImportedRows:
    """Import sessions, prompts and memories; return the counts of the prompts."""
    import_claude_mem.take_sessions(import_claude_mem.Sessions(sessions=[SESSION]), loop)
    said = [
        import_claude_mem.PastSaid(
            name=past_name(IMPORTED_PROMPT, int(AT.timestamp() * 1e9), id_),
            session="c-1",
            project="shop",
            at=AT,
            prompt_id=id_,
            text=text,
        )
        for text, id_ in ASKED.items()
    ]
    told = import_claude_mem.Summary(request="count all fruit", learned="there are nine")
    name = past_name(IMPORTED_SUMMARY, int(AT.timestamp() * 1e9), "s-1")
    said.append(import_claude_mem.PastSaid(name=name, session="c-1", project="shop", at=AT, summary=told))
    counts = import_claude_mem.take_said(import_claude_mem.SaidThings(said=said), loop)
    lines = [transfer.Line(memory={"kind": "note", "title": f"Pears are green, {n}"}) for n in range(50)]
    transfer.take_in(transfer.Batch(project="shop", at=AT, lines=lines), loop)
    transfer.finish(loop)
    return counts


def test_what_was_imported_is_all_there_after_memory_was_damaged(home: Home) -> None:
    with worked(home) as loop:
        import_all(loop)
    before = dump(home.memory_db)
    assert [len(before[table]) for table in ("memories", "sessions", "prompts")] == [50, 1, 3]
    spoil_header(home.memory_db)
    with worked(home):
        pass
    assert dump(home.memory_db) == before


def test_a_prompt_that_was_forgotten_is_not_imported_into_a_memory_that_was_lost(home: Home) -> None:
    with worked(home) as loop:
        assert import_all(loop).imported == 3
        ((passage,),) = query(
            home.memory_db,
            "select id from passages where source = (select turn from prompts where text = 'count the plums')",
        )
        loop.commands.put({"command": "forget", "ids": [passage]}).result(30)
    for path in (home.memory_db, *home.backups.iterdir()):
        path.unlink()
    with worked(home) as loop:
        counts = import_all(loop)
    assert (counts.imported, counts.forgotten) == (2, 1)
    assert prompts(home) == {"count the apples"}
