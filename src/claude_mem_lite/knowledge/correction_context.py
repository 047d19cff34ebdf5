"""Work that preceded a lesson of the user: "no, use pnpm" makes sense only with the work before it.

The detail of the lesson gets a line that quotes the title of the work. The line goes when the work is forgotten. Only
the functions of this module write and read the form of the line."""

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace

from claude_mem_lite.compress.rules.turn_lessons import is_taught
from claude_mem_lite.models import FOREIGN_ORIGINS, WORK_KINDS, Draft, Memory, Turn
from claude_mem_lite.store import memories, memory_queries
from claude_mem_lite.text import within
from claude_mem_lite.turn_digest import TurnDigest

_LEAD = "Said after this work: "
_MAX_WORK_LENGTH = 160
_MAX_FILES = 3
_MAX_CANDIDATES = 12


def with_preceding_work(db: sqlite3.Connection, turn: Turn, digest: TurnDigest) -> TurnDigest:
    """Return a digest whose lessons quote the work before the turn. Called for every turn, before storing."""
    if not any(_is_lesson(draft) for draft in digest.drafts):
        return digest
    known = memory_queries.of_session(db, turn.session, _MAX_CANDIDATES, before=turn.events[0].at)
    work = next((memory for memory in reversed(known) if _is_work(memory)), None)
    if work is None:
        return digest
    drafts = (_with_line(draft, line_after(work)) if _is_lesson(draft) else draft for draft in digest.drafts)
    return replace(digest, drafts=tuple(drafts))


def line_after(work: Memory) -> str:
    """Return the line of a detail that quotes the work before a lesson."""
    files = f" ({', '.join(work.files[:_MAX_FILES])})" if work.files else ""
    return f"{_quote(work.title)}{files}"


def without_lines(detail: str) -> str:
    """Return a detail without the lines that quote work."""
    return "\n".join(line for line in detail.split("\n") if not line.startswith(_LEAD))


def remove_quotes(db: sqlite3.Connection, forgotten: Sequence[Memory], sessions: Collection[str]) -> None:
    """Remove the lines that quote forgotten memories, after those memories were removed.

    A memory may have got another title since the quote. In the given sessions, a line therefore also goes if no stored
    title matches."""
    quotes = tuple({_quote(memory.title) for memory in forgotten})
    if not quotes:
        return
    quoting = memory_queries.with_detail(db, _LEAD, {memory.project for memory in forgotten}, sessions)
    stored = tuple(map(_quote, memory_queries.titles_in(db, sessions))) if quoting else ()
    for memory in quoting:
        is_concerned = memory.session in sessions
        lines = memory.detail.split("\n")
        left = [
            line
            for line in lines
            if not line.startswith(_LEAD)
            or not (_is_quote(line, quotes) or (is_concerned and not _is_quote(line, stored)))
        ]
        if left != lines:
            memories.rewrite(db, replace(memory, detail="\n".join(left)))


def _quote(title: str) -> str:
    return f"{_LEAD}{within(title, _MAX_WORK_LENGTH)}"


def _is_quote(line: str, quotes: tuple[str, ...]) -> bool:
    """Return True if a line is a given quote, with or without files."""
    return any(line == quote or line.startswith(f"{quote} (") for quote in quotes)


def _is_work(memory: Memory) -> bool:
    return memory.kind in (*WORK_KINDS, "failure") and memory.origin not in FOREIGN_ORIGINS


def _is_lesson(draft: Draft) -> bool:
    return draft.origin == "user" and is_taught(draft)


def _with_line(draft: Draft, line: str) -> Draft:
    return replace(draft, detail="\n".join(filter(None, (draft.detail, line))))
