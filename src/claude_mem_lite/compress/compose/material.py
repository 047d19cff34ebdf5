"""One judged turn: the material of its memories and of its session's summary, the headline of a turn that no
commit names, and the closing message for the summary: headline, results, findings and decisions. Called for every turn;
pure."""

import math
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter

from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.compose.candidates import MAX_COMMITS, SentenceCandidate, candidates_of, plan_headings
from claude_mem_lite.compress.compose.facts import facts_of
from claude_mem_lite.compress.compose.headline import keep_case, lower_case_names
from claude_mem_lite.compress.compose.judge import NOTHING, ROUTINE_TYPES, Judge, Judgement, SentenceVerdict
from claude_mem_lite.compress.compose.next_steps import in_the_past, split_done_and_denied, step_of
from claude_mem_lite.compress.compose.titles import Title
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.sentence_types import is_talk, states_decision
from claude_mem_lite.compress.prose.titles import split_subject
from claude_mem_lite.compress.prose.verbs import BASES, impersonal, reported
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.compress.toolcalls.fix_pairing import VerifiedFix, pair
from claude_mem_lite.compress.toolcalls.provenance import ForeignText, only_source
from claude_mem_lite.compress.toolcalls.repairs import is_no_slip
from claude_mem_lite.compress.toolcalls.steps import Agreed, FileEdited, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Origin, Turn
from claude_mem_lite.turn_digest import ClosingMessage
from claude_mem_lite.values import frozen

FAULTS = ("cause", "finding")
"""Roles of sentences about a fault."""
_MIN_CAUSE = 0.3
"""Minimum probability that a sentence states the cause of a fixed failure."""
_MIN_CARRIES = 0.15
_MIN_FITS = 0.5
MAX_NEEDS_CONTEXT = 0.5
"""Maximum probability of needing context for a sentence of a summary."""
_NAMES_CAUSE = lazy(
    r"(?i)^\W*(?:the )?(?:root )?cause(?: \([^)]*\))?(?:\s*:| (?:was|is) )"
    r"(?!\W*(?:not|no|un\w+|probably|likely|perhaps|maybe|possibly)\b)(?=\W*(?:\w+\W+){5}\w)"
)
_WORDS = lazy(r"\w+\W+\w+\W+\w+")
MIN_TITLE = 0.5
"""Minimum probability of a good headline without a commit: no title is better than a torn one."""
_ITEM_PENALTY = 0.2
"""Deduction for an item of a list, which covers only a part: readers called a fifth of such headlines good, and two
thirds of other headlines."""
MIN_TITLE_OF_CAUSE = 0.1
"""Minimum probability of a good headline for a sentence that states the cause of a fixed failure."""
_MIN_CARRIES_IN_SUMMARY = 0.2
"""Minimum probability of carrying a memory, for a sentence of a summary."""
_MIN_WORTH_OF_STATEMENT = 0.3
"""Minimum worth of a turn whose headline states a fact: of less, it was a status or an answer in passing."""
_MAX_OF_A_ROLE = 2
_LARGE = 1_000
"""Changed lines of a commit of full weight."""
_PROPOSALS = lazy(
    r"(?i)\b(?:suggest\w*|recommend\w*|propos\w+|options?|ideas?|plans?|planned|future|optional|possible|potential"
    r"|should|could|would|might|consider|questions?)\b|^(?:open|next|follow[- ]?ups?|improvements?)\b"
)
"""A heading or lead sentence of entries that were not done."""


@frozen
class Judged:
    """A candidate with its verdict."""

    sentence: SentenceCandidate
    verdict: SentenceVerdict

    @property
    def text(self) -> str:
        return self.sentence.text

    @property
    def fits(self) -> bool:
        return (
            self.verdict.carries >= _MIN_CARRIES
            and self.verdict.fits >= _MIN_FITS
            and self.verdict.needs_context <= MAX_NEEDS_CONTEXT
        )

    @property
    def states_cause(self) -> bool:
        return self.fits and (self.verdict.cause >= _MIN_CAUSE or _NAMES_CAUSE.match(self.text) is not None)

    @property
    def value(self) -> float:
        return self.verdict.carries * self.verdict.fits

    @property
    def is_useful(self) -> bool:
        """Return whether the sentence may be part of a memory: no talk, no bare status, no mere introduction."""
        is_title = self.sentence.source in ("subject", "heading", "plan")
        return _WORDS.search(self.text) is not None and (is_title or not is_talk(self.text))

    @property
    def reports_work(self) -> bool:
        """Return whether the sentence reports work; a passing test is no work."""
        return reported(headline.bare(self.text)) != ""

    def summary_text(self) -> str:
        """Return the sentence in the form for a summary."""
        return impersonal_sentence(self.text)


