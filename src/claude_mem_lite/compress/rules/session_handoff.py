"""Handoff of a session: one memory with all open steps, rewritten after each turn while a step is open.

A step is open by a statement of the agent, by an open entry of a task list, or by a reported command that still fails.
The module also reads a handoff step by step, and reduces a handoff to the remaining steps."""

import re
from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.compress.prose.drafts import MAX_SUMMARY_LENGTH, make_draft, whole_sentences
from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.models import FOREIGN_ORIGINS, Draft, Memory, SessionSummary
from claude_mem_lite.text import within
from claude_mem_lite.turn_digest import TurnDigest

FAILING = "Still failing: "
"""Prefix of the title of a failure, in the notes of a summary and in a handoff."""
_TITLE = "Left open: "
OPEN = "Open when it stopped: "
_MAX_ITEM = 140
_MAX_FILES = 5


def handoff(summary: SessionSummary, digest: TurnDigest, branch: str = "") -> Draft | None:
    """Return the open steps after a turn, in the past tense; None for no open steps."""
    failing = [text.rstrip(".") for text in sentences(summary.notes) if text.startswith(FAILING)]
    open_items = [*summary.next_steps, *failing]
    if not open_items:
        return None
    steps = _fitting(summary.next_steps, MAX_SUMMARY_LENGTH - len(" ".join((OPEN, *failing))) - len(failing) - 1)
    return make_draft(
        "handoff",
        _title(open_items),
        whole_sentences((f"{OPEN}{steps}" if steps else "", *failing), MAX_SUMMARY_LENGTH),
        facts=_state(digest, branch),
        files=summary.files_edited[-_MAX_FILES:],
        confidence=0.8,
    )


def _fitting(steps: Sequence[str], room: int) -> str:
    """Return as many whole steps as fit, and always the first."""
    text = ""
    for step in steps:
        longer = f"{text}; {step.rstrip('.')}" if text else step.rstrip(".")
        if text and len(longer) > room:
            break
        text = longer
    return text


def steps_of(left: Memory) -> list[str]:
    """Return the open steps of a handoff."""
    text, failing, failure = " ".join(left.summary.split()).partition(FAILING)
    # A failure is one step, with all marks of the error; text about a blocker comes behind.
    failure, _, blocked = failure.partition(". ")
    rest = [f"{FAILING}{failure.rstrip('.')}", *re.split(r"(?<=[.;])\s+", blocked)] if failing else []
    return [*_steps_in(text), *(step for step in rest if step)]


def _steps_in(text: str) -> list[str]:
    if OPEN not in text:
        return [part for part in re.split(r"(?<=[.;])\s+", text) if part]
    parts = [part for step in text.partition(OPEN)[2].split("; ") for part in step.split(". ")]
    return [bare for part in parts if (bare := part.strip().rstrip(".…"))]


def cut_down(left: Memory, remaining: Sequence[str]) -> Memory:
    """Return a handoff reduced to the remaining steps."""
    # Failures come last: the end of the text ends the error.
    steps = sorted(remaining, key=lambda step: step.startswith(FAILING))
    return replace(left, title=_title(steps), summary=f"{OPEN}{'; '.join(steps)}.")


def _title(items: Sequence[str]) -> str:
    more = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
    return f"{_TITLE}{within(items[0].rstrip('.'), _MAX_ITEM)}{more}"


def _state(digest: TurnDigest, branch: str) -> list[str]:
    """Return facts: branch, last failure, last edited files."""
    failures = [draft for draft in digest.drafts if draft.kind == "failure" and draft.origin not in FOREIGN_ORIGINS]
    return [
        *([f"Branch: {branch}"] if branch else ()),
        *(f"Failed last: {fact}" for draft in failures[-1:] for fact in draft.facts[:2]),
        *([f"Edited last: {', '.join(digest.files_edited[-_MAX_FILES:])}"] if digest.files_edited else ()),
    ]
