"""Steps of a turn, made from its tool calls."""

from collections.abc import Sequence
from dataclasses import field

from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.compress.toolcalls.edits import FileChange
from claude_mem_lite.compress.toolcalls.test_runners.test_run import TestRun
from claude_mem_lite.compress.toolcalls.test_selection import Selection
from claude_mem_lite.values import frozen


@frozen
class Ran:
    """A command that was run."""

    command: str
    role: shell.Role
    goal: str
    """Equal for runs with the same goal."""
    output: str
    code: int | None = None
    failed: bool = False
    run: TestRun | None = None
    errors: tuple[str, ...] = ()
    """Errors that are safe to repeat, without advice to the reader."""
    commits: tuple[Commit, ...] = ()
    typed: str = ""
    """The command with all flags, without prefixes and pipes."""
    results: tuple[str, ...] = ()
    """Lines of the output with results of a successful command."""
    printed_errors: tuple[str, ...] = ()
    """Errors word for word, for fingerprints only: never repeated."""
    fetched: bool = False
    """The output comes from the network."""
    selection: Selection = field(default_factory=Selection)
    is_sure: bool = True
    """Nothing hides the result: tests are counted, or the exit code is that of the command."""
    set_back: tuple[str, ...] = ()
    """Commands of the line that reset files: `git stash`, `git checkout`."""


@frozen
class FileEdited:
    change: FileChange


@frozen
class Opened:
    path: str


@frozen
class Called:
    """A call of a foreign tool: of an MCP server, or unknown."""

    tool: str
    error: str = ""


@frozen
class Answered:
    """An answer of the user to a question of the agent."""

    question: str
    answer: str
    in_own_words: bool = False
    """The user wrote the answer instead of choosing an option."""


@frozen
class Planned:
    """The whole to-do list."""

    still_open: tuple[str, ...]
    done: tuple[str, ...] = ()


@frozen
class Tracked:
    """One entry of a task list that is updated entry by entry; an update names only the id."""

    id: str
    subject: str
    is_open: bool


@frozen
class Agreed:
    """A plan that the user agreed to."""

    plan: str


@frozen
class Delegated:
    """Task and answer of a sub-agent."""

    task: str
    answer: str


Step = Ran | FileEdited | Opened | Called | Answered | Planned | Tracked | Agreed | Delegated


def all_tasks(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return all tasks of the steps, open or not: entries of to-do lists, and tasks of sub-agents."""
    tasks: dict[str, None] = {}
    for step in steps:
        if isinstance(step, Planned):
            tasks |= dict.fromkeys((*step.done, *step.still_open))
        elif isinstance(step, Tracked):
            tasks[step.subject] = None
        elif isinstance(step, Delegated):
            tasks[step.task] = None
    return tuple(task for task in tasks if task)


def open_tasks(steps: Sequence[Step]) -> tuple[str, ...] | None:
    """Return the open entries of the to-do list at the end of the steps; None for steps without a list."""
    listed: tuple[str, ...] | None = None
    tasks: dict[str, Tracked] = {}
    for step in steps:
        if isinstance(step, Planned):
            # A whole list replaces all earlier entries.
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
