"""The closing words of a turn as the judge sees them: headline, results, findings and decisions for the session's
summary. Called for every turn; pure."""

from collections.abc import Collection, Sequence
from operator import itemgetter

from claude_mem_lite.compress.compose.best_title import best_title
from claude_mem_lite.compress.compose.candidates import Candidate
from claude_mem_lite.compress.compose.material import MAX_NEEDS_CONTEXT, Judged, Material
from claude_mem_lite.compress.compose.spelling import keep_case, lower_case_names
from claude_mem_lite.compress.prose.sentence_types import is_talk, states_decision
from claude_mem_lite.compress.rules.finished_steps import in_the_past, told_apart
from claude_mem_lite.compress.rules.next_steps import step_of
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Said

_MIN_CARRIES = 0.2
"""Smallest probability of carrying something of a sentence in a summary."""
_MAX_OF_A_ROLE = 2
_PROPOSALS = lazy(
    r"(?i)\b(?:suggest\w*|recommend\w*|propos\w+|options?|ideas?|plans?|planned|future|optional|possible|potential"
    r"|should|could|would|might|consider|questions?)\b|^(?:open|next|follow[- ]?ups?|improvements?)\b"
)
"""A heading or lead sentence whose entries were not done."""


def judged(given: Material) -> Said:
    """Return the agent's own closing words of a turn by what they are.

    A turn that only read pages or asked foreign tools has nothing but their word: it states nothing here."""
    if given.origin != "assistant":
        return Said()
    own = given.candidates
    steps_left = {at: step for at, found in enumerate(own) if (step := step_of(found))}
    # A step to come is never told as done.
    said = [one for at, one in enumerate(given.said) if at not in steps_left]
    names = lower_case_names(given.steps, [sentence.text for sentence in own])
    return Said(
        worth=given.judgement.worth,
        headline=keep_case(_headline(given, steps_left), names),
        results=tuple(keep_case(text, names) for text in _told(said, "result")),
        findings=tuple(keep_case(text, names) for text in _told(said, "cause", "finding")),
        decisions=tuple(keep_case(text, names) for text in _decisions(said)),
        next_steps=tuple(dict.fromkeys(steps_left.values())),
        sentences=tuple(one.sentence.text for one in said if one.sentence.source == "closing"),
        reports=_reports(said),
    )


def _headline(given: Material, left: Collection[int]) -> str:
    """Return the subject of the turn's last commit, else its best headline; '' when none is good enough."""
    subjects = [title.text for title, _ in given.judgement.titles if title.form == "subject"]
    return subjects[-1] if subjects else best_title(given, left)[0]


def _told(said: Sequence[Judged], *roles: str) -> tuple[str, ...]:
    """Return the sentences that carry most in some roles, in the order of the message."""
    usable = [(at, one) for at, one in enumerate(said) if one.verdict.role in roles and _is_usable(one)]
    best = sorted(usable, key=lambda pair: -pair[1].verdict.carries)[:_MAX_OF_A_ROLE]
    return tuple(one.told() for _, one in sorted(best, key=itemgetter(0)))


def _decisions(said: Sequence[Judged]) -> tuple[str, ...]:
    """Return the sentences that carry something and say in so many words what was decided."""
    found = [one for one in said if _is_usable(one) and states_decision(one.sentence.text)]
    return tuple(one.told() for one in found[:_MAX_OF_A_ROLE])


def _is_usable(one: Judged) -> bool:
    is_prose = one.sentence.source in ("body", "closing") and one.sentence.kind != "row"
    return (
        is_prose
        and one.verdict.carries >= _MIN_CARRIES
        and one.verdict.needs_context <= MAX_NEEDS_CONTEXT
        and not is_talk(one.sentence.text)
    )


def _reports(said: Sequence[Judged]) -> tuple[str, ...]:
    """Return what the closing message says was done: by the judge, or by a verb in the past."""
    own = [one for one in said if one.sentence.source == "closing" and not _is_proposed(one.sentence)]
    told = [one.sentence.text for one in own if one.sentence.kind != "row" and not is_talk(one.sentence.text)]
    return tuple(dict.fromkeys((*told_apart(_told(own, "result"))[0], *in_the_past(told))))


def _is_proposed(found: Candidate) -> bool:
    return any(_PROPOSALS.search(above) for above in (found.under, found.lead) if above)
