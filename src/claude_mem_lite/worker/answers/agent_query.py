"""What an agent is told because it asked: the start context, once, or the few memories that are about its question.

Within the budgets of its session; once they are used up it is told what there is, by ids. docs/mcp.md has the rules."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.code.freshness.scanner import time_for_context
from claude_mem_lite.config import in_folder
from claude_mem_lite.context import render
from claude_mem_lite.context.item_block import Given, block, with_relations
from claude_mem_lite.context.layers.code_state import note_since, verdict_of, why_not
from claude_mem_lite.context.presets import chosen
from claude_mem_lite.context.project_setting import Setting, detect
from claude_mem_lite.context.prompt.scoring import source_of
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import ON_DEMAND, is_stated, passes, score
from claude_mem_lite.context.similarity import why_said_already
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import new_name
from claude_mem_lite.models import (
    ASKED,
    GUIDANCE_KINDS,
    HELP_KINDS,
    HOOK_MOMENTS,
    KINDS,
    WORK_KINDS,
    Filters,
    Hit,
    Kind,
    Memory,
    Place,
    Receipt,
    ReceiptItem,
    Tally,
)
from claude_mem_lite.store import receipts
from claude_mem_lite.store.branches import is_hidden
from claude_mem_lite.store.session_context import IDS
from claude_mem_lite.text import unframed
from claude_mem_lite.worker.answers.in_flight import Known
from claude_mem_lite.worker.answers.session_start import build_start
from claude_mem_lite.worker.loop import Loop

SHARES = {"project": 200, "language": 150, "universal": 150}
"""Tokens of one answer, by where the memories hold; in this order they are told."""
QUERY = "query"
"""The layer of an answer to a question; the start context, asked for, has its own layers."""
MAX_QUERIES = 2
SESSION_TOKENS = 3000
"""What a session is given when it starts and when it asks, in all."""
_MIN_TOKENS = 80
_MIN_RELEVANCE = 0.3
_CANDIDATES = 40
_MAX_IDS = 10
_MAX_TITLE_LENGTH = 60
_MIN_TITLE_LENGTH = 40
_MAX_TOLD_BEFORE = 5
_KNOWN_TOKENS = 100
"""For naming what a session knows already, where nothing else is told."""
_CATEGORIES: dict[str, tuple[Kind, ...]] = {"guidance": GUIDANCE_KINDS, "work": WORK_KINDS, "help": HELP_KINDS}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a session had, and still remembers, of starts and of answers."""

    queries: int = 0
    tokens: int = 0
    had_start: bool = False
    told: frozenset[str] = frozenset()
    """The ids of what it was given or made itself since it was last compacted."""


