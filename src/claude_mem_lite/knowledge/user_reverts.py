"""A change of the agent that the user took back by hand: seen when the agent touches the same code again.

Called by the worker for every turn, before what the turn did to code is stored; reads only. In doubt nobody undid
anything: what the agent's own commands, or another session, may have put back was not the user."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.anchors import MAX_CODE_ANCHORS, anchor_to
from claude_mem_lite.code.syntax.changes import PRESENT, CodeChange
from claude_mem_lite.compress.prose.drafts import make_draft
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import MAX_OF_A_TURN, UNDONE_LEAD, Draft, Turn, TurnDigest, load_json
from claude_mem_lite.store import symbol_changes

_CONFIDENCE = 0.6
_MAX_CALLS = 3_000
_MAX_NAMES = 3
_PUTS_BACK = re.compile(
    r"\bgit\b[^|;&\n]{0,200}?\s(?:checkout|restore|stash|reset|revert|clean|apply|am|rebase|merge|pull|switch|cherry-pick"
    r"|bisect|worktree|read-tree)\b|\b(?:hg|svn|jj) (?:revert|update|restore|undo)\b|\bpatch\b"
)
_WRITES = re.compile(r">|\b(?:sed|perl|mv|cp|tee|rm|truncate|python\d?|node|ruby|awk|dd|rsync|install|ed|ex|vim?)\b")


def with_undone(db: sqlite3.Connection, queue: Queue, turn: Turn, digest: TurnDigest) -> TurnDigest:
    """What rules made of a turn, with what the user is found to have undone."""
    room = MAX_OF_A_TURN - len(digest.drafts)
    if not digest.code or room <= 0:
        return digest
    found = _undone(db, turn, digest.code)
    if found:
        commands = _commands(queue, turn.session)
        found = [one for one in found if not any(_may_have_written(command, one.file) for command in commands)]
    return replace(digest, drafts=(*digest.drafts, *_drafts(found)[:room])) if found else digest


def _undone(db: sqlite3.Connection, turn: Turn, code: Sequence[CodeChange]) -> list[CodeChange]:
    """What the turn found as it had been before the session's own last change of it."""
    last = {(one.change.file, one.change.name): one for one in symbol_changes.of_session(db, turn.session)}
    return [
        now
        for now in code
        if (stored := last.get((now.file, now.name))) is not None
        and (then := stored.change)
        and not (now.was or then.was)
        and now.before == then.before != then.after
        # Of a file it is known that it is there, not what it holds.
        and (now.name or now.before != PRESENT)
        and not symbol_changes.is_changed_by_other_sessions(db, turn.project, turn.session, now.file, stored.at)
    ]


def _drafts(found: Sequence[CodeChange]) -> list[Draft]:
    """One memory for each file."""
    return [_draft(file, list(changes)) for file, changes in _by_file(found)]


def _by_file(found: Sequence[CodeChange]) -> Iterator[tuple[str, list[CodeChange]]]:
    for file in dict.fromkeys(one.file for one in found):
        yield file, [one for one in found if one.file == file]


def _draft(file: str, changes: list[CodeChange]) -> Draft:
    names = [one.name for one in changes if one.name]
    is_whole = len(names) < len(changes)
    shown = ", ".join(names[:_MAX_NAMES]) + (f" and {len(names) - _MAX_NAMES} more" if names[_MAX_NAMES:] else "")
    title = (
        f"The new file {file} was deleted by the user"
        if is_whole
        else f"The change of {shown} in {file} was undone by the user"
    )
    return make_draft(
        "correction",
        title,
        f"{UNDONE_LEAD}, and no command of the agent put it back.",
        files=[file],
        anchors=[anchor_to(one) for one in changes[:MAX_CODE_ANCHORS]],
        # What the user did by hand says as much as a word; only how it is meant is less sure.
        origin="user",
        confidence=_CONFIDENCE,
    )


def _commands(queue: Queue, session: str) -> list[str]:
    """The commands that the session ran, as far as its events are kept."""
    calls = event_history.tool_calls(queue.db, session, _MAX_CALLS)
    inputs = (load_json(call.given) for call in calls if call.given.startswith("{"))
    return [command for given in inputs if isinstance(given, dict) and isinstance(command := given.get("command"), str)]


def _may_have_written(command: str, file: str) -> bool:
    """Whether a command may have changed a file: by taking back work of any kind, or by naming and writing it."""
    if _PUTS_BACK.search(command):
        return True
    return file.rsplit("/", 1)[-1] in command and _WRITES.search(command) is not None
