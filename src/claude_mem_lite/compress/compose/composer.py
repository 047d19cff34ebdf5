"""A judged turn -> its memories: none, or one for each separate problem or decision. No memory is better than junk.

The title is a commit's subject, else the sentence that states the result or the cause. The summary has the cause first
and only sentences that stand alone; exact details go into facts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from claude_mem_lite.compress.compose import facts, headline
from claude_mem_lite.compress.compose.fix_cards import failure_card, fix_card, mentions_fix
from claude_mem_lite.compress.compose.headline import keep_case, lower_case_names
from claude_mem_lite.compress.compose.judge import CONTENTS, KINDS, is_supporting_file
from claude_mem_lite.compress.compose.material import FAULTS, Judged, Material, best_title
from claude_mem_lite.compress.compose.next_steps import step_of
from claude_mem_lite.compress.prose.drafts import make_draft, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.titles import split_subject
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.compress.toolcalls.edits import FileChange, merge
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_run
from claude_mem_lite.compress.toolcalls.fix_pairing import VerifiedFix
from claude_mem_lite.compress.toolcalls.steps import FileEdited, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Draft, WorkKind
from claude_mem_lite.text import overlap

MIN_WORTH = 0.45
"""Minimum probability of worth for a turn with a memory."""
_MIN_OF_SEVERAL = 0.45
"""Minimum probability of carrying a memory, for each of several commits in one turn."""
MAX_CARDS = 3
_MAX_SENTENCES = 3
_MIN_VALUE = 0.15
_MAX_SUMMARY = 700
_MAX_ASIDE = 120
_MIN_SHARED = 0.25
_SAME = 0.8
_LONGER = 25
"""Characters by which a sentence with the words of the title must be longer, to say more than the title."""
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


def compose(material: Material) -> list[Draft]:
    """Return the memories of a turn."""
    sentences = material.sentences
    cards = _cards(material, sentences)
    known = {anchor for card in cards for anchor in card.anchors}
    beside = [fix for fix in material.fixes if known.isdisjoint(anchors_of_run(fix.failure))]
    is_all = not cards and len(beside) == 1
    fixed = [card for fix in beside if (card := fix_card(fix, material, is_all=is_all))]
    failing = [card for ran in material.unfixed[-1:] if (card := failure_card(ran, sentences))]
    names = lower_case_names(material.steps, [sentence.text for sentence in material.candidates])
    return [_spelled(draft, names) for draft in (*[*cards, *fixed][:MAX_CARDS], *failing)]


def _spelled(draft: Draft, names: frozenset[str]) -> Draft:
    return replace(draft, title=keep_case(draft.title, names), summary=keep_case(draft.summary, names))


def _cards(material: Material, sentences: Sequence[Judged]) -> list[Draft]:
    titled = [at for at, commit in enumerate(material.commits, 1) if headline.of_commit(commit.subject)]
    fixes = (*material.fixes, *material.slips)
    causes = [judged.text for judged in sentences if judged.states_cause]
    if material.judgement.worth < MIN_WORTH and not any(mentions_fix(fix, text) for text in causes for fix in fixes):
        return []
    if len(titled) < 2:
        card = _card(material, sentences, material.commits[titled[0] - 1] if titled else None)
        return [card] if card else []
    cards = [_card(material, _about(sentences, at), material.commits[at - 1], several=True) for at in titled]
    return [card for card in cards if card]


def _about(sentences: Sequence[Judged], commit: int) -> list[Judged]:
    """Return the sentences of one of several commits; the closing message is about all of them."""
    return [judged for judged in sentences if judged.sentence.ref.partition(".")[0] == f"c{commit}"]


def _card(
    material: Material, sentences: Sequence[Judged], commit: Commit | None, *, several: bool = False
) -> Draft | None:
    if several and max((judged.verdict.carries for judged in sentences), default=0.0) < _MIN_OF_SEVERAL:
        return None
    # An open step loses its label ("Still to do: …") and would read as done.
    useful = [judged for judged in sentences if judged.is_useful and not step_of(judged.sentence)]
    title, head = (headline.of_commit(commit.subject), None) if commit else best_title(material)
    if not title:
        return None
    summary = _summary(useful, title, head)
    message = f"{commit.subject} {commit.body}" if commit else ""
    fix = None if several else _fix_of(material, head, f"{title} {summary} {message}")
    if fix and summary and any(_repeats(f"{title} {summary}", judged) for judged in sentences if judged.states_cause):
        summary = f"{summary} {facts.passes(fix)}"
    elif fix:
        parts = (summary, facts.failed(fix)) if summary else (facts.failed(fix), facts.repaired(fix))
        summary = " ".join((*parts, facts.passes(fix)))
    if not summary:
        return None
    changes = merge(_edits_before(material.steps, commit if several else None))
    return make_draft(
        _kind(material, title, commit, changes, fix, head),
        title,
        summary,
        facts=[
            *(facts.of_fix(fix, summary) if fix else ()),
            *(facts.of_commit(commit) if commit else ()),
            *facts.of_answers(material.steps),
            *(() if fix or several else facts.of_tests(material.steps)),
            *facts.of_files(changes),
        ],
        files=[change.path for change in changes],
        symbols=[symbol for change in changes for symbol in change.symbols],
        anchors=anchors_of_run(fix.failure) if fix else (),
        origin=material.origin,
        confidence=0.8 if commit or fix else 0.7,
    )


def _edits_before(steps: Sequence[Step], commit: Commit | None) -> list[FileChange]:
    """Return the edits between a commit and the commit before it; without a commit, all edits."""
    edits: list[FileChange] = []
    for step in steps:
        if isinstance(step, FileEdited):
            edits.append(step.change)
        elif commit is not None and isinstance(step, Ran) and step.commits:
            if commit in step.commits:
                break
            edits.clear()
    return edits


def _repeats(text: str, judged: Judged) -> bool:
    return overlap(headline.bare(judged.text), text) >= _SAME


def _fix_of(material: Material, head: Judged | None, text: str) -> VerifiedFix | None:
    """Return the only fix of a turn, if a text mentions the fix; a failure of the turn's own work only where the title
    states the cause."""
    fixes = material.fixes or (material.slips if head is not None and head.states_cause else ())
    return fixes[0] if len(fixes) == 1 and mentions_fix(fixes[0], text) else None


def _summary(sentences: Sequence[Judged], title: str, head: Judged | None) -> str:
    """Return one to three sentences: the message of the commit, else the likeliest cause, the likeliest outcome, and
    other valuable sentences."""
    if message := _message(sentences):
        return message
    # A heading without sentences directly below covers all sentences.
    is_above = head is not None and all(judged.sentence.under != head.text for judged in sentences)
    covers_all = is_above and head is not None and head.sentence.source == "heading"
    chosen = _chosen([judged for judged in sentences if covers_all or not _is_other_fault(judged, head, title)], title)
    chosen = chosen or _chosen([judged for judged in sentences if overlap(title, judged.text) >= _MIN_SHARED], title)
    chosen = chosen or ([head] if head and head.sentence.source in ("body", "closing") else [])
    return whole_sentences((judged.summary_text() for judged in chosen), _MAX_SUMMARY)


def _message(sentences: Sequence[Judged]) -> str:
    """Return the beginning of a commit's message in the original order, with lists joined to the lead sentence."""
    parts: list[str] = []
    for judged in sentences:
        if judged.sentence.source != "body":
            continue
        text = judged.text.rstrip(".")
        if judged.sentence.kind != "text" and parts and judged.sentence.first_of_block:
            parts[-1] += f"{' ' if parts[-1].endswith(':') else '; '}{text}"
        elif judged.sentence.kind != "text" and not judged.sentence.first_of_block and parts:
            parts[-1] += f" ({text})" if len(text) < _MAX_ASIDE else ""
        else:
            parts.append(text)
    if not parts or _POINTS_BACK.match(parts[0]):
        return ""
    return whole_sentences((capital(f"{part}.") for part in parts[:_MAX_SENTENCES]), _MAX_SUMMARY)


