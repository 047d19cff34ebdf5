"""A guard: a rule that the user accepted, or is asked to accept, with what to say when it fires."""

import json

from claude_mem_lite.guard_modes import Mode
from claude_mem_lite.guards.rule import Rule, rule_from_json
from claude_mem_lite.models import JsonObject, load_json, text
from claude_mem_lite.store.guards import Status, StoredGuard
from claude_mem_lite.values import frozen


@frozen
class Example:
    """Call that a guard keeps to test itself: a command line for `Bash`, a path or a written line for edits."""

    tool: str
    text: str


@frozen
class Proposal:
    """Rule read from a sentence of the user, with the sentence as its reason."""

    rule: Rule
    reason: str
    instead: str
    """Alternative that the sentence names, '' if it names none."""
    fires_on: Example
    passes_on: Example


@frozen
class Guard:
    """Stored guard of one project."""

    id: str
    project: str
    rule: Rule
    reason: str
    instead: str
    mode: Mode
    status: Status
    fires_on: Example
    passes_on: Example
    memory: str
    """Id of the memory that it was made from; '' if it was added by hand."""
    created_at: str
    """Time when the user stated the rule."""
    accepted_at: str = ""
    note: str = ""
    """Reason why the guard is doubtful or paused."""


def guard_from_row(row: StoredGuard) -> Guard:
    """Return the guard of a stored row."""
    return Guard(
        id=row.id,
        project=row.project,
        rule=rule_from_text(row.rule),
        reason=row.reason,
        instead=row.instead,
        mode=row.mode,
        status=row.status,
        fires_on=Example(row.fires_tool, row.fires_text),
        passes_on=Example(row.passes_tool, row.passes_text),
        memory=row.memory,
        created_at=row.created_at,
        accepted_at=row.accepted_at,
        note=row.note,
    )


def row_of_proposal(
    proposal: Proposal, id_: str, project: str, memory: str, at: str, status: Status = "proposed", mode: Mode = "auto"
) -> StoredGuard:
    """Return the row of a new guard."""
    return StoredGuard(
        id=id_,
        project=project,
        rule=rule_to_text(proposal.rule),
        reason=proposal.reason,
        instead=proposal.instead,
        mode=mode,
        status=status,
        fires_tool=proposal.fires_on.tool,
        fires_text=proposal.fires_on.text,
        passes_tool=proposal.passes_on.tool,
        passes_text=proposal.passes_on.text,
        memory=memory,
        created_at=at,
        accepted_at=at if status == "active" else "",
        changed_at=at,
        note="",
    )


def rule_to_text(rule: Rule) -> str:
    """Return a rule as JSON text; equal rules have equal texts."""
    return json.dumps(rule.to_json(), ensure_ascii=False, sort_keys=True)


def rule_from_text(written: str) -> Rule:
    """Return the rule of a JSON text."""
    value = load_json(written)
    return rule_from_json(value if isinstance(value, dict) else {})


def proposal_to_json(proposal: Proposal) -> JsonObject:
    """Return a proposal as a part of a command."""
    return {
        "rule": proposal.rule.to_json(),
        "reason": proposal.reason,
        "instead": proposal.instead,
        "fires_on": {"tool": proposal.fires_on.tool, "text": proposal.fires_on.text},
        "passes_on": {"tool": proposal.passes_on.tool, "text": proposal.passes_on.text},
    }


def proposal_from_json(value: JsonObject) -> Proposal:
    """Return the proposal of a command."""
    rule = value.get("rule")
    return Proposal(
        rule=rule_from_json(rule if isinstance(rule, dict) else {}),
        reason=text(value.get("reason")),
        instead=text(value.get("instead")),
        fires_on=_example(value, "fires_on"),
        passes_on=_example(value, "passes_on"),
    )


def proposal_of(guard: Guard) -> Proposal:
    """Return what a guard would be proposed by again."""
    return Proposal(guard.rule, guard.reason, guard.instead, guard.fires_on, guard.passes_on)


def _example(value: JsonObject, name: str) -> Example:
    given = value.get(name)
    example = given if isinstance(given, dict) else {}
    return Example(text(example.get("tool")), text(example.get("text")))
