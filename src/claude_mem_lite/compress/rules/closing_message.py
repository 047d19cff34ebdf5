"""The closing words of a turn as the judge sees them: headline, results, findings and decisions for the session's
summary. Called for every turn; pure."""

from collections.abc import Collection, Sequence

from claude_mem_lite.compress.compose.candidates import Candidate
from claude_mem_lite.compress.compose.composer import Material, impersonal_sentence
from claude_mem_lite.compress.compose.judge import Judgement, Verdict
from claude_mem_lite.compress.compose.spelling import keep_case, lower_case_names
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.sentence_types import is_talk, states_decision
from claude_mem_lite.compress.rules.finished_steps import in_the_past, told_apart
from claude_mem_lite.compress.rules.next_steps import step_of
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Said

_MIN_TITLE = 0.5
"""Smallest probability of a good headline that makes it the headline of a session without memories."""
_MIN_CARRIES, _MAX_NEEDS_CONTEXT = 0.2, 0.5
"""Smallest probability of carrying something, and largest of needing context, of a sentence in a summary."""
_MAX_OF_A_ROLE = 2
_PROPOSALS = lazy(
    r"(?i)\b(?:suggest\w*|recommend\w*|propos\w+|options?|ideas?|plans?|planned|future|optional|possible|potential"
    r"|should|could|would|might|consider|questions?)\b|^(?:open|next|follow[- ]?ups?|improvements?)\b"
)
"""A heading or lead sentence whose entries were not done."""
Judged = tuple[Candidate, Verdict]


def judged(given: Material) -> Said:
    """Return the agent's own closing words of a turn by what they are.

    A turn that only read pages or asked foreign tools has nothing but their word: it states nothing here."""
    if given.origin != "assistant":
        return Said()
    own = given.candidates
    steps_left = {at: step for at, found in enumerate(own) if (step := step_of(found))}
    # A step to come is never told as done.
    pairs = zip(own, given.judgement.verdicts, strict=True)
    said = [pair for at, pair in enumerate(pairs) if at not in steps_left]
    names = lower_case_names(given.steps, [sentence.text for sentence in own])
    return Said(
        worth=given.judgement.worth,
        headline=keep_case(_headline(given.judgement, steps_left), names),
        results=tuple(keep_case(text, names) for text in _told(said, "result")),
        findings=tuple(keep_case(text, names) for text in _told(said, "cause", "finding")),
        decisions=tuple(keep_case(text, names) for text in _decisions(said)),
        next_steps=tuple(dict.fromkeys(steps_left.values())),
        sentences=tuple(found.text for found, _ in said if found.source == "closing"),
        reports=_reports(said),
    )


def _headline(judgement: Judgement, left: Collection[int]) -> str:
    """Return the subject of the turn's last commit, else its best headline; '' when none is good enough."""
    subjects = [title.text for title, _ in judgement.titles if title.form == "subject"]
    offered = [(good, title.text) for title, good in judgement.titles if title.at not in left]
    good, text = max(offered, default=(0.0, ""))
    return subjects[-1] if subjects else capital(text) if good >= _MIN_TITLE else ""


def _told(said: Sequence[Judged], *roles: str) -> tuple[str, ...]:
    """Return the sentences that carry most in some roles, in the order of the message."""
    usable = [(at, verdict) for at, (found, verdict) in enumerate(said) if _is_usable(found, verdict)]
    best = sorted((one for one in usable if one[1].role in roles), key=lambda one: -one[1].carries)[:_MAX_OF_A_ROLE]
    return tuple(impersonal_sentence(said[at][0].text) for at, _ in sorted(best, key=lambda one: one[0]))


def _decisions(said: Sequence[Judged]) -> tuple[str, ...]:
    """Return the sentences that carry something and say in so many words what was decided."""
    texts = [found.text for found, verdict in said if _is_usable(found, verdict) and states_decision(found.text)]
    return tuple(map(impersonal_sentence, texts[:_MAX_OF_A_ROLE]))


def _is_usable(found: Candidate, verdict: Verdict) -> bool:
    is_prose = found.source in ("body", "closing") and found.kind != "row"
    return (
        is_prose
        and verdict.carries >= _MIN_CARRIES
        and verdict.needs_context <= _MAX_NEEDS_CONTEXT
        and not is_talk(found.text)
    )


def _reports(said: Sequence[Judged]) -> tuple[str, ...]:
    """Return what the closing message says was done: by the judge, or by a verb in the past."""
    own = [pair for pair in said if pair[0].source == "closing" and not _is_proposed(pair[0])]
    told = [found.text for found, _ in own if found.kind != "row" and not is_talk(found.text)]
    return tuple(dict.fromkeys((*told_apart(_told(own, "result"))[0], *in_the_past(told))))


def _is_proposed(found: Candidate) -> bool:
    return any(_PROPOSALS.search(above) for above in (found.under, found.lead) if above)
