"""Failed commands of a turn: fixes with proof by a passing run, commands that still fail at the end, and titles for
both."""

import re
from collections.abc import Iterator, Sequence

from claude_mem_lite.compress.prose import titles
from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.edits import FileChange
from claude_mem_lite.compress.toolcalls.repairs import AD_HOC, Repair, find_repair
from claude_mem_lite.compress.toolcalls.steps import FileEdited, Ran, Step
from claude_mem_lite.compress.toolcalls.test_selection import read_selection
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import within
from claude_mem_lite.values import frozen

_COUNTING = ("pytest", "unittest", "jest", "vitest", "cargo test", "bun test", "rspec", "mocha")
_FAILS = " fails: "
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
"""In the work of several turns with more files, nobody knows the file that helped."""


def verifies(success: Ran, failure: Ran) -> bool:
    """Return whether a run proves that an earlier failure is gone: the same command in the same folder, or a command
    that runs at least the same tests."""
    if success.failed or not success.is_sure:
        return False
    if success.role != failure.role and success.command != failure.command:
        return False  # a crashed test runner prints no totals
    if not all(map(shell.restores_stash, success.set_back)):
        return False  # the run was on a checkout without the work
    ours, theirs = success.selection, failure.selection
    if failure.run and not failure.run.failed and success.typed != failure.typed:
        return False  # the tests passed, and another part failed
    if not failure.run and (_starter(success) != _starter(failure) or not theirs.beside <= ours.beside):
        return False  # another interpreter may have the missing module, and another part of the line may have failed
    is_same = success.command == failure.command and ours.folder == theirs.folder
    is_covered = failure.role == "test" and ours.covers(theirs)
    return (is_same or is_covered) and _runs_as_many(success, failure)


def _starter(ran: Ran) -> str:
    """Return the first word of a command: `uv`, `.venv/bin/python`."""
    return ran.typed.partition(" ")[0]


def _runs_as_many(success: Ran, failure: Ran) -> bool:
    """Return whether no test was skipped, marked as expected failure or removed, as far as tests are counted."""
    before, after = failure.run, success.run
    if before is None or after is None or before.runner != after.runner or before.runner not in _COUNTING:
        return True
    is_less = after.passed < before.passed + before.failed
    return not (is_less or after.skipped > before.skipped or after.xfailed > before.xfailed)


@frozen
class VerifiedFix:
    """A command that failed and later passed, with the repair in between."""

    failure: Ran
    success: Ran
    repair: Repair
    own_work: bool
    """Files were edited before the failure: the turn itself may have caused the failure."""

    @property
    def changes(self) -> tuple[FileChange, ...]:
        return self.repair.changes


Open = list[tuple[int, Ran]]
"""Failures without a later proof of success, each with the position among the steps."""


def pair(steps: Sequence[Step], earlier: Sequence[Step] = ()) -> tuple[list[VerifiedFix], list[Ran]]:
    """Return the fixes of a turn, and the last runs of other failures; `earlier` are the steps of previous turns, with
    failures that this turn may fix."""
    fixes, still_open = _pair(steps)
    last = {ran.goal: at for at, ran in _runs(steps)}
    unfixed = [ran for at, ran in still_open if last[ran.goal] == at and not _has_other_success(steps, at, ran)]
    return [*_carried(steps, earlier), *fixes], unfixed


def leaves_open(steps: Sequence[Step]) -> bool:
    """Return whether a failure is open at the end of the steps, for a later turn to fix."""
    return bool(_pair(steps)[1])


def _pair(steps: Sequence[Step]) -> tuple[list[VerifiedFix], Open]:
    still_open: Open = []
    closed: list[tuple[int, Ran, Open]] = []
    for at, ran in _runs(steps):
        if ran.failed:
            # A failure that returns was not fixed the first time.
            identity = _identity(ran)
            again = [entry for entry in closed if identity and identity in {_identity(was) for _, was in entry[2]}]
            closed = [entry for entry in closed if entry not in again]
            still_open += [*(failure for *_, gone in again for failure in gone), (at, ran)]
            del still_open[:-_MAX_OPEN]
        elif gone := [failure for failure in still_open if verifies(ran, failure[1])]:
            identities = {_identity(failure) for _, failure in gone} - {""}
            still_open = [entry for entry in still_open if entry not in gone and _identity(entry[1]) not in identities]
            closed.append((at, ran, gone))
    # A command that passed and fails at the end must not be reported as passing.
    failing = {ran.command for _, ran in still_open}
    lasting = [entry for entry in closed if entry[1].command not in failing]
    fixes = (_fix(gone, ran, steps[:at]) for at, ran, gone in lasting)
    return [fix for fix in fixes if fix], [(at, ran) for at, ran in still_open if _is_worth_keeping(ran)]


