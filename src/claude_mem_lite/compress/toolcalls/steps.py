"""The steps a turn is folded from: what its tool calls amount to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.edits import FileChange
from claude_mem_lite.compress.toolcalls.test_runners.test_run import TestRun
from claude_mem_lite.compress.toolcalls.test_selection import Selection


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that was run."""

    command: str
    role: shell.Role
    goal: str
    """Equal for runs that try the same thing."""
    output: str
    code: int | None = None
    failed: bool = False
    run: TestRun | None = None
    errors: tuple[str, ...] = ()
    """As they may be told: without words for their reader."""
    commits: tuple[shell.Commit, ...] = ()
    typed: str = ""
    """The command with all its flags, without what only leads to it or cuts its output."""
    results: tuple[str, ...] = ()
    """What it did, when it went well and said so."""
    printed_errors: tuple[str, ...] = ()
    """The errors word for word: what the failure is known by, and told to nobody."""
    fetched: bool = False
    """What it printed is what others have put on the network."""
    selection: Selection = field(default_factory=Selection)
    """What it checks, and where."""
    is_sure: bool = True
    """Nothing hides how it ended: its tests are counted, or its exit code is its own."""
    set_back: tuple[str, ...] = ()
    """The commands of its line that set files back: `git stash`, `git checkout`."""


@dataclass(frozen=True, slots=True)
class Edited:
    change: FileChange


@dataclass(frozen=True, slots=True)
class Opened:
    path: str


@dataclass(frozen=True, slots=True)
class Called:
    """A tool of someone else: an MCP server's or one this product does not know."""

    tool: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the user chose when asked."""

    question: str
    answer: str
    in_own_words: bool = False
    """The user wrote an answer of their own instead of choosing from what was offered."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The to-do list as it stands."""

    still_open: tuple[str, ...]
    done: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tracked:
    """One entry of a task list that is kept entry by entry; an update names only the id."""

    id: str
    subject: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class Agreed:
    """A plan that the user agreed to."""

    plan: str


@dataclass(frozen=True, slots=True)
class Delegated:
    """What a sub-agent was sent for and what it came back with."""

    task: str
    answer: str


Step = Ran | Edited | Opened | Called | Answered | Planned | Tracked | Agreed | Delegated


def all_tasks(steps: Sequence[Step]) -> tuple[str, ...]:
    """What was set out to be done in these steps, open or not: entries of to-do lists, what agents were sent for."""
    found: dict[str, None] = {}
    for step in steps:
        if isinstance(step, Planned):
            found |= dict.fromkeys((*step.done, *step.still_open))
        elif isinstance(step, Tracked):
            found[step.subject] = None
        elif isinstance(step, Delegated):
            found[step.task] = None
    return tuple(task for task in found if task)


def open_tasks(steps: Sequence[Step]) -> tuple[str, ...] | None:
    """What the to-do list holds open at the end of these steps; None when they do not speak of one."""
    listed: tuple[str, ...] | None = None
    tasks: dict[str, Tracked] = {}
    for step in steps:
        if isinstance(step, Planned):
            # A whole list says all there is; entries told before it are in it.
            listed, tasks = step.still_open, {}
        elif isinstance(step, Tracked):
            before = tasks.get(step.id)
            if before or step.subject:
                tasks[step.id or step.subject] = Tracked(
                    step.id, step.subject or (before.subject if before else ""), step.is_open
                )
    if listed is None and not tasks:
        return None
    still = [subject for subject in listed or () if subject not in {task.subject for task in tasks.values()}]
    return (*still, *(task.subject for task in tasks.values() if task.is_open))
