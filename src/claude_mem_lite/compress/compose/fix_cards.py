"""Memories of failed commands: of one that was put right beside the other work of a turn, or that still fails."""

from collections.abc import Sequence
from operator import itemgetter

from claude_mem_lite.compress.compose import facts, headline
from claude_mem_lite.compress.compose.best_title import MIN_TITLE_OF_CAUSE, offered_titles
from claude_mem_lite.compress.compose.material import FAULTS, Judged, Material
from claude_mem_lite.compress.prose.drafts import make_draft, whole_sentences
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.compress.rules.fix_pairing import Fix, cause_of, failing_tests, title_of_failure, title_of_fix
from claude_mem_lite.compress.rules.next_steps import step_of
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_run
from claude_mem_lite.compress.toolcalls.steps import Ran
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Draft
from claude_mem_lite.text import overlap, within

_MAX_EXPLANATION = 260
_MIN_SHARED = 0.25
_MIN_EXPLAINED = 0.4
"""Smallest share of the words of a sentence that a failure has, for the sentence to open the memory of its fix."""
_MAX_QUOTED = 0.6
"""Largest share of the words of a headline that a failure has: one of more only repeats the error."""
_MIN_NAME = 4
"""Fewest characters of a name that is looked for in a text."""
_FAILS = lazy(r"(?i)\b(?:fail(?:s|ed|ing|ures?)?|broken|breaks|crash\w*)\b")
_IS_OVER = lazy(r"(?i)\b(?:no longer|fix(?:ed|es)|resolve[sd]|solved|passes|passing|repaired|works|now green)\b")


def fix_card(fix: Fix, given: Material, *, is_all: bool) -> Draft | None:
    """Return the memory of a failure that was put right beside the work of the title, for when it comes back: of tests
    that failed before the turn, or one that somebody speaks of. Else it was a slip on the way.

    Where it is all that the turn leaves, a sentence that tells what it was about gives the title."""
    about = _about_run(fix.failure, given.said)
    if not about and (fix.own_work or not failing_tests(fix.failure)):
        return None
    title, telling = _stated(fix, given) if is_all else ("", None)
    explaining = [one for one in about if one.states_cause or one.reports_work]
    best = max(explaining, key=lambda one: _nearness(one, fix.failure), default=None)
    if telling is None and best is not None and _nearness(best, fix.failure) >= _MIN_EXPLAINED:
        telling = best
    explained = f"{_explained(telling)} " if telling else ""
    summary = f"{explained}{facts.failed(fix)} {facts.helped(fix)} {facts.passes(fix)}"
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


def _stated(fix: Fix, given: Material) -> tuple[str, Judged | None]:
    """Return the best headline of what the agent says of a fix, of a cause if it names one, and its sentence; '' when
    it says nothing of it."""
    telling = {at: one for at, one in enumerate(given.said) if _tells_of(fix, one)}
    offered = [
        (title.at, title.text, good) for good, title in offered_titles(given, proposals=False) if title.form != "cut"
    ]
    # A sentence that gives no headline as a whole may give one up to its first semicolon.
    clauses = ((at, headline.of_sentence(one.sentence.text.partition("; ")[0])) for at, one in telling.items())
    offered += ((at, text, MIN_TITLE_OF_CAUSE) for at, text in clauses if text)
    # Beside an install, and where the failure may be of the turn's own making, what was done may be other work.
    is_sole = not fix.repair.commands and not fix.own_work
    sure = [
        (telling[at].verdict.role in FAULTS, good, at, text)
        for at, text, good in offered
        if at in telling and overlap(text, _seen(fix.failure)) < _MAX_QUOTED
    ]
    sure = [one for one in sure if one[0] or (is_sole and one[1] >= MIN_TITLE_OF_CAUSE)]
    if not sure:
        return "", None
    *_, at, text = max(sure, key=itemgetter(0, 1))
    return capital(text), telling[at]


def _tells_of(fix: Fix, one: Judged) -> bool:
    """Return whether a sentence that stands alone speaks of what was put right, and not of what is left."""
    is_said = one.sentence.source in ("body", "closing") and one.fits and one.is_useful
    return is_said and speaks_of(fix, one.sentence.text) and not step_of(one.sentence)


def _about_run(ran: Ran, said: Sequence[Judged]) -> list[Judged]:
    """Return the sentences that speak of a failed command, its cause or its errors."""
    return [one for one in said if _nearness(one, ran) >= _MIN_SHARED and one.is_useful]


def _nearness(one: Judged, ran: Ran) -> float:
    return overlap(one.sentence.text, _seen(ran))


def _seen(ran: Ran) -> str:
    return f"{ran.command} {cause_of(ran)} {' '.join(ran.errors)}"


def _explained(one: Judged) -> str:
    return whole_sentences([one.told()], _MAX_EXPLANATION)


def failure_card(ran: Ran, said: Sequence[Judged]) -> Draft | None:
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


def speaks_of(fix: Fix, text: str) -> bool:
    """Return whether a text shares words with a failure, or names a test, function or file of the fix."""
    tests = [test.name for test in fix.failure.run.failures] if fix.failure.run else []
    symbols = [symbol.name.rpartition(".")[2] for change in fix.changes for symbol in change.symbols]
    stems = [change.path.rpartition("/")[2].partition(".")[0] for change in fix.changes]
    names = {name.lower() for name in (*tests, *symbols, *stems) if len(name) >= _MIN_NAME}
    words = text.lower()
    return overlap(text, _seen(fix.failure)) >= _MIN_SHARED or any(name in words for name in names)