def _carried(steps: Sequence[Step], earlier: Sequence[Step]) -> Iterator[VerifiedFix]:
    """Yield the fixes of failures of earlier turns, one for each run that proves a fix."""
    closed: dict[int, Open] = {}
    for began, failure in _pair(earlier)[1]:
        for at, ran in _runs(steps):
            if ran.failed and ran.goal == failure.goal:
                break  # a failure of this turn from now on
            if verifies(ran, failure):
                closed.setdefault(at, []).append((began, failure))
                break
    for at, gone in closed.items():
        success = steps[at]
        assert isinstance(success, Ran)
        fix = _fix(gone, success, (*earlier, *steps[:at]))
        if fix and len(fix.changes) <= _MAX_CARRIED_FILES:
            yield fix


def _fix(gone: Open, success: Ran, before: Sequence[Step]) -> VerifiedFix | None:
    """Return the fix of failures that a run proved gone, with the first failure that names a test, else the first with
    an error; `before` are all steps before the run."""
    by_test = [(at, ran) for at, ran in gone if ran.run and ran.run.failed]
    at, failure = next(iter(by_test or [entry for entry in gone if entry[1].errors]), (0, None))
    repair = find_repair(failure, before[at + 1 :]) if failure else None
    if failure is None or repair is None:
        return None
    return VerifiedFix(failure, success, repair, any(isinstance(step, FileEdited) for step in before[: gone[0][0]]))


def _identity(ran: Ran) -> str:
    """Return the identity of a failure: the name of the first failing test, else the first error."""
    if ran.run and ran.run.failures:
        return ran.run.failures[0].name
    return ran.errors[0] if ran.errors else ""


def _runs(steps: Sequence[Step]) -> Iterator[tuple[int, Ran]]:
    return ((at, step) for at, step in enumerate(steps) if isinstance(step, Ran) and step.role in _ROLES)


def passed(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the commands with a proven success in the last run of a turn, in every folder."""
    last = {(ran.command, ran.selection.folder): ran for _, ran in _runs(steps)}
    failed = {ran.command for ran in last.values() if ran.failed}
    unsure = {ran.command for ran in last.values() if not ran.is_sure}
    return tuple(dict.fromkeys(ran.command for ran in last.values() if ran.command not in failed | unsure))


def named(command: str) -> str:
    """Return a command as the title of a failure names it, shortened."""
    name = titles.cut(command, _MAX_NAME_WORDS)
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"


def title_of_failure(ran: Ran) -> str:
    """Return the title of a command that still fails."""
    name = f"{named(ran.command)}{_FAILS}"
    return name + short_cause(ran, 14, titles.MAX_HEADLINE - len(name))


def failed_command(title: str) -> str:
    """Return the command that the title of a failure names, as `title_of_failure` wrote the command."""
    return title.partition(_FAILS)[0]


def is_over(title: str, passed: Sequence[str]) -> bool:
    """Return whether a failure is gone, by the title: the command has passed, or a command that runs the same tests."""
    failed = failed_command(title)
    # Older titles have more of a long command.
    if any(failed in (named(command), titles.cut(command, _MAX_NAME_WORDS)) for command in passed):
        return True
    # The title has only the beginning of a longer command.
    is_whole = len(failed.split()) < _MAX_NAME_WORDS and shell.role(failed) == "test"
    return is_whole and any(read_selection(command).covers(read_selection(failed)) for command in passed)


def cause_of(ran: Ran) -> str:
    """Return the cause in one line: the first failing test with the error, else the first error."""
    if ran.run and ran.run.failures:
        first = ran.run.failures[0]
        return f"{first.name}: {first.error}" if first.error else first.name
    if ran.errors:
        return ran.errors[0]
    return ran.run.totals() if ran.run and ran.run.failed else f"exit code {ran.code}"


def failing_tests(ran: Ran) -> list[str]:
    """Return a fact for each of the first five failing tests."""
    failures = ran.run.failures[:5] if ran.run else ()
    return [f"Failing test: {test.name}{': ' + test.error if test.error else ''}" for test in failures]


def short_cause(ran: Ran, words: int, limit: int = titles.MAX_HEADLINE) -> str:
    """Return the cause for a title: without the place, and without the values of an assertion."""
    if not ran.run or not ran.run.failures:
        return titles.cut(_without_place(cause_of(ran)), words, limit)
    test = ran.run.failures[0]
    error = _without_place(test.error)
    return titles.cut(test.name if not error or _ASSERTION.match(error) else f"{test.name}: {error}", words, limit)


def title_of_fix(fix: VerifiedFix) -> str:
    """Return the title of a fix that no sentence describes: by the failing test or the first error."""
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
    """Return whether a command was only mistyped."""
    return any(_USAGE_ERROR.search(error) for error in ran.errors)


def _has_other_success(steps: Sequence[Step], at: int, failed: Ran) -> bool:
    """Return whether the same program ran again, differently, with success."""
    program = shell.tool(failed.command)
    later = [step for step in steps[at + 1 :] if isinstance(step, Ran) and not step.failed]
    return any(shell.tool(step.command) == program for step in later)
