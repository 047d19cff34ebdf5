"""Session codes: a summary on one dense line for agents, `impl: … | dec: … | block: … | next: …`."""

from collections.abc import Iterable

from claude_mem_lite.compress.language.drafts import whole_clauses
from claude_mem_lite.compress.language.prose import sentences
from claude_mem_lite.compress.language.sentence_kinds import states_block
from claude_mem_lite.models import SessionSummary

_LONGEST_ENTRY = 160
_MOST_ENTRIES = 4


def codes(summary: SessionSummary) -> str:
    """What was done, decided, blocked and left to do; what there is none of is left out."""
    fields = (
        ("impl", sentences(summary.completed)[-_MOST_ENTRIES:]),
        ("dec", summary.key_decisions[-_MOST_ENTRIES:]),
        ("block", [text for text in sentences(summary.notes) if states_block(text)][:_MOST_ENTRIES]),
        ("next", summary.next_steps[:_MOST_ENTRIES]),
    )
    return " | ".join(f"{name}: {told}" for name, entries in fields if (told := _entries(entries)))


def _entries(texts: Iterable[str]) -> str:
    shown = (whole_clauses(text.replace(" | ", " "), _LONGEST_ENTRY).rstrip(" .;") for text in texts)
    return "; ".join(entry for entry in shown if entry)
