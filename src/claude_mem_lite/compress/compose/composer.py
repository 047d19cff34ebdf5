"""A judged turn -> its memories: none, or one for each separate problem or decision. Nothing rather than junk.

The title is a commit's subject, else the sentence that states the result or the cause; the summary has the cause first
and only sentences that stand alone; everything exact goes into facts."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter

from claude_mem_lite.compress.compose import facts, headline
from claude_mem_lite.compress.compose.candidates import Candidate
from claude_mem_lite.compress.compose.judge import CONTENTS, KINDS, Judgement, Verdict
from claude_mem_lite.compress.compose.spelling import keep_case, lower_case_names
from claude_mem_lite.compress.compose.turn_features import is_beside
from claude_mem_lite.compress.prose.drafts import make_draft, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.prose.sentence_types import is_talk
from claude_mem_lite.compress.prose.verbs import BASES, impersonal, reported
from claude_mem_lite.compress.rules.fix_pairing import Fix, cause_of, failing_tests, title_of_failure, title_of_fix
from claude_mem_lite.compress.toolcalls.edits import FileChange, merge
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_run
from claude_mem_lite.compress.toolcalls.shell import Commit
from claude_mem_lite.compress.toolcalls.steps import Edited, Ran, Step
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Draft, Origin, WorkKind
from claude_mem_lite.text import overlap, within

MIN_WORTH = 0.45
"""Smallest probability of worth that gives a turn a memory."""
MIN_TITLE = 0.5
"""Smallest probability of a good headline where no commit gives the title: nothing rather than a torn one."""
ITEM_PENALTY = 0.2
"""What an item of a list has less than its probability: it tells a part, and readers called a fifth of such headlines
good, of others two thirds."""
MIN_TITLE_OF_CAUSE = 0.1
"""Smallest probability of a good headline of a sentence that states the cause of what was put right."""
MIN_CAUSE = 0.3
"""Smallest probability that a sentence states the cause of what was put right."""
MIN_CARRIES = 0.15
MIN_FITS = 0.5
MAX_NEEDS_CONTEXT = 0.5
"""Largest probability of needing context that a sentence of a summary may have."""
MIN_OF_SEVERAL = 0.45
"""Smallest probability of carrying a memory for each of several commits in one turn."""
MAX_CARDS = 3
_MAX_SENTENCES = 3
_MIN_VALUE = 0.15
_MAX_SUMMARY = 700
_MAX_EXPLANATION = 260
_MAX_ASIDE = 120
_MIN_SHARED = 0.25
_MIN_EXPLAINED = 0.4
"""Smallest share of the words of a sentence that a failure has, for the sentence to open the memory of its fix."""
_MIN_NAME = 4
"""Fewest characters of a name that is looked for in a text."""
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
_FAILS = lazy(r"(?i)\b(?:fail(?:s|ed|ing|ures?)?|broken|breaks|crash\w*)\b")
_IS_THERE = lazy(
    r"(?i)\b(?:is|are|has|have|does|do|can|cannot|can't|isn't|aren't|hasn't|doesn't|don't|needs?|lacks?)\b"
)
_IS_PAST = lazy(r"(?i)\b(?:was|were|had|did|wasn't|weren't|hadn't|didn't|now|no longer|will)\b")
_IS_OVER = lazy(r"(?i)\b(?:no longer|fix(?:ed|es)|resolve[sd]|solved|passes|passing|repaired|works|now green)\b")
_NAMES_CAUSE = lazy(
    r"(?i)^\W*(?:the )?(?:root )?cause(?: \([^)]*\))?(?:\s*:| (?:was|is) )"
    r"(?!\W*(?:not|no|un\w+|probably|likely|perhaps|maybe|possibly)\b)(?=\W*(?:\w+\W+){5}\w)"
)
_BACK = r"^\W*(?i:this|that|these|those|it|its|they|their|both|such|same|here|also|then|each|all of)\b"
_POINTS_BACK = lazy(_BACK)
_POINTS_OUTSIDE = lazy(
    rf"{_BACK}|\b(?i:these|those|both|above|below|our|your|my|me|you're|the (?:latter|former|other|second|first one))\b"
    r"|\b(?i:item|step|task|bug|option|hypothesis|phase|point|finding|issue) (?:#?\d|[A-Z]\b)"
)
_WORDS = lazy(r"\w+\W+\w+\W+\w+")
_FAULTS = ("cause", "finding")
_LISTED = ("item", "row")


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


@dataclass(frozen=True, slots=True)
class _Said:
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


def compose(given: Material) -> list[Draft]:
    """Return the memories of a turn."""
    said = [_Said(one, verdict) for one, verdict in zip(given.candidates, given.judgement.verdicts, strict=True)]
    cards = _cards(given, said)
    known = {anchor for card in cards for anchor in card.anchors}
    beside = [fix for fix in given.fixes if known.isdisjoint(anchors_of_run(fix.failure))]
    fixed = [card for fix in beside if (card := _fix_card(fix, said))]
    failing = [card for ran in given.unfixed[-1:] if (card := _failure_card(ran, said))]
    names = lower_case_names(given.steps, [sentence.text for sentence in given.candidates])
    return [_spelled(draft, names) for draft in (*[*cards, *fixed][:MAX_CARDS], *failing)]


def _spelled(draft: Draft, names: frozenset[str]) -> Draft:
    return replace(draft, title=keep_case(draft.title, names), summary=keep_case(draft.summary, names))


def _cards(given: Material, said: Sequence[_Said]) -> list[Draft]:
    telling = [at for at, commit in enumerate(given.commits, 1) if headline.of_commit(commit.subject)]
    fixes = (*given.fixes, *given.slips)
    if given.judgement.worth < MIN_WORTH and not any(
        _speaks_of(fix, one.sentence.text) for fix, one in _causes(fixes, said)
    ):
        return []
    if len(telling) < 2:
        card = _card(given, said, given.commits[telling[0] - 1] if telling else None)
        return [card] if card else []
    cards = [_card(given, _about(said, at), given.commits[at - 1], several=True) for at in telling]
    return [card for card in cards if card]


def _about(said: Sequence[_Said], commit: int) -> list[_Said]:
    """Return the sentences of one of several commits; those of the closing message speak of all of them."""
    return [one for one in said if one.sentence.ref == f"c{commit}" or one.sentence.ref.startswith(f"c{commit}.")]


def _card(given: Material, said: Sequence[_Said], commit: Commit | None, *, several: bool = False) -> Draft | None:
    if several and max((one.verdict.carries for one in said), default=0.0) < MIN_OF_SEVERAL:
        return None
    useful = [one for one in said if _is_useful(one)]
    title, head = (headline.of_commit(commit.subject), None) if commit else _title(given, said)
    if not title:
        return None
    summary = _summary(useful, title, head)
    message = f"{commit.subject} {commit.body}" if commit else ""
    fix = None if several else _fix_of(given, head, f"{title} {summary} {message}")
    if fix and summary and any(_tells(f"{title} {summary}", one) for one in said if one.states_cause):
        summary = f"{summary} {facts.passes(fix)}"
    elif fix:
        summary = " ".join(filter(None, (facts.failed(fix), summary or facts.helped(fix), facts.passes(fix))))
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


def _tells(text: str, one: _Said) -> bool:
    return overlap(one.sentence.text, text) >= _SAME


def _is_useful(said: _Said) -> bool:
    """Return whether a sentence may be told at all: no talk, no bare status, nothing that only leads on."""
    text = said.sentence.text
    if not _WORDS.search(text):
        return False
    return said.sentence.source in ("subject", "heading", "plan") or not is_talk(text)


def _fix_of(given: Material, head: _Said | None, told: str) -> Fix | None:
    """Return the fix that a memory is about: the only one of the turn, if what is told speaks of it; a failure of the
    turn's own work only where the title states the cause."""
    fixes = given.fixes or (given.slips if head is not None and head.states_cause else ())
    return fixes[0] if len(fixes) == 1 and _speaks_of(fixes[0], told) else None


