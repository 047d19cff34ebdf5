"""Whose work is in a checkout, once branches are merged. By repositories of the real git."""

from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.branch_visibility import BranchFindings
from tests.code.branch_watcher import Watcher, delete, is_hidden, squash, work
from tests.support.git_repositories import Checkout


class TestMerged:
    @pytest.mark.parametrize("seen", [True, False])
    @pytest.mark.parametrize("how", ["--no-ff", "--ff-only"])
    def test_a_merged_branch_holds_everywhere(self, shop: Checkout, watcher: Watcher, how: str, seen: bool) -> None:
        work(shop, watcher, seen=seen)
        made_at = shop.clock.now
        shop.git("branch", "elsewhere")
        shop.git("merge", "-q", how, "feature")
        found = watcher.look(shop)
        assert found.merged == ("feature",)
        assert not is_hidden(found, "feature", made_at)
        shop.switch("elsewhere")
        assert not is_hidden(watcher.look(shop), "feature", made_at)
        assert watcher.look(shop).merged == ()

    @pytest.mark.parametrize("is_deleted", [True, False])
    @pytest.mark.parametrize("is_first_deleted", [True, False])
    def test_a_squashed_branch_holds_everywhere(
        self, shop: Checkout, watcher: Watcher, is_deleted: bool, is_first_deleted: bool
    ) -> None:
        work(shop, watcher)
        made_at, tip = shop.clock.now, shop.id("feature")
        shop.commit("readme.md", "A store.\n")
        if is_first_deleted:
            delete(shop)
            assert watcher.look(shop).gone == ("feature",)
            assert watcher.rows["feature"].gone_at is not None
            squash(shop, tip)
        else:
            squash(shop)
            if is_deleted:
                delete(shop)
        found = watcher.look(shop)
        assert (found.merged, found.gone) == (("feature",), ())
        assert not is_hidden(found, "feature", made_at)
        assert watcher.rows["feature"].gone_at is None
        assert watcher.look(shop).merged == ()

    def test_a_branch_merged_by_rebase_holds_everywhere(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.commit("readme.md", "A store.\n")
        shop.git("rebase", "-q", "main", "feature")
        shop.switch("main")
        shop.git("merge", "-q", "--ff-only", "feature")
        assert watcher.look(shop).merged == ("feature",)

    def test_picked_commits_hold_everywhere_though_the_branch_stays(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.commit("readme.md", "A store.\n")
        shop.git("cherry-pick", "main..feature")
        assert watcher.look(shop).merged == ("feature",)

    def test_a_branch_amended_before_it_was_merged_is_merged(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.switch("feature")
        shop.write("feature.py", "all = 3\n")
        shop.git("commit", "-q", "-a", "--amend", "-m", "better")
        shop.switch("main")
        shop.git("merge", "-q", "--ff-only", "feature")
        assert watcher.look(shop).merged == ("feature",)

    def test_what_is_made_after_the_merge_is_provisional_again(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        before = shop.clock.now
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        watcher.look(shop)
        after = shop.clock.tick()
        assert is_hidden(watcher.look(shop), "feature", after)
        shop.switch("feature")
        shop.commit("feature.py", "three = 3\n")
        shop.switch("main")
        found = watcher.look(shop)
        assert (is_hidden(found, "feature", before), is_hidden(found, "feature", after)) == (False, True)
        shop.git("merge", "-q", "--no-ff", "-m", "merge again", "feature")
        found = watcher.look(shop)
        assert found.merged == ("feature",)
        assert not is_hidden(found, "feature", after)

    def test_a_reverted_merge_stays_merged(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        made_at = shop.clock.now
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        watcher.look(shop)
        shop.git("revert", "--no-edit", "-m", "1", "HEAD")
        found = watcher.look(shop)
        assert (found.merged, found.gone, is_hidden(found, "feature", made_at)) == ((), (), False)

    def test_a_merge_that_was_fetched_and_not_pulled_is_not_here_yet(
        self, shop: Checkout, watcher: Watcher, tmp_path: Path
    ) -> None:
        clone = shop.clone(tmp_path / "clone")
        work(clone, watcher)
        clone.git("push", "-q", "origin", "feature")
        shop.commit("readme.md", "A store.\n")
        squash(shop)
        delete(shop)
        clone.git("fetch", "-q", "--prune")
        delete(clone)
        found = watcher.look(clone)
        assert (found.merged, found.gone) == ((), ())
        assert is_hidden(found, "feature", clone.clock.now)
        clone.git("merge", "-q", "--ff-only", "origin/main")
        assert watcher.look(clone).merged == ("feature",)


class TestIntoAnotherBranch:
    def test_work_merged_into_another_branch_is_seen_there(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher, "a")
        work(shop, watcher, "b")
        shop.switch("b")
        shop.git("merge", "-q", "--no-ff", "-m", "merge a", "a")
        assert watcher.hides(shop, "a", "b") == []
        shop.switch("main")
        assert watcher.hides(shop, "a", "b") == ["a", "b"]

    def test_work_that_lives_on_in_another_branch_is_not_gone(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher, "a")
        shop.begin("b", "a")
        shop.commit("b.py")
        watcher.look(shop, ["a", "b"])
        delete(shop, "a")
        assert watcher.look(shop, ["a", "b"]) == BranchFindings()
        shop.switch("main")
        assert watcher.hides(shop, "a", "b") == ["a", "b"]
        shop.git("merge", "-q", "--no-ff", "-m", "merge b", "b")
        assert watcher.look(shop, ["a", "b"]).merged == ("a", "b")

    def test_of_a_branch_that_went_on_the_part_that_is_here_is_seen(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("develop")
        shop.commit("early.py")
        early = shop.clock.now + timedelta(minutes=5)
        shop.begin("feature")
        shop.commit("cart.py")
        shop.switch("develop")
        late = shop.clock.tick(hours=1)
        shop.clock.tick(hours=1)
        shop.commit("late.py")
        shop.switch("feature")
        found = watcher.look(shop, ["develop", "feature"])
        assert (is_hidden(found, "develop", early), is_hidden(found, "develop", late)) == (False, True)
        assert not is_hidden(found, "feature", late)

    def test_a_renamed_branch_keeps_what_was_made_on_it(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("draft")
        watcher.look(shop, ["draft"])
        shop.git("branch", "-m", "draft", "feature")
        assert watcher.look(shop, ["draft", "feature"]).hidden == ()
        shop.commit("cart.py")
        shop.switch("main")
        found = watcher.look(shop, ["draft", "feature"])
        assert ([name for name, _ in found.hidden], found.gone) == (["draft", "feature"], ())
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        assert watcher.look(shop, ["draft", "feature"]).merged == ("draft", "feature")

    def test_what_was_made_on_a_default_branch_that_was_renamed_is_seen(self, shop: Checkout, watcher: Watcher) -> None:
        shop.git("branch", "-m", "main", "master")
        shop.commit("cart.py")
        shop.git("branch", "-m", "master", "main")
        shop.begin("feature")
        assert watcher.hides(shop, "master") == []