def _chosen(sentences: Sequence[Judged], title: str) -> list[Judged]:
    usable = [
        judged
        for judged in sentences
        if judged.sentence.source in ("body", "closing") and judged.fits and not _is_title(judged, title)
    ]
    usable = [judged for judged in usable if not _POINTS_OUTSIDE.search(judged.text)]
    chosen: list[Judged] = []
    for value in (_cause, _outcome, _value, _value):
        left = [judged for judged in usable if all(overlap(judged.text, known.text) < _SAME for known in chosen)]
        best = max(left, key=partial(_weighed, value, title), default=None)
        if best is not None and value(best) >= _MIN_VALUE and len(chosen) < _MAX_SENTENCES:
            chosen.append(best)
    order = {id(judged): at for at, judged in enumerate(sentences)}
    return sorted(chosen, key=lambda judged: (CONTENTS.index(judged.verdict.role), order[id(judged)]))


def _is_other_fault(judged: Judged, head: Judged | None, title: str) -> bool:
    """Return whether a sentence is about another fault than the title, where a message lists several faults."""
    if (
        head is None
        or judged == head
        or judged.verdict.role not in FAULTS
        or overlap(judged.text, title) >= _MIN_SHARED
    ):
        return False
    ours, theirs = head.sentence, judged.sentence
    if ours.source == "heading":
        return theirs.under not in ("", ours.text)
    are_apart = ours.under != theirs.under or (
        ours.kind in _LISTED and theirs.kind in _LISTED and theirs.first_of_block
    )
    return head.verdict.role in FAULTS and ours.source == "closing" and are_apart


