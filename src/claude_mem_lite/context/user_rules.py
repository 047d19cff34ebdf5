"""The user's standing rules: the memories that a session is told to follow. All others are told for reference.

A security boundary. A memory that anybody but the user worded must never pass: words of agents, pages, tools, commands,
code and imported files may carry orders."""

from claude_mem_lite.models import TRUST, UNDONE_LEAD, Kind, Memory

RULE_KINDS: tuple[Kind, ...] = ("rule", "preference", "correction", "convention", "anti_pattern")
"""The kinds that say how to work. A decision may hold the words of the agent's question that the user answered."""


def is_users_rule(memory: Memory) -> bool:
    """Whether a memory says how to work in the user's own words, and nobody else's.

    A pin is no word of the user's, and words of imported transcripts are trusted less until the user confirms them. The
    note that a change was taken back names files and functions, and those are named by whoever wrote the code."""
    return (
        memory.origin == "user"
        and memory.trust >= TRUST["user"]
        and memory.status == "active"
        and memory.kind in RULE_KINDS
        and not memory.summary.startswith(UNDONE_LEAD)
    )
