"""Result of the rules for one turn: drafts, files, tasks, and the judged closing message."""

from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.models import Draft
from claude_mem_lite.values import frozen


@frozen
class ClosingMessage:
    """Judged closing message of a turn. The session summary is made from it, beside the turn's memories."""

    worth: float = 0.0
    """Probability that an agent would be glad to have a memory of the turn."""
    headline: str = ""
    """Best headline of the turn that tells an outcome, with or without a memory."""
    commits: tuple[tuple[str, float], ...] = ()
    """Headlines of the turn's commits, each with the weight of the commit, from 0 to 1."""
    results: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    """Steps that the agent named as left."""
    sentences: tuple[str, ...] = ()
    """Sentences of the closing message that are the agent's own and name no remaining step."""
    reports: tuple[str, ...] = ()
    """Sentences that report finished work: no question, no offer and no proposal."""


@frozen
class TurnDigest:
    """Result of the rules for one turn: memories, and input of the session summary."""

    drafts: tuple[Draft, ...]
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    open_tasks: tuple[str, ...] | None = None
    """Open items of the to-do list at the end; None if the turn has no to-do list."""
    tasks: tuple[str, ...] = ()
    """All items of the to-do list, open or not."""
    skipped: tuple[str, ...] = ()
    """Names of events without anything worth keeping."""
    code: tuple[CodeChange, ...] = ()
    """Changes of functions, classes and files, relative to the root of the checkout."""
    passed: tuple[str, ...] = ()
    """Commands whose last run passed."""
    has_failure: bool = False
    """True if a command failed, whatever became of it."""
    log: str = ""
    """Edits and commands with their results; search finds this text with the raw text of the turn."""
    said: ClosingMessage = ClosingMessage()
