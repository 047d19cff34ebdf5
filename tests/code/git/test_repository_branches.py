"""Tests of `code/git/repository.py` and `code/git/refs.py`: branches of repositories made by the real git."""

import os
from pathlib import Path

import pytest

from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.deadline import PAST
from tests.code.git.opening import opened
from tests.support.git_repositories import Checkout, make_checkout


def test_loose_packed_and_nested_branches_are_found(shop: Checkout) -> None:
    shop.git("branch", "old/deep/one")
    shop.git("pack-refs", "--all")
    shop.begin("feature/cart#12")
    commit = shop.commit("cart.py")
    found = opened(shop).branches()
    assert found == {"main": shop.id("main"), "old/deep/one": shop.id("main"), "feature/cart#12": commit}
    assert opened(shop).head() == ("feature/cart#12", commit)


def test_packed_branches_are_read_again_when_they_changed_and_only_then(shop: Checkout) -> None:
    shop.git("branch", "feature")
    shop.git("pack-refs", "--all")
    assert sorted(opened(shop).branches()) == ["feature", "main"]
    packed = shop.root / ".git" / "packed-refs"
    state, content = packed.stat(), packed.read_text()
    packed.write_text(content.replace("heads/feature", "heads/another"))
    os.utime(packed, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert sorted(opened(shop).branches()) == ["feature", "main"]
    os.utime(packed)
    assert sorted(opened(shop).branches()) == ["another", "main"]


def test_packed_branches_are_found_among_countless_other_refs(shop: Checkout) -> None:
    commit = shop.id()
    shop.git("pack-refs", "--all")
    lines = [f"{commit} refs/pull/{number}/refs/heads/x\n" for number in range(40_000)]
    lines[20_000] = f"{commit} refs/heads/feature\n^{commit}\n{commit} refs/remotes/origin/far\n"
    (shop.root / ".git" / "packed-refs").write_text("".join(lines) + f"{commit} refs/heads/main")
    assert opened(shop).branches() == {"feature": commit, "main": commit}
    assert opened(shop).remote_branches() == {"origin/far": commit}
    assert opened(shop).head() == ("main", commit)


def test_a_branch_that_moved_since_it_was_packed_is_where_it_moved_to(shop: Checkout) -> None:
    shop.git("pack-refs", "--all")
    commit = shop.commit("cart.py")
    assert opened(shop).branches() == {"main": commit}


def test_branches_of_a_remote_are_told_apart_from_local_ones(shop: Checkout, tmp_path: Path) -> None:
    shop.git("branch", "feature")
    clone = shop.clone(tmp_path / "clone")
    assert opened(clone).branches() == {"main": shop.id("main")}
    assert opened(clone).remote_branches() == {"origin/main": shop.id("main"), "origin/feature": shop.id("main")}


def test_worktrees_share_branches_and_have_their_own_head(shop: Checkout, tmp_path: Path) -> None:
    tree = shop.worktree(tmp_path / "tree", "-b", "feature")
    commit = tree.commit("cart.py")
    assert opened(tree).head() == ("feature", commit)
    assert opened(shop).head() == ("main", shop.id("main"))
    assert opened(tree).branches() == opened(shop).branches() == {"main": shop.id("main"), "feature": commit}


def test_a_worktree_of_a_bare_repository_has_its_branches(shop: Checkout, tmp_path: Path) -> None:
    bare = shop.clone(tmp_path / "bare.git", "--bare")
    tree = bare.worktree(tmp_path / "tree", "main")
    assert opened(tree).branches() == {"main": shop.id("main")}


def test_a_detached_head_is_on_no_branch(shop: Checkout) -> None:
    shop.git("checkout", "-q", "--detach")
    assert opened(shop).head() == ("", shop.id("main"))


def test_a_repository_without_commits_has_a_head_and_no_branches(tmp_path: Path) -> None:
    empty = opened(make_checkout(tmp_path / "empty"))
    assert (empty.head(), empty.branches(), empty.default_branch()) == (("main", ""), {}, "")


@pytest.mark.parametrize("folder", ["", "\0", "/" + "x" * 5000, "/etc/passwd"])
def test_what_is_no_checkout_has_no_repository(folder: str, tmp_path: Path) -> None:
    assert open_repository(folder) is None
    assert open_repository(str(tmp_path)) is None


def test_a_branch_under_rebase_is_known_while_head_is_detached(shop: Checkout) -> None:
    shop.begin("feature")
    shop.commit("readme.md", "A cart.\n")
    shop.switch("main")
    shop.commit("readme.md", "A store.\n")
    assert opened(shop).rebased_branch() == ""
    with pytest.raises(Exception, match="rebase"):
        shop.git("rebase", "-q", "main", "feature")
    assert (opened(shop).head()[0], opened(shop).rebased_branch()) == ("", "feature")


class TestDefaultBranch:
    def test_the_remote_says_which_it_is(self, shop: Checkout, tmp_path: Path) -> None:
        shop.begin("next")
        clone = shop.clone(tmp_path / "clone")
        clone.git("branch", "main", "origin/main")
        assert opened(clone).default_branch() == "next"

    def test_a_remote_that_names_a_branch_which_is_gone_is_not_believed(self, shop: Checkout, tmp_path: Path) -> None:
        clone = shop.clone(tmp_path / "clone")
        clone.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
        assert opened(clone).default_branch() == "main"

    def test_else_it_is_one_of_the_usual_names(self, shop: Checkout) -> None:
        shop.begin("trunk")
        shop.git("branch", "-m", "main", "master")
        shop.git("branch", "feature")
        assert opened(shop).default_branch() == "master"

    def test_local_names_come_before_those_of_the_remote(self, shop: Checkout, tmp_path: Path) -> None:
        clone = shop.clone(tmp_path / "clone")
        clone.git("remote", "set-head", "origin", "--delete")
        clone.git("branch", "-m", "main", "develop")
        assert opened(clone).default_branch() == "develop"
        clone.git("branch", "-m", "develop", "mine")
        assert opened(clone).default_branch() == "main"

    def test_else_it_is_the_only_branch(self, shop: Checkout) -> None:
        shop.git("branch", "-m", "main", "everything")
        assert opened(shop).default_branch() == "everything"
        shop.git("branch", "another")
        assert opened(shop).default_branch() == ""


class TestHostileRefs:
    def test_links_and_pipes_among_refs_are_not_there(self, shop: Checkout, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("a" * 40)
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "inner").write_text("b" * 40)
        heads = shop.root / ".git" / "refs" / "heads"
        (heads / "link").symlink_to(tmp_path / "secret")
        (heads / "folder").symlink_to(tmp_path / "folder")
        (heads / "loop").symlink_to(heads)
        os.mkfifo(heads / "pipe")
        assert opened(shop).branches() == {"main": shop.id("main")}

    def test_a_head_on_a_pipe_or_through_a_linked_folder_has_no_commit(self, shop: Checkout, tmp_path: Path) -> None:
        heads = shop.root / ".git" / "refs" / "heads"
        os.mkfifo(heads / "pipe")
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "inner").write_text("b" * 40)
        (heads / "folder").symlink_to(tmp_path / "folder")
        for name in ("pipe", "folder/inner"):
            (shop.root / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\n")
            assert opened(shop).head() == (name, "")

    def test_refs_that_hold_no_commit_are_left_out(self, shop: Checkout) -> None:
        main = shop.id("main")
        heads = shop.root / ".git" / "refs" / "heads"
        (heads / "garbage").write_bytes(b"\xff" * 100)
        (heads / "large").write_text("a" * 5_000_000)
        (heads / "alias").write_text("ref: refs/heads/alias\n")
        (heads / "main.lock").write_text("a" * 40)
        packed = "\n".join(
            ["# pack-refs with: peeled", f"{'c' * 40} refs/heads/../../x", f"{'d' * 39} refs/heads/short", "x" * 9000]
        )
        (shop.root / ".git" / "packed-refs").write_text(packed)
        assert opened(shop).branches() == {"main": main}

    def test_deeply_nested_folders_of_refs_come_to_an_end(self, shop: Checkout) -> None:
        inner = shop.root / ".git" / "refs" / "heads"
        for _ in range(200):
            inner = inner / "a"
        inner.mkdir(parents=True)
        (inner / "deep").write_text("a" * 40)
        assert opened(shop).branches() == {"main": shop.id("main")}

    def test_reftables_show_no_branches_and_no_error(self, shop: Checkout) -> None:
        git_folder = shop.root / ".git"
        commit = shop.id()
        (git_folder / "HEAD").write_text("ref: refs/heads/.invalid\n")
        for file in (git_folder / "refs" / "heads").iterdir():
            file.unlink()
        (git_folder / "refs" / "heads").rmdir()
        (git_folder / "refs" / "heads").write_text("this repository uses the reftable format\n")
        (git_folder / "reftable").mkdir()
        found = opened(shop)
        assert (found.head(), found.branches(), found.default_branch()) == (("", ""), {}, "")
        assert found.contains(commit, commit, PAST) is True