def _causes(fixes: Sequence[Fix], said: Sequence[_Said]) -> Iterator[tuple[Fix, _Said]]:
    return ((fix, one) for one in said if one.states_cause for fix in fixes)


def _speaks_of(fix: Fix, text: str) -> bool:
    """Return whether a text shares words with a failure, or names a test, function or file of the fix."""
    tests = [test.name for test in fix.failure.run.failures] if fix.failure.run else []
    symbols = [symbol.name.rpartition(".")[2] for change in fix.changes for symbol in change.symbols]
    stems = [change.path.rpartition("/")[2].partition(".")[0] for change in fix.changes]
    names = {name.lower() for name in (*tests, *symbols, *stems) if len(name) >= _MIN_NAME}
    words = text.lower()
    return overlap(text, _seen(fix.failure)) >= _MIN_SHARED or any(name in words for name in names)


def _title(given: Material, said: Sequence[_Said]) -> tuple[str, _Said | None]:
    """Return the best headline of a turn without a commit, and its sentence; '' when none is good enough.

    Where none is sure, it is the sentence that states the cause of what was put right."""
    idle = not given.commits and not any(isinstance(step, Edited) for step in given.steps)
    offered = [
        (good - ITEM_PENALTY * (said[title.at].sentence.kind in ("item", "row")), title)
        for title, good in given.judgement.titles
        if title.form != "subject" and not (idle and _is_proposal(title.text, said[title.at].sentence.text))
    ]
    sure = [pair for pair in offered if pair[0] >= MIN_TITLE]
    if not sure and (given.fixes or given.slips):
        causes = [pair for pair in offered if pair[1].form != "cut" and said[pair[1].at].states_cause]
        sure = [pair for pair in causes if pair[0] >= MIN_TITLE_OF_CAUSE]
    _, title = max(sure, key=itemgetter(0), default=(0.0, None))
    return (capital(title.text), said[title.at]) if title else ("", None)


