"""Changes of guards by the user: add, accept, dismiss, pause, resume, remove, and the word that a firing was wrong.

The commands come from the inbox. Each describes its guard, so that recovery can replay it; a repeated command changes
nothing."""

import os
import sqlite3
from dataclasses import replace

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.event_names import time_of
from claude_mem_lite.guard_modes import MODES, Mode
from claude_mem_lite.guards.guard import (
    Example,
    Guard,
    Proposal,
    proposal_from_json,
    proposal_of,
    proposal_to_json,
    row_of_proposal,
    rule_to_text,
)
from claude_mem_lite.guards.matching import example_call, matched
from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.hook.guard_match import EDIT_TOOLS
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.store import guard_ledger, guards, tombstones
from claude_mem_lite.store.guards import Status, StoredGuard
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.timestamps import time_to_text

ADD, ACCEPT, DISMISS, PAUSE, RESUME, REMOVE, FALSE = (
    "add_guard",
    "accept_guard",
    "dismiss_guard",
    "pause_guard",
    "resume_guard",
    "remove_guard",
    "false_guard",
)
COMMANDS = (ADD, ACCEPT, DISMISS, PAUSE, RESUME, REMOVE, FALSE)
MAX_REASON = 500
_OF_COMMAND: dict[str, Status] = {
    ACCEPT: "active",
    RESUME: "active",
    DISMISS: "dismissed",
    PAUSE: "paused",
    REMOVE: "removed",
}
_EXAMPLE_ROOT = "/checkout"


def described(guard: Guard) -> JsonObject:
    """Return the part of a command that describes its guard."""
    return {
        "id": guard.id,
        "project": guard.project,
        "memory": guard.memory,
        "stated_at": guard.created_at,
        "proposal": proposal_to_json(proposal_of(guard)),
    }


def refuse_impossible(command: str, guard: Guard) -> None:
    """Raise MemoryLiteError for a change that makes no sense in the guard's status."""
    allowed: dict[str, tuple[Status, ...]] = {
        ACCEPT: ("proposed", "doubtful", "dismissed", "removed", "paused", "active"),
        DISMISS: ("proposed", "doubtful", "dismissed"),
        PAUSE: ("active", "paused"),
        RESUME: ("paused", "active"),
        REMOVE: guards.STATUSES,
        FALSE: ("active", "paused"),
    }
    if guard.status not in allowed[command]:
        verb = "take back" if command == FALSE else command.partition("_")[0]
        status = "in force" if guard.status == "active" else guard.status
        raise MemoryLiteError(f"{guard.id} is {status}, so there is nothing to {verb}", _next_step(guard))


def _next_step(guard: Guard) -> str:
    if guard.status in ("active", "paused"):
        return f"`claude-mem-lite guards remove {guard.id}` removes it"
    return f"`claude-mem-lite guards accept {guard.id}` puts it in force"


def carry_out(name: str, payload: JsonObject, db: sqlite3.Connection) -> str:
    """Carry out a command about a guard; return the id of the guard."""
    command = text(payload.get("command"))
    with atomic(db):
        if command == ADD:
            return _add(name, payload, db)
        guard = _guard(payload, db)
        if command == FALSE:
            return _take_back(guard, text(payload.get("firing")), db)
        if command == REMOVE and not guard.memory:
            guards.remove(db, guard.id)
            return guard.id
        changed = replace(
            guard,
            status=_OF_COMMAND[command],
            mode=_mode(payload) or guard.mode,
            note="",
            is_announced=1,
            changed_at=time_to_text(time_of(name)),
        )
        if command == ACCEPT and guard.status != "active":
            changed = replace(changed, accepted_at=time_to_text(time_of(name)))
            guards.drop_replay(db, guard.id)  # the sessions up to now are the ones before it
        guards.put(db, changed)
        return guard.id


def checked(proposal: Proposal) -> Proposal:
    """Return a proposal whose example fires; MemoryLiteError for a rule that can match nothing."""
    if not matched(proposal.rule, example_call(proposal.fires_on, _EXAMPLE_ROOT)):
        raise MemoryLiteError(
            f"the rule would not fire on its own example {proposal.fires_on.text!r}", "check its words"
        )
    return proposal


