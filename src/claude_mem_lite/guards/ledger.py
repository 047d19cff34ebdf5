"""Ledger of guards: notes of the hook about firings, and the outcome of each firing by what happened in its turn.

A guard that the user overrides three times in a row is paused."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import get_args

from claude_mem_lite.compress.toolcalls.commands import read_shell_edits
from claude_mem_lite.compress.toolcalls.payload_fields import Folder
from claude_mem_lite.event_names import time_of
from claude_mem_lite.guards.guard import Guard, guard_from_row
from claude_mem_lite.guards.matching import Call, matched
from claude_mem_lite.guards.occasions import fires, is_alternative, shown_call
from claude_mem_lite.guards.rule import SHELL_TOOL
from claude_mem_lite.hook import guard_match, shell_commands
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.store import guard_ledger, guards
from claude_mem_lite.store.guard_ledger import Decision, Failure, Firing, Outcome
from claude_mem_lite.text import one_line, within
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.values import frozen

FIRED, FAILED = "GuardFired", "GuardFailed"
MAX_OVERRIDDEN = 3
PAUSED = "you overrode it three times in a row"
_DECISIONS: tuple[Decision, ...] = get_args(Decision)
_MAX_REASON = 300
_MAX_COMMAND = 20_000
_QUOTED = lazy(r"'[^']*'|\"[^\"]*\"")
_REDIRECTION = lazy(r"(?<![<>&\d])\d?>{1,2}\s*([\w./~-]+)")
_WRITERS = ("tee", "cp", "mv", "touch", "truncate", "install", "ln")
_UNDOING = ("checkout", "restore", "reset", "revert", "stash")


@frozen
class TurnCall:
    """Tool call of a turn."""

    at: str
    """'' for a call that did not run."""
    tool_use: str
    call: Call


@frozen
class JudgedFiring:
    """Outcome of a firing, with the call in one line."""

    outcome: Outcome
    text: str = ""


def firing_of(name: str, payload: JsonObject) -> Firing | None:
    """Return the firing that a note of the hook tells; None if the note is broken."""
    decision = next((one for one in _DECISIONS if one == text(payload.get("decision"))), None)
    guard, session = text(payload.get("guard")), text(payload.get("session_id"))
    if decision is None or not guard or not session:
        return None
    ms = payload.get("ms")
    return Firing(
        name=name,
        guard=guard,
        session=session,
        turn=text(payload.get("prompt_id")),
        tool_use=text(payload.get("tool_use_id")),
        tool=text(payload.get("tool_name")),
        decision=decision,
        at=time_to_text(time_of(name)),
        ms=float(ms) if isinstance(ms, int | float) else 0.0,
    )


def failure_of(name: str, payload: JsonObject) -> Failure:
    """Return the failure that a note of the hook tells."""
    reason = within(one_line(redact(text(payload.get("reason")))), _MAX_REASON)
    return Failure(name, text(payload.get("guard")), time_to_text(time_of(name)), reason)


def judge_turn(
    db: sqlite3.Connection,
    project: str,
    session: str,
    firings: Sequence[Firing],
    calls: Sequence[TurnCall],
    refused: Sequence[TurnCall],
    now: datetime,
) -> None:
    """Decide the open firings of a session at the end of a turn, count the turn's occasions, and pause guards that were
    overridden too often. Runs inside the caller's transaction. `refused` are calls that did not run, as far as they are
    known."""
    fired: dict[str, int] = {}
    for firing in firings:
        row = guards.find(db, firing.guard)
        judged = judge(firing, guard_from_row(row), firings, calls, refused) if row else JudgedFiring("unknown")
        guard_ledger.decide(db, firing.name, judged.outcome, judged.text)
        fired[firing.guard] = fired.get(firing.guard, 0) + 1
    at = calls[0].at if calls else (firings[0].at if firings else "")
    for row in guards.of_project(db, project, ("active",)):
        guard = guard_from_row(row)
        if guard.id in fired or any(is_alternative(guard, one.call) for one in calls):
            guard_ledger.note_occasion(db, guard.id, session, at, fired.get(guard.id, 0))
    for guard_id in fired:
        _pause_if_overridden(db, guard_id, now)


def judge(
    firing: Firing,
    guard: Guard,
    firings: Sequence[Firing],
    calls: Sequence[TurnCall],
    refused: Sequence[TurnCall] = (),
) -> JudgedFiring:
    """Return the outcome of a firing by the calls of its turn."""
    own = next((one for one in (*calls, *refused) if firing.tool_use and one.tool_use == firing.tool_use), None)
    shown = shown_call(own.call) if own else ""
    did_run = own is not None and own in calls
    later = [one for one in calls if one.at > firing.at and one is not own]
    if firing.decision == "ask" and did_run:
        return JudgedFiring("overridden", shown)
    if own is not None and did_run and any(_undoes(one.call, own.call) for one in later):
        return JudgedFiring("followed", shown)
    if any(_gets_round(guard, one, calls) for one in later):
        return JudgedFiring("got_round", shown)
    again = [one for one in firings if one.guard == firing.guard and one.at > firing.at]
    if firing.decision == "remind" and again:
        return JudgedFiring("unknown", shown)
    if any(_does_otherwise(guard, one.call, own.call if own else None, did_run=did_run) for one in later):
        return JudgedFiring("followed", shown)
    return JudgedFiring("unknown", shown)


def _does_otherwise(guard: Guard, call: Call, guarded: Call | None, *, did_run: bool) -> bool:
    """Return whether a call does what the guard asks for, instead of the guarded call."""
    if call.tool not in guard.rule.tools or fires(guard, call):
        return False
    if is_alternative(guard, call):
        return True
    if guard.rule.paths:
        return not did_run
    if guard.rule.imports and guarded is not None:
        path = guard_match.written_path(dict(call.tool_input))
        return path == guard_match.written_path(dict(guarded.tool_input)) and not did_run
    return False


def _undoes(call: Call, guarded: Call) -> bool:
    """Return whether a call takes back an edit: by git, by removing the file, or by writing the former text."""
    path = guard_match.written_path(dict(guarded.tool_input))
    if not path:
        return False
    if call.tool == SHELL_TOOL:
        name = path.rpartition("/")[2]
        for words, *_ in shell_commands.parse(text(call.tool_input.get("command")), call.folder):
            is_undoing = words[:1] == ["rm"] or (words[:1] == ["git"] and words[1:2] and words[1] in _UNDOING)
            if is_undoing and any(word.rpartition("/")[2] == name for word in words[1:]):
                return True
        return False
    if guard_match.written_path(dict(call.tool_input)) != path:
        return False
    written = {one for one, _ in guard_match.written_texts(dict(guarded.tool_input))}
    return any(replaced in written for _, replaced in guard_match.written_texts(dict(call.tool_input)) if replaced)


def _gets_round(guard: Guard, later: TurnCall, calls: Sequence[TurnCall]) -> bool:
    """Return whether a shell command does by other means what a guard holds back: it writes the guarded file, or runs a
    script, written in the same turn, that runs the guarded program."""
    call = later.call
    if call.tool != SHELL_TOOL:
        return False
    command = text(call.tool_input.get("command"))
    if guard.rule.paths:
        rule = guard.rule.to_lists()
        return any(guard_match.matched_path(rule, path, call.root) for path in _paths_written(command, call))
    if not guard.rule.commands or matched(guard.rule, call):
        return False
    return any(_runs_script(command, one.call, guard) for one in calls if one.at < later.at)


def _paths_written(command: str, call: Call) -> list[str]:
    """Return the files of the checkout that a command line writes: by redirection, by copying, or in place."""
    folder = Folder(call.folder, call.folder.removeprefix(call.root).strip("/"))
    found = [edit.path for edit in read_shell_edits(command, folder)]
    found += [folder.name(path) for path in _REDIRECTION.findall(_QUOTED.sub("''", command[:_MAX_COMMAND]))]
    for words, *_ in shell_commands.parse(command, call.folder):
        if words[:1] and words[0] in _WRITERS:
            found += [folder.name(word) for word in words[1:] if not word.startswith("-")]
    return [f"{call.root}/{path}" for path in found]


def _runs_script(command: str, written: Call, guard: Guard) -> bool:
    path = guard_match.written_path(dict(written.tool_input))
    name = path.rpartition("/")[2]
    if not name or name not in command:
        return False
    return any(
        matched(guard.rule, replace(written, tool=SHELL_TOOL, tool_input={"command": content}))
        for content, _ in guard_match.written_texts(dict(written.tool_input))
    )


def _pause_if_overridden(db: sqlite3.Connection, id_: str, now: datetime) -> None:
    row = guards.find(db, id_)
    if row is None or row.status != "active":
        return
    last = guard_ledger.last_outcomes(db, id_, row.changed_at, MAX_OVERRIDDEN)
    if len(last) == MAX_OVERRIDDEN and set(last) == {"overridden"}:
        guards.pause(db, row, PAUSED, time_to_text(now))
