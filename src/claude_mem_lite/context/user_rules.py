"""The user's standing rules: memories that an agent shall follow. All other memories are for reference.

A security boundary. No memory may pass that anybody but the user worded: text of agents, pages, tools, commands, code
and imported files may carry orders."""

from claude_mem_lite.models import TRUST, Kind, Memory, is_revert

RULE_KINDS: tuple[Kind, ...] = ("rule", "preference", "correction", "convention", "anti_pattern")
"""Kinds that describe a way to work. Decisions are excluded: a decision may quote the agent's question."""
MIN_RULE_CONFIDENCE = 0.85
"""Confidence of statements that the user made as permanent, or in two sessions. A single remark has less."""


def is_users_rule(memory: Memory) -> bool:
    """Return whether a memory is a lasting instruction in the user's own words only.

    Imported transcripts are trusted less until the user confirms them. Notes about reverted changes are excluded,
    because of the names of files and functions in the notes: anybody may have chosen the names."""
    return (
        memory.origin == "user"
        and memory.trust >= TRUST["user"]
        and memory.status == "active"
        and memory.kind in RULE_KINDS
        and not is_revert(memory)
        and _is_lasting(memory)
    )


def _is_lasting(memory: Memory) -> bool:
    """Return whether the user wrote, edited or pinned a memory, or stated or confirmed it as permanent."""
    return memory.made_by == "user" or memory.pinned or memory.confidence >= MIN_RULE_CONFIDENCE
