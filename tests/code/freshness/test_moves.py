"""Where missing files are looked for: no longer than there is time, and further when asked again."""

from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.moves import Moves, PossiblePaths
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.deadline import NEVER, PAST, Deadline
from tests.code.git.opening import after_checks
from tests.support.git_repositories import Checkout, many_files

CART = "total = 0\n"


class Asked(Repository):
    """Counts what it is asked of commits."""

    def __init__(self, root: Path) -> None:
        super().__init__(root / ".git", root / ".git")
        self.asked = 0

    def blob_at(self, commit: str, path: str, deadline: Deadline = NEVER) -> str | None:
        self.asked += 1
        return super().blob_at(commit, path, deadline)


@pytest.fixture
def lost(shop: Checkout) -> tuple[str, str]:
    """A file that was in a large folder, and a commit that had it."""
    many_files(shop, "pages", 2_500)
    shop.write("pages/cart.py", CART)
    shop.git("add", "pages/cart.py")
    shop.git("commit", "-q", "-m", "pages")
    commit = shop.id()
    shop.git("update-index", "--force-remove", "pages/cart.py")
    (shop.root / "pages" / "cart.py").unlink()
    shop.git("commit", "-q", "-m", "no cart")
    return "pages/cart.py", commit


def test_no_more_is_asked_of_git_than_there_is_time_for(shop: Checkout, lost: tuple[str, str]) -> None:
    repository = Asked(shop.root)
    assert Moves(repository, str(shop.root)).find({lost}, after_checks(40)) == {}
    assert 0 < repository.asked <= 40
    assert Moves(repository, str(shop.root)).find({lost}, PAST) == {}


def test_many_missing_files_are_looked_for_one_by_one(shop: Checkout, lost: tuple[str, str]) -> None:
    repository = Asked(shop.root)
    missing = {(f"old/{number}.py", lost[1]) for number in range(300)}
    assert Moves(repository, str(shop.root)).find(missing, after_checks(40)) == {}
    assert 0 < repository.asked <= 40


def test_what_was_not_found_in_time_is_found_when_asked_again(shop: Checkout, lost: tuple[str, str]) -> None:
    shop.write("shop/basket.py", CART)
    shop.git("add", "shop/basket.py")
    moves = Moves(Asked(shop.root), str(shop.root))
    found = [moves.find({lost}, after_checks(5)) for _ in range(10)]
    assert (found[0], found[-1]) == ({}, {lost: PossiblePaths("shop/basket.py")})


def test_that_a_file_is_nowhere_is_told_in_the_end(shop: Checkout, lost: tuple[str, str]) -> None:
    repository = Asked(shop.root)
    moves = Moves(repository, str(shop.root))
    found = [moves.find({lost}, after_checks(700)) for _ in range(20)]
    assert (found[0], found[-1]) == ({}, {lost: PossiblePaths()})
    asked = repository.asked
    assert moves.find({lost}, PAST) == {lost: PossiblePaths()}
    assert repository.asked == asked
