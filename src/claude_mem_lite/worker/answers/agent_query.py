"""Answers to questions of an agent: the start context, once, or the few memories about a query.

Every session has budgets; after them an answer lists ids only. docs/mcp.md has the rules."""

import sqlite3
import time
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.code.freshness.scanner import context_budget
from claude_mem_lite.config import in_folder
from claude_mem_lite.context import render
from claude_mem_lite.context.item_block import BlockItem, block, with_relations
from claude_mem_lite.context.layers.code_state import relocation_note, verdict_of, why_not
from claude_mem_lite.context.presets import find_preset
from claude_mem_lite.context.project_setting import Setting, detect
from claude_mem_lite.context.prompt.scoring import source_of
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import ON_DEMAND, is_stated, passes, score
from claude_mem_lite.context.similarity import why_repeated
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import new_name
from claude_mem_lite.models import (
    ASKED,
    GUIDANCE_KINDS,
    HELP_KINDS,
    HOOK_TRIGGERS,
    KINDS,
    WORK_KINDS,
    Kind,
    Location,
    Memory,
    Receipt,
    ReceiptItem,
    Tally,
)
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.store import receipts
from claude_mem_lite.store.branches import is_hidden
from claude_mem_lite.store.session_context import IDS
from claude_mem_lite.text import unframed
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.answers.in_flight import SessionInjections
from claude_mem_lite.worker.answers.session_start import build_start
from claude_mem_lite.worker.services import Services

SHARES = {"project": 200, "language": 150, "universal": 150}
"""Tokens of one answer by kind of scope, in the order of the answer."""
QUERY = "query"
"""Layer of an answer to a query; a start context has layers of its own."""
MAX_QUERIES = 2
SESSION_TOKENS = 3000
"""Tokens of a session for its start context and all answers."""
_MIN_TOKENS = 80
_MIN_RELEVANCE = 0.3
_CANDIDATES = 40
_MAX_IDS = 10
_MAX_TITLE_LENGTH = 60
_MIN_TITLE_LENGTH = 40
_MAX_KNOWN = 5
_KNOWN_TOKENS = 100
"""Tokens of the line about known memories, in an answer without other memories."""
_CATEGORIES: dict[str, tuple[Kind, ...]] = {"guidance": GUIDANCE_KINDS, "work": WORK_KINDS, "help": HELP_KINDS}


@frozen
class SessionUsage:
    """Answers that a session got since its last compaction."""

    queries: int = 0
    tokens: int = 0
    had_start: bool = False
    already_given: frozenset[str] = frozenset()
    """Ids of memories that the session was given or made itself."""


def usage_of(known: SessionInjections) -> SessionUsage:
    """Return the used part of a session's budgets. Injections by hooks during work have a budget of their own."""
    answers = [answer for answer in known.answers if answer.moment not in HOOK_TRIGGERS]
    return SessionUsage(
        queries=sum(answer.moment == ASKED and answer.layers == (QUERY,) for answer in answers),
        tokens=sum(answer.tokens for answer in answers),
        had_start=any(answer.moment != ASKED or set(answer.layers) - {QUERY, IDS} for answer in answers),
        already_given=known.ids,
    )


@frozen
class Querier:
    """Session that asks, with place, time and used budget."""

    session: str
    place: Location
    now: datetime
    had: SessionUsage

    @property
    def left(self) -> int:
        return max(SESSION_TOKENS - self.had.tokens, 0)


@frozen
class QueryAnswer:
    """Text of an answer with its receipt; no receipt when no memory was given."""

    text: str
    receipt: Receipt | None = None


def answer_start(services: Services, asker: Querier) -> QueryAnswer:
    """Return the start context, for a session that did not get a start context yet."""
    if asker.had.had_start:
        advice = "Ask with a query, or use memory_search for one thing."
        return QueryAnswer(f"This session was given its start context already. {advice}")
    if asker.left < _MIN_TOKENS:
        return QueryAnswer(f"{_used_up(asker)} Use memory_search and memory_get.")
    config = in_folder(services.settings.config, asker.place.root)
    budget = min(config.budget_tokens, asker.left)
    context_request = ContextRequest(asker.place, asker.now, session=asker.session)
    built = build_start(services, context_request, budget, find_preset(config))
    if not built.text:
        return QueryAnswer("Nothing is stored here yet that a new session should get.")
    receipt = _receipt(asker, built.items, built.layers, built.tokens, budget=budget, build_ms=built.build_ms)
    return QueryAnswer(built.text, receipt)


