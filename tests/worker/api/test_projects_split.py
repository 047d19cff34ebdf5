"""Two clones that are one project and should be two: `projects split`, with real git, real hooks and a real worker."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_reading
from tests.support.running import Json, Machine, open_machine, short_folder
from tests.worker.api.test_projects_command import tables
from tests.worker.commands import run_here
from tests.worker.working_repository import WorkingRepository

CART = "def total(items):\n    return sum(items)\n"
STARTER = "git@example.org:templates/starter.git"


@pytest.fixture
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made.resolve()


@pytest.fixture
def starter(machine: Machine, folder: Path) -> WorkingRepository:
    return WorkingRepository.begin(machine, folder / "starter", {"cart.py": CART})


@pytest.fixture
def apps(starter: WorkingRepository) -> tuple[WorkingRepository, WorkingRepository]:
    """A shop and a blog that began as clones of one starter, each with a session and something that the user said."""
    made = clone(starter, "shop"), clone(starter, "blog")
    for app in made:
        work_in(app)
    return made


def test_two_apps_from_one_starter_are_one_project_until_one_is_split_from_it(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository]
) -> None:
    shop, blog = apps
    assert "The shop is sorted by colour" in blog.context()
    told = run_here(machine, "projects", "split", blog.root, "--name", "my-blog").stdout
    assert "my-blog was split from starter. `claude-mem-lite projects undo" in told
    assert "The shop" not in blog.context()
    assert "The blog is sorted by colour" in blog.context()
    assert "The blog" not in shop.context()
    assert "The shop is sorted by colour" in shop.context()
    assert {one["name"]: one["folders"] for one in listed(machine)} == {
        "my-blog": [str(blog.root)],
        "starter": [str(shop.root)],
    }


def test_what_was_split_stays_so_while_both_have_the_remote_of_the_starter_and_when_they_get_their_own(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository]
) -> None:
    shop, blog = apps
    run_here(machine, "projects", "split", blog.root)
    work_in(blog, "pages")
    blog = blog.at(blog.root.rename(blog.root.with_name("moved")))
    work_in(blog, "posts")
    for app, name in ((shop, "shop"), (blog, "blog")):
        app.git("remote", "set-url", "origin", f"git@example.org:me/{name}.git")
        work_in(app, f"own-{name}")
    assert {one["name"]: one["remotes"] for one in listed(machine)} == {
        "blog": ["example.org/me/blog"],
        "starter": ["example.org/me/shop", "example.org/templates/starter"],
    }
    other = clone(blog, "second", "git@example.org:me/blog.git")
    assert "The blog is sorted by colour" in other.context()
    assert "The shop" not in other.context()


def test_clones_that_got_remotes_of_their_own_are_one_project_until_one_is_split_with_its_remote(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository]
) -> None:
    shop, blog = apps
    for app, name in ((shop, "shop"), (blog, "blog")):
        app.git("remote", "set-url", "origin", f"git@example.org:me/{name}.git")
        work_in(app, f"own-{name}")
    (one,) = listed(machine)
    assert set(one["remotes"]) == {"example.org/me/shop", "example.org/me/blog", "example.org/templates/starter"}
    change = json.loads(run_here(machine, "projects", "split", blog.root, "--json").stdout)
    assert (change["kind"], change["target"], change["name"]) == ("split", "example.org/me/blog", "blog")
    assert {one["id"]: one["remotes"] for one in listed(machine)} == {
        "example.org/me/blog": ["example.org/me/blog"],
        "example.org/templates/starter": ["example.org/me/shop", "example.org/templates/starter"],
    }


def test_sessions_in_worktrees_and_in_the_former_folder_of_a_repository_come_along(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository], folder: Path
) -> None:
    _, blog = apps
    tree = blog.at(folder / "tree")
    blog.git("worktree", "add", "--quiet", str(tree.root))
    work_in(tree, "tree")
    blog.git("worktree", "remove", "--force", str(tree.root))
    blog = blog.at(blog.root.rename(folder / "weblog"))
    work_in(blog, "weblog")
    (blog.root / "src").mkdir()
    run_here(machine, "projects", "split", blog.root / "src", "--name", "weblog")
    assert {one["name"]: one["sessions"] for one in listed(machine)} == {"weblog": 3, "starter": 1}
    told = run_here(machine, "list", "--project", "weblog").stdout
    assert all(f"The {name} is sorted by colour" in told for name in ("blog", "tree", "weblog"))


def test_a_clone_in_the_folder_where_another_one_began_is_split_without_the_sessions_of_that(
    machine: Machine, starter: WorkingRepository, folder: Path
) -> None:
    shop = clone(starter, "app")
    work_in(shop, "shop")
    shop = shop.at(shop.root.rename(folder / "shop"))
    work_in(shop, "shelf")
    blog = clone(starter, "app")
    work_in(blog, "blog")
    run_here(machine, "projects", "split", blog.root, "--name", "blog")
    assert {one["name"]: one["sessions"] for one in listed(machine)} == {"blog": 1, "starter": 2}
    assert "The shop" not in blog.context()


def test_undoing_a_split_restores_every_table(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository]
) -> None:
    before = tables(machine)
    run_here(machine, "projects", "split", apps[1].root)
    machine.drain()
    assert tables(machine) != before
    assert run_here(machine, "projects", "undo").stdout == "Undone: blog was split from starter.\n"
    machine.drain()
    assert tables(machine) == before
    assert "The shop is sorted by colour" in apps[1].context()


def test_what_was_stored_after_a_split_stays_in_the_new_project_when_that_is_undone(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository]
) -> None:
    _, blog = apps
    run_here(machine, "projects", "split", blog.root)
    work_in(blog, "page")
    run_here(machine, "projects", "undo")
    assert {one["name"]: one["sessions"] for one in listed(machine)} == {"blog": 1, "starter": 2}
    work_in(blog, "post")
    assert {one["name"]: one["sessions"] for one in listed(machine)} == {"blog": 1, "starter": 3}


def test_a_split_and_a_merge_take_each_other_back(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository]
) -> None:
    shop, blog = apps
    split = json.loads(run_here(machine, "projects", "split", blog.root, "--json").stdout)["id"]
    merge = json.loads(run_here(machine, "projects", "merge", blog.root, shop.root, "--json").stdout)["id"]
    assert "The blog is sorted by colour" in shop.context()
    refused = run_here(machine, "projects", "undo", split, status=1).stderr
    assert f"projects undo {merge}` first" in refused
    work_in(blog, "page")
    assert [one["name"] for one in listed(machine)] == ["starter"]


def test_a_split_that_cannot_be_is_refused_with_the_next_step(machine: Machine, starter: WorkingRepository) -> None:
    refused = run_here(machine, "projects", "split", starter.root.with_name("nowhere"), status=1).stderr
    assert "no project was ever seen in" in refused
    assert "`claude-mem-lite projects` lists their folders" in refused
    work_in(starter)
    refused = run_here(machine, "projects", "split", starter.root, status=1).stderr
    assert "is the only folder of starter, so there is nothing to split" in refused
    assert "`claude-mem-lite projects rename`" in refused
    refused = run_here(machine, "projects", "split", starter.root, "--name", "a/b", status=1).stderr
    assert "'a/b' is no name; use up to" in refused
    assert run_here(machine, "projects", "--changes").stdout == "Nothing was changed about projects.\n"


def test_a_name_that_another_project_has_is_given_to_a_split_with_a_warning(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository]
) -> None:
    done = run_here(machine, "projects", "split", apps[1].root, "--name", "Starter")
    assert "Another project is called Starter too" in done.stderr


def test_what_was_forgotten_before_a_split_stays_forgotten_in_the_new_project(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository], folder: Path
) -> None:
    _, blog = apps
    (line,) = [
        one for one in run_here(machine, "export", "--cwd", blog.root).stdout.splitlines() if "The blog is" in one
    ]
    machine.post("/api/forget", {"ids": [json.loads(line)["id"]]})
    change = json.loads(run_here(machine, "projects", "split", blog.root, "--json").stdout)
    again = folder / "again.jsonl"
    new = {"id": "another1234", "project": change["target"], "scope": f"project:{change['target']}"}
    again.write_text(json.dumps({**json.loads(line), **new}) + "\n")
    assert "forgotten" in run_here(machine, "import", "jsonl", again, "--trust").stdout
    assert "The blog" not in blog.context()


def test_a_project_that_was_split_off_and_forgotten_leaves_no_trace_of_its_folder(
    machine: Machine, starter: WorkingRepository
) -> None:
    shop, secret = clone(starter, "shop"), clone(starter, "secret-blog")
    for app in (shop, secret):
        work_in(app)
    run_here(machine, "projects", "split", secret.root, "--name", "secret-name")
    machine.post("/api/forget", {"project": "secret-name"})
    machine.drain()
    with closing(open_for_reading(machine.home.memory_db)) as db:
        left = "\n".join(db.iterdump())
    assert str(secret.root) not in left
    assert "secret-name" not in left
    assert not [row for row in machine.rows() if "split_project" in row.payload]


def test_a_folder_that_is_gone_is_split_too(
    machine: Machine, apps: tuple[WorkingRepository, WorkingRepository]
) -> None:
    _, blog = apps
    shutil.rmtree(blog.root)
    run_here(machine, "projects", "split", blog.root)
    assert {one["name"]: one["sessions"] for one in listed(machine)} == {"blog": 1, "starter": 1}


def clone(work: WorkingRepository, name: str, remote: str = STARTER) -> WorkingRepository:
    made = work.at(work.root.with_name(name))
    work.git("clone", "--quiet", str(work.root), str(made.root))
    made.git("remote", "set-url", "origin", remote)
    return made


def work_in(app: WorkingRepository, name: str = "") -> None:
    """A session in a folder, and something that the user says there."""
    name = name or app.root.name
    app.session(f"Add a list to the {name}", {f"{name}.py": CART}, f"Added the list to the {name}.")
    text = f"The {name} is sorted by colour"
    app.machine.post("/api/memories", {"kind": "decision", "text": text, "cwd": str(app.root)})
    app.machine.drain()


def listed(machine: Machine) -> list[Json]:
    return list(machine.get("/api/projects")["projects"])
