"""Whether what was given to a session was of use to it: each memory and session is marked used or ignored when the
session is over. Called in the job thread; twice is as good as once. docs/receipts.md has the rules."""

import itertools
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import ASKED, NEED_MOMENTS, Session, without_request
from claude_mem_lite.store import memories, rarity, receipts, sessions
from claude_mem_lite.store.receipts import Giving
from claude_mem_lite.words import stems
from claude_mem_lite.worker import evidence, fix_outcomes
from claude_mem_lite.worker.evidence import Evidence, Trigger, Work

# As many characters of an id as a context shows, and of a session's as commands take.
_SHORTEST_ID = 6
_SHORTEST_SESSION_ID = 8
# Rare words in one paragraph: so many, or two of something that has few, or the only one it has.
_LEAST_WORDS = 3
_FEW_WORDS = 5
_LEAST_OF_FEW = 2
_SHORTEST_WORD = 3
_SHORTEST_PAIR = 2
_MOST_LOOKED_UP = 60
_SHORTEST_SYMBOL = 5
# Words of any work on any code, rare as they may be in a young project.
_OF_ANY_WORK = frozenset(
    """add added adds allow already also always argument branch break build call called case change changed check class
    clean clear code command comment commit config continue correct create current data default delete description
    different directory document edit error even everything example exist expect fail failed failing failure feature
    file find first fix fixed folder found function good handle help implement import improve include instead issue
    keep last like line list look main make merge message method missing mode modify module move name need never next
    number object open option output parameter pass path plan point problem project prompt pull push read ready real
    refactor remove rename replace report request result return review right rule same save script second session
    setup show simple single some something source start state status step still stop string style such support sure
    system task tell test text thing think time turn type under update user using value variable version wait
    want well without word work working write wrong yes""".split()  # noqa: SIM905
)
_GENERAL_FILES = frozenset(
    """__init__.py cargo.toml changelog.md go.mod index.html index.js index.ts index.tsx lib.rs main.go main.py main.rs
    makefile mod.rs package.json pyproject.toml readme.md setup.py""".split()  # noqa: SIM905
)
_HEX = re.compile(r"[0-9a-f]{8}")
_COMPOUND = re.compile(r"[a-z0-9][A-Z]|\w_\w|[A-Za-z]\d")


@dataclass(frozen=True, slots=True)
class Knowable:
    """What a memory or a session can be known by."""

    ids: frozenset[str]
    """All forms of its ids that count."""
    session: str
    text: str
    files: tuple[str, ...]
    symbols: tuple[tuple[str, str], ...] = ()


def judge(db: sqlite3.Connection, queue: Queue, session: str) -> None:
    """Mark what reached a session as used or ignored, by all that is known of the session now."""
    givings = receipts.given_to(db, session)
    told = sessions.find(db, session) if givings else None
    work = evidence.work_of(db, queue, told) if told else None
    if told is None or work is None:
        return
    common = rarity.common_files(db, told.project, session)
    rare = rarity.RareWords(db, told.project).among
    known = {source: given_of(db, source) for source in {giving.source for giving in givings}}
    shown: dict[str, Evidence] = {}
    outcomes = fix_outcomes.judge(db, queue, session, givings)
    for giving in givings:
        given = known[giving.source]
        # Of its own work, which it is told again after a compaction, a session is sure to speak.
        if given is None or given.session == session or giving.moment == fix_outcomes.MOMENT:
            continue
        answered = giving.receipt if giving.moment in NEED_MOMENTS else ""
        if answered not in shown:
            shown[answered] = _evidence(work, giving)
        outcomes[giving] = "used" if why_used(given, shown[answered], common, rare) else "ignored"
    with atomic(db):
        receipts.mark(db, outcomes)


def _evidence(work: Work, giving: Giving) -> Evidence:
    """What can show use of what was given: at the start all of the session, at a moment of need what came after it and
    does not repeat the prompt or the tool call it was given for. Questions to our own tools are never captured."""
    if giving.moment not in NEED_MOMENTS:
        return work.evidence()
    is_prompt = giving.moment == "prompt"
    if giving.moment == ASKED:
        trigger = Trigger()
    else:
        trigger = work.prompt_before(giving.at) if is_prompt else work.call(giving.receipt)
    return work.evidence_after(giving.at, trigger, is_prompt=is_prompt)


def why_used(
    given: Knowable, work: Evidence, common: Collection[str], rare: Callable[[Mapping[str, str]], set[str]]
) -> str:
    """By what a session shows that it had use for something: `id`, `file`, `symbol` or `words`; '' when by nothing."""
    if not given.ids.isdisjoint(work.identifiers):
        return "id"
    touched = [file for file in given.files if work.touched(file) or _is_named(file, work)]
    if any(file not in common for file in touched):
        return "file"
    if any(symbol in work.symbols or _is_symbol_named(symbol[1], work) for symbol in given.symbols):
        return "symbol"
    telling = {stem: word for stem, word in stems(given.text).items() if _tells(stem, word)}
    if not _most_together(telling, work):
        return ""
    rarest = rare(dict(itertools.islice(telling.items(), _MOST_LOOKED_UP)))
    needed = _LEAST_WORDS if not touched and len(rarest) > _FEW_WORDS else min(len(rarest), _LEAST_OF_FEW)
    return "words" if rarest and _most_together(rarest, work) >= needed else ""


def _most_together(stems: Collection[str], work: Evidence) -> int:
    """How many of these words one paragraph of the session has, at most."""
    return max(Counter(number for stem in stems for number in work.words.paragraphs(stem)).values(), default=0)


def given_of(db: sqlite3.Connection, source: str) -> Knowable | None:
    """A memory or a session by its id, as long as it is there."""
    memory = memories.find(db, source)
    if memory is not None:
        changed = tuple((symbol.file, symbol.name) for symbol in memory.symbols)
        # What was asked for is told with many memories of one turn.
        told = f"{memory.title}\n{without_request(memory.summary)}"
        return Knowable(_forms(memory.id), memory.session, told, memory.files, changed)
    session = sessions.find(db, source)
    return _given_session(session) if session else None


def _given_session(session: Session) -> Knowable:
    told = session.summary
    first = session.id[:_SHORTEST_SESSION_ID]
    # As clients make them; any other could be a word of the user's.
    ids = frozenset((first,)) if _HEX.fullmatch(first) else frozenset()
    text = "\n".join((told.headline, told.request, *told.next_steps))
    return Knowable(ids | _forms(memories.handoff_id(session.id)), session.id, text, told.files_edited)


def _forms(id_: str) -> frozenset[str]:
    return frozenset(id_[:length] for length in range(_SHORTEST_ID, len(id_) + 1))


def _is_named(file: str, work: Evidence) -> bool:
    return file.rpartition("/")[2].lower() not in _GENERAL_FILES and work.names(file)


def _is_symbol_named(name: str, work: Evidence) -> bool:
    """Whether a function is named that could be no other word."""
    last = name.rpartition(".")[2]
    is_name = len(last) >= _SHORTEST_SYMBOL and bool(_COMPOUND.search(last))
    return is_name and last in work.identifiers and last not in work.echoed


def _tells(stem: str, word: str) -> bool:
    least = _SHORTEST_WORD if word.isascii() else _SHORTEST_PAIR
    return len(word) >= least and not word.isdigit() and not {stem, word} & _OF_ANY_WORK
