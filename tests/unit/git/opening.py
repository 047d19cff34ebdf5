"""Short ways for tests to look into a repository."""

import time
from math import inf

from claude_mem_lite.git.repository import Repository, open_repository
from tests.git_repositories import Checkout

NO_HURRY = inf
TOO_LATE = time.monotonic() - 1


def opened(checkout: Checkout) -> Repository:
    repository = open_repository(str(checkout.root))
    assert repository is not None
    return repository
