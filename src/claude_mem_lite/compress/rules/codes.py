"""Session codes: a summary on one dense line for agents, `impl: … | dec: … | block: … | next: …`."""

from collections.abc import Iterable

from claude_mem_lite.compress.prose.drafts import whole_clauses
from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import SessionSummary

_MAX_ENTRY = 160
_MAX_ENTRIES = 4
_BLOCKS = lazy(r"(?i)^still failing: |\bblocked\b")


def codes(summary: SessionSummary) -> str:
    """What was done, decided, blocked and left to do; what there is none of is left out."""
    return " | ".join(f"{name}: {told}" for name, told in coded(summary).items() if told)


def coded(summary: SessionSummary) -> dict[str, str]:
    """The same by its parts: impl, dec, block, next."""
    fields = (
        ("impl", sentences(summary.completed)[-_MAX_ENTRIES:]),
        ("dec", summary.key_decisions[-_MAX_ENTRIES:]),
        ("block", [text for text in sentences(summary.notes) if _BLOCKS.search(text)][:_MAX_ENTRIES]),
        ("next", summary.next_steps[:_MAX_ENTRIES]),
    )
    return {name: _entries(entries) for name, entries in fields}


def _entries(texts: Iterable[str]) -> str:
    shown = (whole_clauses(text.replace(" | ", " "), _MAX_ENTRY).rstrip(" .;") for text in texts)
    return "; ".join(entry for entry in shown if entry)
