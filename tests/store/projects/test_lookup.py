"""Tests of `store/projects/lookup.py` and `code/git/refs.py`: project of a folder
by its marks, with repositories of the real git and a real memory.db."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Event
from claude_mem_lite.store import sessions
from claude_mem_lite.store.projects import changes, lookup, marks
from tests.support.fakes import NOW, Store
from tests.support.git_repositories import Checkout, make_checkout, many_commits

REMOTE = "git@example.org:me/shop.git"


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    """A repository with some history."""
    made = make_checkout(tmp_path / "shop")
    made.commit("cart.py")
    made.commit("page.py")
    return made


def work_in(store: Store, folder: Path, session: str = "s1", days: int = 0) -> str:
    """Have a session at work in a folder; return its project."""
    at = NOW + timedelta(days=days)
    found = lookup.identify(store.db, find_location(str(folder)))
    if found.joins:
        changes.join(store.db, f"join-{session}-{days}", found.joins, found.project, at)
    location = lookup.locate(store.db, str(folder))
    with atomic(store.db):
        sessions.touch(store.db, Event(f"{session}-{days}", "Stop", session, at, str(folder)), location)
    return location.project


def project_of(store: Store, folder: Path) -> str:
    return lookup.locate(store.db, str(folder)).project


def test_a_subfolder_and_a_worktree_belong_to_the_project_whatever_its_remote(store: Store, shop: Checkout) -> None:
    known = work_in(store, shop.root)
    shop.git("remote", "add", "origin", REMOTE)
    shop.git("worktree", "add", "-q", str(shop.root.with_name("tree")))
    (shop.root / "src").mkdir()
    assert project_of(store, shop.root / "src") == known
    assert project_of(store, shop.root.with_name("tree")) == known


def test_a_repository_without_a_commit_keeps_its_project_when_it_gets_one(store: Store, tmp_path: Path) -> None:
    unborn = make_checkout(tmp_path / "new")
    known = work_in(store, unborn.root)
    unborn.commit("first.py")
    assert work_in(store, unborn.root, days=1) == known
    unborn.git("remote", "add", "origin", REMOTE)
    assert project_of(store, unborn.root) == known
    assert project_of(store, Path(shutil.move(unborn.root, tmp_path / "moved"))) == known


def test_a_folder_that_becomes_a_repository_stays_the_same_project(store: Store, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    known = work_in(store, tmp_path / "notes")
    notes = make_checkout(tmp_path / "notes")
    notes.commit("note.md")
    notes.git("remote", "add", "origin", REMOTE)
    assert project_of(store, notes.root) == known


def test_a_first_commit_that_was_amended_and_an_orphan_branch_change_nothing(store: Store, tmp_path: Path) -> None:
    made = make_checkout(tmp_path / "new")
    made.commit("first.py")
    known = work_in(store, made.root)
    made.git("commit", "-q", "--amend", "-m", "another message")
    assert work_in(store, made.root, days=1) == known
    made.git("reflog", "expire", "--expire=now", "--all")
    made.git("gc", "-q", "--prune=now")
    assert work_in(store, made.root, days=1) == known
    made.git("switch", "-q", "--orphan", "pages")
    made.commit("index.html")
    assert work_in(store, made.root, days=2) == known


def begin_history_anew(made: Checkout) -> None:
    """Leave nothing of the history: one new root commit, and none of the objects of before."""
    made.git("checkout", "-q", "--orphan", "fresh")
    made.commit("fresh.py")
    made.git("branch", "-q", "-D", "main")
    made.git("branch", "-q", "-m", "main")
    prune(made)


def prune(made: Checkout) -> None:
    made.git("reflog", "expire", "--expire=now", "--all")
    made.git("gc", "-q", "--prune=now")


def test_a_history_that_was_begun_anew_and_pruned_leaves_the_project_the_same(store: Store, shop: Checkout) -> None:
    known = work_in(store, shop.root)
    begin_history_anew(shop)
    assert work_in(store, shop.root, "s2", days=1) == known
    begin_history_anew(shop)
    assert work_in(store, shop.root, "s3", days=2) == known


def test_a_history_that_was_filtered_and_pruned_leaves_the_project_the_same(store: Store, shop: Checkout) -> None:
    shop.git("remote", "add", "origin", REMOTE)
    known = work_in(store, shop.root)
    shop.git("filter-branch", "-f", "--msg-filter", "sed s/change/rewrite/", "HEAD")
    shop.git("update-ref", "-d", "refs/original/refs/heads/main")
    shop.git("remote", "remove", "origin")  # as git filter-repo does
    prune(shop)
    tree = shop.worktree(shop.root.with_name("tree"))
    assert project_of(store, tree.root) == known
    assert work_in(store, shop.root, "s2", days=1) == known
    shop.git("remote", "add", "origin", REMOTE)
    assert project_of(store, shop.clone(shop.root.with_name("clone")).root) != known
    clone = shop.clone(shop.root.with_name("other"))
    clone.git("remote", "set-url", "origin", REMOTE)
    assert project_of(store, clone.root) == known


def test_a_history_that_was_begun_anew_in_a_repository_that_then_moved_leaves_the_project_the_same(
    store: Store, shop: Checkout, tmp_path: Path
) -> None:
    known = work_in(store, shop.root)
    begin_history_anew(shop)
    assert project_of(store, Path(shutil.move(shop.root, tmp_path / "moved"))) == known


def test_a_repository_that_moved_and_got_another_remote_at_once_is_known_by_its_git_folder(
    store: Store, shop: Checkout, tmp_path: Path
) -> None:
    shop.git("remote", "add", "origin", REMOTE)
    known = work_in(store, shop.root)
    moved = Checkout(Path(shutil.move(shop.root, tmp_path / "moved")))
    moved.git("remote", "set-url", "origin", "https://example.org/me/store")
    assert project_of(store, moved.root) == known


def test_a_copy_of_before_is_not_taken_for_the_project_whose_history_was_begun_anew(
    store: Store, shop: Checkout, tmp_path: Path
) -> None:
    known = work_in(store, shop.root)
    shutil.copytree(shop.root, tmp_path / "copy")
    begin_history_anew(shop)
    assert project_of(store, tmp_path / "copy") != known
    assert project_of(store, shop.root) == known


@pytest.mark.parametrize("how", ["git folder", "whole folder", "moved there", "copied there"])
def test_another_repository_in_the_place_of_one_is_another_project(
    store: Store, shop: Checkout, tmp_path: Path, how: str
) -> None:
    known = work_in(store, shop.root)
    other = make_checkout(tmp_path / "other")
    other.commit("other.py")
    shutil.rmtree(shop.root / ".git" if how == "git folder" else shop.root)
    if how == "moved there":
        shutil.move(other.root, shop.root)
    elif how == "copied there":
        shutil.copytree(other.root, shop.root)
    else:
        make_checkout(shop.root).commit("new.py")
    assert work_in(store, shop.root, "s2", days=1) == f"{known}#2"


def test_a_git_folder_that_cannot_be_told_from_another_is_known_by_its_commits_alone(
    store: Store, shop: Checkout
) -> None:
    (shop.root / ".git" / "description").unlink()
    known = work_in(store, shop.root)
    begin_history_anew(shop)
    assert work_in(store, shop.root, "s2", days=1) == f"{known}#2"


def test_a_git_folder_that_was_restored_from_a_backup_is_noted_anew(
    store: Store, shop: Checkout, tmp_path: Path
) -> None:
    known = work_in(store, shop.root)
    shutil.copytree(shop.root, tmp_path / "backup")
    shutil.rmtree(shop.root)
    shutil.copytree(tmp_path / "backup", shop.root)
    assert work_in(store, shop.root, "s2", days=1) == known
    begin_history_anew(shop)
    assert work_in(store, shop.root, "s3", days=2) == known


def test_a_plain_folder_where_a_moved_project_was_is_another_project(
    store: Store, shop: Checkout, tmp_path: Path
) -> None:
    known = work_in(store, shop.root)
    moved = Path(shutil.move(shop.root, tmp_path / "moved"))
    assert project_of(store, shop.root) == known  # as long as nothing stands there
    assert work_in(store, moved, "s2", days=1) == known
    assert project_of(store, shop.root) == known
    shop.root.mkdir()
    assert work_in(store, shop.root, "s3", days=2) == f"{known}#2"
    assert project_of(store, moved) == known


def test_a_shallow_clone_of_a_known_remote_joins_it(store: Store, shop: Checkout) -> None:
    shop.git("remote", "add", "origin", REMOTE)
    known = work_in(store, shop.root)
    clone = shop.root.with_name("clone")
    shop.git("clone", "-q", "--depth", "1", f"file://{shop.root}", str(clone))
    Checkout(clone).git("remote", "set-url", "origin", REMOTE)
    assert project_of(store, clone) == known


def test_a_submodule_is_a_project_of_its_own(store: Store, shop: Checkout, tmp_path: Path) -> None:
    known = work_in(store, shop.root)
    other = make_checkout(tmp_path / "library")
    other.commit("library.py")
    shop.git("submodule", "add", "-q", str(other.root), "vendor")
    inside = work_in(store, shop.root / "vendor", "s2")
    assert inside != known
    moved = Path(shutil.move(shop.root, tmp_path / "moved"))
    assert project_of(store, moved) == known


def test_a_fork_beside_the_project_is_another_one_and_so_is_one_that_came_after_it_was_removed(
    store: Store, shop: Checkout
) -> None:
    shop.git("remote", "add", "origin", REMOTE)
    known = work_in(store, shop.root)
    fork = shop.root.with_name("fork")
    shop.git("clone", "-q", str(shop.root), str(fork))
    Checkout(fork).git("remote", "set-url", "origin", "https://example.org/somebody-else/shop")
    assert project_of(store, fork) != known
    shutil.rmtree(shop.root)
    assert project_of(store, fork) != known


def test_a_repository_from_the_same_template_is_not_taken_for_a_moved_one(store: Store, tmp_path: Path) -> None:
    template = make_checkout(tmp_path / "template")
    template.commit("README.md")
    for name in ("one", "two"):
        template.git("clone", "-q", str(template.root), str(tmp_path / name))
        Checkout(tmp_path / name).git("remote", "remove", "origin")
    Checkout(tmp_path / "one").commit("own.py")
    known = work_in(store, tmp_path / "one")
    shutil.rmtree(tmp_path / "one")
    assert project_of(store, tmp_path / "two") != known


def test_a_known_remote_in_a_repository_without_its_history_is_another_project_for_good(
    store: Store, shop: Checkout, tmp_path: Path
) -> None:
    shop.git("remote", "add", "origin", REMOTE)
    known = work_in(store, shop.root)
    namesake = make_checkout(tmp_path / "hostile")
    namesake.commit("evil.py")
    namesake.git("remote", "add", "origin", REMOTE)
    other = work_in(store, namesake.root, "s2")
    assert other == f"{known}#2"
    assert work_in(store, namesake.root, "s3", days=1) == other
    assert project_of(store, shop.root) == known
    assert marks.marks(store.db, known, "path") == [str(shop.root)]


def test_a_folder_that_names_the_objects_of_another_repository_proves_nothing_by_a_name_alone(
    store: Store, shop: Checkout, tmp_path: Path
) -> None:
    known = work_in(store, shop.root)
    hostile = make_checkout(tmp_path / "hostile")
    (hostile.root / ".git" / "refs" / "heads" / "main").write_text(f"{shop.id()}\n")
    shutil.move(shop.root, tmp_path / "away")
    assert project_of(store, hostile.root) != known


def test_a_folder_whose_remote_leads_to_another_project_does_not_take_the_other_folders_along(
    store: Store, shop: Checkout
) -> None:
    shop.git("remote", "add", "origin", REMOTE)
    upstream = work_in(store, shop.root)
    second = shop.root.with_name("second")
    shop.git("clone", "-q", str(shop.root), str(second))
    Checkout(second).git("remote", "set-url", "origin", REMOTE)
    assert work_in(store, second, "s2") == upstream
    fork = shop.root.with_name("fork")
    shop.git("clone", "-q", str(shop.root), str(fork))
    Checkout(fork).git("remote", "set-url", "origin", "https://example.org/somebody-else/shop")
    forked = work_in(store, fork, "s3")
    Checkout(second).git("remote", "set-url", "origin", "https://example.org/somebody-else/shop")
    assert work_in(store, second, "s4", days=1) == forked
    assert project_of(store, shop.root) == upstream


def test_a_history_that_is_too_long_tells_nothing_and_the_project_stays_the_same(store: Store, shop: Checkout) -> None:
    many_commits(shop, 20_001)
    shop.git("remote", "add", "origin", REMOTE)
    known = work_in(store, shop.root)
    assert work_in(store, shop.root, days=1) == known
    assert marks.marks(store.db, known, "root_commit") == []
    assert project_of(store, Path(shutil.move(shop.root, shop.root.with_name("moved")))) == known


@pytest.mark.parametrize("folder", ["", "relative/folder", "/no/such/folder", "/with\x00nul"])
def test_any_text_has_a_project(store: Store, folder: str) -> None:
    assert lookup.locate(store.db, folder).project