def _is_proposal(title: str, sentence: str) -> bool:
    """Return whether a headline is an instruction that its sentence does not report as done."""
    word = title.split(" ", 1)[0].lower()
    return word in BASES and re.search(rf"(?i)\b{re.escape(word)}\b", sentence) is not None


def _summary(said: Sequence[_Said], title: str, head: _Said | None) -> str:
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
    return whole_sentences((impersonal_sentence(one.sentence.text) for one in chosen), _MAX_SUMMARY)


def _message(said: Sequence[_Said]) -> str:
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


def _chosen(said: Sequence[_Said], title: str) -> list[_Said]:
    usable = [
        one for one in said if one.sentence.source in ("body", "closing") and one.fits and not _is_title(one, title)
    ]
    usable = [one for one in usable if not _POINTS_OUTSIDE.search(one.sentence.text)]
    chosen: list[_Said] = []
    for value in (_cause, _outcome, _value, _value):
        left = [
            one for one in usable if all(overlap(one.sentence.text, other.sentence.text) < _SAME for other in chosen)
        ]
        best = max(left, key=partial(_weighed, value, title), default=None)
        if best is not None and value(best) >= _MIN_VALUE and len(chosen) < _MAX_SENTENCES:
            chosen.append(best)
    order = {id(one): at for at, one in enumerate(said)}
    return sorted(chosen, key=lambda one: (CONTENTS.index(one.verdict.role), order[id(one)]))


def _is_other_fault(one: _Said, head: _Said | None, title: str) -> bool:
    """Return whether a sentence tells another fault than the title, where a message lists several of them."""
    if (
        head is None
        or one is head
        or one.verdict.role not in _FAULTS
        or overlap(one.sentence.text, title) >= _MIN_SHARED
    ):
        return False
    ours, theirs = head.sentence, one.sentence
    if ours.source == "heading":
        return theirs.under not in ("", ours.text)
    are_apart = ours.under != theirs.under or (
        ours.kind in _LISTED and theirs.kind in _LISTED and theirs.first_of_passage
    )
    return head.verdict.role in _FAULTS and ours.source == "closing" and are_apart


def _weighed(value: Callable[[_Said], float], title: str, one: _Said) -> float:
    """Return what a sentence counts: more when it speaks of what the title says."""
    return value(one) * (1 + overlap(title, one.sentence.text))


def _is_title(one: _Said, title: str) -> bool:
    """Return whether a sentence says no more than the title."""
    text = headline.bare(one.sentence.text)
    return overlap(text, title) >= _SAME and len(text) <= len(title) + _LONGER


def _value(one: _Said) -> float:
    return one.value


def _cause(one: _Said) -> float:
    return one.verdict.cause


def _outcome(one: _Said) -> float:
    return max(one.verdict.result, one.verdict.decision, one.verdict.finding)


