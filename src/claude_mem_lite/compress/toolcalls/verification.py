"""Verification of a repair: whether a run that passed proves that an earlier failure is gone."""

from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.steps import Ran

_COUNTING = ("pytest", "unittest", "jest", "vitest", "cargo test", "bun test", "rspec", "mocha")


def verifies(success: Ran, failure: Ran) -> bool:
    """Return whether a run proves that what failed in an earlier one passes now: the same command in the same folder,
    or one that runs at least the same tests."""
    if success.failed or not success.is_sure:
        return False
    if success.role != failure.role and success.command != failure.command:
        return False  # a runner that crashed printed nothing to tell it by
    if not all(map(shell.brings_back, success.set_back)):
        return False  # it shows how the checkout was without the work
    ours, theirs = success.selection, failure.selection
    if failure.run and not failure.run.failed and success.typed != failure.typed:
        return False  # its tests passed, and something else failed
    if not failure.run and (_starter(success) != _starter(failure) or not theirs.beside <= ours.beside):
        return False  # another interpreter may have what was missing, and another part of the line may have failed
    is_same = success.command == failure.command and ours.folder == theirs.folder
    is_covered = failure.role == "test" and ours.covers(theirs)
    return (is_same or is_covered) and _runs_as_many(success, failure)


def _starter(ran: Ran) -> str:
    """Return the first word of a command: `uv`, `.venv/bin/python`."""
    return ran.typed.partition(" ")[0]


def _runs_as_many(success: Ran, failure: Ran) -> bool:
    """Return whether no test was skipped, expected to fail or taken out instead of put right, as far as tests are
    counted."""
    before, after = failure.run, success.run
    if before is None or after is None or before.runner != after.runner or before.runner not in _COUNTING:
        return True
    is_less = after.passed < before.passed + before.failed
    return not (is_less or after.skipped > before.skipped or after.xfailed > before.xfailed)
