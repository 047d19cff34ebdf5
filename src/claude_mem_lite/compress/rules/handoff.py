"""What a session leaves open -> its handoff: one memory, told anew after each turn while something is open."""

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.drafts import make_draft, prompt_text, whole_sentences
from claude_mem_lite.compress.language.prose import sentences
from claude_mem_lite.compress.language.sentence_kinds import states_block
from claude_mem_lite.models import FOREIGN_ORIGINS, Draft, SessionSummary, Turn, TurnDigest
from claude_mem_lite.words import within

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
    first, more = within(open_items[0].rstrip("."), _LONGEST_ITEM), len(open_items) - 1
    steps = "; ".join(step.rstrip(".") for step in summary.next_steps)
    told = (
        f"The session broke off while at this: {broken_off}" if broken_off else "",
        f"Open when it stopped: {steps}" if steps else "",
        *blocked,
    )
    return make_draft(
        "handoff",
        f"Left open: {first}" + (f" (and {more} more)" if more else ""),
        whole_sentences(told, _LONGEST_TOLD),
        facts=_state(digest, branch),
        files=summary.files_edited[-_MOST_FILES:],
        confidence=0.8,
    )


def _broken_off(turn: Turn) -> str:
    """What a turn was about that did not come to its end: stopped by the user, by an error or with the machine."""
    own = [event for event in turn.events if not event.agent_id]
    if not any(event.prompt or event.tool for event in own) or turn.events[-1].kind == "Stop":
        return ""
    said = prompt_text(turn.prompt)
    return titles.from_prompt(said) or (titles.from_statement(said) if len(said.split()) > 2 else "")


def _state(digest: TurnDigest, branch: str) -> list[str]:
    """The branch, what failed last, and what the open turn had edited."""
    failures = [draft for draft in digest.drafts if draft.kind == "failure" and draft.origin not in FOREIGN_ORIGINS]
    return [
        *([f"Branch: {branch}"] if branch else ()),
        *(f"Failed last: {fact}" for draft in failures[-1:] for fact in draft.facts[:2]),
        *([f"Edited last: {', '.join(digest.files_edited[-_MOST_FILES:])}"] if digest.files_edited else ()),
    ]
