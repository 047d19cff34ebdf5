"""Tests of `code/freshness/branch_visibility.py`: memories of deleted branches, with repositories of the real git."""

from pathlib import Path

import pytest

from claude_mem_lite.deadline import PAST
from tests.code.branch_watcher import Watcher, delete, is_hidden, squash, work
from tests.support.git_repositories import Checkout


class TestGone:
    def test_a_branch_deleted_without_a_merge_is_gone(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        delete(shop)
        found = watcher.look(shop)
        assert (found.gone, found.merged) == (("feature",), ())
        assert is_hidden(found, "feature", shop.clock.now)
        assert watcher.look(shop).gone == ()

    def test_commits_made_after_the_last_look_do_not_hide_that_it_is_gone(
        self, shop: Checkout, watcher: Watcher
    ) -> None:
        shop.begin("feature")
        watcher.look(shop)
        last = shop.commit("cart.py")
        shop.switch("main")
        delete(shop)
        assert watcher.look(shop).gone == ("feature",)
        assert watcher.rows["feature"].tip == last

    def test_nor_that_it_was_merged(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("feature")
        watcher.look(shop)
        shop.commit("cart.py")
        shop.switch("main")
        shop.git("merge", "-q", "--ff-only", "feature")
        delete(shop)
        assert watcher.look(shop).merged == ("feature",)

    def test_a_branch_deleted_without_any_commit_is_gone(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("feature")
        watcher.look(shop)
        shop.switch("main")
        delete(shop)
        assert watcher.look(shop).gone == ("feature",)

    def test_a_branch_whose_code_is_in_the_working_tree_is_not_gone(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("feature")
        watcher.look(shop)
        shop.switch("main")
        delete(shop)
        found = watcher.look(shop, is_here=lambda _: True)
        assert (found.gone, found.hidden) == ((), ())

    def test_a_branch_that_comes_back_with_its_work_is_there_again(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        tip = shop.id("feature")
        delete(shop)
        watcher.look(shop)
        shop.git("branch", "feature", tip)
        found = watcher.look(shop, [])
        assert (found.came_back, watcher.rows["feature"].gone_at) == (("feature",), None)
        assert watcher.hides(shop) == ["feature"]

    def test_another_branch_of_the_same_name_does_not_bring_the_work_back(
        self, shop: Checkout, watcher: Watcher
    ) -> None:
        work(shop, watcher)
        delete(shop)
        watcher.look(shop)
        shop.begin("feature")
        found = watcher.look(shop)
        assert (found.came_back, found.merged, watcher.rows["feature"].gone_at) == ((), (), None)
        shop.commit("quite-another.py")
        shop.switch("main")
        assert watcher.hides(shop) == ["feature"]

    def test_what_was_merged_stays_when_the_rest_of_a_branch_is_gone(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        before = shop.clock.now
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        watcher.look(shop)
        shop.switch("feature")
        shop.commit("rest.py")
        shop.switch("main")
        after = shop.clock.now
        delete(shop)
        found = watcher.look(shop)
        assert found.gone == ("feature",)
        merged_at = watcher.rows["feature"].merged_at
        assert merged_at is not None
        assert before <= merged_at < after
        assert (is_hidden(found, "feature", before), is_hidden(found, "feature", after)) == (False, True)

    def test_a_branch_that_is_still_at_the_remote_is_not_gone(
        self, shop: Checkout, watcher: Watcher, tmp_path: Path
    ) -> None:
        clone = shop.clone(tmp_path / "clone")
        work(clone, watcher)
        clone.git("push", "-q", "origin", "feature")
        delete(clone)
        assert watcher.look(clone).gone == ()
        assert watcher.hides(clone) == ["feature"]

    def test_another_clone_that_never_had_a_branch_does_not_call_it_gone(
        self, shop: Checkout, watcher: Watcher, tmp_path: Path
    ) -> None:
        clone = shop.clone(tmp_path / "clone")
        work(shop, watcher)
        shop.begin("fresh")
        watcher.look(shop, ["feature", "fresh"])
        found = watcher.look(clone, ["feature", "fresh"])
        assert (found.gone, [name for name, _ in found.hidden]) == ((), ["feature", "fresh"])

    def test_a_clone_that_has_not_fetched_the_newest_work_does_not_call_it_merged(
        self, shop: Checkout, watcher: Watcher, tmp_path: Path
    ) -> None:
        work(shop, watcher)
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        clone = shop.clone(tmp_path / "clone")
        shop.switch("feature")
        shop.commit("newer.py")
        watcher.look(shop)
        found = watcher.look(clone)
        assert (found.merged, found.rows) == ((), ())

    def test_among_more_branches_than_are_asked_nothing_is_called_gone(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        delete(shop)
        packed = shop.root / ".git" / "packed-refs"
        packed.write_text("".join(f"{at:040x} refs/heads/other-{at}\n" for at in range(1, 5_002)))
        assert watcher.look(shop).gone == ()
        packed.unlink()
        assert watcher.look(shop).gone == ("feature",)

    @pytest.mark.parametrize(("days", "merged"), [(29, ("feature",)), (31, ())])
    def test_after_a_month_a_branch_that_is_gone_is_not_looked_for_any_more(
        self, shop: Checkout, watcher: Watcher, days: int, merged: tuple[str, ...]
    ) -> None:
        work(shop, watcher)
        tip = shop.id("feature")
        delete(shop)
        assert watcher.look(shop).gone == ("feature",)
        shop.clock.tick(days=days)
        shop.git("merge", "-q", "--no-ff", "-m", "merge", tip)
        assert watcher.look(shop).merged == merged

    def test_a_branch_that_is_begun_anew_without_commits_is_not_gone(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        delete(shop)
        shop.git("switch", "-q", "--orphan", "feature")
        found = watcher.look(shop)
        assert (found.gone, found.hidden) == ((), ())


class TestMergedElsewhere:
    def test_work_squashed_into_another_branch_lives_on_there(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("develop")
        shop.commit("develop.md")
        shop.switch("main")
        work(shop, watcher)
        shop.switch("develop")
        squash(shop)
        delete(shop)
        found = watcher.look(shop)
        assert (found.gone, found.hidden) == ((), ())
        shop.switch("main")
        found = watcher.look(shop)
        assert (found.gone, [name for name, _ in found.hidden]) == ((), ["feature"])
        shop.git("merge", "-q", "--no-ff", "-m", "release", "develop")
        assert watcher.look(shop).merged == ("feature",)

    def test_so_does_work_squashed_at_the_remote(self, shop: Checkout, watcher: Watcher, tmp_path: Path) -> None:
        shop.begin("release/2")
        shop.commit("release.md")
        shop.switch("main")
        clone = shop.clone(tmp_path / "clone")
        work(clone, watcher)
        clone.git("push", "-q", "origin", "feature")
        shop.switch("release/2")
        squash(shop)
        delete(shop)
        clone.git("fetch", "-q", "--prune")
        delete(clone)
        assert watcher.look(clone).gone == ()

    def test_work_squashed_with_changes_is_hidden_and_not_gone(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.commit("feature.py", "one = 1\ntwo = 'as the review asked'\n")
        delete(shop)
        found = watcher.look(shop)
        assert (found.gone, found.merged, [name for name, _ in found.hidden]) == ((), (), ["feature"])


class TestNoCodeTells:
    def test_a_deleted_branch_is_hidden_and_not_gone(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.begin("empty")
        watcher.look(shop, ["empty"])
        shop.switch("main")
        delete(shop)
        delete(shop, "empty")
        found = watcher.look(shop, ["feature", "empty"], is_here=lambda _: None)
        assert (found.gone, [name for name, _ in found.hidden]) == ((), ["feature", "empty"])
        assert watcher.look(shop, ["feature", "empty"]).gone == ("feature", "empty")


class TestMergedAndBegunAnew:
    def test_what_was_merged_before_a_branch_was_begun_anew_stays(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        before = shop.clock.now
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        delete(shop)
        shop.begin("feature")
        after = shop.clock.tick()
        shop.commit("another.py")
        watcher.look(shop)
        shop.switch("main")
        found = watcher.look(shop)
        assert (is_hidden(found, "feature", before), is_hidden(found, "feature", after)) == (False, True)
        delete(shop)
        found = watcher.look(shop)
        assert found.gone == ("feature",)
        assert (is_hidden(found, "feature", before), is_hidden(found, "feature", after)) == (False, True)

    def test_so_it_does_when_the_new_one_was_never_seen(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        before = shop.clock.now
        squash(shop)
        delete(shop)
        shop.begin("feature")
        shop.commit("another.py")
        after = shop.clock.now
        shop.switch("main")
        delete(shop)
        found = watcher.look(shop)
        assert found.gone == ("feature",)
        assert (is_hidden(found, "feature", before), is_hidden(found, "feature", after)) == (False, True)

    def test_and_when_the_branch_went_on(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        before = shop.clock.now
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        shop.switch("feature")
        shop.commit("more.py")
        after = shop.clock.now
        watcher.look(shop)
        shop.switch("main")
        found = watcher.look(shop)
        assert (is_hidden(found, "feature", before), is_hidden(found, "feature", after)) == (False, True)

    def test_without_time_it_is_told_the_next_time(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        delete(shop)
        shop.begin("feature")
        shop.commit("another.py")
        rows = dict(watcher.rows)
        watcher.look(shop, deadline=PAST)
        assert watcher.rows == rows
        watcher.look(shop)
        assert watcher.rows["feature"].merged_at is not None
