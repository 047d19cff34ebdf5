"""Changes of the agent that the user reverted by hand, found when the agent edits the same code again.

Called for every turn before its code changes are stored; reads only. In doubt the user reverted nothing: commands of
the agent or another session may have restored the code."""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.changes import MAX_CODE_ANCHORS, PRESENT, CodeChange, anchor_to
from claude_mem_lite.compress.prose.drafts import make_draft
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import MAX_MEMORIES_PER_TURN, REVERT_LEAD, Draft, Turn, load_json
from claude_mem_lite.store import symbol_changes
from claude_mem_lite.turn_digest import TurnDigest

_CONFIDENCE = 0.6
_MAX_CALLS = 3_000
_MAX_NAMES = 3
_PUTS_BACK = re.compile(
    r"\bgit\b[^|;&\n]{0,200}?\s(?:checkout|restore|stash|reset|revert|clean|apply|am|rebase|merge|pull|switch|cherry-pick"
    r"|bisect|worktree|read-tree)\b|\b(?:hg|svn|jj) (?:revert|update|restore|undo)\b|\bpatch\b"
)
_WRITES = re.compile(r">|\b(?:sed|perl|mv|cp|tee|rm|truncate|python\d?|node|ruby|awk|dd|rsync|install|ed|ex|vim?)\b")


def with_undone(db: sqlite3.Connection, queue: Queue, turn: Turn, digest: TurnDigest) -> TurnDigest:
    """Return a digest with corrections for reverted changes."""
    room = MAX_MEMORIES_PER_TURN - len(digest.drafts)
    if not digest.code or room <= 0:
        return digest
    found = _undone(db, turn, digest.code)
    if found:
        commands = _commands(queue, turn.session)
        found = [change for change in found if not any(_may_have_written(command, change.file) for command in commands)]
    drafts = [
        _draft(file, [change for change in found if change.file == file])
        for file in dict.fromkeys(change.file for change in found)
    ]
    return replace(digest, drafts=(*digest.drafts, *drafts[:room])) if found else digest


def _undone(db: sqlite3.Connection, turn: Turn, code: Sequence[CodeChange]) -> list[CodeChange]:
    """Return the code that the turn found in the state before the session's last change."""
    last = {(stored.change.file, stored.change.name): stored for stored in symbol_changes.of_session(db, turn.session)}
    return [
        now
        for now in code
        if (stored := last.get((now.file, now.name))) is not None
        and (then := stored.change)
        and not (now.was or then.was)
        and now.before == then.before != then.after
        # For a whole file only the existence is known, not the content.
        and (now.name or now.before != PRESENT)
        and not symbol_changes.is_changed_by_other_sessions(db, turn.project, turn.session, now.file, stored.at)
    ]


def _draft(file: str, changes: list[CodeChange]) -> Draft:
    names = [change.name for change in changes if change.name]
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
        f"{REVERT_LEAD}, and no command of the agent put it back.",
        files=[file],
        anchors=[anchor_to(change) for change in changes[:MAX_CODE_ANCHORS]],
        # A revert by hand says as much as a statement; only the meaning is less sure.
        origin="user",
        confidence=_CONFIDENCE,
    )


def _commands(queue: Queue, session: str) -> list[str]:
    """Return the commands of the session, as far as the events are kept."""
    calls = event_history.tool_calls(queue.db, session, _MAX_CALLS)
    inputs = (load_json(call.tool_input) for call in calls if call.tool_input.startswith("{"))
    return [command for given in inputs if isinstance(given, dict) and isinstance(command := given.get("command"), str)]


def _may_have_written(command: str, file: str) -> bool:
    """Return True if a command may have changed a file: by reverting work, or by writing to the named file."""
    if _PUTS_BACK.search(command):
        return True
    return file.rsplit("/", 1)[-1] in command and _WRITES.search(command) is not None
