"""Failed commands of a turn: which were put right by what, which still fail at its end, and what to call them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.rules.repairs import AD_HOC, Repair, find_repair
from claude_mem_lite.compress.tools import shell
from claude_mem_lite.compress.tools.edits import FileChange
from claude_mem_lite.compress.tools.steps import Edited, Ran, Step
from claude_mem_lite.patterns import lazy

FAILS = " fails: "
_ROLES = ("test", "build", "lint", "install", "run", "git")
_USAGE_ERROR = lazy(
    r"(?i)parse error|syntax error|unrecognized (?:argument|option)|unknown (?:option|flag|argument|command)|usage:"
    r"|invalid option|no such option"
    r"|unexpected EOF|unmatched|SyntaxError: invalid|bad substitution|no tests? (?:ran|found|files)"
)
_NO_FILE = lazy(r"(?i)no such file or directory")
_SAYS_NOTHING = lazy(r"(?:AssertionError(?:: )?)?(?:assert(?: \S+){0,6})?$")
_ASSERTION = lazy(r"(?:AssertionError|assert)\b|.*\s(?:==|!=)\s")
_GOT = lazy(r",? (?:but )?got\b")
_SIGNS = lazy(r"^[^\w\s\"'`(\[<./~$-]+\s+")
# Work of several turns that touched more tells nobody which part of it helped.
_MOST_CARRIED_FILES = 5


@dataclass(frozen=True, slots=True)
class Fix:
    """A command that failed and later passed, with what was done in between."""

    failure: Ran
    success: Ran
    repair: Repair
    first: int
    last: int
    """Where in the turn it began and ended."""
    own_work: bool
    """Files had been edited before it failed: the failure may be of the turn's own making."""
    is_carried: bool = False
    """It failed in an earlier turn of the session, and what was edited since is work of its own too."""

    @property
    def changes(self) -> tuple[FileChange, ...]:
        return self.repair.changes


def pair(steps: Sequence[Step], earlier: Sequence[Step] = ()) -> tuple[list[Fix], list[Ran]]:
    """The failures of a turn that were fixed, and the last run of those that were not; `earlier` are the steps of the
    turns before it, whose failures may be fixed in this one."""
    fixes, unfixed = _pair(steps)
    return [*_carried(steps, earlier), *fixes], [ran for _, ran in unfixed]


def leaves_open(steps: Sequence[Step]) -> bool:
    """Whether something fails at the end of these steps that a later turn may put right."""
    return bool(_pair(steps)[1])


def _pair(steps: Sequence[Step]) -> tuple[list[Fix], list[tuple[int, Ran]]]:
    goals: dict[str, list[tuple[int, Ran]]] = {}
    known = _known_goals(steps)
    for at, step in enumerate(steps):
        if isinstance(step, Ran) and step.role in _ROLES:
            goals.setdefault(known.get(step.command, step.goal), []).append((at, step))
    fixes: list[Fix] = []
    unfixed: list[tuple[int, Ran]] = []
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
        elif fix := _by_other_flags(steps, *runs[-1]):
            fixes.append(fix)
        elif _is_worth_keeping(runs[-1][1]) and not _another_way_worked(steps, *runs[-1]):
            unfixed.append(runs[-1])
    return fixes, unfixed


def _known_goals(steps: Sequence[Step]) -> Mapping[str, str]:
    # A runner that crashed printed nothing to tell it by; the same command tells.
    return {step.command: step.goal for step in steps if isinstance(step, Ran) and step.run}


def _carried(steps: Sequence[Step], earlier: Sequence[Step]) -> Iterator[Fix]:
    """What earlier turns left failing and this one put right: the same command, or one that runs more, went well."""
    known = _known_goals((*earlier, *steps))
    for began, failure in _pair(earlier)[1] if earlier else ():
        goal = known.get(failure.command, failure.goal)
        for at, step in enumerate(steps):
            if not isinstance(step, Ran) or step.role not in _ROLES or known.get(step.command, step.goal) != goal:
                continue
            if step.failed:
                break  # from here on it is a failure of this turn
            if not _covers(step.command, failure.command):
                continue
            between = (*earlier[began + 1 :], *steps[:at])
            repair = _repair(failure, step, between, between)
            if repair and len(repair.changes) <= _MOST_CARRIED_FILES:
                own_work = any(isinstance(before, Edited) for before in earlier[:began])
                yield Fix(failure, step, repair, -1, at, own_work, is_carried=True)
            break