def answer_query(
    services: Services, db: sqlite3.Connection, asker: Querier, query: str, scope: str, category: str
) -> QueryAnswer:
    """Return the memories about a query that may be given; ids alone when the budget is used up."""
    began = time.perf_counter()
    setting = detect(db, asker.place, asker.session, Deadline.after(services.limits.detect_s))
    scopes = _scopes(asker.place, setting, scope)
    filters = Filters(project=asker.place.project, kinds=_kinds(category))
    hits = services.search.search(db, query, filters, asker.now, _CANDIDATES)
    in_scope = [hit for hit in hits if isinstance(hit.found, Memory) and hit.found.scope in scopes.values()]
    found = _admitted(services, db, asker, setting, in_scope)
    new = [given for given in found if given.memory.id not in asker.had.already_given]
    before = [given.memory for given in found if given.memory.id in asker.had.already_given][:_MAX_KNOWN]
    is_used_up = asker.had.queries >= MAX_QUERIES or asker.left < _MIN_TOKENS
    layer = IDS if is_used_up else QUERY
    text, items = _ids_only(asker, new, before) if is_used_up else _in_shares(db, asker, scopes, new, before)
    if not items:
        return QueryAnswer(text)
    build_ms = round((time.perf_counter() - began) * 1000, 2)
    budget = min(sum(SHARES.values()), asker.left)
    return QueryAnswer(text, _receipt(asker, items, (layer,), estimate_tokens(text), budget=budget, build_ms=build_ms))


def _scopes(place: Location, setting: Setting, wanted: str) -> dict[str, str]:
    """Return the scopes of an answer by their kind; other projects and languages are excluded."""
    every = {"project": f"project:{place.project}", "universal": "universal"}
    if setting.language:
        every["language"] = f"language:{setting.language}"
    sort, _, name = (part.strip() for part in wanted.partition(":"))
    sort = sort.lower()
    if sort and sort not in SHARES:
        raise MemoryLiteError(f"{wanted[:40]!r} is no scope", f"use {', '.join(SHARES)}, or none for all")
    if name and f"{sort}:{name}" != every.get(sort):
        raise MemoryLiteError(f"{wanted[:40]!r} is not the {sort} of this session", f"use {sort} for what holds here")
    return {kind: every[kind] for kind in SHARES if kind in every and sort in ("", kind)}


def _kinds(category: str) -> tuple[Kind, ...]:
    wanted = category.strip().lower()
    if not wanted:
        return KINDS
    if wanted in _CATEGORIES:
        return _CATEGORIES[wanted]
    kind = next((known for known in KINDS if known == wanted), None)
    if kind is None:
        raise MemoryLiteError(f"{category[:40]!r} is no category", f"use {', '.join(_CATEGORIES)} or a kind of memory")
    return (kind,)


def _admitted(
    services: Services, db: sqlite3.Connection, asker: Querier, setting: Setting, hits: Sequence[Hit]
) -> list[BlockItem]:
    """Return the hits that are relevant, valid in the checkout, and above the score limit, in the same order."""
    relevant = {hit.found.id: hit for hit in hits if hit.score >= _MIN_RELEVANCE}
    found = [hit.found for hit in relevant.values() if isinstance(hit.found, Memory)]
    checkout = services.scanner.checkout(db, asker.place, context_budget(services.limits))
    verdicts = checkout.freshness(found)
    tallies = receipts.tallies_since_last_seen(db, [memory.id for memory in found], at_need=True)
    given: list[BlockItem] = []
    for memory in found:
        made = score(memory, asker.now, setting.task, tallies.get(memory.id, Tally()))
        is_elsewhere = not is_stated(memory) and is_hidden(memory.branch, memory.created_at, checkout.hidden)
        if is_elsewhere or why_not(memory, verdicts) or not passes(made, ON_DEMAND):
            continue
        if why_repeated(memory, (earlier.memory for earlier in given)):
            continue
        reason = f"asked for; {relevant[memory.id].why[0]}; score {made.total:.2f}"
        is_stale = verdict_of(memory, verdicts) == "changed"
        source = source_of(memory.kind)
        given.append(BlockItem(memory, reason, made.total, source, relocation_note(memory, verdicts), is_stale))
    return given


