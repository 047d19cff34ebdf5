"""Short ways for tests to look into a repository."""

from itertools import count

from claude_mem_lite.code.git.repository import Repository, open_repository
from claude_mem_lite.deadline import Deadline
from tests.support.git_repositories import Checkout


def after_checks(number: int) -> Deadline:
    """Return a deadline that is past after a number of looks at the clock."""
    checks = count()
    return Deadline(number, lambda: next(checks))


def opened(checkout: Checkout) -> Repository:
    repository = open_repository(str(checkout.root))
    assert repository is not None
    return repository