def asked(known: Known) -> Asked:
    """How much of its budget a session used. What hooks bring in the middle of work has a budget of its own."""
    answers = [one for one in known.answers if one.moment not in HOOK_MOMENTS]
    return Asked(
        queries=sum(one.moment == ASKED and one.layers == (QUERY,) for one in answers),
        tokens=sum(one.tokens for one in answers),
        had_start=any(one.moment != ASKED or set(one.layers) - {QUERY, IDS} for one in answers),
        told=known.ids,
    )


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, where and when, and what of its budget it has used."""

    session: str
    place: Place
    now: datetime
    had: Asked

    @property
    def left(self) -> int:
        return max(SESSION_TOKENS - self.had.tokens, 0)


@dataclass(frozen=True, slots=True)
class Told:
    """The text of an answer, and the record of it; None when nothing was given."""

    text: str
    receipt: Receipt | None = None


def start(loop: Loop, asker: Asker) -> Told:
    """The start context, for a session that did not have it yet."""
    if asker.had.had_start:
        return Told(
            "This session was given its start context already. Ask with a query, or use memory_search for one thing."
        )
    if asker.left < _MIN_TOKENS:
        return Told(f"{_used_up(asker)} Use memory_search and memory_get.")
    config = in_folder(loop.config, asker.place.root)
    budget = min(config.budget_tokens, asker.left)
    occasion = Occasion(asker.place, asker.now, session=asker.session)
    built = build_start(loop, occasion, budget, chosen(config))
    if not built.text:
        return Told("Nothing is known here yet that a new session should be told.")
    return Told(
        built.text, _receipt(asker, built.items, built.layers, built.tokens, budget=budget, build_ms=built.build_ms)
    )


def about(loop: Loop, db: sqlite3.Connection, asker: Asker, query: str, scope: str, category: str) -> Told:
    """The memories that are about a question, as far as they may be given; by ids alone when the budget is used up."""
    began = time.perf_counter()
    setting = detect(db, asker.place, asker.session)
    scopes = _scopes(asker.place, setting, scope)
    kinds = _kinds(category)
    filters = Filters(project=asker.place.project, kinds=kinds)
    hits = loop.search.search(db, query, filters, asker.now, _CANDIDATES)
    found = _admitted(loop, db, asker, setting, [hit for hit in hits if _scope_of(hit) in scopes.values()])
    new = [one for one in found if one.memory.id not in asker.had.told]
    before = [one.memory for one in found if one.memory.id in asker.had.told][:_MAX_TOLD_BEFORE]
    if asker.had.queries >= MAX_QUERIES or asker.left < _MIN_TOKENS:
        told, layer = _ids_only(asker, new, before), IDS
    else:
        told, layer = _in_shares(db, asker, scopes, new, before), QUERY
    text, items = told
    if not items:
        return Told(text)
    build_ms = round((time.perf_counter() - began) * 1000, 2)
    budget = min(sum(SHARES.values()), asker.left)
    return Told(text, _receipt(asker, items, (layer,), estimate_tokens(text), budget=budget, build_ms=build_ms))


def _scopes(place: Place, setting: Setting, wanted: str) -> dict[str, str]:
    """The scopes that may be told of here, by their sort: those of other projects and languages are none."""
    every = {"project": f"project:{place.project}", "universal": "universal"}
    if setting.language:
        every["language"] = f"language:{setting.language}"
    sort, _, name = (part.strip() for part in wanted.partition(":"))
    sort = sort.lower()
    if sort and sort not in SHARES:
        raise MemoryLiteError(f"{wanted[:40]!r} is no scope", f"use {', '.join(SHARES)}, or none for all")
    if name and f"{sort}:{name}" != every.get(sort):
        raise MemoryLiteError(f"{wanted[:40]!r} is not the {sort} of this session", f"use {sort} for what holds here")
    return {one: every[one] for one in SHARES if one in every and sort in ("", one)}


def _kinds(category: str) -> tuple[Kind, ...]:
    wanted = category.strip().lower()
    if not wanted:
        return KINDS
    if wanted in _CATEGORIES:
        return _CATEGORIES[wanted]
    kind = next((one for one in KINDS if one == wanted), None)
    if kind is None:
        raise MemoryLiteError(f"{category[:40]!r} is no category", f"use {', '.join(_CATEGORIES)} or a kind of memory")
    return (kind,)


def _scope_of(hit: Hit) -> str:
    return hit.found.scope if isinstance(hit.found, Memory) else ""


def _admitted(loop: Loop, db: sqlite3.Connection, asker: Asker, setting: Setting, hits: Sequence[Hit]) -> list[Given]:
    """Those that are trusted, hold here, and are worth it, in their order."""
    relevant = {hit.found.id: hit for hit in hits if hit.score >= _MIN_RELEVANCE}
    found = [hit.found for hit in relevant.values() if isinstance(hit.found, Memory)]
    checkout = loop.looking.checkout(db, asker.place, time_for_context())
    verdicts = checkout.freshness(found)
    tallies = receipts.tallies_since_last_seen(db, [memory.id for memory in found], at_need=True)
    given: list[Given] = []
    for memory in found:
        made = score(memory, asker.now, setting.task, tallies.get(memory.id, Tally()))
        is_elsewhere = not is_stated(memory) and is_hidden(memory.branch, memory.created_at, checkout.hidden)
        if is_elsewhere or why_not(memory, verdicts) or not passes(made, ON_DEMAND):
            continue
        if why_said_already(memory, (one.memory for one in given)):
            continue
        reason = f"asked for; {relevant[memory.id].why[0]}; score {made.total:.2f}"
        is_stale = verdict_of(memory, verdicts) == "changed"
        source = source_of(memory.kind)
        given.append(Given(memory, reason, made.total, source, note_since(memory, verdicts), is_stale))
    return given


def _in_shares(
    db: sqlite3.Connection, asker: Asker, scopes: dict[str, str], new: Sequence[Given], before: Sequence[Memory]
) -> tuple[str, tuple[ReceiptItem, ...]]:
    """A block for each sort of scope, each within its share and all within what the session has left."""
    known = _known(before, 0)
    left = asker.left - estimate_tokens(f"\n{known}")
    texts: list[str] = []
    items: list[ReceiptItem] = []
    for sort, scope in scopes.items():
        own = [one for one in new if one.memory.scope == scope]
        # The line about what is known already is paid for by the first share.
        cap = SHARES[sort] - (estimate_tokens(f"\n{known}") if known and not texts else 0)
        made = block(with_relations(db, own), asker.now, min(cap, left), _title(sort, scope), asker.place.root)
        if made.text:
            texts.append(made.text)
            items += made.items
            left -= made.tokens + 1
    if not items:
        nothing = "Nothing is known about this here. memory_search also looks through what was said."
        return _known(before, _KNOWN_TOKENS) or nothing, ()
    told = "\n".join(texts)
    room = min(sum(SHARES.values()), asker.left) - estimate_tokens(f"{told}\n") - 1
    return "\n".join((told, *([_known(before, room)] if before else []))), tuple(items)


def _title(sort: str, scope: str) -> str:
    return {"project": "memory of this project", "universal": "memory that holds everywhere"}.get(
        sort, f"memory about {render.safe_line(scope.partition(':')[2], _MAX_TITLE_LENGTH)}"
    )


def _ids_only(asker: Asker, new: Sequence[Given], before: Sequence[Memory]) -> tuple[str, tuple[ReceiptItem, ...]]:
    """What there is, a short line each, and why it is no more."""
    why = _used_up(asker)
    known = [_known(before, _KNOWN_TOKENS)] if before else []
    if not new:
        return " ".join((why, *(known or ["Nothing new is known about this."]))), ()
    items = []
    for one in new[:_MAX_IDS]:
        title = _short(one.memory, _MAX_TITLE_LENGTH)
        line = f"#{one.memory.id} [{one.memory.kind}] {title}"
        items.append((line, ReceiptItem(one.memory.id, IDS, one.reason, estimate_tokens(line), one.score)))
    lines = [line for line, _ in items]
    head = f"{why} So only ids; memory_get shows what you need of them."
    text = "\n".join((render.OPENING, head, *lines, *known, render.CLOSING))
    return text, tuple(item for _, item in items)


def _used_up(asker: Asker) -> str:
    if asker.had.queries >= MAX_QUERIES:
        return f"This session has had its {MAX_QUERIES} full answers."
    return f"This session has had its {SESSION_TOKENS} tokens of memory."


def _known(before: Sequence[Memory], room: int) -> str:
    """A line about what the session was given, or did itself; with titles as far as there is room for all of it."""
    named = [f"#{memory.id}" for memory in before]
    for at, memory in enumerate(before):
        fuller = [*named[:at], f"{named[at]} ({_short(memory, _MIN_TITLE_LENGTH)})", *named[at + 1 :]]
        if estimate_tokens(_listed(fuller)) <= room:
            named = fuller
    return _listed(named) if named else ""


def _listed(named: Sequence[str]) -> str:
    return f"Known to this session already: {', '.join(named)}."


def _short(memory: Memory, limit: int) -> str:
    """A title that cannot be taken for the frame of a block."""
    return unframed(render.safe_line(memory.title, limit))


def _receipt(
    asker: Asker,
    items: tuple[ReceiptItem, ...],
    layers: tuple[str, ...],
    tokens: int,
    *,
    budget: int,
    build_ms: float,
) -> Receipt:
    return Receipt(
        spool_name=new_name("Asked", asker.now),
        session=asker.session,
        project=asker.place.project,
        moment=ASKED,
        items=items,
        layers=layers,
        layers_skipped=(),
        tokens=tokens,
        budget=budget,
        build_ms=build_ms,
        created_at=asker.now,
    )
