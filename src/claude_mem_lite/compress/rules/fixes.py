"""Failed commands of a turn: which were put right by what, which still fail at its end, and what to call them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.rules.repairs import AD_HOC, Repair, find_repair
from claude_mem_lite.compress.tools import shell
from claude_mem_lite.compress.tools.edits import FileChange
from claude_mem_lite.compress.tools.selections import read_selection
from claude_mem_lite.compress.tools.steps import Edited, Ran, Step
from claude_mem_lite.compress.tools.verification import verifies
from claude_mem_lite.patterns import lazy

FAILS = " fails: "
_ROLES = ("test", "build", "lint", "install", "run", "git")
_USAGE_ERROR = lazy(
    r"(?i)parse error|syntax error|unrecognized (?:argument|option)|unknown (?:option|flag|argument|command)|usage:"
    r"|invalid option|no such option"
    r"|unexpected EOF|unmatched|SyntaxError: invalid|bad substitution|no tests? (?:ran|found|files)"
)
# What stops at a conflict, and what ends that.
_JOINS = lazy(r"git (?:-\S+ \S+ )*(?:merge|pull|rebase|cherry-pick|revert|am|stash (?:pop|apply))\b")
_SETTLES = lazy(
    r"git (?:-\S+ \S+ )*(?:commit|push|(?:merge|rebase|cherry-pick|revert|am) --(?:continue|abort|skip|quit))\b"
)
_NO_FILE = lazy(r"(?i)no such file or directory")
_SAYS_NOTHING = lazy(r"(?:AssertionError(?:: )?)?(?:assert(?: \S+){0,6})?$")
_ASSERTION = lazy(r"(?:AssertionError|assert)\b|.*\s(?:==|!=)\s")
_GOT = lazy(r",? (?:but )?got\b")
_SIGNS = lazy(r"^[^\w\s\"'`(\[<./~$-]+\s+")
_MAX_NAME_WORDS = 6
_MAX_OPEN = 30
# Work of several turns that touched more tells nobody which part of it helped.
_MOST_CARRIED_FILES = 5


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


def pair(steps: Sequence[Step], earlier: Sequence[Step] = ()) -> tuple[list[Fix], list[Ran]]:
    """Return the failures of a turn that were fixed, and the last run of those that were not; `earlier` are the steps
    of the turns before it, whose failures may be fixed in this one."""
    fixes, still_open = _pair(steps)
    goal_of = _goals(steps)
    last = {goal_of(ran): at for at, ran in _runs(steps)}
    unfixed = [ran for at, ran in still_open if last[goal_of(ran)] == at and not _another_way_worked(steps, at, ran)]
    return [*_carried(steps, earlier), *fixes], unfixed


def leaves_open(steps: Sequence[Step]) -> bool:
    """Return whether something fails at the end of these steps that a later turn may put right."""
    return bool(_pair(steps)[1])


def _pair(steps: Sequence[Step]) -> tuple[list[Fix], list[tuple[int, Ran]]]:
    """Return what was fixed, and the failures that no later run proved gone."""
    still_open: list[tuple[int, Ran]] = []
    closed: list[tuple[int, Ran, list[tuple[int, Ran]]]] = []
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
    fixes = [fix for at, ran, gone in closed if _lasts(at, ran, still_open) and (fix := _fix(steps, gone, at, ran))]
    for began, failure in list(still_open):
        if fix := _by_other_flags(steps, began, failure):
            fixes.append(fix)
            still_open.remove((began, failure))
    return fixes, [(at, ran) for at, ran in still_open if _is_worth_keeping(ran)]


def _lasts(at: int, success: Ran, still_open: Sequence[tuple[int, Ran]]) -> bool:
    """Return whether what passed did not fail later, for whatever reason: nobody may be told that it passes then."""
    return not any(later > at and ran.selection.covers(success.selection) for later, ran in still_open)


def _tells(ran: Ran) -> bool:
    """Return whether a failure says what failed."""
    return bool(ran.errors or (ran.run and ran.run.failed))


def _told(ran: Ran) -> str:
    """Return what a failure is told by: its first failing test, whatever values that printed, else its first error."""
    if ran.run and ran.run.failures:
        return ran.run.failures[0].name
    return ran.errors[0] if ran.errors else ""


def _runs(steps: Sequence[Step]) -> Iterator[tuple[int, Ran]]:
    return ((at, step) for at, step in enumerate(steps) if isinstance(step, Ran) and step.role in _ROLES)


def _goals(steps: Sequence[Step]) -> Callable[[Ran], str]:
    """Return what tells the goal of a run, also of a runner that crashed: by the same command."""
    known = {step.command: step.goal for step in steps if isinstance(step, Ran) and step.run}
    return lambda ran: known.get(ran.command, ran.goal)


def _carried(steps: Sequence[Step], earlier: Sequence[Step]) -> Iterator[Fix]:
    """Yield what earlier turns left failing and this one put right, once for each run that shows it."""
    goal_of = _goals((*earlier, *steps))
    closed: dict[int, list[tuple[int, Ran]]] = {}
    for began, failure in _pair(earlier)[1] if earlier else ():
        for at, ran in _runs(steps):
            if ran.failed and goal_of(ran) == goal_of(failure):
                break  # from here on it is a failure of this turn
            if verifies(ran, failure):
                closed.setdefault(at, []).append((began, failure))
                break
    for at, gone in closed.items():
        (first, _), (told, failure) = gone[0], _most_telling(gone)
        success, before = steps[at], steps[:at]
        assert isinstance(success, Ran)
        repair = _repair(failure, success, (*earlier[first + 1 :], *before), (*earlier[told + 1 :], *before))
        if repair and len(repair.changes) <= _MOST_CARRIED_FILES:
            own_work = any(isinstance(step, Edited) for step in earlier[:first])
            yield Fix(failure, success, repair, own_work)


def passed(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the commands whose last run of a turn is known to have gone well, in whatever folder they were run."""
    last = {(ran.command, ran.selection.folder): ran for _, ran in _runs(steps)}
    by_git = [part for step in steps if isinstance(step, Ran) for part in step.git_done]
    failed = {ran.command for ran in last.values() if ran.failed}
    unsure = {ran.command for ran in last.values() if not ran.is_sure}
    others = [ran.command for ran in last.values() if ran.command not in unsure and not ran.command.startswith("git ")]
    return tuple(one for one in dict.fromkeys((*others, *by_git)) if one not in failed)


