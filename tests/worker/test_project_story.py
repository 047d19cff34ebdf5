"""A project stays the same project while its remote, its folder and its name change; others never join it."""

import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.running import Json, Machine, hung, open_machine, short_folder
from tests.worker.working_repository import WorkingRepository

CART = "def total(items):\n    return sum(items)\n"
_numbers = count()


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


@pytest.fixture
def work(machine: Machine, folder: Path) -> WorkingRepository:
    """A repository of its own, with one commit, one session and one thing that the user said."""
    made = WorkingRepository.begin(machine, folder / "shop", {"cart.py": CART, "own.txt": f"{next(_numbers)}\n"})
    made.session("Add a discount to the cart", {"cart.py": CART + "\n\nDISCOUNT = 5\n"}, "Added the discount.")
    remember(made, "Invoices are numbered per warehouse")
    return made


def test_a_project_that_gets_a_remote_keeps_its_memories(work: WorkingRepository) -> None:
    work.git("remote", "add", "origin", f"git@example.org:{work.root.parent.name}/shop.git")
    assert finds(work)
    assert "Invoices are numbered per warehouse" in work.context()
    assert "discount" in work.context()


def test_a_project_whose_remote_moved_keeps_its_memories(work: WorkingRepository) -> None:
    owner = work.root.parent.name
    work.git("remote", "add", "origin", f"git@example.org:{owner}/shop.git")
    work.session("Add a cart page", {"page.py": CART}, "Added the page.")
    work.git("remote", "set-url", "origin", f"https://git.example.com/new-{owner}/shop")
    assert finds(work)
    assert "Invoices are numbered per warehouse" in work.context()
    assert {f"example.org/{owner}/shop", f"git.example.com/new-{owner}/shop"} == set(listed(work)["remotes"])


def test_a_project_whose_folder_moved_keeps_its_memories(work: WorkingRepository) -> None:
    moved = work.at(work.root.rename(work.root.with_name("shop2")))
    assert finds(moved)
    assert "Invoices are numbered per warehouse" in moved.context()
    assert listed(moved)["folders"] == [str(moved.root), str(work.root)]


def test_what_comes_to_stand_in_the_folder_of_a_moved_project_is_another_one(work: WorkingRepository) -> None:
    moved = work.at(work.root.rename(work.root.with_name("shop2")))
    moved.context()
    WorkingRepository.begin(work.machine, work.root, {"other.py": CART})
    assert not finds(work)
    assert "warehouse" not in work.context()
    assert finds(moved)


def test_a_repository_that_takes_the_place_of_another_is_another_project(work: WorkingRepository) -> None:
    shutil.rmtree(work.root)
    WorkingRepository.begin(work.machine, work.root, {"other.py": CART})
    assert not finds(work)
    assert "warehouse" not in work.context()


@pytest.mark.parametrize("first", ["moved", "new"])
def test_a_moved_project_is_found_although_another_repository_took_its_place(
    work: WorkingRepository, first: str
) -> None:
    moved = work.at(work.root.rename(work.root.with_name("shop-old")))
    WorkingRepository.begin(work.machine, work.root, {"other.py": CART, "own.txt": f"{next(_numbers)}\n"})
    new = work.at(work.root)
    (moved if first == "moved" else new).context()
    new.session("Add a page", {"page.py": CART}, "Added the page.")
    assert finds(moved)
    assert "warehouse" in moved.context()
    assert not finds(new)


def test_a_project_with_a_fresh_history_keeps_its_memories_by_folder_and_remote(work: WorkingRepository) -> None:
    remote = f"git@example.org:{work.root.parent.name}/shop.git"
    work.git("remote", "add", "origin", remote)
    work.context()
    shutil.rmtree(work.root / ".git")
    WorkingRepository.begin(work.machine, work.root, {"own.txt": f"{next(_numbers)}\n"})
    work.git("remote", "add", "origin", remote)
    assert finds(work)
    assert "warehouse" in work.context()
    other = clone(work, "clone")
    other.git("remote", "set-url", "origin", remote)
    assert finds(other)


def test_a_project_whose_history_was_begun_anew_and_pruned_keeps_its_memories(work: WorkingRepository) -> None:
    begin_history_anew(work)
    assert finds(work)
    assert "warehouse" in told_without_worker(work)
    work.session("Add a cart page", {"page.py": CART}, "Added the page.")
    assert finds(work)
    assert "Invoices are numbered per warehouse" in work.context()
    assert listed(work)["id"] == str(work.root)


def test_a_folder_without_a_commit_that_names_the_remote_does_not_join(work: WorkingRepository) -> None:
    remote = f"git@example.org:{work.root.parent.name}/shop.git"
    work.git("remote", "add", "origin", remote)
    work.context()
    hostile = work.at(work.root.with_name("elsewhere"))
    hostile.root.mkdir()
    hostile.git("init", "--quiet")
    hostile.git("remote", "add", "origin", remote)
    assert not finds(hostile)
    assert "warehouse" not in hostile.context()


def test_a_folder_that_was_away_for_a_while_is_the_same_project_again(work: WorkingRepository) -> None:
    copy = work.at(work.root.with_name("copy"))
    shutil.copytree(work.root, copy.root)
    away = work.root.rename(work.root.with_name("away"))
    copy.session("Sort the cart", {"cart.py": CART}, "Sorted.")
    away.rename(work.root)
    assert finds(work)


