"""Failed commands of a turn: which were put right by what, and which still fail at its end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.compress import shell
from claude_mem_lite.compress.edits import FileChange, merge
from claude_mem_lite.compress.steps import Edited, Ran, Step

_ROLES = ("test", "build", "lint", "install", "run", "git")
_USAGE_ERROR = re.compile(
    r"(?i)parse error|syntax error|unrecognized (?:argument|option)|unknown (?:option|flag|argument|command)|usage:"
    r"|invalid option|no such option"
    r"|unexpected EOF|unmatched|SyntaxError: invalid|bad substitution|no tests? (?:ran|found|files)"
    r"|no such file or directory"
)
_AD_HOC = re.compile(r"\s-[ce]\s|<<|^\S*(?:bash|sh|zsh) -c\b")


@dataclass(frozen=True, slots=True)
class Fix:
    """A command that failed and later passed, with what was done in between."""

    failure: Ran
    success: Ran
    changes: tuple[FileChange, ...]
    repairs: tuple[str, ...]
    """Commands that changed something in between, when no file was edited."""
    first: int
    last: int
    """Where in the turn it began and ended."""
    own_work: bool
    """Files had been edited before it failed: the failure may be of the turn's own making."""


def pair(steps: Sequence[Step]) -> tuple[list[Fix], list[Ran]]:
    """The failures of a turn that were fixed, and the last run of those that were not."""
    goals: dict[str, list[tuple[int, Ran]]] = {}
    # A runner that crashed printed nothing to tell it by; the same command tells.
    known = {step.command: step.goal for step in steps if isinstance(step, Ran) and step.run}
    for at, step in enumerate(steps):
        if isinstance(step, Ran) and step.role in _ROLES:
            goals.setdefault(known.get(step.command, step.goal), []).append((at, step))
    fixes: list[Fix] = []
    unfixed: list[Ran] = []
    for runs in goals.values():
        failures = [at for at, ran in runs if ran.failed]
        if not failures:
            continue
        later = [(at, ran) for at, ran in runs if at > failures[-1]]
        if not any(ran.errors or (ran.run and ran.run.failures) for _, ran in runs if ran.failed):
            continue
        if later:
            fix = _fix(steps, runs, failures[0], *later[0])
            fixes += [fix] if fix else []
        elif _is_worth_keeping(runs[-1][1]) and not _another_way_worked(steps, *runs[-1]):
            unfixed.append(runs[-1][1])
    return fixes, unfixed


def _fix(steps: Sequence[Step], runs: list[tuple[int, Ran]], first: int, last: int, success: Ran) -> Fix | None:
    failure = _most_telling([ran for at, ran in runs if first <= at < last and ran.failed])
    between = steps[first + 1 : last]
    changes = tuple(merge(step.change for step in between if isinstance(step, Edited)))
    repairs = tuple(
        dict.fromkeys(
            step.command
            for step in between
            if isinstance(step, Ran)
            and not step.failed
            and step.role in ("install", "run", "git")
            and step.goal != success.goal
        )
    )
    installs = tuple(command for command in repairs if shell.role(command) == "install")
    if not changes and not (installs or (repairs and success.role in ("test", "build"))):
        return None
    own_work = any(isinstance(step, Edited) for step in steps[:first])
    return Fix(failure, success, changes, (installs or repairs)[:3], first, last, own_work)


def _most_telling(failures: list[Ran]) -> Ran:
    """The first failure that names a failing test, else the first that has an error."""
    return next(
        (ran for ran in failures if ran.run and ran.run.failures),
        next((ran for ran in failures if ran.errors), failures[0]),
    )


def _is_worth_keeping(ran: Ran) -> bool:
    if not ran.errors and not (ran.run and ran.run.failures):
        return False
    if ran.role in ("test", "build", "lint", "install"):
        return True
    return not any(_USAGE_ERROR.search(error) for error in ran.errors) and not _AD_HOC.search(ran.command)


def _another_way_worked(steps: Sequence[Step], at: int, failed: Ran) -> bool:
    """The same program was run again, differently, and went well."""
    program = shell.tool(failed.command)
    return any(
        isinstance(step, Ran) and not step.failed and shell.tool(step.command) == program for step in steps[at + 1 :]
    )
