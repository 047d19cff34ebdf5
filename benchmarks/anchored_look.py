"""The look at a repository's code in this process: over all memories in steps, and for one context."""

import shutil
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial

from benchmarks.anchored_repository import MadeRepository
from benchmarks.figures import Figure, p95
from benchmarks.stage import Stage
from claude_mem_lite.code.freshness.checkout_view import ChangeState, Checkout
from claude_mem_lite.code.freshness.scanner import StalenessScanner, context_budget
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.config import Config
from claude_mem_lite.context.builder import build
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import open_for_reading, open_for_writing
from claude_mem_lite.limits import LIMITS
from claude_mem_lite.models import Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.store.branches import Hidden

_BUILDS = 200
_COLD_BUILDS = 20


def looks(made: Stage, repository: MadeRepository, other_branch: str) -> Iterator[Figure]:
    """The look in the background over all memories, step by step, and the look of a context alone; on a copy of the
    home, in this process."""
    home = Home(made.folder / "copy")
    home.make()
    shutil.copy(made.home.memory_db, home.memory_db)
    with closing(open_for_writing(home.memory_db)) as db:
        yield from _builds(home, repository, "nothing known of the code", _COLD_BUILDS, is_cold=True)
        looking = StalenessScanner(home, db, _now, lambda _: False)
        yield from _steps(looking, repository, "first look over all memories")
        retired = db.execute("select count(*) from retirements").fetchone()[0]
        yield Figure("memories that the look retired", retired, "", note="by what became of their code or branch")
        yield from _steps(looking, repository, "look again, nothing changed")
        yield from _builds(home, repository, "all known", _BUILDS)
        repository.git("switch", "--quiet", other_branch)
        yield from _steps(looking, repository, "look again, after git switch")
        repository.git("switch", "--quiet", "main")
        looking.release()
    shutil.rmtree(home.root)


def _builds(
    home: Home, repository: MadeRepository, name: str, number: int, *, is_cold: bool = False
) -> Iterator[Figure]:
    """The time that this process works on a context, with and without a look, and what it could not tell of."""
    with closing(open_for_writing(home.memory_db)) as db:
        looking = StalenessScanner(home, db, _now, lambda _: False)
        connect = partial(open_for_reading, home.memory_db)
        looked, unlooked = [], []
        verdicts: Counter[str] = Counter()
        for _ in range(number):
            if is_cold:
                looking.release()
                home.code_db.unlink(missing_ok=True)
            place = find_location(str(repository.root))
            began = time.process_time()
            checkout = Noting(looking.checkout(db, place, context_budget(LIMITS)), verdicts)
            build(connect, ContextRequest(place, _now(), checkout=checkout), Config().budget_tokens)
            looked.append((time.process_time() - began) * 1000)
            began = time.process_time()
            build(connect, ContextRequest(place, _now()), Config().budget_tokens)
            unlooked.append((time.process_time() - began) * 1000)
        looking.release()
    what = f"processor time of a context, {name}"
    yield Figure(f"{what}, p95", round(p95(looked), 1), "ms", note=spread(looked))
    yield Figure(f"{what}, without a look, p95", round(p95(unlooked), 1), "ms", note=spread(unlooked))
    share = verdicts["unknown"] / verdicts.total()
    note = f"{verdicts['unknown']} of {verdicts.total()}; a context may work {LIMITS.check_s * 1000:g} ms on its looks"
    yield Figure(f"memories it could not tell of, {name}", round(share, 3), "", note=note)


class Noting:
    """A checkout that notes what it answers."""

    def __init__(self, checkout: Checkout, verdicts: "Counter[str]") -> None:
        self._checkout = checkout
        self._verdicts = verdicts

    @property
    def hidden(self) -> Hidden:
        return self._checkout.hidden

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        told = self._checkout.freshness(memories)
        self._verdicts.update(one.verdict for one in told.values())
        return told

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        return self._checkout.states(changes)


def _steps(looking: StalenessScanner, repository: MadeRepository, name: str) -> Iterator[Figure]:
    looking.request_scan(find_location(str(repository.root)))
    taken = []
    more = True
    while more:
        began = time.perf_counter()
        more = looking.step().more
        taken.append(ms_since(began))
    yield Figure(name, round(sum(taken) / 1000, 2), "s", note=f"in {len(taken)} steps")
    yield Figure(f"{name}: a step, p95", round(p95(taken), 1), "ms", note=spread(taken))


def spread(times: Sequence[float]) -> str:
    return f"p50 {statistics.median(times):.1f}, p95 {p95(times):.1f}, most {max(times):.1f} of {len(times)}"


def ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _now() -> datetime:
    return datetime.now(UTC)