def _weighed(value: Callable[[Judged], float], title: str, judged: Judged) -> float:
    """Return the value of a sentence, higher for words of the title."""
    return value(judged) * (1 + overlap(title, judged.text))


def _is_title(judged: Judged, title: str) -> bool:
    """Return whether a sentence says no more than the title."""
    text = headline.bare(judged.text)
    return overlap(text, title) >= _SAME and len(text) <= len(title) + _LONGER


def _value(judged: Judged) -> float:
    return judged.value


def _cause(judged: Judged) -> float:
    return judged.verdict.cause


def _outcome(judged: Judged) -> float:
    return max(judged.verdict.result, judged.verdict.decision, judged.verdict.finding)


def _kind(
    material: Material,
    title: str,
    commit: Commit | None,
    changes: Sequence[FileChange],
    fix: VerifiedFix | None,
    head: Judged | None,
) -> WorkKind:
    """Return the kind by a verified fix, the type of the commit, the verb of the subject or of the plan's heading, else
    by the judge. A fault that was only reported is a discovery."""
    of_commit = _COMMIT_KINDS.get(split_subject(commit.subject)[0]) if commit else None
    if fix and of_commit != "feature":
        return "bugfix"
    if of_commit:
        return of_commit
    is_planned = head is not None and head.sentence.source == "plan"
    if (commit or is_planned) and (kind := _VERB_KINDS.get(title.split(" ", 1)[0].rstrip(":").lower())):
        return "change" if changes and all(is_supporting_file(change.path) for change in changes) else kind
    allowed = _COMMITTED_KINDS if commit else KINDS if changes or material.commits else ("discovery", "decision")
    if not (commit or fix) and head is not None and _is_only_reported(material, head):
        allowed = ("discovery", "decision")
    return max(allowed, key=lambda kind: material.judgement.kinds[kind])


def _is_only_reported(material: Material, head: Judged) -> bool:
    """Return whether the title states a fault that still exists, and no sentence reports work."""
    text = head.text
    if head.verdict.role not in FAULTS or not _IS_THERE.search(text) or _IS_PAST.search(text):
        return False
    done = [
        judged
        for judged in material.sentences
        if judged.sentence.source == "closing" and (judged.verdict.role == "result" or judged.reports_work)
    ]
    return not any(judged.value >= _MIN_VALUE for judged in done)
