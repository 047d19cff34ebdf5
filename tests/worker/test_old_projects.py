"""A home of before projects were known by marks: all of it is found from the same folders, and stays found."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import quote

import pytest

from claude_mem_lite.db.connection import open_for_writing
from tests.support.running import open_machine, short_folder
from tests.worker.working_repository import WorkingRepository

CART = "def total(items):\n    return sum(items)\n"
REMOTE = "git@example.org:me/shop.git"


@pytest.fixture
def work() -> Iterator[WorkingRepository]:
    """A repository of an old home, whose worker is not running."""
    with open_machine() as machine, short_folder() as folder:
        machine.start_worker()
        made = WorkingRepository.begin(machine, folder / "shop", {"cart.py": CART})
        made.session("Add a discount to the cart", {"cart.py": CART + "\n\nDISCOUNT = 5\n"}, "Added the discount.")
        text = "Invoices are numbered per warehouse"
        machine.post("/api/memories", {"kind": "decision", "text": text, "cwd": str(made.root)})
        machine.drain()
        machine.stop_worker()
        with closing(open_for_writing(machine.home.memory_db)) as db:
            make_old(db)
        yield made


def test_an_old_home_is_found_after_a_remote_was_added(work: WorkingRepository) -> None:
    work.git("remote", "add", "origin", REMOTE)
    work.machine.start_worker()
    assert finds(work)
    assert "Invoices are numbered per warehouse" in work.context()


def test_an_old_home_is_found_after_the_folder_was_moved(work: WorkingRepository) -> None:
    moved = work.at(work.root.rename(work.root.with_name("shop2")))
    work.machine.start_worker()
    assert finds(moved)
    assert "Invoices are numbered per warehouse" in moved.context()


def test_a_repository_in_the_folder_of_another_one_of_an_old_home_is_another_project(work: WorkingRepository) -> None:
    work.root.rename(work.root.with_name("shop2"))
    WorkingRepository.begin(work.machine, work.root, {"other.py": CART})
    work.git("remote", "add", "origin", REMOTE)
    work.machine.start_worker()
    assert not finds(work)


def test_what_an_old_home_holds_under_a_path_and_a_remote_becomes_one_project(work: WorkingRepository) -> None:
    with closing(open_for_writing(work.machine.home.memory_db)) as db:
        db.execute("update sessions set project = 'example.org/me/shop'")
        db.execute(
            """insert into projects select 'example.org/me/shop', 'shop', root, first_seen_at, last_seen_at
               from projects"""
        )
    work.git("remote", "add", "origin", REMOTE)
    work.machine.start_worker()
    work.session("Sort the cart", {"cart.py": CART}, "Sorted the cart.")
    (project,) = work.machine.get("/api/projects")["projects"]
    assert project["id"] == "example.org/me/shop"
    assert finds(work)
    assert "discount" in work.context()


def test_a_project_of_which_an_old_home_has_only_what_the_user_said_is_named_and_found(work: WorkingRepository) -> None:
    with closing(open_for_writing(work.machine.home.memory_db)) as db:
        db.execute("delete from sessions")
        db.execute("delete from projects")
    work.git("remote", "add", "origin", REMOTE)
    work.machine.start_worker()
    assert finds(work)
    (project,) = work.machine.get("/api/projects")["projects"]
    assert (project["name"], project["folders"]) == ("shop", [str(work.root)])


def make_old(db: sqlite3.Connection) -> None:
    """Have a database be as it was before the step that brought marks."""
    for table in ("project_marks", "project_changes", "project_change_rows"):
        db.execute(f"drop table {table}")
    db.execute("delete from migrations where name in ('m010_project_marks', 'm013_git_folders')")


def finds(work: WorkingRepository) -> bool:
    hits = work.machine.get(f"/api/search?query=invoices+warehouse&cwd={quote(str(work.root))}")["hits"]
    return any("Invoices" in hit["title"] for hit in hits)
