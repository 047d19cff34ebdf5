"""A judged turn -> its memories: none, or one for each separate problem or decision. Nothing rather than junk.

The title is a commit's subject, else the sentence that states the result or the cause; the summary has the cause first
and only sentences that stand alone; everything exact goes into facts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from claude_mem_lite.compress.compose import facts, headline
from claude_mem_lite.compress.compose.best_title import best_title
from claude_mem_lite.compress.compose.fix_cards import failure_card, fix_card, speaks_of
from claude_mem_lite.compress.compose.judge import CONTENTS, KINDS
from claude_mem_lite.compress.compose.material import FAULTS, Judged, Material
from claude_mem_lite.compress.compose.spelling import keep_case, lower_case_names
from claude_mem_lite.compress.compose.turn_features import is_beside
from claude_mem_lite.compress.prose.drafts import make_draft, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.titles import split_subject
from claude_mem_lite.compress.rules.fix_pairing import Fix
from claude_mem_lite.compress.toolcalls.edits import FileChange, merge
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_run
from claude_mem_lite.compress.toolcalls.shell import Commit
from claude_mem_lite.compress.toolcalls.steps import Edited
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Draft, WorkKind
from claude_mem_lite.text import overlap

MIN_WORTH = 0.45
"""Smallest probability of worth that gives a turn a memory."""
MIN_OF_SEVERAL = 0.45
"""Smallest probability of carrying a memory for each of several commits in one turn."""
MAX_CARDS = 3
_MAX_SENTENCES = 3
_MIN_VALUE = 0.15
_MAX_SUMMARY = 700
_MAX_ASIDE = 120
_MIN_SHARED = 0.25
_SAME = 0.8
_LONGER = 25
"""A sentence of the words of the title says more than it when it is so many characters longer."""
_COMMIT_KINDS: dict[str, WorkKind] = {
    "fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature",
    "refactor": "refactor", "docs": "change", "chore": "change", "test": "change", "ci": "change", "build": "change",
}  # fmt: skip
_VERB_KINDS: dict[str, WorkKind] = {
    "fix": "bugfix", "add": "feature", "extract": "refactor", "rename": "refactor", "optimize": "change",
    "trim": "change", "tweak": "change", "update": "change", "bump": "change", "document": "change",
}  # fmt: skip
_COMMITTED_KINDS: tuple[WorkKind, ...] = ("bugfix", "feature", "refactor", "change")
_IS_THERE = lazy(
    r"(?i)\b(?:is|are|has|have|does|do|can|cannot|can't|isn't|aren't|hasn't|doesn't|don't|needs?|lacks?)\b"
)
_IS_PAST = lazy(r"(?i)\b(?:was|were|had|did|wasn't|weren't|hadn't|didn't|now|no longer|will)\b")
_BACK = r"^\W*(?i:this|that|these|those|it|its|they|their|both|such|same|here|also|then|each|all of)\b"
_POINTS_BACK = lazy(_BACK)
_POINTS_OUTSIDE = lazy(
    rf"{_BACK}|\b(?i:these|those|both|above|below|our|your|my|me|you're|the (?:latter|former|other|second|first one))\b"
    r"|\b(?i:item|step|task|bug|option|hypothesis|phase|point|finding|issue) (?:#?\d|[A-Z]\b)"
)
_LISTED = ("item", "row")


def compose(given: Material) -> list[Draft]:
    """Return the memories of a turn."""
    said = given.said
    cards = _cards(given, said)
    known = {anchor for card in cards for anchor in card.anchors}
    beside = [fix for fix in given.fixes if known.isdisjoint(anchors_of_run(fix.failure))]
    is_all = not cards and len(beside) == 1
    fixed = [card for fix in beside if (card := fix_card(fix, given, is_all=is_all))]
    failing = [card for ran in given.unfixed[-1:] if (card := failure_card(ran, said))]
    names = lower_case_names(given.steps, [sentence.text for sentence in given.candidates])
    return [_spelled(draft, names) for draft in (*[*cards, *fixed][:MAX_CARDS], *failing)]


def _spelled(draft: Draft, names: frozenset[str]) -> Draft:
    return replace(draft, title=keep_case(draft.title, names), summary=keep_case(draft.summary, names))


def _cards(given: Material, said: Sequence[Judged]) -> list[Draft]:
    telling = [at for at, commit in enumerate(given.commits, 1) if headline.of_commit(commit.subject)]
    fixes = (*given.fixes, *given.slips)
    if given.judgement.worth < MIN_WORTH and not any(
        speaks_of(fix, one.sentence.text) for fix, one in _causes(fixes, said)
    ):
        return []
    if len(telling) < 2:
        card = _card(given, said, given.commits[telling[0] - 1] if telling else None)
        return [card] if card else []
    cards = [_card(given, _about(said, at), given.commits[at - 1], several=True) for at in telling]
    return [card for card in cards if card]


def _about(said: Sequence[Judged], commit: int) -> list[Judged]:
    """Return the sentences of one of several commits; those of the closing message speak of all of them."""
    return [one for one in said if one.sentence.ref == f"c{commit}" or one.sentence.ref.startswith(f"c{commit}.")]


def _card(given: Material, said: Sequence[Judged], commit: Commit | None, *, several: bool = False) -> Draft | None:
    if several and max((one.verdict.carries for one in said), default=0.0) < MIN_OF_SEVERAL:
        return None
    useful = [one for one in said if one.is_useful]
    title, head = (headline.of_commit(commit.subject), None) if commit else best_title(given)
    if not title:
        return None
    summary = _summary(useful, title, head)
    message = f"{commit.subject} {commit.body}" if commit else ""
    fix = None if several else _fix_of(given, head, f"{title} {summary} {message}")
    if fix and summary and any(_tells(f"{title} {summary}", one) for one in said if one.states_cause):
        summary = f"{summary} {facts.passes(fix)}"
    elif fix:
        told = (summary, facts.failed(fix)) if summary else (facts.failed(fix), facts.helped(fix))
        summary = " ".join((*told, facts.passes(fix)))
    if not summary:
        return None
    changes = merge(step.change for step in given.steps if isinstance(step, Edited))
    return make_draft(
        _kind(given, title, commit, changes, fix, head),
        title,
        summary,
        facts=[
            *(facts.of_fix(fix, summary) if fix else ()),
            *(facts.of_commit(commit) if commit else ()),
            *facts.of_answers(given.steps),
            *(() if fix or several else facts.of_tests(given.steps)),
            *(() if several else facts.of_files(changes)),
        ],
        files=[change.path for change in changes],
        symbols=[symbol for change in changes for symbol in change.symbols],
        anchors=anchors_of_run(fix.failure) if fix else (),
        origin=given.origin,
        confidence=0.8 if commit or fix else 0.7,
    )


def _tells(text: str, one: Judged) -> bool:
    return overlap(headline.bare(one.sentence.text), text) >= _SAME


def _fix_of(given: Material, head: Judged | None, told: str) -> Fix | None:
    """Return the fix that a memory is about: the only one of the turn, if what is told speaks of it; a failure of the
    turn's own work only where the title states the cause."""
    fixes = given.fixes or (given.slips if head is not None and head.states_cause else ())
    return fixes[0] if len(fixes) == 1 and speaks_of(fixes[0], told) else None


