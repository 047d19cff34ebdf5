"""What the agent had just done when the user taught it something: "no, use pnpm" is understood by what came before.

Called by the worker for every turn, before it is stored; reads only. It goes to the detail: a session that starts is
told what holds, and finds there on what occasion it was said.

On what occasion something was said: a line in its detail that quotes the work that came before, by its title.

When that work is forgotten, so are the lines that quote it."""

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace

from claude_mem_lite.compress.rules.corrections import is_taught
from claude_mem_lite.models import FOREIGN_ORIGINS, OCCASION_LEAD, WORK_KINDS, Draft, Memory, Turn, TurnDigest
from claude_mem_lite.store import memories, memory_queries
from claude_mem_lite.text import within

_MAX_WORK_LENGTH = 160
_MAX_FILES = 3


def line_after(work: Memory) -> str:
    """What a detail says of the work after which something was said."""
    files = f" ({', '.join(work.files[:_MAX_FILES])})" if work.files else ""
    return f"{_quote(work.title)}{files}"


def take_out(db: sqlite3.Connection, forgotten: Sequence[Memory], sessions: Collection[str]) -> None:
    """Remove the lines that quote forgotten memories, which are gone by now, from the details of all others.

    A title may have been told anew since it was quoted: of the sessions concerned, a line goes too when nothing that is
    left has its words."""
    quotes = tuple({_quote(memory.title) for memory in forgotten})
    if not quotes:
        return
    rows = db.execute(
        """select * from memories where detail like '%' || :lead || '%'
             and (project in (select value from json_each(:projects))
               or session in (select value from json_each(:sessions)))""",
        {
            "lead": OCCASION_LEAD,
            "projects": json.dumps(sorted({memory.project for memory in forgotten})),
            "sessions": json.dumps(sorted(sessions)),
        },
    ).fetchall()
    standing = tuple(_titles_of(db, sessions)) if rows else ()
    for memory in map(memories.from_row, rows):
        is_concerned = memory.session in sessions
        lines = memory.detail.split("\n")
        left = [
            line
            for line in lines
            if not line.startswith(OCCASION_LEAD)
            or not (_tells(line, quotes) or (is_concerned and not _tells(line, standing)))
        ]
        if left != lines:
            memories.rewrite(db, replace(memory, detail="\n".join(left)))


def _quote(title: str) -> str:
    return f"{OCCASION_LEAD}{within(title, _MAX_WORK_LENGTH)}"


def _tells(line: str, quotes: tuple[str, ...]) -> bool:
    """Whether a line is one of these quotes, with or without the files."""
    return any(line == quote or line.startswith(f"{quote} (") for quote in quotes)


def _titles_of(db: sqlite3.Connection, sessions: Collection[str]) -> list[str]:
    rows = db.execute(
        "select title from memories where session in (select value from json_each(:sessions))",
        {"sessions": json.dumps(sorted(sessions))},
    )
    return [_quote(row["title"]) for row in rows]


_MAX_LOOKED_AT = 12


def with_occasion(db: sqlite3.Connection, turn: Turn, digest: TurnDigest) -> TurnDigest:
    """What rules made of a turn, with the work that what it teaches was said after."""
    if not any(draft.origin == "user" and is_taught(draft) for draft in digest.drafts):
        return digest
    known = memory_queries.of_session(db, turn.session, _MAX_LOOKED_AT, before=turn.events[0].at)
    work = next((one for one in reversed(known) if _is_work(one)), None)
    return replace(digest, drafts=tuple(_after(draft, work) for draft in digest.drafts)) if work else digest


def _is_work(memory: Memory) -> bool:
    return memory.kind in (*WORK_KINDS, "failure") and memory.origin not in FOREIGN_ORIGINS


def _after(draft: Draft, work: Memory) -> Draft:
    if draft.origin != "user" or not is_taught(draft):
        return draft
    return replace(draft, detail="\n".join(filter(None, (draft.detail, line_after(work)))))
