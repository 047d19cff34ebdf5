"""Memories of failed commands: fixed beside the other work of a turn, or still failing."""

from collections.abc import Sequence
from operator import itemgetter

from claude_mem_lite.compress.compose import facts, headline
from claude_mem_lite.compress.compose.material import FAULTS, MIN_TITLE_OF_CAUSE, Judged, Material, offered_titles
from claude_mem_lite.compress.compose.next_steps import step_of
from claude_mem_lite.compress.prose.drafts import make_draft, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_run
from claude_mem_lite.compress.toolcalls.fix_pairing import (
    VerifiedFix,
    cause_of,
    failing_tests,
    title_of_failure,
    title_of_fix,
)
from claude_mem_lite.compress.toolcalls.steps import Ran
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Draft
from claude_mem_lite.text import overlap, within

_MAX_EXPLANATION = 260
_MIN_SHARED = 0.25
_MIN_EXPLAINED = 0.4
"""Minimum share of the words of a sentence that a failure has, for the sentence to open the memory of the fix."""
_MAX_QUOTED = 0.6
"""Maximum share of the words of a headline that a failure has: a higher share only repeats the error."""
_MIN_NAME = 4
_FAILS = lazy(r"(?i)\b(?:fail(?:s|ed|ing|ures?)?|broken|breaks|crash\w*)\b")
_IS_OVER = lazy(r"(?i)\b(?:no longer|fix(?:ed|es)|resolve[sd]|solved|passes|passing|repaired|works|now green)\b")


def fix_card(fix: VerifiedFix, material: Material, *, is_all: bool) -> Draft | None:
    """Return the memory of a failure that was fixed beside other work: of tests that failed before the turn, or of a
    failure that a sentence mentions. Any other failure was a slip.

    Where the fix is the only memory of the turn, a sentence about the fix gives the title."""
    about = _about_run(fix.failure, material.sentences)
    if not about and (fix.own_work or not failing_tests(fix.failure)):
        return None
    title, explanation = _stated(fix, material) if is_all else ("", None)
    explaining = [judged for judged in about if judged.states_cause or judged.reports_work]
    best = max(explaining, key=lambda judged: _nearness(judged, fix.failure), default=None)
    if explanation is None and best is not None and _nearness(best, fix.failure) >= _MIN_EXPLAINED:
        explanation = best
    explained = f"{_explained(explanation)} " if explanation else ""
    summary = f"{explained}{facts.failed(fix)} {facts.repaired(fix)} {facts.passes(fix)}"
    return make_draft(
        "bugfix",
        title or title_of_fix(fix),
        summary,
        facts=[*facts.of_fix(fix, summary), *facts.of_files(fix.changes)],
        files=[change.path for change in fix.changes],
        symbols=[symbol for change in fix.changes for symbol in change.symbols],
        anchors=anchors_of_run(fix.failure),
        confidence=0.6 if fix.own_work else 0.8,
    )


def _stated(fix: VerifiedFix, material: Material) -> tuple[str, Judged | None]:
    """Return the best headline of the agent's sentences about a fix, preferably of a cause, and the sentence; '' for
    none."""
    stating = {at: judged for at, judged in enumerate(material.sentences) if _states(fix, judged)}
    offered = [
        (title.at, title.text, good) for good, title in offered_titles(material, proposals=False) if title.form != "cut"
    ]
    # A sentence without a headline as a whole may have a headline up to the first semicolon.
    clauses = ((at, headline.of_sentence(judged.text.partition("; ")[0])) for at, judged in stating.items())
    offered += ((at, text, MIN_TITLE_OF_CAUSE) for at, text in clauses if text)
    # Beside an install, and where the turn itself may have caused the failure, reported work may be other work.
    is_sole = not fix.repair.commands and not fix.own_work
    sure = [
        (stating[at].verdict.role in FAULTS, good, at, text)
        for at, text, good in offered
        if at in stating and overlap(text, _failure_text(fix.failure)) < _MAX_QUOTED
    ]
    sure = [choice for choice in sure if choice[0] or (is_sole and choice[1] >= MIN_TITLE_OF_CAUSE)]
    if not sure:
        return "", None
    *_, at, text = max(sure, key=itemgetter(0, 1))
    return capital(text), stating[at]


def _states(fix: VerifiedFix, judged: Judged) -> bool:
    """Return whether a sentence that stands alone is about a fix, and not about an open step."""
    is_prose = judged.sentence.source in ("body", "closing") and judged.fits and judged.is_useful
    return is_prose and mentions_fix(fix, judged.text) and not step_of(judged.sentence)


def _about_run(ran: Ran, sentences: Sequence[Judged]) -> list[Judged]:
    """Return the sentences about a failed command, the cause or the errors."""
    return [judged for judged in sentences if _nearness(judged, ran) >= _MIN_SHARED and judged.is_useful]


def _nearness(judged: Judged, ran: Ran) -> float:
    return overlap(judged.text, _failure_text(ran))


def _failure_text(ran: Ran) -> str:
    return f"{ran.command} {cause_of(ran)} {' '.join(ran.errors)}"


def _explained(judged: Judged) -> str:
    return whole_sentences([judged.summary_text()], _MAX_EXPLANATION)


def failure_card(ran: Ran, sentences: Sequence[Judged]) -> Draft | None:
    """Return the memory of a command that still fails, if the closing message mentions the failure."""
    about = [
        judged
        for judged in _about_run(ran, sentences)
        if _FAILS.search(judged.text) and not _IS_OVER.search(judged.text)
    ]
    if not about:
        return None
    nearest = max(about, key=lambda judged: _nearness(judged, ran))
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


def mentions_fix(fix: VerifiedFix, text: str) -> bool:
    """Return whether a text shares words with a failure, or names a test, function or file of the fix."""
    tests = [test.name for test in fix.failure.run.failures] if fix.failure.run else []
    symbols = [symbol.name.rpartition(".")[2] for change in fix.changes for symbol in change.symbols]
    stems = [change.path.rpartition("/")[2].partition(".")[0] for change in fix.changes]
    names = {name.lower() for name in (*tests, *symbols, *stems) if len(name) >= _MIN_NAME}
    words = text.lower()
    return overlap(text, _failure_text(fix.failure)) >= _MIN_SHARED or any(name in words for name in names)