def named(command: str) -> str:
    """Return a command as the title of its failure names it."""
    return titles.cut(command, _MAX_NAME_WORDS)


def title_of_failure(ran: Ran) -> str:
    """Return what a command that still fails is called."""
    return f"{named(ran.command)}{FAILS}{short_cause(ran, 14)}"


def is_over(title: str, passed: Sequence[str]) -> bool:
    """Return whether a failure, by its title, is gone: its command has passed, or one that surely runs the same."""
    command = title.partition(FAILS)[0]
    if any(named(one) == command for one in passed) or (_JOINS.match(command) and any(map(_SETTLES.match, passed))):
        return True
    # Of a longer command the title has only the beginning.
    is_whole = len(command.split()) < _MAX_NAME_WORDS
    failed, ran = read_selection(command), map(read_selection, passed)
    return is_whole and any(one.covers(failed) and not one.depends_on_settings(failed) for one in ran)


def cause_of(ran: Ran) -> str:
    """What went wrong, in one line: the first failing test with its error, else the first error."""
    if ran.run and ran.run.failures:
        first = ran.run.failures[0]
        return f"{first.name}: {first.error}" if first.error else first.name
    if ran.errors:
        return ran.errors[0]
    return ran.run.totals() if ran.run and ran.run.failed else f"exit code {ran.code}"


def failing_tests(ran: Ran) -> list[str]:
    """A fact for each failing test of a run, the first five."""
    failures = ran.run.failures[:5] if ran.run else ()
    return [f"Failing test: {test.name}{': ' + test.error if test.error else ''}" for test in failures]


def short_cause(ran: Ran, words: int) -> str:
    """What went wrong, for a title: without the place, and no assertion that says nothing or would be cut in half."""
    if not ran.run or not ran.run.failures:
        return titles.cut(_without_place(cause_of(ran)), words)
    test = ran.run.failures[0]
    error = _short_error(test.error, words - 1)
    return titles.cut(f"{test.name}: {error}" if error else test.name, words)


def title_of_fix(fix: Fix) -> str:
    """What was put right, by its failing test or first error: all that is left when nobody said it."""
    run = fix.failure.run
    if not run or not run.failures:
        return f"Fix {fix.failure.role} failure: {short_cause(fix.failure, 12)}"
    test = run.failures[0]
    name = test.name.rsplit("::", 1)[-1].rsplit(" › ", 1)[-1].rsplit(" > ", 1)[-1]
    if error := _short_error(test.error, 12):
        return f"Fix {titles.cut(f'{name}: {error}', 14)}"
    symbol = next((symbol.name for change in fix.changes for symbol in change.symbols), "")
    return f"Fix {symbol} to make {name} pass" if symbol else f"Fix failing {name}"


