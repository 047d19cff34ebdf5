"""Facts of a turn that its sentences, its worth and its kind are judged by."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from claude_mem_lite.compress.rules.fix_pairing import pair
from claude_mem_lite.compress.toolcalls.edits import FileChange, merge
from claude_mem_lite.compress.toolcalls.steps import Agreed, Answered, Delegated, Edited, Opened, Ran, Step
from claude_mem_lite.text import tokens_of

_MAX_PROMPT = 4_000
_MAX_NAMES = 60


@dataclass(frozen=True)
class TurnFacts:
    """One turn, counted."""

    prompt: str = ""
    message: str = ""
    commits: tuple[str, ...] = ()
    """The subjects of its commits."""
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
    """Return what a turn asked for, said, changed, committed and repaired."""

    def count(kind: type[Step]) -> int:
        return sum(isinstance(step, kind) for step in steps)

    runs = [step for step in steps if isinstance(step, Ran)]
    return TurnFacts(
        prompt,
        message,
        tuple(commit.subject for ran in runs for commit in ran.commits),
        tuple(merge(step.change for step in steps if isinstance(step, Edited))),
        fixes=len(pair(steps)[0]),
        answers=count(Answered),
        plans=count(Agreed),
        agents=count(Delegated),
        runs=len(runs),
        failed_runs=sum(ran.failed for ran in runs),
        reads=count(Opened),
    )
