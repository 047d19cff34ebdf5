"""`python -m benchmarks.anchored`: the start context with 10,000 memories tied to code, in a repository of 20,000
files.

The sources are made up, in eight languages; the repository is made by git, the memories by the product's own store and
reader of symbols. Then a tenth of the functions they tell of is changed, one file in fifty deleted, one in a hundred
moved, some of it not committed; a third of the memories is of branches, merged and not. All files are newer than the
memories, so none can be passed over unread: as after a fresh clone.

Contexts are asked of a running worker: by its API, and as the start hook asks. Judged is the p95 of each, also
while a worker that has just started looks at everything for the first time, when a hook would wait 1,500 ms; and that
of the first contexts alone, after a start and after a `git switch`.

`--part started`, `--part switched`, `--part looks` and `--part warm` measure one part, `--rounds 5` fewer starts and
switches: such figures are printed, and not kept."""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain, count

from benchmarks.anchored_home import fill
from benchmarks.anchored_look import looks, ms_since, spread
from benchmarks.anchored_repository import MadeRepository
from benchmarks.figures import Figure, keep, p95
from benchmarks.stage import Stage, payload, stage
from claude_mem_lite.limits import LIMITS

FILES = 20_000
MEMORIES = 10_000
BUILDS = 200
ALONE = 30
"""Before each of these the look in the background ends, which takes seconds: it goes on about what is missing."""
ROUNDS = 20
"""So many starts of a worker, and switches of the branch, with some builds after each."""
BUILDS_PER_ROUND = BUILDS // ROUNDS
PARTS = ("looks", "started", "warm", "switched")
SWITCHED = 2_000
BAR_MS = 200.0
MAX_MB = 80.0
DRAIN_S = 1800.0
IDLE_S = LIMITS.rest_s + 15
_BRANCHES = tuple(f"feature/{number}" for number in range(8))
_WIDE = "wide"


def main() -> int:
    chosen = _arguments()
    figures: list[Figure] = []
    with stage() as made:
        repository = MadeRepository(made.folder / "repository", FILES)
        _make(made, repository)
        looked = looks(made, repository, _WIDE) if "looks" in chosen.part else iter(())
        for figure in chain(looked, _contexts(made, repository, chosen.part, chosen.rounds)):
            print(figure.line(), flush=True)
            figures.append(figure)
    if tuple(chosen.part) != PARTS or chosen.rounds < ROUNDS:
        return 0 if all(figure.holds() for figure in figures) else 1
    return keep("anchored", "Ten thousand memories tied to code", figures, "make bench-code")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, nargs="+", default=PARTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    return parser.parse_args()


