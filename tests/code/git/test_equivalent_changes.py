"""Work that reached another branch without its commits: squashed, rebased, picked. By the real git."""

from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.deadline import NEVER
from tests.code.git.opening import after_checks, opened
from tests.support.git_repositories import Checkout

LINES = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def shop(shop: Checkout) -> Checkout:
    """With a branch `feature` of two commits, and `main` moved on meanwhile and checked out."""
    shop.commit("src/cart.py", LINES)
    shop.begin("feature")
    shop.commit("src/cart.py", LINES.replace("line 20\n", "line twenty\n"))
    shop.commit("src/total.py", "total = 0\n")
    shop.switch("main")
    shop.commit("docs/other.md", "elsewhere\n")
    return shop


def same_work(shop: Checkout, head: str = "main", tip: str = "feature") -> bool | None:
    return opened(shop).has_same_work(shop.id(head), shop.id(tip), NEVER)


def squash(shop: Checkout, tip: str = "feature") -> None:
    shop.git("merge", "-q", "--squash", tip)
    shop.git("commit", "-q", "-m", f"squashed {tip}")


def test_unmerged_work_is_not_there(shop: Checkout) -> None:
    assert same_work(shop) is False


def test_work_on_more_files_than_can_be_compared_is_not_there_if_nobody_touched_one_of_them(shop: Checkout) -> None:
    shop.begin("wide")
    for number in range(2_001):
        shop.write(f"wide/{number}.txt", f"{number}\n")
    shop.commit("wide/last.txt", "last\n")
    shop.switch("main")
    shop.commit("src/cart.py", "all new\n")
    assert same_work(shop, tip="wide") is False
    shop.git("merge", "-q", "--squash", "wide")
    shop.git("commit", "-q", "-m", "squashed")
    assert same_work(shop, tip="wide") is None, "some commit may be the work, and all of it cannot be compared"


def test_work_of_which_one_commit_was_picked_is_not_there(shop: Checkout) -> None:
    shop.git("cherry-pick", shop.id("feature"))
    assert same_work(shop) is False


def test_squashed_work_is_there(shop: Checkout) -> None:
    squash(shop)
    shop.commit("docs/other.md", "later\n")
    assert same_work(shop) is True


def test_squashed_work_is_there_when_the_same_file_was_changed_before(shop: Checkout) -> None:
    shop.commit("src/cart.py", LINES.replace("line 3\n", "line three\n"))
    squash(shop)
    shop.commit("src/cart.py", "all new\n")
    assert same_work(shop) is True


def test_squashed_work_is_there_when_it_was_packed(shop: Checkout) -> None:
    squash(shop)
    shop.git("repack", "-adfq")
    assert same_work(shop) is True


def test_a_squash_that_brings_a_changelog_along_counts(shop: Checkout) -> None:
    shop.git("merge", "-q", "--squash", "feature")
    shop.commit("CHANGELOG.md", "- a total\n")
    assert same_work(shop) is True


def test_a_squash_that_leaves_something_out_does_not_count(shop: Checkout) -> None:
    shop.git("merge", "-q", "--squash", "feature")
    shop.git("rm", "-q", "-f", "src/total.py")
    shop.git("commit", "-q", "-m", "half of it")
    assert same_work(shop) is False


def test_whether_a_squash_that_was_changed_on_the_way_counts_cannot_be_told(shop: Checkout) -> None:
    shop.git("merge", "-q", "--squash", "feature")
    shop.commit("src/total.py", "total = 1\n")
    assert same_work(shop) is None


def test_other_work_on_the_same_file_does_not_count(shop: Checkout) -> None:
    shop.begin("one", "main")
    shop.commit("src/cart.py", LINES.replace("line 5\n", "line five\n"))
    shop.switch("main")
    shop.commit("src/cart.py", LINES.replace("line 9\n", "line nine\n"))
    assert same_work(shop, tip="one") is False


class TestLargeFiles:
    LOCK = "".join(f"package-{number} at 1.0 from the usual registry with a sum\n" for number in range(20_000))

    @pytest.fixture
    def shop(self, shop: Checkout) -> Checkout:
        """Both lines have changed a file that is too large to compare."""
        shop.commit("yarn.lock", self.LOCK)
        shop.begin("deps")
        shop.commit("yarn.lock", self.LOCK.replace("package-9 at 1.0", "package-9 at 2.0"))
        shop.switch("main")
        shop.commit("yarn.lock", self.LOCK.replace("package-15000 at 1.0", "package-15000 at 3.0"))
        return shop

    def test_they_do_not_hide_that_the_rest_was_squashed(self, shop: Checkout) -> None:
        shop.switch("deps")
        shop.commit("ci.yml", "timeout: 30\n")
        shop.switch("main")
        squash(shop, "deps")
        assert same_work(shop, tip="deps") is True

    def test_of_nothing_else_it_cannot_be_told_whether_it_was_squashed(self, shop: Checkout) -> None:
        squash(shop, "deps")
        assert same_work(shop, tip="deps") is None

    def test_work_beside_them_that_was_not_merged_is_not_there(self, shop: Checkout) -> None:
        shop.switch("deps")
        shop.commit("ci.yml", "timeout: 30\n")
        shop.switch("main")
        shop.commit("yarn.lock", self.LOCK)
        assert same_work(shop, tip="deps") is False