def impersonal_sentence(text: str) -> str:
    """Return a sentence for a summary, without label and first person."""
    return impersonal(headline.bare(text))


def _kind(
    given: Material,
    title: str,
    commit: Commit | None,
    changes: Sequence[FileChange],
    fix: Fix | None,
    head: _Said | None,
) -> WorkKind:
    """Return the kind by what happened: a verified fix, the type of the commit, the verb of its subject or of the
    plan's heading, else what the judge thinks. A fault that was only told is a discovery."""
    of_commit = _COMMIT_KINDS.get(_type_of(commit)) if commit else None
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


def _is_only_told(given: Material, head: _Said) -> bool:
    """Return whether the title states a fault that is still there, and nothing says that anything was done about it."""
    text = head.sentence.text
    if head.verdict.role not in _FAULTS or not _IS_THERE.search(text) or _IS_PAST.search(text):
        return False
    said = (_Said(*pair) for pair in zip(given.candidates, given.judgement.verdicts, strict=True))
    done = [
        one for one in said if one.sentence.source == "closing" and (one.verdict.role == "result" or _reports_work(one))
    ]
    return not any(one.value >= _MIN_VALUE for one in done)


def _type_of(commit: Commit) -> str:
    return commit.subject.partition(":")[0].partition("(")[0].rstrip("!").strip().lower()


def _fix_card(fix: Fix, said: Sequence[_Said]) -> Draft | None:
    """Return the memory of a failure that was put right beside the work of the title, for when it comes back: of tests
    that failed before the turn, or one that somebody speaks of. Else it was a slip on the way."""
    about = _about_run(fix.failure, said)
    if not about and (fix.own_work or not failing_tests(fix.failure)):
        return None
    explaining = [one for one in about if one.states_cause or _reports_work(one)]
    best = max(explaining, key=lambda one: _nearness(one, fix.failure), default=None)
    is_near = best is not None and _nearness(best, fix.failure) >= _MIN_EXPLAINED
    explained = f"{_explained(best)} " if best and is_near else ""
    summary = f"{explained}{facts.failed(fix)} {facts.helped(fix)} {facts.passes(fix)}"
    return make_draft(
        "bugfix",
        title_of_fix(fix),
        summary,
        facts=[*facts.of_fix(fix, summary), *facts.of_files(fix.changes)],
        files=[change.path for change in fix.changes],
        symbols=[symbol for change in fix.changes for symbol in change.symbols],
        anchors=anchors_of_run(fix.failure),
        confidence=0.6 if fix.own_work else 0.8,
    )


def _about_run(ran: Ran, said: Sequence[_Said]) -> list[_Said]:
    """Return the sentences that speak of a failed command, its cause or its errors."""
    return [one for one in said if _nearness(one, ran) >= _MIN_SHARED and _is_useful(one)]


def _nearness(one: _Said, ran: Ran) -> float:
    return overlap(one.sentence.text, _seen(ran))


def _reports_work(one: _Said) -> bool:
    """Return whether a sentence says what was done; that something passes now is no work."""
    return reported(headline.bare(one.sentence.text)) != ""


def _seen(ran: Ran) -> str:
    return f"{ran.command} {cause_of(ran)} {' '.join(ran.errors)}"


def _explained(one: _Said) -> str:
    return whole_sentences([impersonal_sentence(one.sentence.text)], _MAX_EXPLANATION)


def _failure_card(ran: Ran, said: Sequence[_Said]) -> Draft | None:
    """Return the memory of a command that still fails, if the closing message speaks of it: else somebody went on."""
    about = [
        one
        for one in _about_run(ran, said)
        if _FAILS.search(one.sentence.text) and not _IS_OVER.search(one.sentence.text)
    ]
    if not about:
        return None
    nearest = max(about, key=lambda one: _nearness(one, ran))
    totals = f" ({ran.run.totals()})" if ran.run else ""
    cause = within(cause_of(ran), 300).rstrip(".")
    return make_draft(
        "failure",
        title_of_failure(ran),
        f"{ran.command} failed{totals}: {cause}. {_explained(nearest)}",
        facts=[*failing_tests(ran), *(f"Error: {error}" for error in ran.errors[:3])],
        anchors=anchors_of_run(ran),
        origin="web" if ran.fetched else "command",
        confidence=0.6,
    )
