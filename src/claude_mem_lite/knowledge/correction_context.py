"""What the agent had just done when the user taught it something: "no, use pnpm" is understood by what came before.

Called by the worker for every turn, before it is stored; reads only. It goes to the detail: a session that starts is
told what holds, and finds there on what occasion it was said."""

import sqlite3
from dataclasses import replace

from claude_mem_lite.compress.rules.corrections import is_taught
from claude_mem_lite.knowledge import occasions, turn_rewrite
from claude_mem_lite.models import FOREIGN_ORIGINS, WORK_KINDS, Draft, Memory, Turn, TurnDigest

_MOST_LOOKED_AT = 12


def with_occasion(db: sqlite3.Connection, turn: Turn, digest: TurnDigest) -> TurnDigest:
    """What rules made of a turn, with the work that what it teaches was said after."""
    if not any(draft.origin == "user" and is_taught(draft) for draft in digest.drafts):
        return digest
    known = turn_rewrite.of_session(db, turn.session, _MOST_LOOKED_AT, before=turn.events[0].at)
    work = next((one for one in reversed(known) if _is_work(one)), None)
    return replace(digest, drafts=tuple(_after(draft, work) for draft in digest.drafts)) if work else digest


def _is_work(memory: Memory) -> bool:
    return memory.kind in (*WORK_KINDS, "failure") and memory.origin not in FOREIGN_ORIGINS


def _after(draft: Draft, work: Memory) -> Draft:
    if draft.origin != "user" or not is_taught(draft):
        return draft
    return replace(draft, detail="\n".join(filter(None, (draft.detail, occasions.line_after(work)))))
