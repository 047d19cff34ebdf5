"""Outcomes of injected items: used, ignored or unknown, marked when the session is over.

Called in the job thread; twice is as good as once. docs/receipts.md has the rules and how precise they are.

Whether what was given for a failing command helped: the command passed later in the session, or it did not.

Called by `outcomes` when a session is over, in the job thread."""

import itertools
import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.compress.toolcalls.steps import Called, Ran, Step
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.compress.toolcalls.verification import verifies
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.knowledge import usage_evidence
from claude_mem_lite.knowledge.usage_evidence import Evidence, WordWeights, prose_stems
from claude_mem_lite.models import NEED_MOMENTS, HookMoment, Memory, Outcome, Session, without_request
from claude_mem_lite.store import memories, memory_links, receipts, sessions
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.store.receipts import InjectedItem

MOMENT: HookMoment = "failure"
_MAX_CALLS = 500
_MAX_FIXES = 40


def judge_fixes(
    db: sqlite3.Connection, queue: Queue, session: str, givings: Sequence[InjectedItem]
) -> dict[InjectedItem, Outcome]:
    """What came of the items that were given for failures; those of which nothing can be told any more are left out."""
    outcomes: dict[InjectedItem, Outcome] = {}
    later: dict[str, Outcome | None] = {}
    for giving in givings:
        memory = memories.find(db, giving.source)
        if giving.moment != MOMENT or memory is None:
            continue
        if giving.receipt not in later:
            later[giving.receipt] = _became_of(queue, session, giving.receipt)
        outcome: Outcome | None = "used" if _is_fixed_in(db, memory, session) else later[giving.receipt]
        if outcome:
            outcomes[giving] = outcome
    return outcomes


def _is_fixed_in(db: sqlite3.Connection, memory: Memory, session: str) -> bool:
    """Whether the session has a fix of its own of the same error: one is stored only when the command passed."""
    errors = [anchor for anchor in memory.anchors if anchor.startswith("error:")]
    rows = fts.anchored_to(db, errors, memory.project, _MAX_FIXES)
    fixes = [one.id for one in memories.by_seq(db, rows).values() if one.kind == "bugfix"]
    return any(seen == session for _, seen, _ in memory_links.seen_in(db, fixes))


def _became_of(queue: Queue, session: str, failed: str) -> Outcome | None:
    """Whether the call that failed in an event went well later; None when the event is not kept any more."""
    calls = event_history.calls_from(queue.db, session, failed, _MAX_CALLS)
    first = next((step for row in islice(calls, 1) for step in _steps(row) if _has_failed(step)), None)
    if first is None:
        return None
    later = (step for row in calls for step in _steps(row))
    return "used" if any(_puts_right(step, first) for step in later) else "ignored"


def _steps(row: Row) -> list[Step]:
    try:
        return read_steps(event_from_payload(row.name, row.told()))
    except PayloadError:
        return []


def _has_failed(step: Step) -> bool:
    return (isinstance(step, Ran) and step.failed) or (isinstance(step, Called) and bool(step.error))


def _puts_right(step: Step, failure: Step) -> bool:
    """Return whether a step shows that a failure is gone: as a fix is found in a turn."""
    if isinstance(failure, Ran) and isinstance(step, Ran):
        return verifies(step, failure)
    return isinstance(failure, Called) and isinstance(step, Called) and step.tool == failure.tool and not step.error


# The fewest characters that count as naming a memory, or a session: an agent may shorten an id.
_MIN_ID_LENGTH = 6
_MIN_SESSION_ID_LENGTH = 8
# Chosen on three recorded projects and confirmed on four others (benchmarks/results/outcomes.md).
MIN_USED = 0.8
MAX_IGNORED = 0.5
# Words alone were wrong three times out of four: they support files and functions, and decide nothing.
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


@dataclass(frozen=True, slots=True)
class Knowable:
    """What a memory, a session or raw text can be known by."""

    ids: frozenset[str]
    """All forms of its ids that count."""
    session: str
    text: str
    files: tuple[str, ...]
    symbols: tuple[tuple[str, str], ...] = ()