def by_hand(rule: Rule, reason: str, instead: str) -> Proposal:
    """Return the proposal of a rule that the user gives in parts, with examples made from the rule."""
    if not (rule.commands or rule.paths or rule.imports):
        raise MemoryLiteError(
            "the rule names no command, path or import", "give --command, --path or --import, or a sentence"
        )
    return checked(Proposal(rule, reason, instead, *_examples(rule)))


def _examples(rule: Rule) -> tuple[Example, Example]:
    if rule.commands:
        words = [rule.commands[0], *rule.flags[:1], *(one.replace("*", "x") for one in rule.arguments[:1])]
        if rule.branches and rule.commands[0].startswith("git push"):
            words += ["origin", rule.branches[0]]
        elif rule.branches:
            words = ["git", "switch", rule.branches[0], "&&", *words]
        return Example("Bash", " ".join(words)), Example("Bash", f"echo {rule.commands[0]}")
    tool = EDIT_TOOLS[1]
    if rule.paths:
        path = "/".join(part.replace("*", "x") for part in rule.paths[0].strip("/").split("/") if part != "**")
        inside = path if "." in path.rpartition("/")[2] else f"{path}/file.txt"
        return Example(tool, inside), Example(tool, "other-folder/other-file")
    return Example(tool, f"import {rule.imports[0]}"), Example(tool, f"# {rule.imports[0]}")


def _add(name: str, payload: JsonObject, db: sqlite3.Connection) -> str:
    given = payload.get("proposal")
    proposal = proposal_from_json(given if isinstance(given, dict) else {})
    project = marks.current_id(db, text(payload.get("project")))
    at = time_to_text(time_of(name))
    _note_folder(name, project, text(payload.get("folder")), db)
    known = guards.with_rule(db, project, rule_to_text(proposal.rule))
    if known is not None:  # the user's word about a rule that was proposed, or dismissed
        mode = _mode(payload) or known.mode
        accepted = known.accepted_at if known.status == "active" else at
        words = replace(known, reason=proposal.reason, instead=proposal.instead or known.instead)
        guards.put(
            db, replace(words, status="active", mode=mode, note="", is_announced=1, accepted_at=accepted, changed_at=at)
        )
        return known.id
    row = row_of_proposal(proposal, short_id(name), project, "", at, "active", _mode(payload) or "auto")
    guards.put(db, row)
    return row.id


def _note_folder(name: str, project: str, folder: str, db: sqlite3.Connection) -> None:
    """Record the folder of a new guard as one of its project: the hook goes there again when the guard is resumed."""
    location = lookup.locate(db, folder) if folder and os.path.isdir(folder) else None
    if location is not None and location.project == project:
        marks.note(db, location, time_of(name))


def _guard(payload: JsonObject, db: sqlite3.Connection) -> StoredGuard:
    """Return the guard of a command; a replay may come before the guard is proposed again."""
    id_, memory = text(payload.get("id")), text(payload.get("memory"))
    known = guards.find(db, id_)
    if known is not None:
        return known
    given = payload.get("proposal")
    if not isinstance(given, dict) or (memory and tombstones.is_buried(db, memory)):
        raise NotFound(f"there is no guard {id_}", "`claude-mem-lite guards` shows the ids")
    project = marks.current_id(db, text(payload.get("project")))
    return row_of_proposal(proposal_from_json(given), id_, project, memory, text(payload.get("stated_at")))


def _take_back(guard: StoredGuard, firing: str, db: sqlite3.Connection) -> str:
    fired = next((one for one in guard_ledger.of_guard(db, guard.id, 1_000) if one.name == firing), None)
    if fired is None:
        raise NotFound(f"{guard.id} has not fired", f"`claude-mem-lite guards show {guard.id}` shows its ledger")
    if fired.outcome != "false":
        guard_ledger.decide(db, fired.name, "false")
        guard_ledger.take_back(db, guard.id, fired.session)
    return guard.id


def _mode(payload: JsonObject) -> Mode | None:
    given = text(payload.get("mode"))
    return next((mode for mode in MODES if mode == given), None)
