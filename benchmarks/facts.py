"""`python -m benchmarks.facts DATA [--seeds N] [--show-lost]`: facts left after compression.

200 facts are drawn from recorded tool outputs and edits (see drawing.py), the sessions are imported by the product
without a model, and each fact is asked for by its own words with the product's search, in its project.

- *readable*: all parts that identify the fact stand, in order of nothing but white space and case, in one stored text
  of its session: a memory (title, summary, facts, detail, files, symbols) or the session's summary.
- *found*: in one of the ten best memories the fact can be read; raw text is not asked. For a number it must be a
  memory of the same session, because the same number means something else elsewhere; a test, an error, a function, a
  version or a command is the same thing wherever it is told.
- *found, turns too*: as found, but in one of the ten best hits of any sort: what is kept of a turn (its closing
  message, and the log of what was edited, run and answered) counts as well.
- *found in its session*: the same, but the memory must be of the session the fact was drawn from, for every kind.
- *found with what was wanted*: as found, but asked for with the first words of that turn's prompt as well. "2 issues"
  alone was said of many runs; one who looks for it knows what the work was about. Told, not judged.

Every seed draws another 200; the mean and the range over the seeds are told. With `--show-lost` what was lost is
printed, and kept nowhere."""

import argparse
import re
import sqlite3
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.drawing import KINDS, Fact, draw
from benchmarks.figures import Figure, keep
from benchmarks.product import imported
from benchmarks.stored import (
    all_memories,
    all_sessions,
    memory_finder,
    memory_text,
    remembered,
    summary_text,
    text_finder,
)
from benchmarks.transcripts import Data

NUMBER = 200
TOP = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one fact."""

    fact: Fact
    readable: bool
    found: bool
    found_in_session: bool
    found_with_wanted: bool
    found_with_turns: bool


class Store:
    """The texts of one home, ready to be asked."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._find = memory_finder(db)
        self._find_any = text_finder(db)
        self._project = {session.id: session.project for session in all_sessions(db)}
        self._texts: dict[str, list[str]] = defaultdict(list)
        for memory in all_memories(db):
            self._texts[memory.session].append(_plain(memory_text(memory)))
        for session in all_sessions(db):
            self._texts[session.id].append(_plain(summary_text(session.summary)))

    def look(self, fact: Fact) -> Outcome:
        telling = self._telling(fact, fact.query)
        return Outcome(
            fact,
            readable=any(can_be_read(fact, text) for text in self._texts[fact.session]),
            found=_is_it(fact, telling),
            found_in_session=fact.session in telling,
            found_with_wanted=_is_it(fact, self._telling(fact, f"{fact.wanted} {fact.query}")),
            found_with_turns=_is_it(fact, self._telling_with_turns(fact)),
        )

    def _telling(self, fact: Fact, query: str) -> list[str]:
        """The sessions of the best hits in which the fact can be read."""
        found = self._find(query, self._project.get(fact.session), TOP)
        return [memory.session for memory in found if can_be_read(fact, _plain(memory_text(memory)))]

    def _telling_with_turns(self, fact: Fact) -> list[str]:
        found = self._find_any(fact.query, self._project.get(fact.session), TOP)
        return [session for session, text in found if can_be_read(fact, _plain(text))]


def _is_it(fact: Fact, telling: Sequence[str]) -> bool:
    return fact.session in telling if fact.kind == "number" else bool(telling)


def can_be_read(fact: Fact, text: str) -> bool:
    """Whether every part of the fact stands in a plain text, as words of its own; a number beside what it counts."""
    parts = [re.escape(_plain(part)) for part in fact.needles]
    if fact.kind == "number":
        return any(re.search(pattern, text) for pattern in _ways_to_say(*parts))
    return all(re.search(rf"(?<!\w){part}(?!\w)", text) for part in parts)


def _ways_to_say(number: str, counted: str) -> Iterator[str]:
    """A number and what it counts: side by side in either order with two words between at most, or as in `+3`."""
    beside = r"[^\w,.;]+(?:[a-z]\w*[^\w,.;]+){0,2}"
    several = re.sub(r"s?$", "s?", counted, count=1)
    yield rf"(?<![\w.]){number}{beside}{several}\b"
    yield rf"\b{several}{beside}{number}(?![\w.])"
    sign = {"insertion": r"\+", "deletion": "[-−]"}.get(counted.removesuffix("s"))
    if sign:
        yield rf"(?<!\w){sign}{number}(?![\w.])"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts")
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--show-lost", action="store_true")
    given = parser.parse_args(arguments)
    turns = list(Data(given.data).turns())
    drawn = [draw(turns, NUMBER, seed) for seed in range(given.seeds)]
    with imported(Data(given.data)) as home, remembered(home) as db:
        store = Store(db)
        runs = [[store.look(fact) for fact in facts] for facts in drawn]
    if given.show_lost:
        for outcome in dict.fromkeys(outcome for run in runs for outcome in run if not outcome.found):
            mark = "readable, not found" if outcome.readable else "not stored"
            print(f"{outcome.fact.kind}: {mark}: {outcome.fact.needles} ({outcome.fact.session})")
    figures = list(_figures(runs))
    for figure in figures:
        print(figure.line())
    return keep("facts", "Facts left after compression", figures, "python -m benchmarks.facts DATA")


def _figures(runs: Sequence[Sequence[Outcome]]) -> list[Figure]:
    figures = [
        _share("facts found by search and read", [[outcome.found for outcome in run] for run in runs], floor=80),
        _share("facts found, turns too", [[outcome.found_with_turns for outcome in run] for run in runs]),
        _share("facts found in their own session", [[outcome.found_in_session for outcome in run] for run in runs]),
        _share("facts found with what was wanted", [[outcome.found_with_wanted for outcome in run] for run in runs]),
        _share("facts readable in the stored text", [[outcome.readable for outcome in run] for run in runs]),
    ]
    for kind in KINDS:
        of_kind = [[outcome for outcome in run if outcome.fact.kind == kind] for run in runs]
        if not all(of_kind):
            continue
        number = round(statistics.fmean(map(len, of_kind)))
        found = [[outcome.found for outcome in run] for run in of_kind]
        readable = [[outcome.readable for outcome in run] for run in of_kind]
        figures.append(_share(f"{kind}: found", found, extra=f"; {number} of {NUMBER} facts"))
        figures.append(_share(f"{kind}: readable", readable))
    return figures


def _share(name: str, runs: Sequence[Sequence[bool]], *, floor: float | None = None, extra: str = "") -> Figure:
    shares = [100 * statistics.fmean(run) for run in runs]
    note = f"{min(shares):.1f} to {max(shares):.1f} over {len(runs)} seeds{extra}"
    return Figure(name, round(statistics.fmean(shares), 1), "%", floor=floor, note=note)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
