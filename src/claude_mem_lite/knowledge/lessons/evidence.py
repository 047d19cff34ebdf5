"""The memory that a candidate becomes, and the user's words that stand in its detail as evidence.

A memory in the user's own words is `origin` user and made by rules or the user. One that an agent or a model worded is
`origin` user too, but made by them and trusted as they are: it is never given as a standing rule before the user
accepts it."""

from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.compress.lessons.reader import kind_asked
from claude_mem_lite.compress.lessons.statement import statement_of
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.event_names import is_past
from claude_mem_lite.knowledge.confidence import FIRST_OF_USER
from claude_mem_lite.models import MAX_DETAIL_LENGTH, MAX_FILES, MAX_TITLE_LENGTH, TRANSCRIPT_TRUST, TRUST, Memory
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.lesson_candidates import Candidate
from claude_mem_lite.text import within

SAVED_BY_AGENT_LEAD = "Saved by the agent after the user said"
WORDED_BY_MODEL_LEAD = "Worded by a model after the user said"
SAID_LEAD = "The user said"
_MAX_BEFORE = 200


def memory_id(candidate: Candidate) -> str:
    """Return the id of the memory that a candidate becomes."""
    return short_id("lesson memory", candidate.id)


def users_words(candidate: Candidate, evidence: Sequence[Candidate], *, is_everywhere: bool = False) -> Memory:
    """Return the memory of a candidate as one statement in its own words, with all that was said as evidence."""
    said = statement_of(candidate.sentence)
    is_past_word = any(is_past(one.turn) for one in evidence)
    return Memory(
        id=memory_id(candidate),
        kind=kind_asked(said),
        title=within(said.rstrip("."), MAX_TITLE_LENGTH),
        summary=said,
        detail=detail_of(SAID_LEAD, evidence),
        files=tuple(files_named(candidate.sentence))[:MAX_FILES],
        created_at=candidate.created_at,
        last_seen_at=max(one.created_at for one in evidence),
        scope="universal" if is_everywhere else f"project:{candidate.project}",
        project=candidate.project,
        session=candidate.session,
        origin="user",
        trust=TRANSCRIPT_TRUST if is_past_word else TRUST["user"],
        confidence=FIRST_OF_USER,
    )


def in_other_words(memory: Memory, candidate: Candidate, lead: str) -> Memory:
    """Return a memory that an agent or a model worded as the user's word, with the user's sentence as evidence."""
    return replace(
        memory,
        detail=with_more(memory.detail, detail_of(lead, [candidate])),
        origin="user",
        trust=TRUST["assistant"],
        confidence=FIRST_OF_USER,
    )


def detail_of(lead: str, evidence: Sequence[Candidate]) -> str:
    """Return one line for each time that something was said: when, in which words, in answer to what."""
    lines = [f'{lead} on {one.created_at:%Y-%m-%d}: "{one.sentence}"{_answering(one)}' for one in evidence]
    return within("\n".join(dict.fromkeys(lines)), MAX_DETAIL_LENGTH)


def with_more(detail: str, more: str) -> str:
    """Return a detail with further lines, each once, as far as there is room."""
    lines = dict.fromkeys(line for line in (*detail.split("\n"), *more.split("\n")) if line)
    return within("\n".join(lines), MAX_DETAIL_LENGTH)


def _answering(candidate: Candidate) -> str:
    end = candidate.after_message[-_MAX_BEFORE:].partition(" ")[2]
    return f' (in answer to: "…{end}")' if end else ""
