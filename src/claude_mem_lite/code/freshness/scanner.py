"""Scheduler of staleness scans: background scans per project, and freshness views for single requests.

The loop has one `StalenessScanner`:

- `request_scan(place)`, from any thread, after a stored turn or a session start: schedule a scan. Several requests for
  a checkout cause a single scan.
- `step()`, from the job thread, at the end of a pass: do some 20 ms of work. `more` asks for another pass at once; the
  contexts of the projects in `changed` need rendering. `is_busy()` returns True if work is left.
- `checkout(db, place, cpu_budget)`, from any thread, with a separate connection: open a view for a context
  (`ContextRequest(location, now, checkout=…)`).
- `release()`: close the database during idle times."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from claude_mem_lite.code.freshness.branch_visibility import BranchFindings, BranchTracker, store_branches
from claude_mem_lite.code.freshness.checkout_view import CheckoutView
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.project_scan import OpenCheckout, ProjectScan, ScanSkipCache, ScanTarget
from claude_mem_lite.code.freshness.relocation import RelocationSearch
from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.code.freshness.verdicts import VerdictCache
from claude_mem_lite.code.freshness.working_tree import is_bare
from claude_mem_lite.code.git.repository import Repository, open_repository
from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.limits import LIMITS, Limits
from claude_mem_lite.models import Location
from claude_mem_lite.paths import Home
from claude_mem_lite.store import sessions
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.timestamps import Clock

_SHARE_OF_BRANCHES = 0.6
_MAX_FOLDERS = 20
_MAX_CHECKOUTS = 5


def context_budget(limits: Limits, deadline: Deadline = NEVER) -> CpuBudget:
    """Return the time budget of a context to be built now, for a caller waiting until the deadline."""
    return CpuBudget(limits.check_s, min(deadline.share(limits.check_share).left_s(), limits.check_within_s))


class ScanStep(NamedTuple):
    """Result of a step: True if work is left, and the projects with a changed context."""

    more: bool
    changed: frozenset[str] = frozenset()


class StalenessScanner:
    """Scanner of the worker. `db` and all methods for steps are for the job thread alone."""

    def __init__(
        self,
        home: Home,
        db: sqlite3.Connection,
        clock: Clock,
        is_excluded: Callable[[str], bool],
        limits: Limits = LIMITS,
    ) -> None:
        self._limits = limits
        self._db = db
        self._clock = clock
        self._is_excluded = is_excluded
        self.cache = CodeCache(home.code_db)
        """Content of source files, for any caller."""
        self.used_at = 0.0
        """Time of the last use of code, on the monotonic clock."""
        self.asked_at = 0.0
        """Time of the last request by a waiting caller, on the monotonic clock."""
        self._lock = threading.Lock()
        self._requested: dict[str, Location] = {}
        self._is_scanning = False
        self._scan: ProjectScan | None = None
        self._steps: Iterator[None] = iter(())
        self._skip_caches: dict[str, ScanSkipCache] = {}
        self._verdict_cache = VerdictCache()
        self._branch_tracker = BranchTracker(self.cache)
        self._lacked_time: set[str] = set()

    # Methods for any thread.

    def request_scan(self, place: Location) -> None:
        """Schedule a scan of a checkout."""
        if place.root:
            with self._lock:
                self._requested[place.root] = place

    def is_busy(self) -> bool:
        """Return True if a scan is scheduled or in progress."""
        with self._lock:
            return bool(self._requested) or self._is_scanning

    def checkout(
        self, db: sqlite3.Connection, place: Location, cpu_budget: CpuBudget, *, with_branches: bool = True
    ) -> CheckoutView:
        """Open a freshness view for a waiting caller."""
        self.asked_at = time.monotonic()
        return self.open_ahead(db, place, cpu_budget, with_branches=with_branches)

    def open_ahead(
        self, db: sqlite3.Connection, place: Location, cpu_budget: CpuBudget, *, with_branches: bool = True
    ) -> CheckoutView:
        """Open a freshness view in advance, without a waiting caller."""
        self.used_at = time.monotonic()
        if self._is_unreadable(place):
            return CheckoutView(db, self.cache, replace(place, root=""), None, cpu_budget, self._verdict_cache)
        repository = open_repository(place.root)

        def branches(deadline: Deadline) -> BranchFindings:
            # The rest of the time is for later questions.
            return self._check_branches(db, place, repository, deadline.share(_SHARE_OF_BRANCHES))

        hidden = cpu_budget.run(branches, lacks_time=lambda found: found.lacked_time).hidden if with_branches else ()
        relocation = RelocationSearch(place.root, repository, self._limits.search_s_per_file)
        return CheckoutView(db, self.cache, place, relocation, cpu_budget, self._verdict_cache, hidden)

    def may_read(self, place: Location) -> bool:
        """Return True if the code of a location may be read, and record the use."""
        self.used_at = time.monotonic()
        return not self._is_unreadable(place)

    def _check_branches(
        self,
        db: sqlite3.Connection,
        place: Location,
        repository: Repository | None,
        deadline: Deadline,
        others: Sequence[Repository] = (),
    ) -> BranchFindings:
        if repository is None:
            return BranchFindings()
        return self._branch_tracker.check_branches(db, place, repository, self._clock(), deadline, others)

    def _is_unreadable(self, place: Location) -> bool:
        return not place.root or self._is_excluded(place.root)

    # Methods for the job thread.

    def step(self) -> ScanStep:
        """Do a step of the scan in progress, or begin the next scheduled scan."""
        try:
            scan = self._scan or self._begin()
            if scan is not None:
                self.used_at = time.monotonic()
                next(self._steps)
                return ScanStep(True)
        except StopIteration:
            assert scan is not None
            self._branch_tracker.note(scan.target.location.project, scan.branches)
            self._end()
            return ScanStep(self.is_busy(), frozenset({scan.target.location.project} if scan.changed else ()))
        except BaseException:
            self._end()  # the loop logs the error; the next event in the checkout schedules a new scan
            raise
        self._end()
        return ScanStep(self.is_busy())

    def release(self) -> None:
        """Close the database. The skip cache is small, and stays."""
        self.cache.release()

    def clear(self) -> None:
        """Drop all findings about code and branches: findings may name forgotten content. All is read again on
        demand."""
        self._end()
        self._skip_caches.clear()
        self._lacked_time.clear()
        self._verdict_cache.clear()
        read_anchor.cache_clear()
        self._branch_tracker.clear()
        self.cache.clear()

    def _begin(self) -> ProjectScan | None:
        """Begin the next scheduled scan, if the checkout still belongs to the project."""
        with self._lock:
            if not self._requested:
                return None
            root = next(iter(self._requested))
            requested = self._requested.pop(root)
            self._is_scanning = True
        place = lookup.locate(self._db, root)
        if (place.project, place.root) != (requested.project, root) or self._is_excluded(root) or is_bare(root):
            return None
        repository = open_repository(root)
        others = self._others(place)
        repositories = [checkout.repository for checkout in others if checkout.repository is not None]
        within_s = self._limits.long_branches_s if root in self._lacked_time else self._limits.branches_s
        found = self._check_branches(self._db, place, repository, Deadline.after(within_s), repositories)
        self._lacked_time.discard(root)
        if found.lacked_time:
            self._lacked_time.add(root)
        target = ScanTarget(
            place,
            self._open(root, repository),
            default_branch=repository.default_branch() if repository else "",
            hidden=found.hidden,
            others=others,
        )
        skip_cache = self._skip_caches.pop(root, None) or ScanSkipCache()
        while len(self._skip_caches) >= _MAX_CHECKOUTS:
            del self._skip_caches[next(iter(self._skip_caches))]
        self._skip_caches[root] = skip_cache
        self._scan = ProjectScan(
            self._db, self.cache, target, self._clock, self._limits.scan_step_s, skip_cache, self._verdict_cache
        )
        self._scan.changed = store_branches(self._db, place.project, found, self._clock())
        self._steps = self._scan.steps()
        return self._scan

    def _end(self) -> None:
        self._scan, self._steps = None, iter(())
        with self._lock:
            self._is_scanning = False

    def _open(self, root: str, repository: Repository | None) -> OpenCheckout:
        return OpenCheckout(root, RelocationSearch(root, repository, self._limits.search_s_per_file))

    def _others(self, place: Location) -> list[OpenCheckout]:
        """Return the other checkouts of a project, as far as sessions used them and they still exist."""
        roots: dict[str, None] = {}
        for folder in sessions.folders(self._db, project=place.project, limit=_MAX_FOLDERS):
            if os.path.isdir(folder) and not self._is_excluded(folder):
                checkout = lookup.locate(self._db, folder)
                if checkout.project == place.project and checkout.root != place.root and not is_bare(checkout.root):
                    roots[checkout.root] = None
        return [self._open(root, open_repository(root)) for root in list(roots)[:_MAX_CHECKOUTS]]
