"""Exact facts of a memory: commit, failing tests and errors, the proof of a fix, files, answers. `TurnFacts` are the
facts of a turn that the judge uses for sentences, worth and kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from claude_mem_lite.compress.prose.markdown import plain
from claude_mem_lite.compress.toolcalls import fix_pairing
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.compress.toolcalls.edits import FileChange, describe, merge
from claude_mem_lite.compress.toolcalls.fix_pairing import VerifiedFix, pair
from claude_mem_lite.compress.toolcalls.repairs import fact_of
from claude_mem_lite.compress.toolcalls.steps import Agreed, Answered, Delegated, FileEdited, Opened, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import tokens_of, within

_MAX_PROMPT = 4_000
_MAX_NAMES = 60
_MAX_FILES = 4
_MAX_ANSWERS = 3
_MAX_ANSWER = 80
_ASKED, _CHOSE = "Asked “", "”, the user chose: "
_SIZE_ALONE = lazy(r": changed(?: \([^)]*\))?$")
_RECOMMENDED = lazy(r"\s*\((?:Recommended|recommended)\)")


@dataclass(frozen=True)
class TurnFacts:
    """One turn, counted."""

    prompt: str = ""
    message: str = ""
    commits: tuple[str, ...] = ()
    """Subjects of the commits."""
    changes: tuple[FileChange, ...] = ()
    fixes: int = 0
    """Failures that a later run proved gone."""
    answers: int = 0
    plans: int = 0
    agents: int = 0
    runs: int = 0
    failed_runs: int = 0
    reads: int = 0

    @property
    def edits(self) -> int:
        return len(self.changes)

    @cached_property
    def prompt_tokens(self) -> frozenset[str]:
        return tokens_of(self.prompt[:_MAX_PROMPT])

    @cached_property
    def commit_tokens(self) -> frozenset[str]:
        return tokens_of(" ".join(self.commits))

    @cached_property
    def name_tokens(self) -> frozenset[str]:
        names = [name for change in self.changes for name in (change.path, *(symbol.name for symbol in change.symbols))]
        return tokens_of(" ".join(names[:_MAX_NAMES]))


def facts_of(prompt: str, message: str, steps: Sequence[Step]) -> TurnFacts:
    """Return counts and texts of a turn: prompt, message, changes, commits, fixes."""

    def count(kind: type[Step]) -> int:
        return sum(isinstance(step, kind) for step in steps)

    runs = [step for step in steps if isinstance(step, Ran)]
    return TurnFacts(
        prompt,
        message,
        tuple(commit.subject for ran in runs for commit in ran.commits),
        tuple(merge(step.change for step in steps if isinstance(step, FileEdited))),
        fixes=len(pair(steps)[0]),
        answers=count(Answered),
        plans=count(Agreed),
        agents=count(Delegated),
        runs=len(runs),
        failed_runs=sum(ran.failed for ran in runs),
        reads=count(Opened),
    )


def failed(fix: VerifiedFix) -> str:
    """Return the failed command with the first error."""
    count = len(fix.failure.run.failures) if fix.failure.run else 0
    more = f" (and {count - 1} more)" if count > 1 else ""
    return f"{fix.failure.command} failed: {within(fix_pairing.cause_of(fix.failure), 300).rstrip('.')}{more}."


def repaired(fix: VerifiedFix) -> str:
    """Return the repair of a failure."""
    return fact_of(fix.repair)


def passes(fix: VerifiedFix) -> str:
    """Return the command that proves a failure gone."""
    return f"{fix.success.command} passes now" + (f" ({fix.success.run.totals()})." if fix.success.run else ".")


def of_fix(fix: VerifiedFix, text: str) -> list[str]:
    """Return the commands of a fix, in the form that `describe_fix` reads, and the errors that a text lacks."""
    errors = fix.failure.errors
    causes = fix_pairing.failing_tests(fix.failure) or [
        f"Error: {fix_pairing.cause_of(fix.failure)}",
        *(f"Error: {error}" for error in errors[1:3]),
    ]
    ran = [repaired(fix)] if fix.repair.commands else []
    return [*ran, *(fact for fact in causes if fact.partition(": ")[2].rstrip(".") not in text)]


def of_commit(commit: Commit) -> list[str]:
    """Return the commit with its branch and size."""
    if not commit.hash:
        return []
    place = f" on {commit.branch}" if commit.branch else ""
    notes = [commit.size, f"picked from {commit.source}" if commit.source else ""]
    more = "; ".join(note for note in notes if note)
    return [f"Commit {commit.hash}{place}: {commit.subject}{f' ({more})' if more else ''}"]


def of_files(changes: Sequence[FileChange]) -> list[str]:
    """Return a line for each of the first files with more to say than the names of functions."""
    lines = [line for change in changes if (line := beyond_symbols(change))]
    return lines[:_MAX_FILES]


def of_tests(steps: Sequence[Step]) -> list[str]:
    """Return the last result of each test command."""
    last = {step.command: step for step in steps if isinstance(step, Ran) and step.run}
    return [f"{within(name, 120)}: {ran.run.totals()}" for name, ran in last.items() if ran.run][-2:]


def of_answers(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the last choices of the user in short; the log has them in full."""
    answers = [step for step in steps if isinstance(step, Answered)]
    yield from (answer_line(step, _MAX_ANSWER) for step in answers[-_MAX_ANSWERS:])


def answer_line(step: Answered, max_answer: int) -> str:
    """Return a question with the choice of the user, up to a length."""
    answer = plain(_RECOMMENDED.sub("", step.answer)).rstrip(".")
    return f"{_ASKED}{within(plain(step.question), 140)}{_CHOSE}{within(answer, max_answer)}."


def is_answer(line: str) -> bool:
    """Return whether a line repeats a choice of the user."""
    return line.startswith(_ASKED) and _CHOSE in line


def beyond_symbols(change: FileChange) -> str:
    """Return the description of a changed file without names of functions; '' when only the names say something."""
    line = describe(replace(change, symbols=()))
    return "" if change.symbols and _SIZE_ALONE.search(line) else line
