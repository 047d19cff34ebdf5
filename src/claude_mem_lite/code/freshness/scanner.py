"""How the code stands that memories tell of: in the background for all of a project, at once for the few at hand.

The loop has one `Looking(home, memory_db, clock, is_excluded)`:

- `want(place)`, from any thread: a turn was stored there, or a session started. It is looked at once, however often.
- `step()`, from the job thread, at the end of a pass: some 20 ms of work. `more` asks for another pass at once, the
  contexts of the projects in `changed` are to be rendered anew. `is_busy()` tells whether anything is left.
- `checkout(db, place, look_time)`, from any thread, with a connection of its own: how things stand there, for a context
  (`Occasion(place, now, checkout=…)`).
- `let_go()`, when nobody needs it for a while."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from claude_mem_lite.code.freshness.branch_visibility import Branching, Look, store_branches
from claude_mem_lite.code.freshness.checkout_view import SeenCheckout
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.project_scan import Here, PassedOver, Root, Walk
from claude_mem_lite.code.freshness.relocation import Elsewhere
from claude_mem_lite.code.freshness.time_budget import LookTime
from claude_mem_lite.code.freshness.verdicts import LastVerdicts
from claude_mem_lite.code.freshness.working_tree import is_bare
from claude_mem_lite.code.git.repository import Repository, open_repository
from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.models import Place
from claude_mem_lite.paths import Home
from claude_mem_lite.store import sessions
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.timestamps import Clock

LOOK_S = 0.04
"""How much a context may work on its looks at the checkout."""
WITHIN_S = 0.24
"""How long after it was begun: layers look one after another, and the last of them late."""
_SHARE_OF_PATIENCE = 0.5
# What git must be asked for the first time takes longer than for all times after. Of a branch that changes thousands of
# files even this is not enough: then the next look has more.
_BRANCHES_S, _LONG_BRANCHES_S = 0.25, 0.6
_SHARE_OF_BRANCHES = 0.6
_MAX_FOLDERS = 20
_MAX_CHECKOUTS = 5


def time_for_context(patience_s: float | None = None) -> LookTime:
    """The time for the looks of a context that is built now, and that somebody waits so long for."""
    return LookTime(LOOK_S, WITHIN_S if patience_s is None else min(_SHARE_OF_PATIENCE * patience_s, WITHIN_S))


class Looked(NamedTuple):
    """What a step leaves: whether more is to be done, and the projects whose context changed."""

    more: bool
    changed: frozenset[str] = frozenset()


class Looking:
    """One for the worker. `db` and all that steps is for the job thread alone."""

    def __init__(self, home: Home, db: sqlite3.Connection, clock: Clock, is_excluded: Callable[[str], bool]) -> None:
        self._db = db
        self._clock = clock
        self._is_excluded = is_excluded
        self.cache = CodeCache(home.code_db)
        """What source files hold, for whoever asks."""
        self.used_at = 0.0
        """When code was last looked at, on the monotonic clock."""
        self.asked_at = 0.0
        """When somebody who waits last asked for a checkout, on the same clock."""
        self._lock = threading.Lock()
        self._wanted: dict[str, Place] = {}
        self._is_looking = False
        self._walk: Walk | None = None
        self._steps: Iterator[None] = iter(())
        self._passed_over: dict[str, PassedOver] = {}
        self._last_verdicts = LastVerdicts()
        self._branching = Branching(self.cache)
        self._lacked_time: set[str] = set()

    # What any thread may call.

    def want(self, place: Place) -> None:
        """Have a checkout looked at, soon."""
        if place.root:
            with self._lock:
                self._wanted[place.root] = place

    def is_busy(self) -> bool:
        """Whether a checkout is being looked at or is to be."""
        with self._lock:
            return bool(self._wanted) or self._is_looking

    def checkout(
        self, db: sqlite3.Connection, place: Place, look_time: LookTime, *, with_branches: bool = True
    ) -> SeenCheckout:
        """How the code stands in a place, for somebody who waits."""
        self.asked_at = time.monotonic()
        return self.look_ahead(db, place, look_time, with_branches=with_branches)

    def look_ahead(
        self, db: sqlite3.Connection, place: Place, look_time: LookTime, *, with_branches: bool = True
    ) -> SeenCheckout:
        """The same for what nobody waits for yet."""
        self.used_at = time.monotonic()
        if self._may_not_look(place):
            return SeenCheckout(db, self.cache, replace(place, root=""), None, look_time, self._last_verdicts)
        repository = open_repository(place.root)

        def branches(deadline: float) -> Look:
            # The rest of the time is for what is asked afterwards.
            now = time.monotonic()
            return self._look(db, place, repository, now + _SHARE_OF_BRANCHES * max(deadline - now, 0))

        hidden = look_time.spend(branches, lacks_time=lambda found: found.lacked_time).hidden if with_branches else ()
        elsewhere = Elsewhere(place.root, repository)
        return SeenCheckout(db, self.cache, place, elsewhere, look_time, self._last_verdicts, hidden)

    def may_read(self, place: Place) -> bool:
        """Return whether the code of a place may be read, and count it as in use."""
        self.used_at = time.monotonic()
        return not self._may_not_look(place)

    def _look(
        self,
        db: sqlite3.Connection,
        place: Place,
        repository: Repository | None,
        deadline: float,
        others: Sequence[Repository] = (),
    ) -> Look:
        if repository is None:
            return Look()
        return self._branching.look(db, place, repository, self._clock(), deadline, others)

    def _may_not_look(self, place: Place) -> bool:
        return not place.root or self._is_excluded(place.root)

    # The job thread.

    def step(self) -> Looked:
        """A little of the look that is under way, or of the next one that is wanted."""
        try:
            walk = self._walk or self._begin()
            if walk is not None:
                self.used_at = time.monotonic()
                next(self._steps)
                return Looked(True)
        except StopIteration:
            assert walk is not None
            self._branching.note(walk.here.place.project, walk.branches)
            self._end()
            return Looked(self.is_busy(), frozenset({walk.here.place.project} if walk.changed else ()))
        except BaseException:
            self._end()  # the loop tells of it; the next thing that happens there has it looked at again
            raise
        self._end()
        return Looked(self.is_busy())

    def let_go(self) -> None:
        """Free what is held for the next look, but for what it need not look at: that is little."""
        self.cache.let_go()

    def clear(self) -> None:
        """Drop all that was noted of code and branches: it may name what was forgotten. All is read again on need."""
        self._end()
        self._passed_over.clear()
        self._lacked_time.clear()
        self._last_verdicts.clear()
        read_anchor.cache_clear()
        self._branching.clear()
        self.cache.clear()

    def _begin(self) -> Walk | None:
        """The next look that is wanted, if its checkout still is what it was."""
        with self._lock:
            if not self._wanted:
                return None
            root = next(iter(self._wanted))
            wanted = self._wanted.pop(root)
            self._is_looking = True
        place = lookup.locate(self._db, root)
        if (place.project, place.root) != (wanted.project, root) or self._is_excluded(root) or is_bare(root):
            return None
        repository = open_repository(root)
        others = self._others(place)
        repositories = [other.repository for other in others if other.repository is not None]
        within_s = _LONG_BRANCHES_S if root in self._lacked_time else _BRANCHES_S
        found = self._look(self._db, place, repository, time.monotonic() + within_s, repositories)
        self._lacked_time.discard(root)
        if found.lacked_time:
            self._lacked_time.add(root)
        here = Here(
            place,
            Root(root, repository),
            default_branch=repository.default_branch() if repository else "",
            hidden=found.hidden,
            others=others,
        )
        passed_over = self._passed_over.pop(root, None) or PassedOver()
        while len(self._passed_over) >= _MAX_CHECKOUTS:
            del self._passed_over[next(iter(self._passed_over))]
        self._passed_over[root] = passed_over
        self._walk = Walk(self._db, self.cache, here, self._clock, passed_over, self._last_verdicts)
        self._walk.changed = store_branches(self._db, place.project, found, self._clock())
        self._steps = self._walk.steps()
        return self._walk

    def _end(self) -> None:
        self._walk, self._steps = None, iter(())
        with self._lock:
            self._is_looking = False

    def _others(self, place: Place) -> list[Root]:
        """The other checkouts of a project, as far as sessions worked in them and they are there."""
        roots: dict[str, None] = {}
        for folder in sessions.folders(self._db, project=place.project, limit=_MAX_FOLDERS):
            if os.path.isdir(folder) and not self._is_excluded(folder):
                other = lookup.locate(self._db, folder)
                if other.project == place.project and other.root != place.root and not is_bare(other.root):
                    roots[other.root] = None
        return [Root(root, open_repository(root)) for root in list(roots)[:_MAX_CHECKOUTS]]
