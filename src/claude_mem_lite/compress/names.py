"""What a piece of work is called: by the closing message, the prompt, the failure, or at worst the files."""

import re
from collections.abc import Iterable, Sequence

from claude_mem_lite.compress import titles
from claude_mem_lite.compress.closing import Closing
from claude_mem_lite.compress.drafts import prompt_text
from claude_mem_lite.compress.edits import FileChange
from claude_mem_lite.compress.fixes import Fix
from claude_mem_lite.compress.sentence_kinds import is_talk, states_cause
from claude_mem_lite.compress.verbs import INQUIRIES, base_of
from claude_mem_lite.models import SymbolAction

_VERBS: dict[SymbolAction, tuple[str, str]] = {"new": ("Add", "to"), "deleted": ("Remove", "from")}
_ANAPHORA = re.compile(
    r"(?i)^(?:now )?(?:this|these|that|those|it|they|but|however|also|here|there|i|we|you|which|such|yes|no|so|result"
    r"|and)\b"
)
_UNFINISHED = re.compile(r"(?i)\b(?:shows?|is|are|be|includes?|to|with|like|following|functions?|both|will|see|uses?)$")
_CONDITION = re.compile(r"(?i)^(?:when|if|once|after|before|while|since|because|for|in|on|as)\b")
_SAYS_NOTHING = re.compile(r"(?:AssertionError(?:: )?)?(?:assert(?: \S+){0,6})?$")
_NOW = re.compile(r"(?i)\b(?:now|no longer|will now)\b")
_HEADING_LEAD = re.compile(
    r"(?i)^(?:(?:summary|changes?|fix(?:es)?|done|update|result|p\d(?: #\d+)?)\b[^:–—-]{0,30}[:–—-]\s+)+"
)


def best_title(prompt: str, closing: Closing) -> str:
    """The title that tells most: what was reported, what was asked for, or how things are now; '' when none tells."""
    lead_ins = _lead_ins(closing)
    decided = closing.decisions()
    told = [said for said in closing.told[:8] if said not in decided]
    reports = _reported((*told, *lead_ins))
    asked = _asked(prompt)
    headings = _reported(_HEADING_LEAD.sub("", heading) for heading in closing.headings[:4])
    items = _reported(closing.points[:6])
    plain_told = [said for said in told[:6] if not _ANAPHORA.match(said) and not base_of(said.split()[0])]
    states = _states(closing, plain_told, lead_ins)
    others = [_statement(said) for said in plain_told if not states_cause(said)]
    pools: tuple[tuple[list[str], float], ...] = (
        (reports, 4.0),
        (asked, 4.0),
        (headings, 3.0),
        (states, 4.0),
        (asked, 3.0),
        (items, 4.0),
        (reports, 2.5),
        (others, 4.0),
        (asked, 2.0),
        (items, 3.0),
    )
    telling = (title for pool, floor in pools for title in pool if titles.weight(title) >= floor)
    return next((title for title in telling if len(title.split()) >= 3), "")


def cause_of(fix: Fix) -> str:
    """What went wrong, in one line: the failing test with its error, else the first error."""
    run = fix.failure.run
    if run and run.failures:
        first = run.failures[0]
        more = f" (and {len(run.failures) - 1} more)" if len(run.failures) > 1 else ""
        return f"{first.name}: {first.error}{more}" if first.error else f"{first.name}{more}"
    return fix.failure.errors[0] if fix.failure.errors else f"exit code {fix.failure.code}"


def title_of_failure(fix: Fix) -> str:
    """What was put right, by its failing test or first error."""
    run = fix.failure.run
    if run and run.failures:
        test = run.failures[0]
        name = test.name.rsplit("::", 1)[-1].rsplit(" › ", 1)[-1].rsplit(" > ", 1)[-1]
        error = bare_error(test.error)
        symbol = next((symbol.name for change in fix.changes for symbol in change.symbols), "")
        if symbol and _SAYS_NOTHING.match(error):
            return f"Fix {symbol} to make {name} pass"
        return f"Fix {titles.cut(f'{name}: {error}' if error else f'failing {name}', 14)}"
    return f"Fix {fix.failure.role} failure: {titles.cut(bare_error(cause_of(fix)), 12)}"


def bare_error(error: str) -> str:
    """An error without the place it occurred."""
    return re.sub(r"^\S+?:\d+(?::\d+)?:\s*", "", error)


def title_of_changes(changes: Sequence[FileChange]) -> str:
    """The file that changed most, and the functions in it: all that is left when nobody said what was done."""
    if not changes:
        return "Commit the work so far"
    first = max(changes, key=lambda change: change.added + change.removed)
    more = (
        "" if len(changes) == 1 else " and 1 more file" if len(changes) == 2 else f" and {len(changes) - 1} more files"
    )
    if first.moved_from:
        return f"Rename {first.moved_from} to {first.path}{more}"
    if first.action != "modified":
        return f"{'Create' if first.action == 'new' else 'Delete'} {first.path}{more}"
    actions = {symbol.action for symbol in first.symbols}
    verb, place = _VERBS.get(actions.pop(), ("Change", "in")) if len(actions) == 1 else ("Change", "in")
    names = ", ".join(symbol.name for symbol in first.symbols[:2])
    return f"{verb} {names} {place} {first.path}{more}" if names else f"Change {first.path}{more}"


def _reported(sentences: Iterable[str]) -> list[str]:
    found = [titles.from_report(sentence) for sentence in sentences]
    return [title for title in found if title and title.split(" ", 1)[0].lower() not in INQUIRIES]


def _asked(prompt: str) -> list[str]:
    title = titles.from_prompt(prompt_text(prompt))
    words = title.split()
    return [title] if len(words) >= 4 and words[0].lower() not in INQUIRIES else []


def _lead_ins(closing: Closing) -> list[str]:
    """Sentences that lead on to a list or a code block, without their colon."""
    found = [said.text.rstrip(":") for said in closing.said[:8] if said.kind == "text" and said.text.endswith(":")]
    return [text for text in found if not is_talk(text)]


def _states(closing: Closing, told: Iterable[str], lead_ins: Iterable[str]) -> list[str]:
    """Sentences on how things are now: whole ones, long lead-ins, and short ones with the first item of their list."""
    long = [text for text in lead_ins if len(text.split()) > 8]
    more = [text for text in (*long, *closing.joined()) if not base_of(text.split()[0]) and not _ANAPHORA.match(text)]
    return [_statement(said) for said in (*told, *more) if _NOW.search(said)]


def _statement(said: str) -> str:
    """A sentence as a title; '' when only half of it would fit."""
    said = said.removeprefix("Now ").removeprefix("now ")
    title = titles.from_statement(said)
    cut = len(title) < len(said.rstrip(".!: ")) - 2
    return "" if _UNFINISHED.search(title) or (cut and _CONDITION.match(said)) else title