def _causes(fixes: Sequence[Fix], said: Sequence[Judged]) -> Iterator[tuple[Fix, Judged]]:
    return ((fix, one) for one in said if one.states_cause for fix in fixes)


def _summary(said: Sequence[Judged], title: str, head: Judged | None) -> str:
    """Return one to three sentences: the message of the commit, else the likeliest cause, what was done, decided or
    found, and what else carries."""
    if message := _message(said):
        return message
    # A heading with no sentence of its own stands above all those below it.
    is_above = head is not None and all(one.sentence.under != head.sentence.text for one in said)
    covers_all = is_above and head is not None and head.sentence.source == "heading"
    chosen = _chosen([one for one in said if covers_all or not _is_other_fault(one, head, title)], title)
    chosen = chosen or _chosen([one for one in said if overlap(title, one.sentence.text) >= _MIN_SHARED], title)
    chosen = chosen or ([head] if head and head.sentence.source in ("body", "closing") else [])
    return whole_sentences((one.told() for one in chosen), _MAX_SUMMARY)


def _message(said: Sequence[Judged]) -> str:
    """Return the beginning of a commit's message in its own order, lists joined to the sentence that leads them."""
    parts: list[str] = []
    for one in said:
        if one.sentence.source != "body":
            continue
        text = one.sentence.text.rstrip(".")
        if one.sentence.kind != "text" and parts and one.sentence.first_of_passage:
            parts[-1] += f"{' ' if parts[-1].endswith(':') else '; '}{text}"
        elif one.sentence.kind != "text" and not one.sentence.first_of_passage and parts:
            parts[-1] += f" ({text})" if len(text) < _MAX_ASIDE else ""
        else:
            parts.append(text)
    if not parts or _POINTS_BACK.match(parts[0]):
        return ""
    return whole_sentences((capital(f"{part}.") for part in parts[:_MAX_SENTENCES]), _MAX_SUMMARY)


