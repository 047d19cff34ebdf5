"""Outcomes of injected items: used, ignored or unknown, marked at the end of a session.

Called in the job thread; a repeated call changes nothing. docs/receipts.md has the rules and their precision. An item
for a failing command was used if the command passed later in the session."""

import itertools
import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import islice

from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.compress.toolcalls.fix_pairing import verifies
from claude_mem_lite.compress.toolcalls.steps import Called, Ran, Step
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.knowledge import usage_evidence
from claude_mem_lite.knowledge.claims.duplicates import text_without_request
from claude_mem_lite.knowledge.usage_evidence import Evidence, WordWeights, prose_stems
from claude_mem_lite.models import WORK_TRIGGERS, HookTrigger, Memory, Outcome, Session
from claude_mem_lite.store import memories, memory_links, receipts, sessions
from claude_mem_lite.store.experiment import arms
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.store.receipts import InjectedItem
from claude_mem_lite.values import frozen

MOMENT: HookTrigger = "failure"
_MAX_CALLS = 500
_MAX_FIXES = 40


def judge_fixes(
    db: sqlite3.Connection, queue: Queue, session: str, items: Sequence[InjectedItem]
) -> dict[InjectedItem, Outcome]:
    """Return the outcomes of the items that were injected for failures; items without evidence are left out."""
    outcomes: dict[InjectedItem, Outcome] = {}
    later: dict[str, Outcome | None] = {}
    for item in items:
        memory = memories.find(db, item.source)
        if item.moment != MOMENT or memory is None:
            continue
        if item.receipt not in later:
            later[item.receipt] = _became_of(queue, session, item.receipt)
        outcome: Outcome | None = "used" if _is_fixed_in(db, memory, session) else later[item.receipt]
        if outcome:
            outcomes[item] = outcome
    return outcomes


def _is_fixed_in(db: sqlite3.Connection, memory: Memory, session: str) -> bool:
    """Return True if the session stored a fix of the same error: rules store a fix only after the command passed."""
    errors = [anchor for anchor in memory.anchors if anchor.startswith("error:")]
    rows = fts.anchored_to(db, errors, memory.project, _MAX_FIXES)
    fixes = [fix.id for fix in memories.by_seq(db, rows).values() if fix.kind == "bugfix"]
    return any(seen == session for _, seen, _ in memory_links.seen_in(db, fixes))


def _became_of(queue: Queue, session: str, failed: str) -> Outcome | None:
    """Return True if the failed call of an event passed later; None if the event is not kept any more."""
    calls = event_history.calls_from(queue.db, session, failed, _MAX_CALLS)
    first = next((step for row in islice(calls, 1) for step in _steps(row) if _has_failed(step)), None)
    if first is None:
        return None
    later = (step for row in calls for step in _steps(row))
    return "used" if any(_puts_right(step, first) for step in later) else "ignored"


def _steps(row: Row) -> list[Step]:
    try:
        return read_steps(event_from_payload(row.name, row.parse_payload()))
    except PayloadError:
        return []


def _has_failed(step: Step) -> bool:
    return (isinstance(step, Ran) and step.failed) or (isinstance(step, Called) and bool(step.error))


def _puts_right(step: Step, failure: Step) -> bool:
    """Return True if a step proves a failure resolved, by the rules for fixes."""
    if isinstance(failure, Ran) and isinstance(step, Ran):
        return verifies(step, failure)
    return isinstance(failure, Called) and isinstance(step, Called) and step.tool == failure.tool and not step.error


# Minimum length of an id prefix that counts as a mention: an agent may shorten an id.
_MIN_ID_LENGTH = 6
_MIN_SESSION_ID_LENGTH = 8
# Chosen on three recorded projects and confirmed on four others (benchmarks/results/outcomes.md).
MIN_USED = 0.8
MAX_IGNORED = 0.5
# Words alone were wrong three times out of four: they only support files and functions.
_MAX_BY_WORDS = 0.5
_MIN_WORD_LENGTH = 3
_MIN_PAIR_LENGTH = 2
_MAX_LOOKED_UP = 60
_MIN_SYMBOL_LENGTH = 5
_GENERAL_FILES = frozenset(
    """__init__.py agents.md cargo.toml changelog.md claude.md dockerfile go.mod index.html index.js index.ts index.tsx
    lib.rs main.go main.py main.rs makefile mod.rs package.json pyproject.toml readme.md setup.py""".split()  # noqa: SIM905
)
_HEX = re.compile(r"[0-9a-f]{8}")
_COMPOUND = re.compile(r"[a-z0-9][A-Z]|\w_\w|[A-Za-z]\d")


@frozen
class UsageSignature:
    """Signs by which the use of a memory, a session or raw text is recognised."""

    ids: frozenset[str]
    """All prefixes of the ids that count as a mention."""
    session: str
    text: str
    files: tuple[str, ...]
    symbols: tuple[tuple[str, str], ...] = ()


