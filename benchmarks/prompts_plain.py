"""The plain formula alone: source weight · recency · the fraction of the prompt's keywords that a memory has.

On the product's own memories, with the same keywords and synonyms, without meaning, rarity or the other memories of a
session; what scores above 0.1 is given, as many as the product would at most."""

import sqlite3
from collections.abc import Collection

from claude_mem_lite.context.prompt import keywords, scoring
from claude_mem_lite.context.prompt.builder import MAX_ITEMS
from claude_mem_lite.context.prompt.keywords import Synonyms
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.models import Memory
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts

LEAST = 0.1
_CANDIDATES = 60


def plain_choice(
    db: sqlite3.Connection, prompt: str, request: ContextRequest, told: Collection[str], synonyms: Synonyms
) -> list[Memory]:
    """What a prompt would be given, the best first."""
    asked = keywords.read(prompt, synonyms)
    if not asked.terms:
        return []
    rows = fts.search(db, asked.terms, Filters(project=request.location.project), _CANDIDATES)
    scores: dict[str, tuple[float, Memory]] = {}
    for memory in memories.by_seq(db, [seq for seq, _ in rows]).values():
        if memory.id in told or memory.session == request.session:
            continue
        if memory.kind == "goal" and not asked.speaks_of_goals:
            continue
        found = set(asked.found_in(memory)) & set(asked.terms)
        score = scoring.weight_of(memory.kind) * scoring.recency_of(memory, request.now) * len(found)
        scores[memory.id] = (score / len(asked.terms), memory)
    ranked = sorted(scores.values(), key=lambda one: (-one[0], one[1].id))
    return [memory for score, memory in ranked if score > LEAST][:MAX_ITEMS]
