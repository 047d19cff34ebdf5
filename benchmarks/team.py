"""`python -m benchmarks.team DATA [--handoffs]`: what does a session get from memories of teammates?

The sessions of several developers are walked in time (team_walk.py). From the eleventh on, each is measured by how much
of the files that it will touch is known, the rare ones weighing more (coverage.py): to the developer's own
past and to the team's, to all memories in the home, and to what the start context shows, alone and with received
memories, in the same session; beside it stands what the newest received memories would add if they were always shown.
Of received memories that are shown, precision is the share with a file that the session will touch. Intervals are by
bootstrap over sessions. `--handoffs` shares open work too."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.support.postgres import fresh_database, running_server

from benchmarks.figures import Figure, keep
from benchmarks.product import temporary_folder
from benchmarks.team_walk import Given, TeamVisit, TeamWalk
from benchmarks.transcripts import Data
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.evaluation.coverage import Files, precision, product_selection
from claude_mem_lite.evaluation.intervals import Measured, bootstrapped
from claude_mem_lite.evaluation.session_walk import FIRST
from claude_mem_lite.models import Memory
from claude_mem_lite.team.policy import DEFAULT_KINDS

Value = Callable[[TeamVisit], float]


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.team")
    options.add_argument("data", type=Path, metavar="DATA")
    options.add_argument("--handoffs", action="store_true")
    given = options.parse_args(arguments)
    with (
        temporary_folder() as folder,
        running_server() as server,
        fresh_database(server, is_set_up=False) as database,
    ):
        walk = TeamWalk(Data(given.data), folder, database.address)
        visits = []
        for visit in walk.visits(handoffs=given.handoffs):
            visits.append(visit)
            print(f"{len(visits)} of {len(walk.listed) - FIRST}", file=sys.stderr, flush=True)
        sent = walk.sent()
    figures = [*_of_walk(walk, visits, sent), *_of_visits(Files(walk.listed), visits)]
    for figure in figures:
        print(figure.line(), flush=True)
    name = "team_handoffs" if given.handoffs else "team"
    title = "What a session gets from memories of teammates" + (", open work included" if given.handoffs else "")
    how = f"python -m benchmarks.team DATA{' --handoffs' if given.handoffs else ''}"
    return keep(name, title, figures, how)


def _of_walk(walk: TeamWalk, visits: Sequence[TeamVisit], sent: Mapping[str, int]) -> Iterator[Figure]:
    began = Counter(walk.developer_of(session).name for session in walk.listed)
    told = ", ".join(f"{name} {number}" for name, number in sorted(began.items()))
    yield Figure("sessions", len(walk.listed), "", note=f"by developer: {told}; from number {FIRST + 1} on measured")
    note = ", ".join(f"{name} {number}" for name, number in sent.items())
    yield Figure("entries on the server", sum(sent.values()), "", note=note)
    own, received = _counts(visits)
    note = f"{received} received besides; in the homes at their developers' last session"
    yield Figure("memories of their own", sum(own.values()), "", note=note)
    shared = sum(number for kind, number in own.items() if kind in DEFAULT_KINDS)
    kinds = ", ".join(f"{kind} {number}" for kind, number in own.most_common())
    yield Figure("of them of a kind that may be shared", round(shared / max(sum(own.values()), 1), 3), "", note=kinds)


def _counts(visits: Sequence[TeamVisit]) -> tuple[Counter[str], int]:
    last = {visit.developer: visit.team for visit in visits}
    own = Counter(memory.kind for given in last.values() for memory in given.memories if memory.origin != "team")
    return Counter({str(kind): number for kind, number in own.items()}), sum(len(one.received) for one in last.values())


def _of_visits(files: Files, visits: Sequence[TeamVisit]) -> Iterator[Figure]:
    working = [visit for visit in visits if visit.session.files]
    first = max(Counter(visit.developer for visit in working).items(), key=lambda pair: pair[1])[0]
    groups = {
        "all": working,
        f"developer {first}": [visit for visit in working if visit.developer == first],
        "the others": [visit for visit in working if visit.developer != first],
    }
    ways = _ways(files)
    for group, chosen in groups.items():
        note = f"of {len(visits)}; those that touch a file"
        yield Figure(f"{group}: sessions", len(chosen), "", note=note)
        for name, value in ways.items():
            yield _mean(f"{group}: coverage: {name}", [value(visit) for visit in chosen])
        for more, less in _PAIRS:
            differences = [ways[more](visit) - ways[less](visit) for visit in chosen]
            yield _mean(f"{group}: gain: {more}, against {less}", differences)
        yield from _of_lines(group, chosen)


OWN_PAST, TEAM_PAST = "own past, every file", "the team's past, every file"
OWN_STORED, TEAM_STORED = "all own memories", "all own and received memories"
ALONE, TEAM = "start context, own memories", "start context, own and received memories"
NEWEST = 5
MORE = f"{TEAM}, and the {NEWEST} newest received"
READ_ALONE, READ_TEAM = f"{ALONE}, readable", f"{TEAM}, readable"
_PAIRS = ((TEAM_PAST, OWN_PAST), (TEAM_STORED, OWN_STORED), (TEAM, ALONE), (MORE, ALONE), (READ_TEAM, READ_ALONE))


def _ways(files: Files) -> Mapping[str, Value]:
    def covered(visit: TeamVisit, known: frozenset[str]) -> float:
        return files.coverage(visit.session.files, known)

    def told(given: Given) -> frozenset[str]:
        return product_selection(files, given.text, given.shown).files

    return {
        OWN_PAST: lambda visit: covered(visit, visit.own_past),
        TEAM_PAST: lambda visit: covered(visit, visit.team_past),
        OWN_STORED: lambda visit: covered(visit, _files_of(visit.alone.memories)),
        TEAM_STORED: lambda visit: covered(visit, _files_of(visit.team.memories)),
        ALONE: lambda visit: covered(visit, told(visit.alone)),
        TEAM: lambda visit: covered(visit, told(visit.team)),
        MORE: lambda visit: covered(visit, told(visit.team) | _files_of(_newest_received(visit))),
        READ_ALONE: lambda visit: covered(visit, files.readable(visit.alone.text)),
        READ_TEAM: lambda visit: covered(visit, files.readable(visit.team.text)),
    }


def _files_of(memories: Iterable[Memory]) -> frozenset[str]:
    return frozenset(file for memory in memories for file in memory.files)


def _of_lines(group: str, visits: Sequence[TeamVisit]) -> Iterator[Figure]:
    """What received lines are worth, beside the developers' own lines, and what both cost."""
    yield _mean(f"{group}: tokens alone", [estimate_tokens(visit.alone.text) for visit in visits])
    tokens = [estimate_tokens(visit.team.text) - estimate_tokens(visit.alone.text) for visit in visits]
    yield _mean(f"{group}: tokens more with the team", tokens)
    numbers = [len(_things(visit, is_received=True)) for visit in visits]
    note = f"{sum(map(bool, numbers))} of {len(numbers)} contexts show any"
    yield _mean(f"{group}: received memories shown in a context", numbers, note)
    for name, is_received in (("received", True), ("own", False)):
        given = [precision(visit.session.files, _things(visit, is_received=is_received)) for visit in visits]
        things = [
            bool(visit.session.files & one) for visit in visits for one in _things(visit, is_received=is_received)
        ]
        known = [share for share in given if share is not None]
        if known:
            bare = sum(not one for visit in visits for one in _things(visit, is_received=is_received))
            note = f"mean over {len(known)} contexts with any; {sum(things)} of {len(things)}, {bare} name no file"
            yield _mean(f"{group}: precision of {name} memories that are shown", known, note)
    others = {
        f"the {NEWEST} newest received memories, shown or not": _newest_received,
        "all received memories": _received,
    }
    for name, chosen in others.items():
        given = [precision(visit.session.files, [frozenset(one.files) for one in chosen(visit)]) for visit in visits]
        shares = [share for share in given if share is not None]
        if shares:
            yield _mean(f"{group}: precision of {name}", shares)


def _received(visit: TeamVisit) -> list[Memory]:
    return [memory for memory in visit.team.memories if memory.origin == "team"]


def _newest_received(visit: TeamVisit) -> list[Memory]:
    return sorted(_received(visit), key=lambda memory: (memory.created_at, memory.id), reverse=True)[:NEWEST]


def _things(visit: TeamVisit, *, is_received: bool) -> list[frozenset[str]]:
    """The files of each memory that the context with the team shows."""
    known = visit.team.received
    return [
        one.files
        for one in {one.source: one for one in visit.team.shown}.values()
        if one.files is not None and (one.source in known) is is_received
    ]


def _mean(name: str, values: Sequence[float], note: str = "") -> Figure:
    measured = bootstrapped(values)
    return Figure(name, round(measured.mean, 3), "", note="; ".join(filter(None, (_interval(measured), note))))


def _interval(measured: Measured) -> str:
    return f"95 % {measured.low:.3f} to {measured.high:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