def _make(made: Stage, repository: MadeRepository) -> None:
    """The repository and the home, and what happened to the code since."""
    order = random.Random(0)
    repository.begin()
    numbers = order.sample(range(FILES), FILES)
    for place, branch in enumerate(_BRANCHES):
        repository.branch(branch, numbers[place * 20 : place * 20 + 20], merge=place % 2 == 0)
    told_of = sorted(fill(made, repository, MEMORIES, _BRANCHES))
    gone, moved = numbers[1000 : 1000 + FILES // 50], numbers[2000 : 2000 + FILES // 100]
    changed: dict[int, list[int]] = {}
    for file, function in order.sample(told_of, len(told_of) // 10):
        if file not in {*gone, *moved}:
            changed.setdefault(file, []).append(function)
    uncommitted = sorted(changed)[::10]
    for file in changed.keys() - set(uncommitted):
        repository.change(file, changed[file])
    for file in gone:
        repository.delete(file)
    for file in moved:
        repository.move(file)
    repository.commit("Since")
    repository.branch(_WIDE, [file for file in numbers if file not in {*gone, *moved, *changed}][:SWITCHED])
    for file in uncommitted:
        repository.change(file, changed[file])


def _contexts(made: Stage, repository: MadeRepository, parts: Sequence[str], rounds: int) -> Iterator[Figure]:
    ask = Asking(made, repository, rounds)
    made.start_worker()
    made.client.drain(DRAIN_S)  # vectors: they are not what is measured
    made.stop_worker()
    made.start_worker()
    yield Figure("memory of the worker, just started", _resident_mb(made), "MB")
    if "started" in parts:
        yield from ask.just_started(keep_code=False)
        yield from ask.just_started(keep_code=True)
    if "warm" in parts:
        yield from ask.warm()
    if "switched" in parts:
        yield from ask.switching()
    yield Figure("memory of the worker right after", _resident_mb(made), "MB")
    if "warm" in parts:
        made.client.drain(DRAIN_S)
        time.sleep(IDLE_S)
        note = f"{IDLE_S:g} s after the last context"
        yield Figure("memory of the worker, idle", _resident_mb(made), "MB", MAX_MB, note=note)


class Asking:
    """Asks a worker for start contexts, and tells how long each took, in milliseconds."""

    def __init__(self, made: Stage, repository: MadeRepository, rounds: int = ROUNDS) -> None:
        self._made = made
        self._repository = repository
        self._rounds = rounds
        self._sessions = count()

    def warm(self) -> Iterator[Figure]:
        """Contexts of a worker that runs for a while."""
        yield _judged("warm worker, by its API", [self.by_api() for _ in range(BUILDS)], self.told())
        alone = [self.by_hook_alone() for _ in range(ALONE)]
        yield _judged("warm worker, as the start hook asks, one at a time", alone)
        yield _judged("warm worker, as the start hook asks, one after another", [self.by_hook() for _ in range(BUILDS)])

    def by_api(self) -> float:
        began = time.perf_counter()
        self._made.client.context(str(self._repository.root), None)
        return ms_since(began)

    def by_hook(self) -> float:
        session = f"asking{next(self._sessions)}"
        start = payload("SessionStart", self._repository.root, session=session, source="startup")
        return self._made.time_answer_s("SessionStart", start) * 1000

    def by_hook_alone(self) -> float:
        """As it is when a session starts now and then: no look in the background is under way."""
        self._made.client.drain(DRAIN_S)
        return self.by_hook()

    def told(self) -> str:
        """What a context holds now, in numbers."""
        text = self._made.client.context(str(self._repository.root), None).context
        return f"{text.count(chr(10) + '- [')} lines of memories and sessions, {text.count('[may be stale]')} marked"

    def just_started(self, *, keep_code: bool) -> Iterator[Figure]:
        """Contexts right after a worker's start, one after another, while the look in the background is under way."""
        first, others = [], []
        for _ in range(self._rounds):
            self._made.stop_worker()
            if not keep_code:
                self._made.home.code_db.unlink(missing_ok=True)
            self._made.start_worker()
            self._made.until_answer()
            began = time.perf_counter()
            first.append(self.by_hook())
            others += [self.by_hook() for _ in range(BUILDS_PER_ROUND - 1)]
        name = f"just started, {'the code known from before' if keep_code else 'nothing known of the code'}"
        yield _judged(name, first + others)
        yield _first(name, first)
        self._made.client.drain(DRAIN_S)
        yield Figure(
            f"{name}: all is looked at", round(time.perf_counter() - began, 1), "s", note="after the last start"
        )

    def switching(self) -> Iterator[Figure]:
        """Contexts right after `git switch`, back and forth."""
        first, others = [], []
        for place in range(self._rounds):
            self._repository.git("switch", "--quiet", "main" if place % 2 else _WIDE)
            first.append(self.by_hook())
            others += [self.by_hook() for _ in range(BUILDS_PER_ROUND - 1)]
        name = f"after git switch that touched {SWITCHED} files"
        yield _judged(name, first + others)
        yield _first(name, first)


def _judged(name: str, times: Sequence[float], note: str = "") -> Figure:
    told = "; ".join(filter(None, (spread(times), note)))
    return Figure(f"start context, {name}, p95", round(p95(times), 1), "ms", BAR_MS, note=told)


def _first(name: str, times: Sequence[float]) -> Figure:
    return _judged(f"{name}, the first alone", times)


def _resident_mb(made: Stage) -> float:
    pid = str(made.client.health().pid)
    shown = subprocess.run(["ps", "-o", "rss=", "-p", pid], capture_output=True, text=True, check=True)
    return round(int(shown.stdout) / 1024, 1)


if __name__ == "__main__":
    sys.exit(main())
