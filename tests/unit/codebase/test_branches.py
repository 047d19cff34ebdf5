"""Whose work is in a checkout, after each thing people do with branches. By repositories of the real git."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from pathlib import Path

import pytest

from claude_mem_lite.codebase.branches import Look, look
from claude_mem_lite.codebase.verdicts import Verdicts
from claude_mem_lite.git.repository import open_repository
from claude_mem_lite.store import branches
from claude_mem_lite.store.branches import Branch
from tests.fakes import Store
from tests.git_repositories import Checkout, make_checkout


@dataclass(slots=True)
class Watcher:
    """Looks at checkouts of one project and keeps what it finds, as the worker does."""

    rows: dict[str, Branch] = field(default_factory=dict)
    verdicts: Verdicts = field(default_factory=Verdicts)

    def look(
        self,
        checkout: Checkout,
        names: Sequence[str] = ("feature",),
        *,
        is_here: Callable[[str], bool] = lambda _: False,
        deadline: float = inf,
    ) -> Look:
        now = checkout.clock.tick(seconds=30)
        repository = open_repository(str(checkout.root))
        found = look(list(self.rows.values()), names, repository, now, deadline, is_here, self.verdicts)
        self.rows.update({row.name: row for row in found.rows})
        return found

    def hides(self, checkout: Checkout, *names: str) -> list[str]:
        """The branches that are hidden altogether."""
        found = self.look(checkout, names or ("feature",)).view.hidden
        assert all(since is None for _, since in found), found
        return [name for name, _ in found]


def is_hidden(found: Look, branch: str, made_at: datetime) -> bool:
    """Whether what was made on a branch at a moment is not here."""
    return any(name == branch and (since is None or made_at > since) for name, since in found.view.hidden)


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    made = make_checkout(tmp_path / "shop")
    made.commit("readme.md", "A shop.\n")
    return made


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


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
        assert watcher.look(shop).view.hidden == ()
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
        assert [name for name, _ in found.view.hidden] == ["feature"]

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
        assert watcher.look(shop, ["a", "b"]) == Look()
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
        assert watcher.look(shop, ["draft", "feature"]).view.hidden == ()
        shop.commit("cart.py")
        shop.switch("main")
        found = watcher.look(shop, ["draft", "feature"])
        assert ([name for name, _ in found.view.hidden], found.gone) == (["draft", "feature"], ())
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        assert watcher.look(shop, ["draft", "feature"]).merged == ("draft", "feature")

    def test_what_was_made_on_a_default_branch_that_was_renamed_is_seen(self, shop: Checkout, watcher: Watcher) -> None:
        shop.git("branch", "-m", "main", "master")
        shop.commit("cart.py")
        shop.git("branch", "-m", "master", "main")
        shop.begin("feature")
        assert watcher.hides(shop, "master") == []


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
        assert (found.gone, found.view.hidden) == ((), ())

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
        assert (found.gone, [name for name, _ in found.view.hidden]) == ((), ["feature", "fresh"])

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

    def test_a_branch_that_is_begun_anew_without_commits_is_not_gone(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        delete(shop)
        shop.git("switch", "-q", "--orphan", "feature")
        found = watcher.look(shop)
        assert (found.gone, found.view.hidden) == ((), ())


class TestNotKnown:
    def test_a_branch_that_was_never_seen_is_not_hidden(self, shop: Checkout, watcher: Watcher) -> None:
        assert watcher.look(shop, ["long-ago"]) == Look()

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
        assert watcher.look(shop) == Look()

    def test_without_time_everything_stays_as_it_is_known(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        rows = dict(watcher.rows)
        shop.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
        found = watcher.look(shop, deadline=0)
        assert (found.merged, found.gone, watcher.rows) == ((), (), rows)
        delete(shop)
        found = watcher.look(shop, deadline=0)
        assert (found.merged, found.gone, watcher.rows) == ((), (), rows)
        assert watcher.look(shop).merged == ("feature",)

    def test_answers_given_once_need_no_time_again(self, shop: Checkout, watcher: Watcher) -> None:
        work(shop, watcher)
        shop.git("branch", "next", "feature")
        assert watcher.hides(shop) == ["feature"]
        shop.git("checkout", "-q", "next")
        assert watcher.look(shop).view.hidden == ()
        assert watcher.look(shop, deadline=0).view.hidden == ()

    def test_a_repository_whose_default_branch_cannot_be_told_hides_nothing(
        self, shop: Checkout, watcher: Watcher
    ) -> None:
        shop.git("branch", "-m", "main", "one")
        shop.git("branch", "two")
        shop.begin("feature")
        shop.commit("cart.py")
        shop.switch("two")
        assert watcher.look(shop) == Look()

    def test_a_repository_without_commits_and_no_repository_at_all_hide_nothing(
        self, watcher: Watcher, tmp_path: Path
    ) -> None:
        empty = make_checkout(tmp_path / "empty")
        assert watcher.look(empty, ["main", "feature"]) == Look()
        assert watcher.look(Checkout(tmp_path), ["main", "feature"]) == Look()

    def test_a_branch_without_commits_yet_is_seen_where_it_is_checked_out(
        self, shop: Checkout, watcher: Watcher
    ) -> None:
        work(shop, watcher)
        shop.git("switch", "-q", "--orphan", "pages")
        found = watcher.look(shop, ["pages", "feature"])
        assert [name for name, _ in found.view.hidden] == ["feature"]

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
