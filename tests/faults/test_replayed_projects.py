"""Which project everything belongs to, when memory.db is lost without a backup and made again from the inbox alone.

What is replayed finds another disk than it was first seen on: folders are gone, others have a remote by now."""

import shutil
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.faults.losses import WAIT_S, back_up, remove, spoil_header, worked
from tests.support.git_repositories import Checkout, make_checkout
from tests.support.running import leave, query, turn

REMOTE = "git@example.org:me/shop.git"
STATE = {
    "sessions": "select id, project, cwd, branch, commit_id from sessions order by id",
    "memories": """select id, project, scope, branch, commit_id from memories where kind <> 'project_fact'
                   order by id""",
    "projects": "select id, name, root from projects order by id",
    "marks": """select case kind when 'former_path' then 'path' else kind end, value, project from project_marks
                order by 1, 2, 3""",
    "changes": "select id, kind, source, target, undone_at is null from project_changes order by seq",
}


def work_in(home: Home, loop: Services, folder: Path, session: str) -> None:
    """A turn in a folder, and something that the user states there."""
    for given in turn(session, f"Sort the shelves of {session}", cwd=str(folder)):
        leave(home, given)
    assert loop.passes.wait_until_idle(WAIT_S, flush=True)
    text = f"The shelves of {session} are sorted by colour and by size"
    loop.commands.put({"command": "remember", "kind": "decision", "text": text, "cwd": str(folder)}).result(WAIT_S)


def change(loop: Services, command: str, **more: str) -> str:
    (id_,) = loop.commands.put({"command": command, **more}).result(WAIT_S)
    return id_


def state(home: Home) -> dict[str, list[tuple[object, ...]]]:
    return {name: list(query(home.memory_db, statement)) for name, statement in STATE.items()}


def replay(home: Home) -> dict[str, list[tuple[object, ...]]]:
    """Lose memory.db, of which there is no backup; what is known when a worker has made it again."""
    for backup in home.backups.glob("memory-*") if home.backups.is_dir() else ():
        backup.unlink()
    spoil_header(home.memory_db)
    with worked(home):
        pass
    return state(home)


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    made = make_checkout(tmp_path / "shop")
    made.commit("cart.py")
    return made


def test_a_folder_that_was_moved_by_command_is_found_where_it_was_moved_to(home: Home, tmp_path: Path) -> None:
    notes, moved = tmp_path / "notes", tmp_path / "moved"
    notes.mkdir()
    with worked(home) as loop:
        work_in(home, loop, notes, "s-1")
        notes.rename(moved)
        change(loop, "move_project", source=str(notes), target=str(moved))
        work_in(home, loop, moved, "s-2")
    before = state(home)
    assert {row[1] for row in before["sessions"]} == {str(notes)}
    assert replay(home) == before


def test_a_repository_that_was_moved_by_command_is_found_from_all_of_its_folders(home: Home, tmp_path: Path) -> None:
    unborn, moved = make_checkout(tmp_path / "unborn"), tmp_path / "moved"
    unborn.write("src/cart.py", "")
    with worked(home) as loop:
        work_in(home, loop, unborn.root / "src", "s-1")
        unborn.root.rename(moved)
        change(loop, "move_project", source=str(unborn.root), target=str(moved))
    before = state(home)
    assert replay(home) == before
    with worked(home) as loop:
        work_in(home, loop, moved, "s-2")
    assert {row[1] for row in state(home)["sessions"]} == {str(unborn.root)}


def test_a_folder_that_was_moved_to_the_folder_of_another_project_is_part_of_that(home: Home, tmp_path: Path) -> None:
    notes, other = tmp_path / "notes", tmp_path / "other"
    notes.mkdir()
    other.mkdir()
    with worked(home) as loop:
        work_in(home, loop, notes, "s-1")
        work_in(home, loop, other, "s-2")
        change(loop, "move_project", source=str(notes), target=str(other))
        notes.rmdir()
    before = state(home)
    assert {row[1] for row in before["sessions"]} == {str(other)}
    assert replay(home) == before


def test_a_move_to_a_folder_that_came_to_be_another_projects_later_does_not_merge_the_two(
    home: Home, shop: Checkout, tmp_path: Path
) -> None:
    notes, there = tmp_path / "notes", tmp_path / "there"
    notes.mkdir()
    shop.git("remote", "add", "origin", REMOTE)
    with worked(home) as loop:
        work_in(home, loop, shop.root, "s-1")
        work_in(home, loop, notes, "s-2")
        change(loop, "move_project", source=str(notes), target=str(there))
    before = state(home)
    shop.git("clone", "-q", str(shop.root), str(there))
    Checkout(there).git("remote", "set-url", "origin", REMOTE)
    after = replay(home)
    assert after["sessions"] == before["sessions"]
    assert after["changes"] == before["changes"]