def passed(steps: Sequence[Step]) -> tuple[str, ...]:
    """The commands whose last run of a turn went well, each as the title of its failure would name it."""
    last = {step.command: step for step in steps if isinstance(step, Ran) and step.role in _ROLES}
    return tuple(dict.fromkeys(named(ran.command) for ran in last.values() if not ran.failed))


def named(command: str) -> str:
    """A command as the title of its failure names it."""
    return titles.cut(command, 6)


def title_of_failure(ran: Ran) -> str:
    """What a command that still fails is called."""
    return f"{named(ran.command)}{FAILS}{short_cause(ran, 14)}"


def is_over(title: str, passed: Sequence[str]) -> bool:
    """Whether a failure, by its title, is gone: its command has passed, or one that runs the same and more."""
    command = title.partition(FAILS)[0]
    return any(_covers(one, command) for one in passed)


def _covers(one: str, command: str) -> bool:
    """Whether a command is another one, or runs that and more."""
    return command == one or _is_part(command.removeprefix(f"{one} "), command)


def _is_part(rest: str, command: str) -> bool:
    """Whether what a command has beyond another only narrows it: a path or a flag, and not another task."""
    return rest != command and (rest.startswith("-") or re.match(r"\S*[/.:]", rest) is not None)


def cause_of(ran: Ran) -> str:
    """What went wrong, in one line: the first failing test with its error, else the first error."""
    if ran.run and ran.run.failures:
        first = ran.run.failures[0]
        return f"{first.name}: {first.error}" if first.error else first.name
    return ran.errors[0] if ran.errors else f"exit code {ran.code}"


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


def _fix(steps: Sequence[Step], runs: list[tuple[int, Ran]], first: int, last: int, success: Ran) -> Fix | None:
    told, failure = _most_telling([(at, ran) for at, ran in runs if first <= at < last and ran.failed])
    repair = _repair(failure, success, steps[first + 1 : last], steps[told + 1 : last])
    own_work = any(isinstance(step, Edited) for step in steps[:first])
    return Fix(failure, success, repair, first, last, own_work) if repair else None


def _repair(failure: Ran, success: Ran, between: Sequence[Step], since: Sequence[Step]) -> Repair | None:
    repair = find_repair(failure, success, between, since)
    if repair is None or repair.changes or success.role != "run" or _is_worth_keeping(failure):
        return repair
    return repair if all(shell.role(command) == "install" for command in repair.commands) else None


def _by_other_flags(steps: Sequence[Step], first: int, failure: Ran) -> Fix | None:
    """An install that failed and went well at once with other flags: `npm install --legacy-peer-deps`."""
    if failure.role != "install" or is_usage_error(failure):
        return None
    for at, step in enumerate(steps[first + 1 :], first + 1):
        if isinstance(step, Edited):
            return None
        if isinstance(step, Ran) and step.role in _ROLES and not step.failed:
            is_same = _without_flags(step.command) == _without_flags(failure.command)
            own_work = any(isinstance(before, Edited) for before in steps[:first])
            return Fix(failure, step, Repair((), (step.command,)), first, at, own_work) if is_same else None
    return None


def _without_flags(command: str) -> list[str]:
    return [word for word in command.split() if not word.startswith("-")]


def _most_telling(failures: list[tuple[int, Ran]]) -> tuple[int, Ran]:
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
    """The same program was run again, differently, and went well."""
    program = shell.tool(failed.command)
    return any(
        isinstance(step, Ran) and not step.failed and shell.tool(step.command) == program for step in steps[at + 1 :]
    )
