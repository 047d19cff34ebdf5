"""What a session leaves open -> its handoff: one memory, told anew after each turn while something is open.

Here is also how a handoff is read again, step by step, and cut down to what is left of it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.drafts import make_draft, prompt_text, whole_sentences
from claude_mem_lite.compress.language.prose import sentences
from claude_mem_lite.compress.language.sentence_kinds import states_block
from claude_mem_lite.models import FOREIGN_ORIGINS, Draft, Memory, SessionSummary, Turn, TurnDigest
from claude_mem_lite.patterns import lazy
from claude_mem_lite.words import within

FAILING = "Still failing: "
"""Before the title of a failure, in the notes of a summary and in a handoff."""
_TITLE = "Left open: "
OPEN = "Open when it stopped: "
_BROKEN_OFF = "The session broke off while at this: "
_ASKS_FOR_WORK = lazy(r"(?i)\W*(?:please|(?:can|could|would|will) (?:you|we)|let's)\b")
_LONGEST_ITEM = 140
_LONGEST_TOLD = 800
_MOST_FILES = 5


def handoff(summary: SessionSummary, turn: Turn, digest: TurnDigest, branch: str = "") -> Draft | None:
    """What is open once this turn is over, in the past tense; None when nothing is."""
    broken_off = _broken_off(turn)
    blocked = [text.rstrip(".") for text in sentences(summary.notes) if states_block(text)]
    open_items = [text for text in (broken_off, *summary.next_steps, *blocked) if text]
    if not open_items:
        return None
    steps = "; ".join(step.rstrip(".") for step in summary.next_steps)
    told = (
        f"{_BROKEN_OFF}{broken_off}" if broken_off else "",
        f"{OPEN}{steps}" if steps else "",
        *blocked,
    )
    return make_draft(
        "handoff",
        _title(open_items),
        whole_sentences(told, _LONGEST_TOLD),
        facts=_state(digest, branch),
        files=summary.files_edited[-_MOST_FILES:],
        confidence=0.8,
    )


def steps_of(left: Memory) -> list[str]:
    """What a handoff says is open, one by one."""
    text, failing, failure = " ".join(left.summary.split()).partition(FAILING)
    # A failure is one step, whatever marks its error has; what blocks the work stands behind it.
    failure, _, blocked = failure.partition(". ")
    rest = [f"{FAILING}{failure.rstrip('.')}", *re.split(r"(?<=[.;])\s+", blocked)] if failing else []
    return [*_steps_in(text), *(step for step in rest if step)]


def _steps_in(text: str) -> list[str]:
    if OPEN not in text and _BROKEN_OFF not in text:
        return [part for part in re.split(r"(?<=[.;])\s+", text) if part]
    before, _, after = text.partition(OPEN)
    broken_off = [before.partition(_BROKEN_OFF)[2]] if _BROKEN_OFF in before else []
    parts = [part for step in after.split("; ") for part in step.split(". ")]
    return [bare for part in (*broken_off, *parts) if (bare := part.strip().rstrip("."))]


def cut_down(left: Memory, remaining: Sequence[str]) -> Memory:
    """A handoff that tells only what is still open of it."""
    # A failure last: whatever marks its error has, it ends where the text does.
    steps = sorted(remaining, key=lambda step: step.startswith(FAILING))
    return replace(left, title=_title(steps), summary=f"{OPEN}{'; '.join(steps)}.")


def _title(items: Sequence[str]) -> str:
    more = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
    return f"{_TITLE}{within(items[0].rstrip('.'), _LONGEST_ITEM)}{more}"


def _broken_off(turn: Turn) -> str:
    """What a turn was about that did not come to its end: stopped by the user, by an error or with the machine."""
    own = [event for event in turn.events if not event.agent_id]
    if not any(event.prompt or event.tool for event in own) or turn.events[-1].kind == "Stop":
        return ""
    said = prompt_text(turn.prompt)
    if len(said.split()) < 3 or (said.endswith("?") and not _ASKS_FOR_WORK.match(said)):
        return ""  # `clear`, `exit`, or a question, which the next session may put again
    return titles.from_prompt(said) or titles.from_statement(said)


def _state(digest: TurnDigest, branch: str) -> list[str]:
    """The branch, what failed last, and what the open turn had edited."""
    failures = [draft for draft in digest.drafts if draft.kind == "failure" and draft.origin not in FOREIGN_ORIGINS]
    return [
        *([f"Branch: {branch}"] if branch else ()),
        *(f"Failed last: {fact}" for draft in failures[-1:] for fact in draft.facts[:2]),
        *([f"Edited last: {', '.join(digest.files_edited[-_MOST_FILES:])}"] if digest.files_edited else ()),
    ]