def _chosen(said: Sequence[Judged], title: str) -> list[Judged]:
    usable = [
        one for one in said if one.sentence.source in ("body", "closing") and one.fits and not _is_title(one, title)
    ]
    usable = [one for one in usable if not _POINTS_OUTSIDE.search(one.sentence.text)]
    chosen: list[Judged] = []
    for value in (_cause, _outcome, _value, _value):
        left = [
            one for one in usable if all(overlap(one.sentence.text, other.sentence.text) < _SAME for other in chosen)
        ]
        best = max(left, key=partial(_weighed, value, title), default=None)
        if best is not None and value(best) >= _MIN_VALUE and len(chosen) < _MAX_SENTENCES:
            chosen.append(best)
    order = {id(one): at for at, one in enumerate(said)}
    return sorted(chosen, key=lambda one: (CONTENTS.index(one.verdict.role), order[id(one)]))


def _is_other_fault(one: Judged, head: Judged | None, title: str) -> bool:
    """Return whether a sentence tells another fault than the title, where a message lists several of them."""
    if (
        head is None
        or one == head
        or one.verdict.role not in FAULTS
        or overlap(one.sentence.text, title) >= _MIN_SHARED
    ):
        return False
    ours, theirs = head.sentence, one.sentence
    if ours.source == "heading":
        return theirs.under not in ("", ours.text)
    are_apart = ours.under != theirs.under or (
        ours.kind in _LISTED and theirs.kind in _LISTED and theirs.first_of_passage
    )
    return head.verdict.role in FAULTS and ours.source == "closing" and are_apart


def _weighed(value: Callable[[Judged], float], title: str, one: Judged) -> float:
    """Return what a sentence counts: more when it speaks of what the title says."""
    return value(one) * (1 + overlap(title, one.sentence.text))


def _is_title(one: Judged, title: str) -> bool:
    """Return whether a sentence says no more than the title."""
    text = headline.bare(one.sentence.text)
    return overlap(text, title) >= _SAME and len(text) <= len(title) + _LONGER


def _value(one: Judged) -> float:
    return one.value


def _cause(one: Judged) -> float:
    return one.verdict.cause


def _outcome(one: Judged) -> float:
    return max(one.verdict.result, one.verdict.decision, one.verdict.finding)


def _kind(
    given: Material,
    title: str,
    commit: Commit | None,
    changes: Sequence[FileChange],
    fix: Fix | None,
    head: Judged | None,
) -> WorkKind:
    """Return the kind by what happened: a verified fix, the type of the commit, the verb of its subject or of the
    plan's heading, else what the judge thinks. A fault that was only told is a discovery."""
    of_commit = _COMMIT_KINDS.get(split_subject(commit.subject)[0]) if commit else None
    if fix and of_commit != "feature":
        return "bugfix"
    if of_commit:
        return of_commit
    is_planned = head is not None and head.sentence.source == "plan"
    if (commit or is_planned) and (kind := _VERB_KINDS.get(title.split(" ", 1)[0].rstrip(":").lower())):
        return "change" if changes and all(is_beside(change.path) for change in changes) else kind
    allowed = _COMMITTED_KINDS if commit else KINDS if changes or given.commits else ("discovery", "decision")
    if not (commit or fix) and head is not None and _is_only_told(given, head):
        allowed = ("discovery", "decision")
    return max(allowed, key=lambda kind: given.judgement.kinds[kind])


def _is_only_told(given: Material, head: Judged) -> bool:
    """Return whether the title states a fault that is still there, and nothing says that anything was done about it."""
    text = head.sentence.text
    if head.verdict.role not in FAULTS or not _IS_THERE.search(text) or _IS_PAST.search(text):
        return False
    done = [
        one
        for one in given.said
        if one.sentence.source == "closing" and (one.verdict.role == "result" or one.reports_work)
    ]
    return not any(one.value >= _MIN_VALUE for one in done)