def _in_shares(
    db: sqlite3.Connection, asker: Querier, scopes: dict[str, str], new: Sequence[BlockItem], before: Sequence[Memory]
) -> tuple[str, tuple[ReceiptItem, ...]]:
    """Return a block for each scope, each within its share, all within the rest of the session's budget."""
    known = _known(before, 0)
    left = asker.left - estimate_tokens(f"\n{known}")
    texts: list[str] = []
    items: list[ReceiptItem] = []
    for sort, scope in scopes.items():
        own = [given for given in new if given.memory.scope == scope]
        # The first share pays for the line about known memories.
        cap = SHARES[sort] - (estimate_tokens(f"\n{known}") if known and not texts else 0)
        made = block(with_relations(db, own), asker.now, min(cap, left), _title(sort, scope), asker.place.root)
        if made.text:
            texts.append(made.text)
            items += made.items
            left -= made.tokens + 1
    if not items:
        nothing = "Nothing is known about this here. memory_search also looks through what was said."
        return _known(before, _KNOWN_TOKENS) or nothing, ()
    blocks = "\n".join(texts)
    room = min(sum(SHARES.values()), asker.left) - estimate_tokens(f"{blocks}\n") - 1
    return "\n".join((blocks, *([_known(before, room)] if before else []))), tuple(items)


def _title(sort: str, scope: str) -> str:
    return {"project": "memory of this project", "universal": "memory that holds everywhere"}.get(
        sort, f"memory about {render.safe_line(scope.partition(':')[2], _MAX_TITLE_LENGTH)}"
    )


def _ids_only(
    asker: Querier, new: Sequence[BlockItem], before: Sequence[Memory]
) -> tuple[str, tuple[ReceiptItem, ...]]:
    """Return a short line for each memory, and the reason for the short form."""
    why = _used_up(asker)
    known = [_known(before, _KNOWN_TOKENS)] if before else []
    if not new:
        return " ".join((why, *(known or ["Nothing new is known about this."]))), ()
    items = []
    for given in new[:_MAX_IDS]:
        memory = given.memory
        line = f"#{memory.id} [{memory.kind}] {_short(memory, _MAX_TITLE_LENGTH)}"
        items.append((line, ReceiptItem(memory.id, IDS, given.reason, estimate_tokens(line), given.score)))
    head = f"{why} So only ids; memory_get shows what you need of them."
    text = "\n".join((render.OPENING, head, *(line for line, _ in items), *known, render.CLOSING))
    return text, tuple(item for _, item in items)


def _used_up(asker: Querier) -> str:
    if asker.had.queries >= MAX_QUERIES:
        return f"This session has had its {MAX_QUERIES} full answers."
    return f"This session has had its {SESSION_TOKENS} tokens of memory."


def _known(before: Sequence[Memory], room: int) -> str:
    """Return a line with the ids of known memories, and with titles as long as all fit into `room` tokens."""
    named = [f"#{memory.id}" for memory in before]
    for at, memory in enumerate(before):
        fuller = [*named[:at], f"{named[at]} ({_short(memory, _MIN_TITLE_LENGTH)})", *named[at + 1 :]]
        if estimate_tokens(_listed(fuller)) <= room:
            named = fuller
    return _listed(named) if named else ""


def _listed(named: Sequence[str]) -> str:
    return f"Known to this session already: {', '.join(named)}."


def _short(memory: Memory, limit: int) -> str:
    """Return a title without text that looks like the frame of a block."""
    return unframed(render.safe_line(memory.title, limit))


def _receipt(
    asker: Querier,
    items: tuple[ReceiptItem, ...],
    layers: tuple[str, ...],
    tokens: int,
    *,
    budget: int,
    build_ms: float,
) -> Receipt:
    return Receipt(
        spool_name=new_name("SessionUsage", asker.now),
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
