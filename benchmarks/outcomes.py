"""`python -m benchmarks.outcomes DATA`: how sensible the marks are that tell whether a session had use for something.

Every recorded session from the eleventh on is judged as if it had been given all earlier sessions and two memories of
each. What is marked as used should be of sessions that touched the same files, the rarer the better; but file and words
are what the marks go by, so this tells how seldom they are wrong, not how often they are right."""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

if not __package__:  # run as a file, not as a module
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.figures import Figure, keep, p95
from benchmarks.product import imported
from benchmarks.stored import remembered
from benchmarks.transcripts import Data
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.paths import Home
from claude_mem_lite.store import rarity, redoing, sessions
from claude_mem_lite.worker import evidence
from claude_mem_lite.worker.outcomes import given_of, why_used

FIRST = 10
MEMORIES = 2
RARE_SHARE = 0.1
RELATED = {
    "rare": "touched a file in common that at most a tenth of the sessions touch",
    "common": "touched only common files in common",
    "none": "touched no file in common",
}


def main(arguments: Sequence[str]) -> int:
    data = Data(Path(arguments[0]))
    listed = json.loads((data.folder / "sessions.json").read_text())
    files = {str(one["session"]): frozenset(map(str, one["files"])) for one in listed}
    marks: Counter[tuple[str, str, bool]] = Counter()
    times: list[float] = []
    with imported(data) as home:
        for what, related, used in judged(home, files, times):
            marks[what, related, used] += 1
    figures = [_share(marks, what, related) for what in ("memories", "sessions") for related in RELATED]
    figures.append(Figure("judging a session by all of that, p95", round(p95(times), 1), "ms of processor time"))
    for figure in figures:
        print(figure.line(), flush=True)
    return keep("outcomes", "Marks of use", figures, "python -m benchmarks.outcomes DATA")


def judged(home: Home, files: Mapping[str, frozenset[str]], times: list[float]) -> Iterator[tuple[str, str, bool]]:
    """What each item is, how its session is related to the one that is judged, and whether it is marked as used."""
    relation = _relation(files)
    order = list(files)
    with remembered(home) as db, closing(open_for_reading(home.inbox_db)) as inbox:
        for place, name in enumerate(order[FIRST:], FIRST):
            began = time.process_time()
            session = sessions.find(db, name)
            work = evidence.of_session(db, Queue(inbox), session) if session else None
            if session is None or work is None:
                continue
            common = rarity.common_files(db, session.project, name)
            rare = rarity.RareWords(db, session.project).among
            for earlier in order[:place]:
                sources = [earlier, *(memory.id for memory in redoing.of_session(db, earlier, MEMORIES))]
                for source in sources:
                    given = given_of(db, source)
                    if given is not None:
                        used = bool(why_used(given, work, common, rare))
                        yield "sessions" if source == earlier else "memories", relation(earlier, name), used
            times.append(1000 * (time.process_time() - began))


def _relation(files: Mapping[str, frozenset[str]]) -> Callable[[str, str], str]:
    times = Counter(file for touched in files.values() for file in touched)

    def relation(one: str, other: str) -> str:
        shared = files[one] & files[other]
        if any(times[file] <= RARE_SHARE * len(files) for file in shared):
            return "rare"
        return "common" if shared else "none"

    return relation


def _share(marks: Mapping[tuple[str, str, bool], int], what: str, related: str) -> Figure:
    used, ignored = marks[what, related, True], marks[what, related, False]
    share = used / max(used + ignored, 1)
    return Figure(
        f"{what} marked as used, whose session {RELATED[related]}", round(share, 3), "", note=f"{used + ignored}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