def test_a_repository_that_moved_and_got_a_remote_is_one_project(home: Home, shop: Checkout, tmp_path: Path) -> None:
    with worked(home) as loop:
        work_in(home, loop, shop.root, "s-1")
        moved = Checkout(Path(shutil.move(shop.root, tmp_path / "moved")), shop.clock)
        work_in(home, loop, moved.root, "s-2")
        moved.git("remote", "add", "origin", REMOTE)
        moved.begin("discounts")
        moved.commit("page.py")
        work_in(home, loop, moved.root, "s-3")
    before = state(home)
    assert {row[1] for row in before["sessions"]} == {str(shop.root)}
    assert [row[3] for row in before["sessions"]] == ["main", "main", "discounts"]
    assert replay(home) == before


def undo_a_join(home: Home, loop: Services, shop: Checkout) -> None:
    """Two projects that a remote shows to be one, taken apart again by the user."""
    clone = shop.clone(shop.root.with_name("clone"))
    clone.git("remote", "set-url", "origin", REMOTE)
    work_in(home, loop, shop.root, "s-1")
    work_in(home, loop, clone.root, "s-2")
    shop.git("remote", "add", "origin", REMOTE)
    work_in(home, loop, shop.root, "s-3")
    ((id_, kind),) = query(home.memory_db, "select id, kind from project_changes")
    assert kind == "join"
    change(loop, "undo_project_change", change=id_)
    work_in(home, loop, shop.root, "s-4")
    work_in(home, loop, clone.root, "s-5")


def test_an_undone_join_stays_undone(home: Home, shop: Checkout) -> None:
    with worked(home) as loop:
        undo_a_join(home, loop, shop)
    before = state(home)
    remote = "example.org/me/shop"
    assert [row[1] for row in before["sessions"]] == [str(shop.root), remote, remote, str(shop.root), remote]
    assert replay(home) == before


def test_an_undone_join_stays_undone_when_the_inbox_is_lost_as_well(home: Home, shop: Checkout) -> None:
    with worked(home) as loop:
        undo_a_join(home, loop, shop)
    before = state(home)
    remove(home.inbox_db)
    assert replay(home) == before


def test_an_undone_join_that_came_after_the_backup_stays_undone(home: Home, shop: Checkout) -> None:
    with worked(home) as loop:
        work_in(home, loop, shop.root, "s-0")
        back_up(loop)
        undo_a_join(home, loop, shop)
    before = state(home)
    spoil_header(home.memory_db)
    with worked(home):
        pass
    assert state(home) == before


def test_a_split_stays_a_split_and_an_undone_one_stays_undone(home: Home, shop: Checkout) -> None:
    first, second = (shop.clone(shop.root.with_name(name)) for name in ("first", "second"))
    with worked(home) as loop:
        for session, app in (("s-1", shop), ("s-2", first), ("s-3", second)):
            app.git("remote", *(("add", "origin", REMOTE) if app is shop else ("set-url", "origin", REMOTE)))
            work_in(home, loop, app.root, session)
        undone = change(loop, "split_project", source=str(second.root), target="")
        work_in(home, loop, second.root, "s-4")
        change(loop, "undo_project_change", change=undone)
        change(loop, "split_project", source=str(first.root), target="blog")
        first.git("remote", "set-url", "origin", "git@example.org:me/blog.git")
        work_in(home, loop, first.root, "s-5")
    before = state(home)
    shutil.rmtree(second.root)
    known, split, blog = "example.org/me/shop", str(second.root), str(first.root)
    assert [row[1] for row in before["sessions"]] == [known, blog, known, split, blog]
    assert replay(home) == before


def test_a_forgotten_project_leaves_no_trace_of_its_folder_in_the_inbox(home: Home, tmp_path: Path) -> None:
    secret = make_checkout(tmp_path / "secret-shop")
    secret.commit("cart.py")
    secret.git("remote", "add", "origin", "git@example.org:me/secret-remote.git")
    with worked(home) as loop:
        work_in(home, loop, secret.root, "s-1")
        change(loop, "move_project", source=str(secret.root), target=str(tmp_path / "secret-moved"))
        loop.commands.put({"command": "forget", "project": "example.org/me/secret-remote"}).result(WAIT_S)
        assert loop.passes.wait_until_idle(WAIT_S, flush=True)
    inbox = b"".join(path.read_bytes() for path in home.root.glob("inbox.db*"))
    kept = b"".join(path.read_bytes() for path in home.journal_folder.iterdir())
    assert b"secret-shop" not in inbox + kept
    assert b"/secret-moved" not in inbox + kept
