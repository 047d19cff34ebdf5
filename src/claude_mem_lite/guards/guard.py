"""A guard: a rule that the user accepted, or is asked to accept, with what to say when it fires."""

from dataclasses import dataclass
from typing import Literal, get_args

from claude_mem_lite.guards.rule import Rule

Mode = Literal["auto", "remind", "ask", "deny"]
"""`auto` asks in interactive sessions and reminds in others."""
Status = Literal["proposed", "doubtful", "active", "paused", "dismissed", "removed"]
MODES: tuple[Mode, ...] = get_args(Mode)
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Example:
    """Call that a guard keeps to test itself: a command line for `Bash`, a path or a written line for edits."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """Rule read from a sentence of the user, with the sentence as its reason."""

    rule: Rule
    reason: str
    instead: str
    """What to do instead, '' if the sentence does not say."""
    fires_on: Example
    passes_on: Example


@dataclass(frozen=True, slots=True)
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
    accepted_at: str = ""
    note: str = ""
    """Why it is doubtful or paused."""