@frozen
class Material:
    """One turn, reduced to the parts that memories are composed of."""

    candidates: Sequence[SentenceCandidate]
    judgement: Judgement
    steps: Sequence[Step]
    commits: Sequence[Commit]
    fixes: Sequence[VerifiedFix]
    """Fixed failures, without slips."""
    slips: Sequence[VerifiedFix] = ()
    """Tests and programs that failed on the turn's own work and were fixed: only a sentence makes them a memory."""
    unfixed: Sequence[Ran] = ()
    """Commands that still fail."""
    origin: Origin = "assistant"

    @property
    def sentences(self) -> list[Judged]:
        return [Judged(*pair) for pair in zip(self.candidates, self.judgement.verdicts, strict=True)]

    @property
    def is_idle(self) -> bool:
        """Return whether the turn changed nothing."""
        return not self.commits and not any(isinstance(step, FileEdited) for step in self.steps)


def impersonal_sentence(text: str) -> str:
    """Return a sentence for a summary, without label and first person."""
    return impersonal(headline.bare(text))


def best_title(material: Material) -> tuple[str, Judged | None]:
    """Return the best headline and its sentence, which is no open step; '' for no good headline.

    Without a sure headline, the sentence that states the cause of a fixed failure gives the title."""
    sentences = material.sentences
    titles = offered_titles(material, proposals=not material.is_idle)
    offered = [pair for pair in titles if not step_of(material.candidates[pair[1].at])]
    sure = [pair for pair in offered if pair[0] >= MIN_TITLE]
    if not sure and (material.fixes or material.slips):
        causes = [pair for pair in offered if pair[1].form != "cut" and sentences[pair[1].at].states_cause]
        sure = [pair for pair in causes if pair[0] >= MIN_TITLE_OF_CAUSE]
    _, title = max(sure, key=itemgetter(0), default=(0.0, None))
    return (capital(title.text), sentences[title.at]) if title else ("", None)


def offered_titles(material: Material, *, proposals: bool) -> list[tuple[float, Title]]:
    """Return the possible headlines of a turn, each with the probability of being good, with or without proposals."""
    return [
        (good - _ITEM_PENALTY * (material.candidates[title.at].kind in ("item", "row")), title)
        for title, good in material.judgement.titles
        if title.form != "subject" and (proposals or not _is_proposal(title.text, material.candidates[title.at].text))
    ]


def _is_proposal(title: str, sentence: str) -> bool:
    """Return whether a headline is an instruction that the sentence does not report as done."""
    word = title.split(" ", 1)[0].lower()
    return word in BASES and re.search(rf"(?i)\b{re.escape(word)}\b", sentence) is not None


def material_of(turn: Turn, message: str, steps: Sequence[Step], earlier: Sequence[Step], judge: Judge) -> Material:
    """Return the judged sentences, commits and fixes of a turn; `earlier` are steps of previous turns."""
    source = only_source(turn.events)
    plans = plan_headings(turn.prompt, [step.plan for step in steps if isinstance(step, Agreed)])
    foreign = ForeignText(turn.events)
    typed = [commit for step in steps if isinstance(step, Ran) for commit in step.commits if commit.is_typed]
    commits = [commit for commit in typed if source or not foreign.has(commit.subject)][-MAX_COMMITS:]
    # Findings of a turn that only read a page come from the page, and keep the origin.
    candidates = candidates_of(message, commits, plans)
    offered = [candidate for candidate in candidates if source or not foreign.has(candidate.text)]
    fixes, unfixed = pair(steps, earlier)
    return Material(
        offered,
        judge.judge(offered, facts_of(turn.prompt, message, steps)) if offered else NOTHING,
        steps,
        commits,
        [fix for fix in fixes if not _is_slip(fix)],
        [fix for fix in fixes if _is_slip(fix) and fix.failure.role in ("test", "run")],
        unfixed,
        source or "assistant",
    )


