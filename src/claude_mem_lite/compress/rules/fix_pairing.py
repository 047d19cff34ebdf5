"""Failed commands of a turn: which were put right by what, which still fail at its end, and what to call them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.prose import titles
from claude_mem_lite.compress.rules.repairs import AD_HOC, Repair, find_repair
from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.edits import FileChange
from claude_mem_lite.compress.toolcalls.steps import Edited, Ran, Step
from claude_mem_lite.compress.toolcalls.test_selection import read_selection
from claude_mem_lite.compress.toolcalls.verification import verifies
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import within

FAILS = " fails: "
_ROLES = ("test", "build", "lint", "install", "run")
_USAGE_ERROR = lazy(
    r"(?i)parse error|syntax error|unrecognized (?:argument|option)|unknown (?:option|flag|argument|command)|usage:"
    r"|invalid option|no such option"
    r"|unexpected EOF|unmatched|SyntaxError: invalid|bad substitution|no tests? (?:ran|found|files)"
)
_NO_FILE = lazy(r"(?i)no such file or directory")
_ASSERTION = lazy(r"AssertionError|assert\b|.*\s(?:==|!=)\s")
_PLACE = lazy(r"^(?:\S+?:\d+(?::\d+)?:\s*)?(?:[^\w\s\"'`(\[<./~$-]+\s+)?")
_MAX_NAME_WORDS, _MAX_NAME = 6, 60
_MAX_OPEN = 30
_MAX_CARRIED_FILES = 5
"""Work of several turns that touched more files tells nobody which part of it helped."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A command that failed and later passed, with what was done in between."""

    failure: Ran
    success: Ran
    repair: Repair
    own_work: bool
    """Files had been edited before it failed: the failure may be of the turn's own making."""

    @property
    def changes(self) -> tuple[FileChange, ...]:
        return self.repair.changes


Open = list[tuple[int, Ran]]
"""Failures that no later run proved gone, each with its place among the steps."""


def pair(steps: Sequence[Step], earlier: Sequence[Step] = ()) -> tuple[list[Fix], list[Ran]]:
    """Return the failures of a turn that were fixed, and the last run of those that were not; `earlier` are the steps
    of the turns before it, whose failures may be fixed in this one."""
    fixes, still_open = _pair(steps)
    last = {ran.goal: at for at, ran in _runs(steps)}
    unfixed = [ran for at, ran in still_open if last[ran.goal] == at and not _another_way_worked(steps, at, ran)]
    return [*_carried(steps, earlier), *fixes], unfixed


def leaves_open(steps: Sequence[Step]) -> bool:
    """Return whether something fails at the end of these steps that a later turn may put right."""
    return bool(_pair(steps)[1])


def _pair(steps: Sequence[Step]) -> tuple[list[Fix], Open]:
    """Return what was fixed, and what was not."""
    still_open: Open = []
    closed: list[tuple[int, Ran, Open]] = []
    for at, ran in _runs(steps):
        if ran.failed:
            # What fails again was not fixed the first time.
            again = [one for one in closed if _told(ran) and _told(ran) in {_told(was) for _, was in one[2]}]
            closed = [one for one in closed if one not in again]
            still_open += [*(failure for one in again for failure in one[2]), (at, ran)]
            del still_open[:-_MAX_OPEN]
        elif gone := [failure for failure in still_open if verifies(ran, failure[1])]:
            told = {_told(failure) for _, failure in gone} - {""}
            still_open = [one for one in still_open if one not in gone and _told(one[1]) not in told]
            closed.append((at, ran, gone))
    # What passed and fails at the end for whatever reason must not be told as passing.
    failing = {ran.command for _, ran in still_open}
    lasting = [one for one in closed if one[1].command not in failing]
    found = (_fix(gone, ran, steps[:at]) for at, ran, gone in lasting)
    return [fix for fix in found if fix], [(at, ran) for at, ran in still_open if _is_worth_keeping(ran)]


def _carried(steps: Sequence[Step], earlier: Sequence[Step]) -> Iterator[Fix]:
    """Yield what earlier turns left failing and this one put right, once for each run that shows it."""
    closed: dict[int, Open] = {}
    for began, failure in _pair(earlier)[1]:
        for at, ran in _runs(steps):
            if ran.failed and ran.goal == failure.goal:
                break  # from here on it is a failure of this turn
            if verifies(ran, failure):
                closed.setdefault(at, []).append((began, failure))
                break
    for at, gone in closed.items():
        success = steps[at]
        assert isinstance(success, Ran)
        fix = _fix(gone, success, (*earlier, *steps[:at]))
        if fix and len(fix.changes) <= _MAX_CARRIED_FILES:
            yield fix


def _fix(gone: Open, success: Ran, before: Sequence[Step]) -> Fix | None:
    """Return the fix of failures that a run proved gone, told by the first that names a failing test, else by the
    first with an error; `before` are all steps before the run."""
    by_test = [(at, ran) for at, ran in gone if ran.run and ran.run.failed]
    at, failure = next(iter(by_test or [one for one in gone if one[1].errors]), (0, None))
    repair = find_repair(failure, before[at + 1 :]) if failure else None
    if failure is None or repair is None:
        return None
    return Fix(failure, success, repair, any(isinstance(step, Edited) for step in before[: gone[0][0]]))


