"""Page of one memory: its text, source, history and actions."""

from collections.abc import Iterator

from claude_mem_lite.client.client import Client
from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import MAX_TEXT_LENGTH
from claude_mem_lite.responses.memories import CodeFreshness, MemoryRecord
from claude_mem_lite.responses.team import TeamChoice
from claude_mem_lite.ui.actions import mark_of, said
from claude_mem_lite.ui.repeated_text import title_and_more
from claude_mem_lite.ui.templating import MAX_SHOWN, Asked, View, render, shortened

_MAX_FACT_LENGTH = 1_000
_MAX_FACTS = 50
_FRESHNESS = {
    "fresh": "It matches the code.",
    "changed": "It may be stale: its code has changed.",
    "gone": "Its code is gone.",
}


def memory(asked: Asked) -> str:
    """Return the page, or the whole text of a memory."""
    history = asked.client.history(asked.path["id"])
    record = asked.client.record(history.id)
    if not isinstance(record, MemoryRecord):
        raise NotFound(f"{asked.path['id']} is not a memory", "the feed leads to memories")
    if asked.chosen("all"):
        return render("memory_whole.html", memory=record, text=shortened(said(record), is_all=True))
    freshness = record.freshness or CodeFreshness()
    return render(
        "memory.html",
        memory=_shown(record, verdict=freshness.verdict, has_prompt=history.turn is not None),
        project=history.project,
        history=history,
        anchors=list(_anchors(record)),
        freshness=_FRESHNESS.get(freshness.verdict, ""),
        reasons=freshness.reasons,
        mark=mark_of(record),
        choice=_team_choice(asked.client, record.id),
    )


def _team_choice(client: Client, memory_id: str) -> TeamChoice | None:
    """Return whether a memory goes to the team; None outside of a team."""
    return client.team_memory(memory_id) if client.team_status(check=False).is_joined else None


def _shown(record: MemoryRecord, *, verdict: str, has_prompt: bool) -> View:
    """Return a memory with its text as shown and as edited; a text beyond the limit cannot be edited on the page."""
    title, summary = title_and_more(record, has_prompt=has_prompt)
    whole = said(record)
    facts, detail = record.facts, record.detail
    return View(
        record,
        verdict=verdict,
        headline=title,
        shown_summary=shortened(summary),
        shown_detail=shortened(detail, most=max(MAX_SHOWN - len(summary), 0)),
        shown_facts=[fact[:_MAX_FACT_LENGTH] for fact in facts[:_MAX_FACTS]],
        length=len(whole),
        is_cut=len(summary) + len(detail) > MAX_SHOWN
        or len(facts) > _MAX_FACTS
        or any(len(fact) > _MAX_FACT_LENGTH for fact in facts),
        edited=whole,
        is_editable=len(whole) <= MAX_TEXT_LENGTH and len(record.title) <= _MAX_FACT_LENGTH,
    )


def _anchors(record: MemoryRecord) -> Iterator[tuple[str, str]]:
    """Return the anchors of a memory, each as type and name."""
    for written in record.anchors:
        if code := read_anchor(written):
            yield ("code" if code.name else "file"), f"{code.file}: {code.name}" if code.name else code.file
        else:
            kind, _, name = written.partition(":")
            yield kind, name
