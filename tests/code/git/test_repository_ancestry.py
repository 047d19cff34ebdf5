"""Which commits contain which others, on repositories made by the real git."""

from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

from claude_mem_lite.deadline import NEVER, PAST
from tests.code.git.opening import after_checks, opened
from tests.support.git_repositories import Checkout


def test_containment_is_what_git_says_it_is(shop: Checkout) -> None:
    first = shop.id()
    shop.begin("a")
    shop.commit("a.txt")
    shop.begin("b")
    shop.commit("b.txt")
    shop.switch("main")
    shop.commit("main.txt")
    shop.git("merge", "-q", "--no-ff", "-m", "merge a", "a")
    shop.begin("c", first)
    shop.git("merge", "-q", "--no-ff", "-m", "merge all", "b", "main")
    shop.git("repack", "-adq")
    commits = shop.git("rev-list", "--all").splitlines()
    expected = {
        (head, tip): tip in ancestors
        for head in commits
        for ancestors in [shop.git("rev-list", head).splitlines()]
        for tip in commits
    }
    found = opened(shop)
    assert {pair: found.contains(*pair, NEVER) for pair in product(commits, commits)} == expected


def test_several_heads_are_asked_at_once(shop: Checkout) -> None:
    first = shop.id()
    shop.begin("a")
    a = shop.commit("a.txt")
    shop.begin("b", first)
    b = shop.commit("b.txt")
    assert opened(shop).any_contains((first, b), a, NEVER) is False
    assert opened(shop).any_contains((b, a), first, NEVER) is True


def test_a_commit_that_is_not_here_cannot_be_told_of(shop: Checkout) -> None:
    found = opened(shop)
    for head, tip in [(shop.id(), "a" * 40), ("a" * 40, shop.id()), (shop.id(), ""), ("", shop.id()), ("x", "y")]:
        assert found.contains(head, tip, NEVER) is None
        assert found.has_same_work(head, tip, NEVER) is None


def test_when_time_has_run_out_nothing_is_told(shop: Checkout) -> None:
    first = shop.id()
    shop.begin("side")
    side = shop.commit("side.txt")
    shop.switch("main")
    shop.commit("main.txt")
    assert opened(shop).contains(shop.id(), first, PAST) is None
    assert opened(shop).has_same_work(shop.id(), side, PAST) is None


def test_what_was_not_told_in_time_is_told_when_asked_again(shop: Checkout) -> None:
    first = shop.id()
    last = [shop.commit("a.txt") for _ in range(5)][-1]
    found = opened(shop)
    assert found.contains(last, first, PAST) is None
    assert found.contains(last, first, NEVER) is True


def test_the_clock_is_looked_at_with_every_commit(shop: Checkout) -> None:
    first = shop.id()
    shop.begin("side")
    side = [shop.commit("side.txt") for _ in range(10)][-1]
    shop.switch("main")
    last = [shop.commit("a.txt") for _ in range(10)][-1]
    assert opened(shop).contains(last, first, after_checks(8)) is None
    assert opened(shop).is_on_first_line(last, first, after_checks(8)) is None
    assert opened(shop).any_contains(tuple(shop.git("rev-list", "main").splitlines()), side, after_checks(8)) is None
    assert opened(shop).contains(last, first, after_checks(50)) is True


def test_clocks_that_differ_by_hours_do_not_matter(shop: Checkout) -> None:
    shop.clock.tick(hours=10)
    early = shop.commit("a.txt")
    shop.clock.now -= timedelta(hours=10)
    late = shop.commit("b.txt")
    assert opened(shop).contains(late, early, NEVER) is True


class TestShallowClones:
    @pytest.fixture
    def clone(self, shop: Checkout, tmp_path: Path) -> Checkout:
        """A clone without the history of its two branches."""
        for number in range(3):
            shop.commit(f"main-{number}.txt")
        shop.begin("side", "main~2")
        shop.commit("side.txt")
        shop.switch("main")
        return shop.clone(tmp_path / "clone", "--depth=1", "--no-single-branch")

    def test_missing_parents_are_no_error_and_no_answer(self, clone: Checkout) -> None:
        main, side = clone.id("main"), clone.id("origin/side")
        found = opened(clone)
        assert (found.contains(main, side, NEVER), found.has_same_work(main, side, NEVER)) == (None, None)
        assert found.contains(main, main, NEVER) is True

    def test_what_grew_on_top_of_the_end_is_not_in_it(self, clone: Checkout) -> None:
        main = clone.id("main")
        clone.begin("feature")
        feature = clone.commit("feature.txt")
        assert opened(clone).contains(main, feature, NEVER) is False
        assert opened(clone).contains(feature, main, NEVER) is True
        clone.switch("main")
        later = clone.commit("later.txt")
        assert opened(clone).contains(later, feature, NEVER) is False


def test_commits_made_on_a_line_are_told_from_merged_ones(shop: Checkout) -> None:
    first = shop.id()
    shop.begin("side")
    side = shop.commit("side.txt")
    shop.switch("main")
    shop.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    found, head = opened(shop), shop.id()
    assert [found.is_on_first_line(head, one, NEVER) for one in (head, first, side)] == [True, True, False]
    assert found.is_on_first_line(head, "a" * 40, NEVER) is None
