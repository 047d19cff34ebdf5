"""What the look in the background makes of absence that proves little, and what comes back."""

import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.context.builder import build
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.store import memories, retirements
from tests.e2e.repositories import git
from tests.support.code_anchors import LOAD, SAVE, work_on
from tests.support.fakes import NOW, Store
from tests.worker.checkouts import commit, look, on_branch, remember, soon, status
from tests.worker.conftest import SetClock


def test_a_file_missing_without_git_is_gone_when_it_still_is_some_minutes_later(
    store: Store, looking: StalenessScanner, root: Path, clock: SetClock
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").unlink()
    look(looking, root)
    clock.advance(minutes=1)
    look(looking, root)
    assert status(store, memory) == "active"
    clock.advance(minutes=5)
    assert look(looking, root) == {str(root)}
    assert status(store, memory) == "retired"


def test_a_file_that_was_back_in_between_is_not_gone(
    store: Store, looking: StalenessScanner, root: Path, clock: SetClock
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    for _ in range(2):
        (root / "files.py").rename(root / "away.txt")
        look(looking, root)
        (root / "away.txt").rename(root / "files.py")
        look(looking, root)
        clock.advance(minutes=10)
    assert status(store, memory) == "active"


def test_what_git_still_has_is_retired_only_once_its_deletion_is_committed(
    store: Store, looking: StalenessScanner, checkout: Path, clock: SetClock
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    (checkout / "files.py").unlink()
    for _ in range(2):
        look(looking, checkout)
        clock.advance(minutes=10)
    assert status(store, memory) == "active"
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "retired"


def test_a_moved_function_stays_until_it_is_deleted_where_it_went(
    store: Store, looking: StalenessScanner, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    work_on(checkout, "files.py", "")
    work_on(checkout, "other.py", SAVE + LOAD)
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "active"
    work_on(checkout, "other.py", SAVE)
    look(looking, checkout)
    assert status(store, memory) == "retired"


def test_what_comes_back_is_told_before_the_look_revives_it(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, root: Path
) -> None:
    work = remember(store, root, work_on(root, "files.py", LOAD), "Load the text")
    known = remember(
        store, root, work_on(root, "other.py", SAVE), "Saving overwrites", kind="convention", confidence=0.9
    )
    lost = remember(store, root, work_on(root, "lost.py", f"class Lost:\n{SAVE}"), "Lost for good")
    for name in ("files", "other", "lost"):
        (root / f"{name}.py").write_text("")
    look(looking, root)
    assert [status(store, one) for one in (work, known, lost)] == ["retired"] * 3

    def context() -> str:
        place = find_location(str(root))
        return build(
            store.connect, ContextRequest(place, NOW, checkout=looking.checkout(reader, place, soon())), 2000
        ).text

    assert "Load the text" not in context()
    (root / "files.py").write_text(LOAD)
    (root / "other.py").write_text(SAVE)
    told = context()
    assert "Load the text" in told
    assert "Saving overwrites" in told
    assert "Lost for good" not in told
    assert status(store, work) == "retired", "nothing but the look has changed it"


def test_a_branch_that_another_clone_has_is_not_gone(
    store: Store, looking: StalenessScanner, checkout: Path, tmp_path: Path
) -> None:
    url = "https://example.org/me/shop.git"  # clones of one remote are one project
    git(checkout, "config", "remote.origin.url", url)
    memory = on_branch(store, checkout, "feature")
    other = (tmp_path / "other").resolve()
    git(checkout, "switch", "--quiet", "main")
    git(tmp_path, "clone", "--quiet", str(checkout), str(other))
    git(other, "config", "remote.origin.url", url)
    git(checkout, "switch", "--quiet", "feature")
    remember(store, other, (), "Work in the other clone")
    look(looking, checkout)
    look(looking, other)
    git(other, "update-ref", "-d", "refs/remotes/origin/feature")  # as `git fetch --prune` does

    look(looking, other)
    assert status(store, memory) == "active"

    git(checkout, "switch", "--quiet", "main")
    git(checkout, "branch", "--delete", "--force", "feature")
    look(looking, other)
    look(looking, checkout)
    assert status(store, memory) == "retired", "it is in neither of them"


def test_the_oldest_of_many_retired_memories_is_revived_too(
    store: Store, looking: StalenessScanner, root: Path
) -> None:
    oldest = remember(store, root, work_on(root, "files.py", LOAD))
    retirements.retire(store.db, oldest.id, "code", "files.py is gone", NOW - timedelta(days=9))
    with atomic(store.db):
        for number in range(1_100):
            other = replace(oldest, id=f"other {number}", anchors=("code:a:-:no.py::f",))
            memories.insert(store.db, other, NOW)
            retirements.retire(store.db, other.id, "branch" if number % 2 else "code", "it is gone", NOW)
    look(looking, root)
    assert memories.get(store.db, oldest.id).status == "active"