@pytest.mark.parametrize("is_moved", [True, False])
def test_a_repository_that_takes_the_place_of_another_is_not_told_of_it_while_the_worker_is_away(
    work: WorkingRepository, is_moved: bool
) -> None:
    if is_moved:
        moved = work.at(work.root.rename(work.root.with_name("shop2")))
        assert "warehouse" in moved.context()
        assert "warehouse" in told_without_worker(moved)
        work.machine.drain()
    else:
        assert "warehouse" in told_without_worker(work)
        work.machine.drain()  # or the worker hears of that start when another repository stands there
        shutil.rmtree(work.root)
    WorkingRepository.begin(work.machine, work.root, {"other.py": CART})
    assert told_without_worker(work) == ""


def test_two_clones_of_one_remote_are_one_project(work: WorkingRepository) -> None:
    other = clone(work, "clone")
    for one in (work, other):
        one.git("remote", "remove", "origin") if one is other else None
        one.git("remote", "add", "origin", f"git@example.org:{work.root.parent.name}/shop.git")
    work.context()
    assert finds(other)
    assert "warehouse" in other.context()


def test_a_namesake_that_claims_the_remote_of_another_project_does_not_join_it(work: WorkingRepository) -> None:
    remote = f"git@example.org:{work.root.parent.name}/shop.git"
    work.git("remote", "add", "origin", remote)
    work.context()
    hostile = WorkingRepository.begin(work.machine, work.root.with_name("elsewhere"), {"evil.py": CART})
    hostile.git("remote", "add", "origin", remote)
    assert not finds(hostile)
    assert "warehouse" not in hostile.context()
    hostile.session("Add a trap", {"evil.py": CART + "TRAP = 1\n"}, "Added the trap for everybody.")
    assert "trap" not in work.context()


def test_a_copy_beside_the_project_is_another_project(work: WorkingRepository) -> None:
    copy = work.root.with_name("copy")
    shutil.copytree(work.root, copy)
    assert not finds(work.at(copy))


def test_two_projects_that_turn_out_to_be_one_are_merged_until_that_is_undone(work: WorkingRepository) -> None:
    other = clone(work, "clone")
    other.git("remote", "set-url", "origin", f"git@example.org:{work.root.parent.name}/shop.git")
    other.session("Sort the cart by colour", {"cart.py": CART + "COLOUR = 1\n"}, "Sorted the cart by colour.")
    work.git("remote", "add", "origin", f"git@example.org:{work.root.parent.name}/shop.git")
    work.context()
    assert finds(work)
    assert finds(other)
    assert "colour" in work.context()

    remember(work, "Carts are emptied at night")
    (change, *_) = work.machine.get("/api/projects/changes")["changes"]
    assert change["kind"] == "join"
    work.machine.post("/api/projects/undo", {"change": change["id"]})
    assert finds(work)
    assert not finds(other)
    assert "colour" not in work.context()


def test_what_is_remembered_first_after_a_remote_was_added_joins_the_projects_too(work: WorkingRepository) -> None:
    other = clone(work, "clone")
    other.git("remote", "set-url", "origin", f"git@example.org:{work.root.parent.name}/shop.git")
    other.session("Sort the cart by colour", {"cart.py": CART + "COLOUR = 1\n"}, "Sorted the cart by colour.")
    work.git("remote", "add", "origin", f"git@example.org:{work.root.parent.name}/shop.git")
    remember(work, "Carts are emptied at night")
    assert finds(work)
    assert finds(other)


def test_a_session_goes_on_with_the_same_project_in_a_linked_worktree_after_a_remote_was_added(
    work: WorkingRepository,
) -> None:
    tree = work.root.with_name("tree")
    work.git("worktree", "add", "--quiet", str(tree))
    work.git("remote", "add", "origin", f"git@example.org:{work.root.parent.name}/shop.git")
    assert finds(work.at(tree))


def begin_history_anew(work: WorkingRepository) -> None:
    """Leave nothing of the history: one new root commit, and none of the objects of before."""
    work.git("checkout", "--quiet", "--orphan", "fresh")
    work.commit("Start anew")
    work.git("branch", "--quiet", "--delete", "--force", "main")
    work.git("reflog", "expire", "--expire=now", "--all")
    work.git("gc", "--quiet", "--prune=now")


def clone(work: WorkingRepository, name: str) -> WorkingRepository:
    work.git("clone", "--quiet", str(work.root), str(work.root.with_name(name)))
    return work.at(work.root.with_name(name))


def remember(work: WorkingRepository, text: str) -> None:
    work.machine.post("/api/memories", {"kind": "decision", "text": text, "cwd": str(work.root)})


def told_without_worker(work: WorkingRepository) -> str:
    """What a session that starts now is given by the hook alone."""
    work.machine.drain()  # contexts are rendered after a command is answered
    with hung(work.machine):
        return work.start()


def finds(work: WorkingRepository) -> bool:
    """Whether a search in the folder finds what the user said."""
    hits = work.machine.get(f"/api/search?query=invoices+warehouse&cwd={quote(str(work.root))}")["hits"]
    return any("Invoices" in hit["title"] for hit in hits)


def listed(work: WorkingRepository) -> Json:
    found = work.machine.get("/api/projects")["projects"]
    return next(one for one in found if str(work.root) in one["folders"])
