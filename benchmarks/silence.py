"""`python -m benchmarks.silence [DATA]`: are prompts that need no memory left alone, among 5,000 memories?

With DATA, the memories of all its sessions are imported into one project, and made-up ones (synthetic.py) fill it up;
without, all are made up. They are dated so that the newest are of the moment of asking, as a project's are. Then every
prompt of silent_prompts.py is sent to the worker as a hook sends it, each in a session of its own: with DATA the real
ones too, each as a prompt of the session it is of, so that only that session's own memories are left out. That is
harder than what happened: the store knows what came after.

That silence is not deafness is told by the opposite: a hundred stored memories, each asked for by its title."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.product import temporary_folder
from benchmarks.silent_prompts import NEW_TOPICS, OTHER_LANGUAGES, PASTED_LOGS, REAL, SMALL_TALK
from benchmarks.synthetic import BATCH, NOW, SPAN, Language, batch
from benchmarks.transcripts import Data, recorded
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Wanted, Where
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.evaluation.in_process_worker import SettableClock, send_hook, served
from claude_mem_lite.evaluation.session_walk import Walk
from claude_mem_lite.evaluation.sightings import RecordedSession, prompt_of
from claude_mem_lite.event_names import new_name
from claude_mem_lite.models import WORK_KINDS, Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.store import memories

MEMORIES = 5_000
MAX_ANSWERED = 0.02
ASKED_FOR = 100
MIN_HEARD = 0.5
_MIN_TITLE_WORDS = 4
SHOWN = 6
"""How many characters of an id an answer shows."""
_OWN = {
    "small talk": SMALL_TALK,
    "other languages": OTHER_LANGUAGES,
    "new topics": NEW_TOPICS,
    "pasted logs": PASTED_LOGS,
}


@dataclass(frozen=True, slots=True)
class Prompt:
    group: str
    text: str
    session: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of asking for a memory by its title."""

    is_answered: bool
    is_given: bool
    """Whether the memory itself is in the answer."""


def main(arguments: Sequence[str]) -> int:
    with temporary_folder() as folder:
        figures = list(_measure(Data(Path(arguments[0])) if arguments else None, folder))
    for figure in figures:
        print(figure.line(), flush=True)
    return keep("silence", "Prompts that need no memory", figures, "python -m benchmarks.silence [DATA]")


def _measure(data: Data | None, folder: Path) -> Iterator[Figure]:
    prompts = list(own_prompts())
    if data:
        walk = Walk(recorded(data), folder)
        home, root = walk.home, walk.root
        with served(home, walk.clock):
            walk.go_to(max(turn.began_at for one in walk.past.values() for turn in one.turns) + timedelta(days=1))
        at = walk.clock.at
        prompts += real_prompts(walk.past)
    else:
        home, root, at = Home(folder / "home"), folder / "checkout", NOW
        home.make()
        root.mkdir()
    remembered = fill_up(home, find_location(str(root)).project, at)
    with served(home, SettableClock(at)):
        listed = _some_memories(home, root, has_recorded=bool(remembered))
        titles = [(id_, Prompt("titles", title, f"title {id_}")) for id_, title in listed]
        heard = [_heard(id_, _answer(home, root, prompt, at)) for id_, prompt in titles]
        answered = [(one, bool(_answer(home, root, one, at))) for one in prompts]
    yield Figure("memories in the project", MEMORIES, "", note=f"{remembered} of recorded sessions, the others made up")
    yield from silence_figures(answered)
    yield from hearing_figures(heard)


def silence_figures(answered: Sequence[tuple[Prompt, bool]]) -> Iterator[Figure]:
    """Judged is the share of all; of the real ones alone too when there are any."""
    yield _share("prompts that need no memory and are given something", [given for _, given in answered], MAX_ANSWERED)
    for group in dict.fromkeys(prompt.group for prompt, _ in answered):
        given = [is_given for prompt, is_given in answered if prompt.group == group]
        yield _share(f"of that {group}", given, None)


def hearing_figures(heard: Sequence[Heard]) -> Iterator[Figure]:
    answered = sum(one.is_answered for one in heard)
    note = f"{answered} of {len(heard)}: each the title of a stored memory"
    share = round(answered / len(heard), 3)
    yield Figure("titles of memories that are given something", share, "", floor=MIN_HEARD, note=note)
    itself = round(sum(one.is_given for one in heard) / len(heard), 3)
    yield Figure("titles that are given that memory itself", itself, "", note="others that say as much may come first")


def own_prompts() -> Iterator[Prompt]:
    for group, texts in _OWN.items():
        yield from (Prompt(group, one, f"{group} {number}") for number, one in enumerate(texts))


def real_prompts(past: Mapping[str, RecordedSession]) -> Iterator[Prompt]:
    for beginning, places in REAL.items():
        (session,) = (one for id_, one in past.items() if id_.startswith(beginning))
        yield from (Prompt("real prompts", prompt_of(session.turns[place]), session.id) for place in places)


def fill_up(home: Home, project: str, at: datetime) -> int:
    """Put made-up memories into a project until there are enough; how many there were before."""
    with closing(open_for_writing(home.memory_db)) as db:
        migrate(db, MEMORY_MIGRATIONS, at)
        before = memories.count(db)
        missing = MEMORIES - before
        language = Language()
        with atomic(db):
            for first in range(0, missing, BATCH):
                for memory in batch(language, first, min(BATCH, missing - first), missing)[0]:
                    memories.put(db, _moved(memory, project, at), f"turn of {memory.id}", at)
        indexing = Indexing(db, StaticTable())
        indexing.begin()
        while indexing.step():
            pass
        if indexing.problem or indexing.waiting(db):
            raise SystemExit(f"not all could be indexed: {indexing.problem or 'some documents still wait'}")
    return before


def _moved(memory: Memory, project: str, at: datetime) -> Memory:
    """As if it were of this project, in the last two months."""
    moment = at - (NOW - memory.created_at) * (timedelta(days=60) / SPAN)
    scope = memory.scope if memory.scope == "universal" else f"project:{project}"
    return replace(memory, scope=scope, project=project, created_at=moment, last_seen_at=moment)


def _answer(home: Home, root: Path, prompt: Prompt, at: datetime) -> bytes:
    payload = {
        "session_id": prompt.session,
        "transcript_path": str(root / "t.jsonl"),
        "cwd": str(root),
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt.text,
    }
    event, body = "UserPromptSubmit", json.dumps(payload).encode()
    return send_hook(home, event, new_name(event, at), body)


def _some_memories(home: Home, root: Path, *, has_recorded: bool) -> list[tuple[str, str]]:
    """Ids and titles of memories of work, evenly over all that there are; only recorded ones when there are any."""
    listed = Client(home).memories(Where(str(root)), Wanted(kinds=WORK_KINDS), limit=MEMORIES)
    found = [
        (memory.id, memory.title)
        for memory in listed
        if len(memory.title.split()) >= _MIN_TITLE_WORDS
        and not (has_recorded and memory.session.startswith("session-"))
    ]
    return found[:: max(len(found) // ASKED_FOR, 1)][:ASKED_FOR]


def _heard(id_: str, answer: bytes) -> Heard:
    return Heard(bool(answer), f"#{id_[:SHOWN]}" in answer.decode())


def _share(name: str, given: Sequence[bool], bar: float | None) -> Figure:
    return Figure(name, round(sum(given) / len(given), 4), "", bar, note=f"{sum(given)} of {len(given)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
