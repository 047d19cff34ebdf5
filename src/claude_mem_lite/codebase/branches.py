"""Which branches are merged, which are gone, and whose work is in a checkout. No database: rows in, rows out.

What is made on a branch is provisional: it is seen on that branch and where its commits or the same work are, holds
everywhere once the default branch has it, and nowhere once the branch is gone without that. Nothing is called merged
or gone without evidence: what cannot be told, for want of time or objects, stays as it was."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from claude_mem_lite.codebase.standings import IsHere, Sight, Standing, see, stand
from claude_mem_lite.codebase.verdicts import Verdicts
from claude_mem_lite.git.repository import Repository
from claude_mem_lite.store.branches import Branch


@dataclass(frozen=True, slots=True)
class View:
    """Which branches' work is not here: memories made on `branch` after `since` (None: all of them)."""

    hidden: tuple[tuple[str, datetime | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a repository found."""

    view: View = View()
    rows: tuple[Branch, ...] = ()
    """Branches that are new or stand otherwise than they are known to, to be stored."""
    merged: tuple[str, ...] = ()
    """What was made on them up to now holds everywhere from now on, also what was retired when they were gone."""
    gone: tuple[str, ...] = ()
    """What was made on them after `merged_at` of their rows holds no longer."""
    came_back: tuple[str, ...] = ()
    """Those that were gone and are there again with all their work."""


def look(
    known: Sequence[Branch],
    names: Sequence[str],
    repository: Repository | None,
    now: datetime,
    deadline: float,
    is_here: IsHere,
    verdicts: Verdicts,
) -> Look:
    """How the branches stand that are known or have active memories (`names`), and whose work is not in this checkout.

    `is_here` says whether the code that a branch's memories tell of is in the working tree; it is asked of those that
    would be hidden or called gone. A branch that was never seen, neither now nor before, is never hidden."""
    sight = see(repository, verdicts, deadline) if repository is not None and (known or names) else None
    if sight is None:
        return Look()
    ask = cache(is_here)
    rows = {row.name: row for row in known}
    every = (name for name in dict.fromkeys((*names, *rows)) if name not in ("", sight.default))
    found = [stand(sight, name, rows.get(name), now, ask) for name in every]
    wanted = set(names)
    hidden = (_hidden(sight, one, ask) for one in found if one.name in wanted)
    return Look(
        View(tuple(one for one in hidden if one is not None)),
        rows=tuple(one.row for one in found if one.row is not None and one.row != rows.get(one.name)),
        merged=tuple(one.name for one in found if one.is_merged),
        gone=tuple(one.name for one in found if one.is_gone),
        came_back=tuple(one.name for one in found if one.came_back),
    )


def _hidden(sight: Sight, found: Standing, is_here: IsHere) -> tuple[str, datetime | None] | None:
    """Whether the work of a branch is not here, and from when on it is not."""
    row = found.row
    if row is None or found.is_current:
        return None
    since = row.merged_at
    if since is not None and not row.ahead and row.gone_at is None:
        return (found.name, since) if found.is_there else None
    if row.ahead:
        if sight.has_work(sight.head, found.tip):
            return None
        until = sight.verdicts.here_until(sight.repository, sight.head, found.tip, sight.trunk, sight.deadline)
        here = datetime.fromtimestamp(until, UTC) if until else None
        since = max((moment for moment in (since, here) if moment), default=None)
    return None if is_here(found.name) else (found.name, since)