def _told(ran: Ran) -> str:
    """Return what a failure is told by: its first failing test, whatever values that printed, else its first error."""
    if ran.run and ran.run.failures:
        return ran.run.failures[0].name
    return ran.errors[0] if ran.errors else ""


def _runs(steps: Sequence[Step]) -> Iterator[tuple[int, Ran]]:
    return ((at, step) for at, step in enumerate(steps) if isinstance(step, Ran) and step.role in _ROLES)


def passed(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the commands whose last run of a turn is known to have gone well, in whatever folder they were run."""
    last = {(ran.command, ran.selection.folder): ran for _, ran in _runs(steps)}
    failed = {ran.command for ran in last.values() if ran.failed}
    unsure = {ran.command for ran in last.values() if not ran.is_sure}
    return tuple(dict.fromkeys(ran.command for ran in last.values() if ran.command not in failed | unsure))


def named(command: str) -> str:
    """Return a command as the title of its failure names it; one that is cut still tells what it was run on."""
    name = titles.cut(command, _MAX_NAME_WORDS)
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"


def title_of_failure(ran: Ran) -> str:
    """Return what a command that still fails is called."""
    name = f"{named(ran.command)}{FAILS}"
    return name + short_cause(ran, 14, titles.MAX_HEADLINE - len(name))


def is_over(title: str, passed: Sequence[str]) -> bool:
    """Return whether a failure, by its title, is gone: its command has passed, or one that runs the same tests."""
    command = title.partition(FAILS)[0]
    # Older titles have more of a long command.
    if any(command in (named(one), titles.cut(one, _MAX_NAME_WORDS)) for one in passed):
        return True
    # Of a longer command the title has only the beginning.
    is_whole = len(command.split()) < _MAX_NAME_WORDS and shell.role(command) == "test"
    return is_whole and any(read_selection(one).covers(read_selection(command)) for one in passed)


def cause_of(ran: Ran) -> str:
    """Return what went wrong, in one line: the first failing test with its error, else the first error."""
    if ran.run and ran.run.failures:
        first = ran.run.failures[0]
        return f"{first.name}: {first.error}" if first.error else first.name
    if ran.errors:
        return ran.errors[0]
    return ran.run.totals() if ran.run and ran.run.failed else f"exit code {ran.code}"


def failing_tests(ran: Ran) -> list[str]:
    """Return a fact for each failing test of a run, the first five."""
    failures = ran.run.failures[:5] if ran.run else ()
    return [f"Failing test: {test.name}{': ' + test.error if test.error else ''}" for test in failures]


def short_cause(ran: Ran, words: int, limit: int = titles.MAX_HEADLINE) -> str:
    """Return what went wrong, for a title: without the place, and without the values that an assertion compared."""
    if not ran.run or not ran.run.failures:
        return titles.cut(_without_place(cause_of(ran)), words, limit)
    test = ran.run.failures[0]
    error = _without_place(test.error)
    return titles.cut(test.name if not error or _ASSERTION.match(error) else f"{test.name}: {error}", words, limit)


def title_of_fix(fix: Fix) -> str:
    """Return what was put right, by its failing test or first error: all that is left when nobody said it."""
    run = fix.failure.run
    if not run or not run.failures:
        lead = f"Fix {fix.failure.role} failure: "
        return lead + short_cause(fix.failure, 12, titles.MAX_HEADLINE - len(lead))
    test = run.failures[0]
    name, error = re.split(r"::| › | > ", test.name)[-1], _without_place(test.error)
    if error and not _ASSERTION.match(error):
        return titles.cut(f"Fix {name}: {error}", 15, titles.MAX_HEADLINE)
    symbol = next((symbol.name for change in fix.changes for symbol in change.symbols), "")
    by_symbol = f"Fix {symbol} to make {name} pass"
    return (
        by_symbol
        if symbol and len(by_symbol) <= titles.MAX_HEADLINE
        else within(f"Fix failing {name}", titles.MAX_HEADLINE)
    )


def _without_place(error: str) -> str:
    return _PLACE.sub("", error)


def _is_worth_keeping(ran: Ran) -> bool:
    if not ran.errors and not (ran.run and ran.run.failures):
        return False
    if ran.role in ("test", "build", "lint", "install"):
        return True
    is_slip = is_usage_error(ran) or any(_NO_FILE.search(error) for error in ran.errors)
    return not is_slip and not AD_HOC.search(ran.command)


def is_usage_error(ran: Ran) -> bool:
    """Return whether a command was only typed wrong: that is put right by typing it right."""
    return any(_USAGE_ERROR.search(error) for error in ran.errors)


def _another_way_worked(steps: Sequence[Step], at: int, failed: Ran) -> bool:
    """Return whether the same program was run again, differently, and went well."""
    program = shell.tool(failed.command)
    later = [step for step in steps[at + 1 :] if isinstance(step, Ran) and not step.failed]
    return any(shell.tool(step.command) == program for step in later)
