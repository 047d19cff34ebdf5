"""What a piece of work is called: by the closing message, the prompt, or at worst the files."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from claude_mem_lite.code.values import SymbolAction
from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.closing import Closing
from claude_mem_lite.compress.language.drafts import prompt_text
from claude_mem_lite.compress.language.sentence_kinds import is_talk, refers_back, states_cause, states_next_step
from claude_mem_lite.compress.language.verbs import INQUIRIES, base_of, without_lead
from claude_mem_lite.compress.tools.edits import FileChange
from claude_mem_lite.patterns import lazy

_VERBS: dict[SymbolAction, tuple[str, str]] = {"new": ("Add", "to"), "deleted": ("Remove", "from")}
NAMED_BY_FILE = lazy(
    r"(?:Change .* in \S+|(?:Change|Create|Delete) \S+|(?:Add|Remove) .* (?:to|from) \S+(?= and))"
    r"(?: and \d+ more files?)?$"
)
_IN_PERSON = lazy(r"(?i)^(?:i|we|yes|no)\b")
_UNFINISHED = lazy(r"(?i)\b(?:shows?|is|are|be|includes?|to|with|like|following|functions?|both|will|see|uses?)$")
_CONDITION = lazy(r"(?i)^(?:when|if|once|after|before|while|since|because|for|in|on|as)\b")
_NOW = lazy(r"(?i)\b(?:now|no longer|will now)\b")
_HEADING_LEAD = lazy(
    r"(?i)^(?:(?:summary|changes?|fix(?:es)?|done|update|result|p\d(?: #\d+)?)\b[^:–—-]{0,30}[:–—-]\s+)+"
)


def best_title(prompt: str, closing: Closing, *, bug: bool) -> str:
    """The title that tells most: what was reported, what was asked for, or how things are now; '' when none tells.

    Of a bug that was put right the outcome tells more than what was added for it."""
    lead_ins = _lead_ins(closing)
    decided = closing.decisions()
    told = [said for said in closing.told[:8] if said not in decided and not states_next_step(said)]
    reports = _reported((*told, *lead_ins))
    asked = _asked(prompt)
    headings = _reported(_HEADING_LEAD.sub("", heading) for heading in closing.headings[:4])
    items = _reported(closing.points[:6])
    plain_told = [said for said in told[:6] if _stands_alone(said)]
    states = _states(closing, plain_told, lead_ins)
    others = [_statement(said) for said in plain_told if not states_cause(said)]
    outcome: tuple[tuple[list[str], float], ...] = (
        ([title for title in reports if title.startswith("Fix ")], 3.0),
        ([_statement(said) for said in plain_told[:2] if _NOW.search(said)], 4.0),
    )
    pools: tuple[tuple[list[str], float], ...] = (
        *(outcome if bug else ()),
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


def title_of_changes(changes: Sequence[FileChange]) -> str:
    """The file that changed most, and the functions in it: all that is left when nobody said what was done."""
    if not changes:
        return "Commit the work so far"
    first = max(changes, key=lambda change: change.added + change.removed)
    first = first if first.path else replace(first, path="a file without a name")
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
    more = [text for text in (*long, *closing.joined()) if _stands_alone(text)]
    return [_statement(said) for said in (*told, *more) if _NOW.search(said)]


def _stands_alone(said: str) -> bool:
    """Whether a sentence tells something by itself and is no report, which makes a better title as an instruction."""
    bare = without_lead(said)
    return not (refers_back(bare) or _IN_PERSON.match(bare) or base_of(bare.split()[0]))


def _statement(said: str) -> str:
    """A sentence as a title; '' when only half of it would fit."""
    said = without_lead(said)
    title = titles.from_statement(said)
    cut = len(title) < len(said.rstrip(".!: ")) - 2
    return "" if _UNFINISHED.search(title) or (cut and _CONDITION.match(said)) else title