def _is_slip(fix: VerifiedFix) -> bool:
    """Return whether the turn's own work caused a failure, such as a test that was written first."""
    return fix.own_work and not is_no_slip(fix.failure, fix.repair)


def read_closing(material: Material) -> ClosingMessage:
    """Return the sentences of the closing message by role; nothing for a turn that only read pages or foreign tools."""
    if material.origin != "assistant":
        return ClosingMessage()
    own = material.candidates
    steps_left = {at: step for at, candidate in enumerate(own) if (step := step_of(candidate))}
    # An open step never counts as done.
    sentences = [judged for at, judged in enumerate(material.sentences) if at not in steps_left]
    names = lower_case_names(material.steps, [sentence.text for sentence in own])
    return ClosingMessage(
        worth=material.judgement.worth,
        headline=keep_case(_headline(material), names),
        commits=tuple((keep_case(title, names), weight) for title, weight in _commits(material)),
        results=tuple(keep_case(text, names) for text in _carrying(sentences, "result")),
        findings=tuple(keep_case(text, names) for text in _carrying(sentences, "cause", "finding")),
        decisions=tuple(keep_case(text, names) for text in _decisions(sentences)),
        next_steps=tuple(dict.fromkeys(steps_left.values())),
        sentences=tuple(judged.text for judged in sentences if judged.sentence.source == "closing"),
        reports=_reports(sentences),
    )


def _headline(material: Material) -> str:
    """Return the best headline that tells an outcome: a report or plan of work on files, or a statement with worth."""
    title, head = best_title(material)
    if head is None or material.judgement.worth >= _MIN_WORTH_OF_STATEMENT:
        return title
    is_report = head.sentence.source == "plan" or head.verdict.role == "result" or head.reports_work
    return title if is_report and not material.is_idle else ""


def _commits(material: Material) -> Iterator[tuple[str, float]]:
    """Yield the headlines of the commits with their weights: more for more lines, none for routine work."""
    for commit in material.commits:
        if title := headline.of_commit(commit.subject):
            is_routine = split_subject(commit.subject)[0] in ROUTINE_TYPES
            yield title, 0.0 if is_routine else min(math.log1p(commit.lines) / math.log1p(_LARGE), 1.0)


def _carrying(sentences: Sequence[Judged], *roles: str) -> tuple[str, ...]:
    """Return the sentences that carry most in some roles, in the order of the message."""
    usable = [judged for judged in sentences if judged.verdict.role in roles and _is_usable(judged)]
    best = sorted(enumerate(usable), key=lambda pair: -pair[1].verdict.carries)[:_MAX_OF_A_ROLE]
    return tuple(judged.summary_text() for _, judged in sorted(best, key=itemgetter(0)))


def _decisions(sentences: Sequence[Judged]) -> tuple[str, ...]:
    """Return the usable sentences that state a decision explicitly."""
    decisions = [judged for judged in sentences if _is_usable(judged) and states_decision(judged.text)]
    return tuple(judged.summary_text() for judged in decisions[:_MAX_OF_A_ROLE])


def _is_usable(judged: Judged) -> bool:
    is_prose = judged.sentence.source in ("body", "closing") and judged.sentence.kind != "row"
    return (
        is_prose
        and judged.verdict.carries >= _MIN_CARRIES_IN_SUMMARY
        and judged.verdict.needs_context <= MAX_NEEDS_CONTEXT
        and not is_talk(judged.text)
    )


def _reports(sentences: Sequence[Judged]) -> tuple[str, ...]:
    """Return the finished work that the closing message reports: by the judge, or by a verb in the past."""
    own = [judged for judged in sentences if judged.sentence.source == "closing" and not _is_proposed(judged.sentence)]
    texts = [judged.text for judged in own if judged.sentence.kind != "row" and not is_talk(judged.text)]
    return tuple(dict.fromkeys((*split_done_and_denied(_carrying(own, "result"))[0], *in_the_past(texts))))


def _is_proposed(candidate: SentenceCandidate) -> bool:
    return any(_PROPOSALS.search(above) for above in (candidate.under, candidate.lead) if above)