def _short_error(error: str, words: int) -> str:
    """An error without its place and, when it is long, without the values compared; '' when it says nothing."""
    bare = _without_place(error)
    if _SAYS_NOTHING.match(bare):
        return ""
    if titles.cut(bare, words) == bare:
        return bare
    if _ASSERTION.match(bare):
        return ""
    cut = titles.cut(_GOT.split(bare, maxsplit=1)[0], words)
    # Of "a: b: c" that does not fit, no half of a part is kept.
    whole, _, _ = cut.rpartition(": ")
    return whole if len(whole.split()) > 3 else cut


def _without_place(error: str) -> str:
    return _SIGNS.sub("", re.sub(r"^\S+?:\d+(?::\d+)?:\s*", "", error))


def _fix(steps: Sequence[Step], gone: Sequence[tuple[int, Ran]], last: int, success: Ran) -> Fix | None:
    if not any(_tells(ran) for _, ran in gone):
        return None
    first = gone[0][0]
    told, failure = _most_telling(gone)
    repair = _repair(failure, success, steps[first + 1 : last], steps[told + 1 : last])
    own_work = any(isinstance(step, Edited) for step in steps[:first])
    return Fix(failure, success, repair, own_work) if repair else None


def _repair(failure: Ran, success: Ran, between: Sequence[Step], since: Sequence[Step]) -> Repair | None:
    if _may_have_passed_before_edits(failure, since):
        return None
    repair = find_repair(failure, success, between, since)
    if repair is None or repair.changes or success.role != "run" or _is_worth_keeping(failure):
        return repair
    return repair if all(shell.role(command) == "install" for command in repair.commands) else None


def _may_have_passed_before_edits(failure: Ran, since: Sequence[Step]) -> bool:
    """Return whether a run that proves nothing may have shown the tests as passing before the last edit."""
    last = max((at for at, step in enumerate(since) if isinstance(step, Edited)), default=0)
    return failure.role == "test" and any(isinstance(step, Ran) and _may_pass(step, failure) for step in since[:last])


def _may_pass(ran: Ran, failure: Ran) -> bool:
    is_known = ran.role == "test" and ran.is_sure and not ran.failed and not ran.set_back
    return is_known and ran.selection.covers(failure.selection)


def _by_other_flags(steps: Sequence[Step], first: int, failure: Ran) -> Fix | None:
    """An install that failed and went well at once with other flags: `npm install --legacy-peer-deps`."""
    if failure.role != "install" or is_usage_error(failure):
        return None
    for step in steps[first + 1 :]:
        if isinstance(step, Edited):
            return None
        if isinstance(step, Ran) and step.role in _ROLES and not step.failed:
            is_same = _without_flags(step.command) == _without_flags(failure.command)
            own_work = any(isinstance(before, Edited) for before in steps[:first])
            return Fix(failure, step, Repair((), (step.command,)), own_work) if is_same else None
    return None


def _without_flags(command: str) -> list[str]:
    return [word for word in command.split() if not word.startswith("-")]


def _most_telling(failures: Sequence[tuple[int, Ran]]) -> tuple[int, Ran]:
    """The first failure that names a failing test, else the first that has an error."""
    return next(
        ((at, ran) for at, ran in failures if ran.run and ran.run.failures),
        next(((at, ran) for at, ran in failures if ran.errors), failures[0]),
    )


def _is_worth_keeping(ran: Ran) -> bool:
    if not ran.errors and not (ran.run and ran.run.failures):
        return False
    if ran.role in ("test", "build", "lint", "install"):
        return True
    is_slip = is_usage_error(ran) or any(_NO_FILE.search(error) for error in ran.errors)
    return not is_slip and not AD_HOC.search(ran.command)


def is_usage_error(ran: Ran) -> bool:
    """Whether a command was only typed wrong: that is put right by typing it right."""
    return any(_USAGE_ERROR.search(error) for error in ran.errors)


def _another_way_worked(steps: Sequence[Step], at: int, failed: Ran) -> bool:
    """The same program was run again, differently, and went well; or git went on after its conflict."""
    program = shell.tool(failed.command)
    later = [step for step in steps[at + 1 :] if isinstance(step, Ran) and not step.failed]
    if _JOINS.match(failed.command) and any(_SETTLES.match(part) for step in later for part in step.git_done):
        return True
    return any(shell.tool(step.command) == program for step in later)
