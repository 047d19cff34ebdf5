"""Work on branches of real repositories, and who looks at them, for the tests of branches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from claude_mem_lite.code.freshness.branch_visibility import BranchFindings, check_branches
from claude_mem_lite.code.freshness.commit_memo import CommitQueryCache
from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.store.branches import Branch
from tests.support.git_repositories import Checkout


@dataclass(slots=True)
class Watcher:
    """Looks at checkouts of one project and keeps what it finds, as the worker does."""

    rows: dict[str, Branch] = field(default_factory=dict)
    answers: CommitQueryCache = field(default_factory=CommitQueryCache)

    def look(
        self,
        checkout: Checkout,
        names: Sequence[str] = ("feature",),
        *,
        is_here: Callable[[str], bool | None] = lambda _: False,
        deadline: Deadline = NEVER,
    ) -> BranchFindings:
        now = checkout.clock.tick(seconds=30)
        repository = open_repository(str(checkout.root))
        assert repository is not None
        found = check_branches(list(self.rows.values()), names, repository, now, deadline, is_here, self.answers)
        self.rows.update({row.name: row for row in found.rows})
        return found

    def hides(self, checkout: Checkout, *names: str) -> list[str]:
        """The branches that are hidden altogether."""
        found = self.look(checkout, names or ("feature",)).hidden
        assert all(since is None for _, since in found), found
        return [name for name, _ in found]


def is_hidden(found: BranchFindings, branch: str, made_at: datetime) -> bool:
    """Whether what was made on a branch at a moment is not here."""
    return any(name == branch and (since is None or made_at > since) for name, since in found.hidden)


def work(shop: Checkout, watcher: Watcher, branch: str = "feature", *, seen: bool = True) -> None:
    """Two commits on a new branch, seen there or not, then back to main."""
    shop.begin(branch)
    shop.commit(f"{branch}.py", "one = 1\n")
    shop.commit(f"{branch}.py", "one = 1\ntwo = 2\n")
    if seen:
        watcher.look(shop, [branch])
    shop.switch("main")


def squash(shop: Checkout, branch: str = "feature") -> None:
    shop.git("merge", "-q", "--squash", branch)
    shop.git("commit", "-q", "-m", f"squashed {branch}")


def delete(shop: Checkout, branch: str = "feature") -> None:
    shop.git("branch", "-q", "-D", branch)