def test_the_clock_is_looked_at_while_work_is_compared(shop: Checkout) -> None:
    squash(shop)
    assert opened(shop).has_same_work(shop.id("main"), shop.id("feature"), after_checks(20)) is None


def test_work_merged_by_rebase_is_there_commit_by_commit(shop: Checkout) -> None:
    shop.begin("copy", "feature")
    shop.git("rebase", "-q", "main")
    shop.switch("main")
    shop.git("merge", "-q", "--ff-only", "copy")
    assert opened(shop).contains(shop.id("main"), shop.id("feature"), NEVER) is False
    assert same_work(shop) is True


def test_cherry_picks_of_all_commits_count_and_of_some_do_not(shop: Checkout) -> None:
    shop.git("cherry-pick", "feature~1")
    assert same_work(shop) is False
    shop.git("cherry-pick", "feature")
    assert same_work(shop) is True


def test_a_branch_that_merged_main_before_is_found_squashed(shop: Checkout) -> None:
    shop.switch("feature")
    shop.git("merge", "-q", "--no-ff", "-m", "catch up", "main")
    shop.commit("src/total.py", "total = 2\n")
    shop.switch("main")
    assert same_work(shop) is False
    squash(shop)
    assert same_work(shop) is True


def test_work_squashed_into_another_branch_is_there_once_that_is_merged(shop: Checkout) -> None:
    shop.begin("next")
    squash(shop)
    shop.switch("main")
    assert (same_work(shop), same_work(shop, "next")) == (False, True)
    shop.commit("docs/more.md", "more\n")
    shop.git("merge", "-q", "--no-ff", "-m", "merge next", "next")
    assert same_work(shop) is True


def test_deleted_files_and_renamed_ones_are_part_of_the_work(shop: Checkout) -> None:
    shop.begin("tidy", "main")
    shop.git("mv", "src/cart.py", "src/basket.py")
    shop.git("rm", "-q", "docs/other.md")
    shop.git("commit", "-q", "-m", "tidy")
    shop.switch("main")
    shop.commit("readme.md", "A store.\n")
    assert same_work(shop, tip="tidy") is False
    squash(shop, "tidy")
    assert same_work(shop, tip="tidy") is True


def test_a_file_in_the_place_of_a_folder_is_a_change(shop: Checkout) -> None:
    shop.begin("flat", "main")
    shop.git("rm", "-q", "docs/other.md")
    shop.commit("docs", "one file now\n")
    shop.switch("main")
    shop.commit("readme.md", "A store.\n")
    squash(shop, "flat")
    assert same_work(shop, tip="flat") is True


def test_a_branch_without_commits_of_its_own_has_no_work(shop: Checkout) -> None:
    shop.git("branch", "fresh", "main~1")
    assert same_work(shop, tip="fresh") is False
    assert same_work(shop, tip="main") is False


def test_a_branch_whose_work_was_undone_on_it_has_none(shop: Checkout) -> None:
    shop.begin("back", "main~1")
    shop.git("commit", "-q", "--allow-empty", "-m", "nothing")
    shop.switch("main")
    shop.git("commit", "-q", "--allow-empty", "-m", "nothing either")
    assert same_work(shop, tip="back") is False


def test_the_same_change_made_before_the_branch_began_does_not_count(shop: Checkout) -> None:
    shop.commit("flag.txt", "off\n")
    shop.commit("flag.txt", "on\n")
    shop.commit("flag.txt", "off\n")
    shop.begin("flag")
    shop.commit("flag.txt", "on\n")
    shop.switch("main")
    shop.commit("docs/other.md", "later\n")
    assert same_work(shop, tip="flag") is False


def test_nor_does_it_when_the_clocks_were_wrong(shop: Checkout) -> None:
    shop.clock.tick(hours=5)
    shop.commit("flag.txt", "off\n")
    shop.commit("flag.txt", "on\n")
    shop.clock.now -= timedelta(hours=5)
    shop.commit("flag.txt", "off\n")
    shop.begin("flag")
    shop.commit("flag.txt", "on\n")
    shop.switch("main")
    shop.commit("docs/other.md", "later\n")
    assert same_work(shop, tip="flag") is False


def test_the_same_lines_elsewhere_in_the_tree_do_not_count(shop: Checkout) -> None:
    shop.commit("lib/total.py", "total = 0\n")
    shop.commit("lib/cart.py", LINES.replace("line 20\n", "line twenty\n"))
    assert same_work(shop) is False


def test_histories_without_anything_in_common_share_no_work(shop: Checkout) -> None:
    shop.git("switch", "-q", "--orphan", "pages")
    shop.commit("index.html", "<p>\n")
    assert same_work(shop, tip="pages") is False


def test_a_clone_without_trees_cannot_tell(shop: Checkout, tmp_path: Path) -> None:
    shop.git("config", "uploadpack.allowFilter", "true")
    squash(shop)
    clone = shop.clone(tmp_path / "clone", "--filter=tree:0", "--no-checkout")
    assert opened(clone).has_same_work(shop.id("main"), shop.id("feature"), NEVER) is None
    assert opened(clone).contains(shop.id("main"), shop.id("feature"), NEVER) is False
