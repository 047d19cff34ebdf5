"""Exact facts that belong under a memory: commit, failing tests and errors, what proved a fix, files, answers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.compress.prose.markdown import plain
from claude_mem_lite.compress.rules import fix_pairing
from claude_mem_lite.compress.rules.fix_pairing import Fix
from claude_mem_lite.compress.toolcalls.edits import FileChange, describe
from claude_mem_lite.compress.toolcalls.shell import Commit
from claude_mem_lite.compress.toolcalls.steps import Answered, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import within

_MAX_FILES = 4
_MAX_ANSWERS = 3
_MAX_ANSWER = 80
_SIZE_ALONE = lazy(r": changed(?: \([^)]*\))?$")
_RECOMMENDED = lazy(r"\s*\((?:Recommended|recommended)\)")


def failed(fix: Fix) -> str:
    """Return what failed, with its first error."""
    count = len(fix.failure.run.failures) if fix.failure.run else 0
    more = f" (and {count - 1} more)" if count > 1 else ""
    return f"{fix.failure.command} failed: {within(fix_pairing.cause_of(fix.failure), 300).rstrip('.')}{more}."


def helped(fix: Fix) -> str:
    """Return what put a failure right."""
    return f"Fixed by {fix.repair.told()}."


def passes(fix: Fix) -> str:
    """Return the command that proves a failure gone."""
    return f"{fix.success.command} passes now" + (f" ({fix.success.run.totals()})." if fix.success.run else ".")


def of_fix(fix: Fix, told: str) -> list[str]:
    """Return the commands of a fix, from which `describe_fix` reads them, and the errors that are not told."""
    errors = fix.failure.errors
    causes = fix_pairing.failing_tests(fix.failure) or [
        f"Error: {fix_pairing.cause_of(fix.failure)}",
        *(f"Error: {error}" for error in errors[1:3]),
    ]
    ran = [helped(fix)] if fix.repair.commands else []
    return [*ran, *(fact for fact in causes if fact.partition(": ")[2].rstrip(".") not in told)]


def of_commit(commit: Commit) -> list[str]:
    """Return the commit with its branch and size."""
    if not commit.hash:
        return []
    place = f" on {commit.branch}" if commit.branch else ""
    notes = [commit.size, f"picked from {commit.source}" if commit.source else ""]
    more = "; ".join(note for note in notes if note)
    return [f"Commit {commit.hash}{place}: {commit.subject}{f' ({more})' if more else ''}"]


def of_files(changes: Sequence[FileChange]) -> list[str]:
    """Return a line for each of the first files of which there is more to say than the names of their functions."""
    lines = [line for change in changes if (line := beyond_symbols(change))]
    return lines[:_MAX_FILES]


def of_tests(steps: Sequence[Step]) -> list[str]:
    """Return the last result of each test command."""
    last = {step.command: step for step in steps if isinstance(step, Ran) and step.run}
    return [f"{within(name, 120)}: {ran.run.totals()}" for name, ran in last.items() if ran.run][-2:]


def of_answers(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what the user chose last when asked, in short: the log has all of it."""
    answers = [step for step in steps if isinstance(step, Answered)]
    yield from (answer_line(step, _MAX_ANSWER) for step in answers[-_MAX_ANSWERS:])


def answer_line(step: Answered, max_answer: int) -> str:
    """Return a question with what the user chose, up to some length."""
    answer = plain(_RECOMMENDED.sub("", step.answer)).rstrip(".")
    return f"Asked “{within(plain(step.question), 140)}”, the user chose: {within(answer, max_answer)}."


def beyond_symbols(change: FileChange) -> str:
    """Return what is to be said of a changed file besides the names of its functions; '' when that is all."""
    told = describe(replace(change, symbols=()))
    return "" if change.symbols and _SIZE_ALONE.search(told) else told