def judge(db: sqlite3.Connection, queue: Queue, session: str) -> None:
    """Mark the items that reached a session, by all that is known of the session now."""
    givings = receipts.items_of(db, session)
    told = sessions.find(db, session) if givings else None
    work = usage_evidence.work_of(db, queue, told) if told else None
    if told is None or work is None:
        return
    common = usage_evidence.common_files(db, told.project, session)
    weights = WordWeights(db, told.project)
    known = {source: given_of(db, source) for source in {giving.source for giving in givings}}
    shown: dict[str, Evidence] = {}
    outcomes = judge_fixes(db, queue, session, givings)
    for giving in givings:
        given = known[giving.source]
        # Of its own work, which it is told again after a compaction, a session is sure to speak.
        if given is None or given.session == session or giving.moment == MOMENT:
            continue
        answered = giving.receipt if giving.moment in NEED_MOMENTS else ""
        if answered not in shown:
            shown[answered] = work.evidence_after(giving.at) if answered else work.evidence()
        outcomes[giving] = outcome_of(given, shown[answered], giving.moment, common, weights)
    with atomic(db):
        receipts.mark(db, outcomes)


def outcome_of(given: Knowable, work: Evidence, moment: str, common: Collection[str], weights: WordWeights) -> Outcome:
    """Return what a session made of an item; `unknown` where neither outcome can be told precisely.

    A prompt brings what the work is about: traces of it show use, and their absence shows nothing. A start brings much
    that the work is not about: there it is the other way round. At other moments nothing was measured."""
    if not given.ids.isdisjoint(work.identifiers):
        return "used"
    if moment == "prompt":
        return "used" if score(given, work, common, weights) >= MIN_USED else "unknown"
    is_ignored = moment not in NEED_MOMENTS and score(given, work, common, weights) < MAX_IGNORED
    return "ignored" if is_ignored else "unknown"


def score(given: Knowable, work: Evidence, common: Collection[str], weights: WordWeights) -> float:
    """Return how much of an item a session took up: the share of its files that were read or edited, or of its
    functions that were changed or named, whichever is more, and in support of it the share of its words."""
    files = [file for file in given.files if file not in common and not _is_general(file)]
    symbols = [symbol in work.symbols or _is_symbol_named(symbol[1], work) for symbol in set(given.symbols)]
    touched = [work.touched(file) for file in files]
    return max(_share(touched), _share(symbols)) + min(_words_share(given.text, work, weights), _MAX_BY_WORDS)


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0


def _words_share(text: str, work: Evidence, weights: WordWeights) -> float:
    """Return the share of a text that one paragraph of the session has at most, its rarer words weighing more."""
    telling = {stem: word for stem, word in prose_stems(text).items() if _tells(word)}
    weighed = weights.of(dict(itertools.islice(telling.items(), _MAX_LOOKED_UP)))
    together: defaultdict[int, float] = defaultdict(float)
    for stem, weight in weighed.items():
        for number in work.words.paragraphs(stem):
            together[number] += weight
    return max(together.values(), default=0) / sum(weighed.values()) if weighed else 0.0


def given_of(db: sqlite3.Connection, source: str) -> Knowable | None:
    """A memory, a session or raw text by its id, as long as it is there."""
    memory = memories.find(db, source)
    if memory is not None:
        changed = tuple((symbol.file, symbol.name) for symbol in memory.symbols)
        # What was asked for is told with many memories of one turn.
        told = f"{memory.title}\n{without_request(memory.summary)}"
        return Knowable(_forms(memory.id), memory.session, told, memory.files, changed)
    session = sessions.find(db, source)
    if session is not None:
        return _given_session(session)
    raw = passages.find(db, source)
    return Knowable(_forms(raw.id), raw.session, raw.title, ()) if raw else None


def _given_session(session: Session) -> Knowable:
    told = session.summary
    first = session.id[:_MIN_SESSION_ID_LENGTH]
    # As clients make them; any other could be a word of the user's.
    ids = frozenset((first,)) if _HEX.fullmatch(first) else frozenset()
    text = "\n".join((told.headline, told.request, *told.next_steps))
    return Knowable(ids | _forms(memories.handoff_id(session.id)), session.id, text, told.files_edited)


def _forms(id_: str) -> frozenset[str]:
    return frozenset(id_[:length] for length in range(_MIN_ID_LENGTH, len(id_) + 1))


def _is_general(file: str) -> bool:
    return file.rpartition("/")[2].lower() in _GENERAL_FILES


def _is_symbol_named(name: str, work: Evidence) -> bool:
    """Whether a function is named that could be no other word."""
    last = name.rpartition(".")[2]
    is_name = len(last) >= _MIN_SYMBOL_LENGTH and bool(_COMPOUND.search(last))
    return is_name and last in work.identifiers and last not in work.echoed


def _tells(word: str) -> bool:
    least = _MIN_WORD_LENGTH if word.isascii() else _MIN_PAIR_LENGTH
    return len(word) >= least and not word.isdigit()
