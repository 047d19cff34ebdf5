"""The user's standing rules: the memories that a session is told to follow. All others are told for reference.

A security boundary. A memory that anybody but the user worded must never pass: words of agents, pages, tools, commands,
code and imported files may carry orders."""

from claude_mem_lite.models import TRUST, UNDONE_LEAD, Kind, Memory

RULE_KINDS: tuple[Kind, ...] = ("rule", "preference", "correction", "convention", "anti_pattern")
"""The kinds that say how to work. A decision may hold the words of the agent's question that the user answered."""
MIN_RULE_CONFIDENCE = 0.85
"""The grade of words that the user put as holding always, or said in two sessions. A remark made once has less."""


def is_users_rule(memory: Memory) -> bool:
    """Whether a memory says how to work, for good, in the user's own words and nobody else's.

    Words of imported transcripts are trusted less until the user confirms them. The note that a change was taken back
    names files and functions, and those are named by whoever wrote the code."""
    return (
        memory.origin == "user"
        and memory.trust >= TRUST["user"]
        and memory.status == "active"
        and memory.kind in RULE_KINDS
        and not memory.summary.startswith(UNDONE_LEAD)
        and _is_lasting(memory)
    )


def _is_lasting(memory: Memory) -> bool:
    """Whether the user wrote, edited or pinned a memory, or said or confirmed it as something that holds."""
    return memory.made_by == "user" or memory.pinned or memory.confidence >= MIN_RULE_CONFIDENCE
