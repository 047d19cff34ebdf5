"""Short ways for tests to look into a repository."""

import time
from math import inf

from claude_mem_lite.code.git.repository import Repository, open_repository
from tests.git_repositories import Checkout

NO_HURRY = inf
TOO_LATE = time.monotonic() - 1


class Looks(float):
    """A deadline that is over once it was compared with the clock so many times."""

    def __new__(cls, left: int) -> "Looks":
        made = super().__new__(cls, NO_HURRY)
        made.left = left
        return made

    left: int

    def _is_over(self) -> bool:
        self.left -= 1
        return self.left < 0

    def __lt__(self, now: float) -> bool:
        return self._is_over()

    def __le__(self, now: float) -> bool:
        return self._is_over()

    def __gt__(self, now: float) -> bool:
        return not self._is_over()

    def __ge__(self, now: float) -> bool:
        return not self._is_over()


def opened(checkout: Checkout) -> Repository:
    repository = open_repository(str(checkout.root))
    assert repository is not None
    return repository