def judge(db: sqlite3.Connection, queue: Queue, session: str) -> None:
    """Mark the items that a session got, by the present evidence about the session. A control session marks none: it
    must not change what other sessions are given."""
    items = [] if arms.is_control(db, session) else receipts.items_of(db, session)
    found = sessions.find(db, session) if items else None
    work = usage_evidence.work_of(db, queue, found) if found else None
    if found is None or work is None:
        return
    common = usage_evidence.common_files(db, found.project, session)
    weights = WordWeights(db, found.project)
    known = {source: signature_of(db, source) for source in {item.source for item in items}}
    shown: dict[str, Evidence] = {}
    outcomes = judge_fixes(db, queue, session, items)
    for item in items:
        given = known[item.source]
        # A session gets its own work after a compaction, and certainly mentions the work.
        if given is None or given.session == session or item.moment == MOMENT:
            continue
        answered = item.receipt if item.moment in WORK_TRIGGERS else ""
        if answered not in shown:
            shown[answered] = work.evidence_after(item.at) if answered else work.evidence()
        outcomes[item] = outcome_of(given, shown[answered], item.moment, common, weights)
    with atomic(db):
        receipts.mark(db, outcomes)


def outcome_of(
    given: UsageSignature, work: Evidence, moment: str, common: Collection[str], weights: WordWeights
) -> Outcome:
    """Return the outcome of an item; `unknown` if the evidence allows no precise outcome.

    A prompt gets items about the work: traces show use, and missing traces show nothing. A session start gets many
    items about other work: missing traces show that an item was ignored. Other triggers were not measured."""
    if not given.ids.isdisjoint(work.identifiers):
        return "used"
    if moment == "prompt":
        return "used" if score(given, work, common, weights) >= MIN_USED else "unknown"
    is_ignored = moment not in WORK_TRIGGERS and score(given, work, common, weights) < MAX_IGNORED
    return "ignored" if is_ignored else "unknown"


def score(given: UsageSignature, work: Evidence, common: Collection[str], weights: WordWeights) -> float:
    """Return the use of an item: the larger of the share of files that were read or edited and the share of functions
    that were changed or named, plus a limited share of words."""
    files = [
        file for file in given.files if file not in common and file.rpartition("/")[2].lower() not in _GENERAL_FILES
    ]
    symbols = [symbol in work.symbols or _is_symbol_named(symbol[1], work) for symbol in set(given.symbols)]
    touched = [work.touched(file) for file in files]
    return max(_share(touched), _share(symbols)) + min(_words_share(given.text, work, weights), _MAX_BY_WORDS)


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0


def _words_share(text: str, work: Evidence, weights: WordWeights) -> float:
    """Return the largest share of a text in one paragraph of the session, by weight of the words."""
    telling = {stem: word for stem, word in prose_stems(text).items() if _tells(word)}
    weighed = weights.of(dict(itertools.islice(telling.items(), _MAX_LOOKED_UP)))
    together: defaultdict[int, float] = defaultdict(float)
    for stem, weight in weighed.items():
        for number in work.words.paragraphs(stem):
            together[number] += weight
    return max(together.values(), default=0) / sum(weighed.values()) if weighed else 0.0


def signature_of(db: sqlite3.Connection, source: str) -> UsageSignature | None:
    """Return the signature of a memory, a session or raw text by id; None if nothing is stored under the id."""
    memory = memories.find(db, source)
    if memory is not None:
        changed = tuple((symbol.file, symbol.name) for symbol in memory.symbols)
        # The request is the same for many memories of one turn.
        return UsageSignature(_forms(memory.id), memory.session, text_without_request(memory), memory.files, changed)
    session = sessions.find(db, source)
    if session is not None:
        return _given_session(session)
    raw = passages.find(db, source)
    return UsageSignature(_forms(raw.id), raw.session, raw.title, ()) if raw else None


def _given_session(session: Session) -> UsageSignature:
    summary = session.summary
    first = session.id[:_MIN_SESSION_ID_LENGTH]
    # Ids of known clients; any other id could be a word of the user.
    ids = frozenset((first,)) if _HEX.fullmatch(first) else frozenset()
    text = "\n".join((summary.headline, summary.request, *summary.next_steps))
    return UsageSignature(ids | _forms(memories.handoff_id(session.id)), session.id, text, summary.files_edited)


def _forms(id_: str) -> frozenset[str]:
    return frozenset(id_[:length] for length in range(_MIN_ID_LENGTH, len(id_) + 1))


def _is_symbol_named(name: str, work: Evidence) -> bool:
    """Return True if a function is named by a word that is clearly an identifier."""
    last = name.rpartition(".")[2]
    is_name = len(last) >= _MIN_SYMBOL_LENGTH and bool(_COMPOUND.search(last))
    return is_name and last in work.identifiers and last not in work.echoed


def _tells(word: str) -> bool:
    least = _MIN_WORD_LENGTH if word.isascii() else _MIN_PAIR_LENGTH
    return len(word) >= least and not word.isdigit()
