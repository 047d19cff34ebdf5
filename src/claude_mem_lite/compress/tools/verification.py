"""Verification of a repair: whether a run that passed proves that an earlier failure is gone.

The same command proves it, or one that provably runs the tests that failed. In doubt nothing is proved."""

import re

from claude_mem_lite.compress.tools import shell
from claude_mem_lite.compress.tools.selections import file_of, is_source
from claude_mem_lite.compress.tools.steps import Ran
from claude_mem_lite.patterns import lazy

_SHOWN_AS_PASSED = lazy(r"\bPASS(?:ED)?\b|\bok\b|\(pass\)|[✓✔]")
_GO_PACKAGE = lazy(r"(?m)^(ok|FAIL)[ \t]+(\S+)[ \t]")
_DOTS = lazy(r"\s+\.+(?:\s+\[\s*\d+%\])?\s*")
_COUNTING = ("pytest", "unittest", "jest", "vitest", "cargo test", "bun test", "rspec", "mocha")


def verifies(success: Ran, failure: Ran) -> bool:
    """Return whether a run proves that what failed in an earlier one passes now."""
    if success.failed or not success.is_sure:
        return False
    if success.role != failure.role and success.command != failure.command:
        return False  # a runner that crashed printed nothing to tell it by
    if not all(map(shell.brings_back, success.set_back)):
        return False  # it shows how the checkout was without the work
    ours, theirs = success.selection, failure.selection
    has_tests = failure.run is not None and bool(failure.run.failed) and not failure.run.unbuilt
    if not has_tests and (ours.starter != theirs.starter or not theirs.beside <= ours.beside):
        return False  # another interpreter may have what was missing, and another part of the line may have failed
    if failure.role not in ("test", "build", "lint"):
        return ours.is_like(theirs) and success.command == failure.command
    if failure.run and not failure.run.failed:
        return ours == theirs and success.typed == failure.typed  # its tests passed, and something else failed
    tests = _failed_tests(failure)
    if _names_all_as_passed(success, failure, tests):
        return True
    if not ours.covers(theirs, tests) or not _runs_as_many(success, failure):
        return False
    return not ours.depends_on_settings(theirs) or _shows_files_as_passed(success, failure, tests)


def _failed_tests(failure: Ran) -> list[str]:
    """The names of all tests that failed; nothing when some of them are unknown."""
    run = failure.run
    return [test.name for test in run.failures] if run and len(run.failures) == run.failed else []


def _names_all_as_passed(success: Ran, failure: Ran, tests: list[str]) -> bool:
    """Return whether the output of a run by the same runner shows each of the tests as passed."""
    if not tests or not success.run or not failure.run or success.run.runner != failure.run.runner:
        return False
    if success.selection.folder != failure.selection.folder or not all(test in success.output for test in tests):
        return False
    return all(_names_as_passed(success.output, test) for test in tests) and _has_same_packages(success, failure)


def _names_as_passed(output: str, test: str) -> bool:
    lines = re.findall(rf"(?m)^.*(?<![\w:./]){re.escape(test)}(?![\w/\[]).*$", output)
    return any(_SHOWN_AS_PASSED.search(line.replace(test, " ")) for line in lines)


def _shows_files_as_passed(success: Ran, failure: Ran, tests: list[str]) -> bool:
    """Return whether the output of a run shows each file as passed in which a test failed."""
    files = {file_of(test) for test in tests}
    if not files or not all(map(is_source, files)):
        files = {file_of(target) for target in failure.selection.targets}
    return all(_shows_as_passed(success.output, file) for file in files)


def _shows_as_passed(output: str, file: str) -> bool:
    lines = re.findall(rf"(?m)^(.*?)(?<![\w./]){re.escape(file)}(?=[\s(]|$)(.*)$", output)
    return any(_SHOWN_AS_PASSED.search(f"{before} {after}") or _DOTS.fullmatch(after) for before, after in lines)


def _has_same_packages(success: Ran, failure: Ran) -> bool:
    """Return whether all packages of Go that failed are ok now: two of them may have a test of the same name."""
    failed = {package for state, package in _GO_PACKAGE.findall(failure.output) if state == "FAIL"}
    return failed <= {package for state, package in _GO_PACKAGE.findall(success.output) if state == "ok"}


def _runs_as_many(success: Ran, failure: Ran) -> bool:
    """Return whether no test was skipped, expected to fail or taken out instead of put right, as far as tests are
    counted. Of a run of less than what failed only those that failed are wanted, and `-k` deselects by itself."""
    before, after = failure.run, success.run
    if before is None or after is None or before.runner != after.runner or before.runner not in _COUNTING:
        return True
    ours, theirs = success.selection, failure.selection
    wanted = before.failed + (before.passed if ours.covers(theirs) else 0)
    if after.passed < wanted or after.skipped > before.skipped or after.xfailed > before.xfailed:
        return False
    return after.deselected <= before.deselected or bool(ours.narrowing)
