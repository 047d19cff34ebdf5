"""One judged turn: what its memories and its session's summary are made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.compose.candidates import Candidate
from claude_mem_lite.compress.compose.judge import Judgement, Verdict
from claude_mem_lite.compress.prose.sentence_types import is_talk
from claude_mem_lite.compress.prose.verbs import impersonal, reported
from claude_mem_lite.compress.rules.fix_pairing import Fix
from claude_mem_lite.compress.toolcalls.shell import Commit
from claude_mem_lite.compress.toolcalls.steps import Edited, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Origin

FAULTS = ("cause", "finding")
"""Roles of sentences that tell what was wrong."""
MIN_CAUSE = 0.3
"""Smallest probability that a sentence states the cause of what was put right."""
MIN_CARRIES = 0.15
MIN_FITS = 0.5
MAX_NEEDS_CONTEXT = 0.5
"""Largest probability of needing context that a sentence of a summary may have."""
_NAMES_CAUSE = lazy(
    r"(?i)^\W*(?:the )?(?:root )?cause(?: \([^)]*\))?(?:\s*:| (?:was|is) )"
    r"(?!\W*(?:not|no|un\w+|probably|likely|perhaps|maybe|possibly)\b)(?=\W*(?:\w+\W+){5}\w)"
)
_WORDS = lazy(r"\w+\W+\w+\W+\w+")


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its verdict."""

    sentence: Candidate
    verdict: Verdict

    @property
    def fits(self) -> bool:
        return (
            self.verdict.carries >= MIN_CARRIES
            and self.verdict.fits >= MIN_FITS
            and self.verdict.needs_context <= MAX_NEEDS_CONTEXT
        )

    @property
    def states_cause(self) -> bool:
        return self.fits and (self.verdict.cause >= MIN_CAUSE or _NAMES_CAUSE.match(self.sentence.text) is not None)

    @property
    def value(self) -> float:
        return self.verdict.carries * self.verdict.fits

    @property
    def is_useful(self) -> bool:
        """Whether the sentence may be told at all: no talk, no bare status, nothing that only leads on."""
        text = self.sentence.text
        if not _WORDS.search(text):
            return False
        return self.sentence.source in ("subject", "heading", "plan") or not is_talk(text)

    @property
    def reports_work(self) -> bool:
        """Whether the sentence says what was done; that something passes now is no work."""
        return reported(headline.bare(self.sentence.text)) != ""

    def told(self) -> str:
        """Return the sentence as a summary tells it."""
        return impersonal_sentence(self.sentence.text)


@dataclass(frozen=True, slots=True)
class Material:
    """One turn, as far as its memories are made of it."""

    candidates: Sequence[Candidate]
    judgement: Judgement
    steps: Sequence[Step]
    commits: Sequence[Commit]
    fixes: Sequence[Fix]
    """Failures that were put right and are no slips."""
    slips: Sequence[Fix] = ()
    """Tests and programs that failed on the turn's own work and were put right: somebody must say what that was
    about."""
    unfixed: Sequence[Ran] = ()
    """Commands that still fail."""
    origin: Origin = "assistant"

    @property
    def said(self) -> list[Judged]:
        return [Judged(*pair) for pair in zip(self.candidates, self.judgement.verdicts, strict=True)]

    @property
    def is_idle(self) -> bool:
        """Whether the turn changed nothing."""
        return not self.commits and not any(isinstance(step, Edited) for step in self.steps)


def impersonal_sentence(text: str) -> str:
    """Return a sentence for a summary, without label and first person."""
    return impersonal(headline.bare(text))
