"""Whose work is in a checkout, after each thing people do with branches. By repositories of the real git."""

from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.branch_visibility import BranchFindings
from claude_mem_lite.deadline import PAST
from claude_mem_lite.store import branches
from claude_mem_lite.store.branches import Branch
from tests.code.branch_watcher import Watcher, delete, squash, work
from tests.support.fakes import Store
from tests.support.git_repositories import Checkout, make_checkout


class TestOnItsWay:
    def test_work_on_a_branch_is_seen_there_and_not_on_main(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        assert watcher.hides(shop) == ["feature"]
        shop.switch("feature")
        assert watcher.hides(shop) == []

    def test_work_without_a_commit_is_seen_on_its_branch_only(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("feature")
        assert watcher.hides(shop) == []
        shop.switch("main")
        assert watcher.hides(shop) == ["feature"]
        shop.commit("readme.md", "A store.\n")
        assert watcher.hides(shop) == ["feature"]
        assert watcher.rows["feature"].merged_at is None

    def test_the_same_when_the_branch_was_never_looked_at_before(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("feature")
        shop.switch("main")
        assert watcher.hides(shop) == ["feature"]

    def test_catching_up_with_main_is_no_merge(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("feature")
        watcher.look(shop)
        shop.switch("main")
        shop.commit("readme.md", "A store.\n")
        shop.switch("feature")
        shop.git("merge", "-q", "--ff-only", "main")
        assert watcher.look(shop).merged == ()
        shop.switch("main")
        assert watcher.hides(shop) == ["feature"]

    def test_what_is_made_on_main_or_on_no_branch_is_seen_everywhere(self, shop: Checkout, watcher: Watcher) -> None:
        shop.begin("feature")
        shop.commit("cart.py")
        assert watcher.hides(shop, "main", "") == []
        assert watcher.rows == {}

    def test_a_rebased_branch_is_still_itself_and_not_on_main(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.commit("readme.md", "A store.\n")
        shop.git("rebase", "-q", "main", "feature")
        assert watcher.look(shop).hidden == ()
        shop.switch("main")
        assert watcher.hides(shop) == ["feature"]

    def test_while_it_is_rebased_a_branch_is_seen(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.commit("feature.py", "other = 1\n")
        with pytest.raises(Exception, match="rebase"):
            shop.git("rebase", "-q", "main", "feature")
        assert watcher.hides(shop) == []

    def test_work_that_was_dropped_from_a_branch_is_not_merged(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.switch("feature")
        shop.git("reset", "-q", "--hard", "main")
        assert watcher.look(shop).merged == ()
        shop.switch("main")
        assert watcher.hides(shop) == ["feature"]

    def test_a_detached_head_sees_what_its_commit_has(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.git("checkout", "-q", "--detach", "main")
        assert watcher.hides(shop) == ["feature"]
        shop.git("checkout", "-q", "--detach", "feature")
        assert watcher.hides(shop) == []

    def test_worktrees_share_branches_and_each_has_its_own_view(
        self, shop: Checkout, watcher: Watcher, tmp_path: Path
    ) -> None:
        tree = shop.worktree(tmp_path / "tree", "-b", "feature")
        tree.commit("cart.py")
        assert (watcher.hides(tree), watcher.hides(shop)) == ([], ["feature"])
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        assert watcher.look(tree).merged == ("feature",)
        assert watcher.look(shop).merged == ()

    def test_code_that_is_in_the_working_tree_is_not_hidden(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        work(shop, watcher, "other")
        found = watcher.look(shop, ["feature", "other"], is_here=lambda branch: branch == "other")
        assert [name for name, _ in found.hidden] == ["feature"]

    def test_only_what_would_be_hidden_is_compared_with_the_working_tree(
        self, shop: Checkout, watcher: Watcher
    ) -> None:
        work(shop, watcher)
        work(shop, watcher, "merged")
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "merged")
        asked: list[str] = []

        def is_here(branch: str) -> bool:
            asked.append(branch)
            return False

        watcher.look(shop, ["feature", "merged", "main", "never-seen"], is_here=is_here)
        assert asked == ["feature"]


class TestNotKnown:
    def test_a_branch_that_was_never_seen_is_not_hidden(self, shop: Checkout, watcher: Watcher) -> None:
        assert watcher.look(shop, ["long-ago"]) == BranchFindings()

    def test_a_branch_that_only_the_remote_has_is_known(self, shop: Checkout, watcher: Watcher, tmp_path: Path) -> None:
        work(shop, watcher, seen=False)
        clone = shop.clone(tmp_path / "clone")
        assert watcher.hides(clone) == ["feature"]
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        clone.git("pull", "-q")
        assert watcher.look(clone).merged == ("feature",)

    def test_a_branch_that_was_merged_before_it_was_ever_seen_is_merged(
        self, shop: Checkout, watcher: Watcher, tmp_path: Path
    ) -> None:
        work(shop, watcher, seen=False)
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        clone = shop.clone(tmp_path / "clone")
        assert watcher.look(clone).merged == ("feature",)

    def test_an_old_branch_in_main_of_which_nothing_tells_is_not_hidden(self, shop: Checkout, watcher: Watcher) -> None:
        shop.git("-c", "core.logAllRefUpdates=false", "branch", "feature")
        shop.commit("readme.md", "A store.\n")
        assert watcher.look(shop) == BranchFindings()

    def test_without_time_everything_stays_as_it_is_known(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        rows = dict(watcher.rows)
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        found = watcher.look(shop, deadline=PAST)
        assert (found.merged, found.gone, watcher.rows) == ((), (), rows)
        delete(shop)
        found = watcher.look(shop, deadline=PAST)
        assert (found.merged, found.gone, watcher.rows) == ((), (), rows)
        assert watcher.look(shop).merged == ("feature",)

    def test_without_time_nothing_is_hidden_that_may_be_here(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.begin("next")
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        assert watcher.look(shop, deadline=PAST).hidden == ()
        shop.switch("main")
        assert watcher.hides(shop) == ["feature"]
        assert [name for name, _ in watcher.look(shop, deadline=PAST).hidden] == ["feature"]

    def test_answers_given_once_need_no_time_again(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.git("branch", "next", "feature")
        assert watcher.hides(shop) == ["feature"]
        shop.git("checkout", "-q", "next")
        assert watcher.look(shop).hidden == ()
        assert watcher.look(shop, deadline=PAST).hidden == ()

    def test_a_repository_whose_default_branch_cannot_be_told_hides_nothing(
        self, shop: Checkout, watcher: Watcher
    ) -> None:
        shop.git("branch", "-m", "main", "one")
        shop.git("branch", "two")
        shop.begin("feature")
        shop.commit("cart.py")
        shop.switch("two")
        assert watcher.look(shop) == BranchFindings()

    def test_a_repository_without_commits_hides_nothing(self, watcher: Watcher, tmp_path: Path) -> None:
        empty = make_checkout(tmp_path / "empty")
        assert watcher.look(empty, ["main", "feature"]) == BranchFindings()

    def test_a_branch_without_commits_yet_is_seen_where_it_is_checked_out(
        self, shop: Checkout, watcher: Watcher
    ) -> None:
        work(shop, watcher)
        shop.git("switch", "-q", "--orphan", "pages")
        found = watcher.look(shop, ["pages", "feature"])
        assert [name for name, _ in found.hidden] == ["feature"]

    def test_a_branch_gone_for_long_is_not_looked_for_any_more(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        tip = shop.id("feature")
        delete(shop)
        watcher.look(shop)
        shop.clock.tick(days=40)
        squash(shop, tip)
        assert watcher.look(shop).merged == ()


def test_branches_are_stored_and_read_again(store: Store, shop: Checkout, watcher: Watcher) -> None:
    work(shop, watcher, "a")
    work(shop, watcher, "b")
    shop.git("merge", "-q", "--no-ff", "-m", "merge", "a")
    delete(shop, "b")
    watcher.look(shop, ["a", "b"])
    kept = sorted(watcher.rows.values(), key=lambda row: row.name)
    assert kept[0].merged_at is not None
    assert kept[1].gone_at is not None
    branches.put(store.db, "shop", kept)
    branches.put(store.db, "other", [Branch("a", "c" * 40, ahead=True, seen_at=shop.clock.now)])
    branches.put(store.db, "shop", kept[:1])
    assert branches.of_project(store.db, "shop") == kept
    assert [row.ahead for row in branches.of_project(store.db, "other")] == [True]
