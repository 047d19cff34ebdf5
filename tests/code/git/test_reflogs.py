"""What HEAD's logs tell of branches, on repositories made by the real git."""

from pathlib import Path

from tests.code.git.opening import opened
from tests.support.git_repositories import Checkout


def test_a_branch_that_is_gone_was_left_at_its_last_commit(shop: Checkout) -> None:
    shop.begin("feature")
    commit = shop.commit("cart.py")
    shop.switch("main")
    shop.git("branch", "-D", "feature")
    assert opened(shop).left_at("feature") == commit


def test_of_several_times_the_last_one_counts(shop: Checkout) -> None:
    shop.begin("feature")
    shop.commit("cart.py")
    shop.switch("main")
    shop.switch("feature")
    shop.commit("cart.py")
    last = shop.commit("cart.py")
    shop.git("checkout", "-q", "--detach")
    shop.git("branch", "-D", "feature")
    assert opened(shop).left_at("feature") == last


def test_a_branch_of_a_worktree_is_known_by_the_log_there(shop: Checkout, tmp_path: Path) -> None:
    tree = shop.worktree(tmp_path / "tree", "-b", "feature")
    commit = tree.commit("cart.py")
    assert opened(shop).left_at("feature") == commit
    tree.git("checkout", "-q", "--detach")
    shop.git("branch", "-D", "feature")
    assert opened(shop).left_at("feature") == commit


def test_a_rebase_of_another_branch_is_not_taken_for_work_on_this_one(shop: Checkout) -> None:
    shop.begin("feature")
    shop.commit("cart.py")
    shop.switch("main")
    main = shop.commit("readme.md")
    shop.git("rebase", "-q", "main", "feature")
    assert opened(shop).left_at("feature") == shop.id()
    assert opened(shop).left_at("main") == main


def test_a_branch_nobody_was_on_was_left_nowhere(shop: Checkout) -> None:
    shop.git("branch", "feature")
    assert opened(shop).left_at("feature") == ""


def test_a_renamed_branch_is_followed(shop: Checkout) -> None:
    shop.begin("draft")
    shop.git("branch", "-m", "draft", "cart")
    shop.git("branch", "-m", "cart", "feature/cart")
    shop.switch("main")
    assert opened(shop).renamed_to("draft") == opened(shop).renamed_to("cart") == "feature/cart"
    assert opened(shop).renamed_to("main") == ""


def test_a_name_that_is_used_again_is_no_longer_the_renamed_branch(shop: Checkout) -> None:
    shop.begin("draft")
    shop.git("branch", "-m", "draft", "cart")
    shop.begin("draft")
    assert opened(shop).renamed_to("draft") == ""


def test_the_log_of_a_branch_tells_whether_commits_were_made_on_it(shop: Checkout) -> None:
    shop.begin("feature")
    assert opened(shop).last_commit_made("feature") == 0
    shop.switch("main")
    shop.commit("readme.md")
    shop.switch("feature")
    shop.git("merge", "-q", "main")
    assert opened(shop).last_commit_made("feature") == 0
    commit = shop.commit("cart.py")
    assert opened(shop).last_commit_made("feature") == int(shop.git("log", "-1", "--format=%ct", commit))


def test_without_a_log_it_is_not_known_whether_commits_were_made(shop: Checkout) -> None:
    shop.git("-c", "core.logAllRefUpdates=false", "branch", "feature")
    assert opened(shop).last_commit_made("feature") is None
    assert opened(shop).last_commit_made("never-there") is None


def test_of_a_huge_log_the_end_is_read(shop: Checkout) -> None:
    shop.begin("feature")
    commit = shop.commit("cart.py")
    log = shop.root / ".git" / "logs" / "HEAD"
    log.write_bytes(b"x" * 5_000_000 + b"\n" + log.read_bytes())
    shop.switch("main")
    assert opened(shop).left_at("feature") == commit


def test_a_damaged_log_tells_nothing(shop: Checkout) -> None:
    (shop.root / ".git" / "logs" / "HEAD").write_bytes(b"\xff\x00\n" * 1000 + b"a" * 40)
    assert opened(shop).left_at("main") == ""
