"""How much of what a session will touch its start context tells of, and what that costs.

The files that a session will touch are weighed by their rarity, log(N/df) over all sessions of the data: to know of
the file that everybody touches is worth little. Coverage is the share of that weight, a session that touches nothing is
left out, and the mean is over sessions. Counted twice:

- told: a session that is shown stands for all files it touched, as `sessions.json` tells, and a memory for its own. A
  function that was changed stands for the file it is told under.
- readable: only files that stand in the text, by their path or by as much of its end as no other file ends with."""

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.injection_walk import Listed, Shown, Visit
from claude_mem_lite.context.render import estimate_tokens, when

_PATH = re.compile(r"[\w.-]*[\w-](?:/[\w.-]*[\w-])*")


class Files:
    """All files of the data: their rarity, and which of them a text names."""

    def __init__(self, sessions: Sequence[Listed]) -> None:
        self.of = {session.id: session.files for session in sessions}
        touched = Counter(file for session in sessions for file in session.files)
        self._weights = {file: math.log(len(sessions) / times) for file, times in touched.items()}
        ends = ((end, file) for file in touched for end in _ends(file))
        named: dict[str, set[str]] = {}
        for end, file in ends:
            named.setdefault(end, set()).add(file)
        self._named = {end: next(iter(files)) for end, files in named.items() if len(files) == 1}

    def coverage(self, wanted: Iterable[str], known: frozenset[str]) -> float:
        """The share of the weight of the wanted files that is known."""
        weights = {file: self._weights[file] for file in wanted}
        return sum(weight for file, weight in weights.items() if file in known) / sum(weights.values())

    def readable(self, text: str) -> frozenset[str]:
        return frozenset(self._named[one] for one in _PATH.findall(text) if one in self._named)


@dataclass(frozen=True, slots=True)
class Told:
    """What one session is shown in one way: the files, the tokens, and what each thing that is shown stands for."""

    text: str
    told: frozenset[str]
    sessions: Mapping[str, frozenset[str]]
    things: Sequence[frozenset[str]]

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text)


Way = Callable[[Visit], Told]


def as_given(files: Files, text: str, shown: Sequence[Shown]) -> Told:
    """The context of the product."""
    sessions: dict[str, frozenset[str]] = {}
    things: dict[tuple[str, str], frozenset[str]] = {}
    for one in shown:
        if one.files is not None:
            stands_for = one.files
        elif _is_of_code(one):
            stands_for = files.readable(one.line)
        else:
            stands_for = sessions[one.source] = files.of[one.source]
        key = (one.layer, one.source)
        things[key] = things.get(key, frozenset()) | stands_for
    return Told(text, frozenset().union(*things.values()), sessions, list(things.values()))


def _is_of_code(one: Shown) -> bool:
    """Whether a line tells of functions, not of the session that changed them."""
    return one.layer in ("changed code", "function map")


def sessions_told(files: Files, visit: Visit, chosen: Sequence[str]) -> Told:
    """Sessions by their headlines, one line each."""
    lines = []
    for id_ in chosen:
        moment, headline = visit.headlines.get(id_, (visit.session.started_at, ""))
        lines.append(f"- [{when(moment, visit.session.started_at, False)}] {headline[:190]}")
    of = {id_: files.of[id_] for id_ in chosen}
    return Told("\n".join(lines), frozenset().union(*of.values()), of, list(of.values()))


def newest_memories(visit: Visit) -> Told:
    """The newest memories by their titles, one line each."""
    lines = []
    for one in visit.newest:
        lines.append(f"- [{one.kind}, {when(one.last_seen_at, visit.session.started_at, False)}] {one.title}")
    own = [frozenset(one.files) for one in visit.newest]
    return Told("\n".join(lines), frozenset().union(*own), {}, own)


def precision(wanted: frozenset[str], things: Iterable[frozenset[str]]) -> float | None:
    """The share of what is shown that has to do with a wanted file; None when nothing is."""
    useful = [bool(wanted & one) for one in things]
    return statistics.fmean(useful) if useful else None


def _ends(file: str) -> list[str]:
    parts = file.split("/")
    return ["/".join(parts[place:]) for place in range(len(parts))]
