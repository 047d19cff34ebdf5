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
    return " | ".join(f"{name}: {told}" for name, told in coded(summary).items() if told)


def coded(summary: SessionSummary) -> dict[str, str]:
    """The same by its parts: impl, dec, block, next."""
    fields = (
        ("impl", sentences(summary.completed)[-_MOST_ENTRIES:]),
        ("dec", summary.key_decisions[-_MOST_ENTRIES:]),
        ("block", [text for text in sentences(summary.notes) if states_block(text)][:_MOST_ENTRIES]),
        ("next", summary.next_steps[:_MOST_ENTRIES]),
    )
    return {name: _entries(entries) for name, entries in fields}


def _entries(texts: Iterable[str]) -> str:
    shown = (whole_clauses(text.replace(" | ", " "), _LONGEST_ENTRY).rstrip(" .;") for text in texts)
    return "; ".join(entry for entry in shown if entry)
