"""The look in the background: memories are retired when their code is gone everywhere, and revived when it is back."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from claude_mem_lite.code.values import CodeChange
from claude_mem_lite.codebase.freshness import Freshness
from claude_mem_lite.db.connection import atomic, open_for_reading
from claude_mem_lite.models import Event, Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.places import find_place
from claude_mem_lite.store import memories, retirements, sessions
from claude_mem_lite.worker.looking import Looking
from tests.anchored import LOAD, LOAD_SAFELY, SAVE, work_on
from tests.e2e.repositories import git
from tests.fakes import NOW, Store


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with Store(home.memory_db) as made:
        yield made


@pytest.fixture
def looking(home: Home, store: Store) -> Iterator[Looking]:
    made = Looking(home, store.db, lambda: NOW, lambda _: False)
    yield made
    made.let_go()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = (tmp_path / "shop").resolve()
    folder.mkdir()
    (folder / "README.md").write_text("Something that is always there.\n")
    return folder


@pytest.fixture
def checkout(root: Path) -> Path:
    """The same as a git repository."""
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    return root


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message=Work")


def remember(store: Store, root: Path, anchors: tuple[str, ...], title: str = "Load safely", **more: object) -> Memory:
    """A memory of work in a checkout, on the branch it is on, in a session there."""
    place = find_place(str(root))
    session = f"session in {root.name}"
    with atomic(store.db):
        sessions.touch(store.db, Event(f"{session}-start", "SessionStart", session, NOW, str(root)), place)
    values: dict[str, Any] = {"branch": place.branch, "commit": place.commit, "session": session, **more}
    return store.remember(title, place=place, anchors=anchors, **values)


def look(looking: Looking, root: Path) -> set[str]:
    """Have a checkout looked at to the end; returns the projects whose context changed."""
    looking.want(find_place(str(root)))
    changed: set[str] = set()
    while looking.is_busy():
        changed |= looking.step().changed
    return changed


def status(store: Store, memory: Memory) -> str:
    return memories.get(store.db, memory.id).status


def test_a_memory_whose_code_is_gone_is_retired_with_the_reason(store: Store, looking: Looking, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    assert look(looking, root) == set()
    assert status(store, memory) == "active"

    (root / "files.py").unlink()

    assert look(looking, root) == {str(root)}
    assert status(store, memory) == "retired"
    assert retirements.reasons(store.db, [memory.id]) == {memory.id: "its code is gone: files.py is gone"}


def test_it_is_active_again_when_the_code_is_back(store: Store, looking: Looking, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").unlink()
    look(looking, root)

    work_on(root, "files.py", LOAD)

    assert look(looking, root) == {str(root)}
    assert memories.get(store.db, memory.id) == memory


def test_what_was_changed_or_renamed_stays_active_and_as_it_was_told(
    store: Store, looking: Looking, root: Path
) -> None:
    changed = remember(store, root, work_on(root, "files.py", LOAD))
    renamed = remember(store, root, work_on(root, "other.py", SAVE), "Save the text")
    work_on(root, "files.py", LOAD_SAFELY)
    work_on(root, "other.py", SAVE.replace("save", "write_text"))
    assert look(looking, root) == set()
    assert memories.get(store.db, changed.id) == changed
    assert memories.get(store.db, renamed.id) == renamed


def test_a_change_made_by_hand_is_noticed_at_the_next_look(store: Store, looking: Looking, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", SAVE + LOAD)[1:])
    look(looking, root)
    (root / "files.py").write_text(SAVE)
    look(looking, root)
    assert status(store, memory) == "retired"
    (root / "files.py").write_text(LOAD + SAVE)
    look(looking, root)
    assert status(store, memory) == "active"


def test_what_the_user_retired_stays_retired_though_its_code_is_there(
    store: Store, looking: Looking, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    memories.retire(store.db, memory.id)
    look(looking, root)
    assert status(store, memory) == "retired"


@pytest.mark.parametrize("held", [{"pinned": True}, {"origin": "user"}, {"anchors": ("error:abc",)}])
def test_what_the_user_holds_on_to_or_nothing_ties_to_code_is_never_retired(
    store: Store, looking: Looking, root: Path, held: dict[str, object]
) -> None:
    memory = remember(store, root, **{"anchors": work_on(root, "files.py", LOAD), **held})  # type: ignore[arg-type]
    (root / "files.py").unlink()
    look(looking, root)
    assert status(store, memory) == "active"


def test_many_memories_are_looked_at_in_steps(store: Store, looking: Looking, root: Path) -> None:
    kept = [remember(store, root, work_on(root, f"a{at}.py", LOAD), f"Matter {at * 7919}") for at in range(60)]
    lost = [remember(store, root, work_on(root, f"b{at}.py", LOAD), f"Thing {at * 104729}") for at in range(60)]
    for at in range(60):
        (root / f"b{at}.py").unlink()
    looking.want(find_place(str(root)))
    steps = 0
    while looking.is_busy():
        looking.step()
        steps += 1
    assert steps > 6
    assert {status(store, memory) for memory in kept} == {"active"}
    assert {status(store, memory) for memory in lost} == {"retired"}


def test_a_checkout_is_looked_at_once_however_often_it_is_wanted(looking: Looking, root: Path) -> None:
    for _ in range(3):
        looking.want(find_place(str(root)))
    assert looking.is_busy()
    while looking.step().more:
        pass
    assert not looking.is_busy()
    assert not looking.step().more


def test_a_checkout_that_is_gone_retires_nothing(store: Store, looking: Looking, root: Path, tmp_path: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    looking.want(find_place(str(root)))
    root.rename(tmp_path / "elsewhere")
    while looking.is_busy():
        looking.step()
    assert status(store, memory) == "active"


def test_an_emptied_checkout_retires_nothing(store: Store, looking: Looking, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").unlink()
    (root / "README.md").unlink()
    look(looking, root)
    assert status(store, memory) == "active"


def test_an_excluded_folder_is_not_looked_at(home: Home, store: Store, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").unlink()
    look(Looking(home, store.db, lambda: NOW, lambda folder: folder == str(root)), root)
    assert status(store, memory) == "active"
    assert not home.code_db.exists()


def test_a_failing_look_ends_and_the_next_one_begins_anew(store: Store, looking: Looking, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").unlink()
    store.db.execute("alter table memories rename to hidden")
    with pytest.raises(sqlite3.OperationalError):
        look(looking, root)
    assert not looking.is_busy()
    store.db.execute("alter table hidden rename to memories")
    look(looking, root)
    assert status(store, memory) == "retired"


# With git.


def test_on_the_branch_it_was_made_on_a_memory_is_retired(store: Store, looking: Looking, checkout: Path) -> None:
    git(checkout, "switch", "--quiet", "--create", "feature")
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "rm", "--quiet", "files.py")
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "retired"


def test_on_another_branch_that_has_not_the_code_nothing_is_retired(
    store: Store, looking: Looking, checkout: Path
) -> None:
    git(checkout, "branch", "old")
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "switch", "--quiet", "old")
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_with_a_detached_head_nothing_is_retired(store: Store, looking: Looking, checkout: Path) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "switch", "--quiet", "--detach", "HEAD~1")
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_a_switch_of_branches_brings_back_what_was_deleted_on_the_other(
    store: Store, looking: Looking, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "branch", "keeps-it")
    git(checkout, "rm", "--quiet", "files.py")
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "retired"
    git(checkout, "switch", "--quiet", "keeps-it")
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_a_moved_file_retires_nothing(store: Store, looking: Looking, checkout: Path) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "mv", "files.py", "reading.py")
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_what_another_worktree_has_is_not_gone(store: Store, looking: Looking, checkout: Path, tmp_path: Path) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    other = (tmp_path / "other").resolve()
    git(checkout, "worktree", "add", "--quiet", "-b", "feature", str(other))
    remember(store, other, (), "Work in the other checkout")
    git(checkout, "rm", "--quiet", "files.py")
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "active"

    git(other, "rm", "--quiet", "files.py")
    look(looking, checkout)
    assert status(store, memory) == "retired"


def test_what_an_older_clone_never_had_is_not_gone(
    store: Store, looking: Looking, checkout: Path, tmp_path: Path
) -> None:
    older = (tmp_path / "older").resolve()
    git(tmp_path, "clone", "--quiet", str(checkout), str(older))
    for one in (checkout, older):  # clones of one remote are one project
        git(one, "config", "remote.origin.url", "https://example.org/me/shop.git")
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    assert find_place(str(older)).project == memory.project
    look(looking, older)
    assert status(store, memory) == "active"


# Branches.


def on_branch(store: Store, root: Path, branch: str, title: str = "Load safely", **more: object) -> Memory:
    """Work on a new branch, committed."""
    git(root, "switch", "--quiet", "--create", branch)
    memory = remember(store, root, work_on(root, f"{branch.replace('/', '_')}.py", LOAD), title, **more)
    commit(root)
    return memory


def test_what_was_made_on_a_branch_that_is_gone_unmerged_is_retired(
    store: Store, looking: Looking, checkout: Path
) -> None:
    memory = on_branch(store, checkout, "spike")
    untied = remember(store, checkout, (), "Decide on spikes", kind="decision")
    pinned = remember(store, checkout, (), "Keep the spike", kind="rule", pinned=True)
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    look(looking, checkout)
    assert status(store, memory) == "active", "it may be gone on with"

    git(checkout, "branch", "--delete", "--force", "spike")

    assert look(looking, checkout) == {memory.project}
    assert [status(store, one) for one in (memory, untied, pinned)] == ["retired", "retired", "active"]
    assert retirements.reasons(store.db, [memory.id]) == {memory.id: "its branch spike is gone, unmerged"}


def test_it_is_active_again_when_the_branch_is_back(store: Store, looking: Looking, checkout: Path) -> None:
    memory = on_branch(store, checkout, "spike")
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    git(checkout, "branch", "--delete", "--force", "spike")
    look(looking, checkout)
    assert status(store, memory) == "retired"

    git(checkout, "branch", "spike", "HEAD@{1}")

    assert look(looking, checkout) == {memory.project}
    assert status(store, memory) == "active"


def test_it_is_active_again_when_it_turns_out_to_be_merged(store: Store, looking: Looking, checkout: Path) -> None:
    memory = on_branch(store, checkout, "spike")
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    git(checkout, "branch", "--delete", "--force", "spike")
    look(looking, checkout)
    assert status(store, memory) == "retired"

    git(checkout, "merge", "--quiet", "--no-ff", "--no-edit", "HEAD@{1}")

    look(looking, checkout)
    assert status(store, memory) == "active"


def test_what_was_merged_before_its_branch_was_deleted_stays(store: Store, looking: Looking, checkout: Path) -> None:
    memory = on_branch(store, checkout, "feature")
    git(checkout, "switch", "--quiet", "main")
    git(checkout, "merge", "--quiet", "--no-ff", "--no-edit", "feature")
    git(checkout, "branch", "--delete", "feature")
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_merged_work_that_is_deleted_on_the_default_branch_is_retired(
    store: Store, looking: Looking, checkout: Path
) -> None:
    memory = on_branch(store, checkout, "feature")
    git(checkout, "switch", "--quiet", "main")
    look(looking, checkout)
    assert status(store, memory) == "active"
    git(checkout, "merge", "--quiet", "--no-ff", "--no-edit", "feature")
    look(looking, checkout)
    git(checkout, "rm", "--quiet", "feature.py")
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "retired"


def test_what_is_not_committed_is_where_its_files_are(
    store: Store, looking: Looking, reader: sqlite3.Connection, checkout: Path
) -> None:
    git(checkout, "switch", "--quiet", "--create", "next")
    remember(store, checkout, work_on(checkout, "files.py", LOAD))
    (checkout / "other.py").write_text(SAVE)
    git(checkout, "add", "other.py")
    git(checkout, "commit", "--quiet", "--message=Some of it")
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    place = find_place(str(checkout))
    assert looking.view(reader, place, soon()).hidden == ()
    (checkout / "files.py").unlink()
    assert [branch for branch, _ in looking.view(reader, place, soon()).hidden] == ["next"]


def test_a_checkout_for_a_context_has_all_of_it(
    store: Store, looking: Looking, reader: sqlite3.Connection, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    on_branch(store, checkout, "feature", "Save safely")
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    work_on(checkout, "files.py", SAVE)
    seen = looking.checkout(reader, find_place(str(checkout)), soon())
    assert seen.hidden == (("feature", None),)
    assert seen.freshness([memory])[memory.id].verdict == "gone"
    changes = [
        CodeChange("files.py", "load", "function", "new", after="abc"),
        CodeChange("files.py", "save", "function", "modified", before="abc", after="def"),
        CodeChange("files.py", "old", "function", "deleted", before="abc"),
        CodeChange("README.md", "", "file", "modified", before="+", after="+"),
    ]
    assert seen.standing(changes) == ["gone since", "changed since", "as told", "as told"]


def test_of_an_excluded_folder_and_of_none_nothing_is_seen(
    home: Home, store: Store, reader: sqlite3.Connection, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    looking = Looking(home, store.db, lambda: NOW, lambda folder: folder == str(checkout))
    for root in (str(checkout), ""):
        seen = looking.checkout(reader, replace(find_place(str(checkout)), root=root), soon())
        assert seen.hidden == ()
        assert seen.freshness([memory]) == {memory.id: Freshness("unknown")}


# For those who ask.


def soon() -> float:
    return time.monotonic() + 60


@pytest.fixture
def reader(home: Home, store: Store) -> Iterator[sqlite3.Connection]:
    db = open_for_reading(home.memory_db)
    yield db
    db.close()


def test_whoever_asks_is_told_how_the_code_stands_now(
    store: Store, looking: Looking, reader: sqlite3.Connection, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    work_on(root, "files.py", LOAD_SAFELY)
    told = looking.freshness(reader, find_place(str(root)), [memory], soon())
    assert told == {memory.id: Freshness("changed", ("files.py::load changed",))}


def test_memories_of_other_projects_are_not_judged_here(
    store: Store, looking: Looking, reader: sqlite3.Connection, root: Path
) -> None:
    memory = store.remember("Something of the shop", anchors=("code:a:b:files.py::load",))
    assert looking.freshness(reader, find_place(str(root)), [memory], soon()) == {}


def test_a_file_untouched_since_the_turn_is_taken_as_it_was_left_where_it_was_made_only(
    store: Store, looking: Looking, reader: sqlite3.Connection, checkout: Path, tmp_path: Path
) -> None:
    work_on(checkout, "files.py", LOAD)
    commit(checkout)
    other = (tmp_path / "other").resolve()
    git(checkout, "worktree", "add", "--quiet", "-b", "feature", str(other))
    later = datetime.now(UTC) + timedelta(hours=1)
    memory = remember(store, other, work_on(other, "files.py", LOAD_SAFELY), last_seen_at=later)
    there = looking.freshness(reader, find_place(str(other)), [memory], soon())
    here = looking.freshness(reader, find_place(str(checkout)), [memory], soon())
    assert there[memory.id] == Freshness("fresh")
    assert here[memory.id].verdict == "gone", "main is older than the memory, and never had the change"


def test_what_was_put_back_within_its_own_turn_is_retired(store: Store, looking: Looking, root: Path) -> None:
    work_on(root, "files.py", LOAD)
    anchors = work_on(root, "files.py", LOAD_SAFELY)
    work_on(root, "files.py", LOAD)
    memory = remember(store, root, anchors, last_seen_at=datetime.now(UTC) + timedelta(hours=1))
    look(looking, root)
    assert status(store, memory) == "retired"


def test_several_threads_may_ask_while_a_look_is_under_way(
    home: Home, store: Store, looking: Looking, root: Path
) -> None:
    made = [remember(store, root, work_on(root, f"a{at}.py", LOAD), f"Matter {at * 7919}") for at in range(40)]
    place = find_place(str(root))
    told: list[set[str]] = []

    def ask() -> None:
        db = open_for_reading(home.memory_db)
        told.append({one.verdict for one in looking.freshness(db, place, made, soon()).values()})
        db.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    looking.want(place)
    for thread in threads:
        thread.start()
    while looking.is_busy():
        looking.step()
    for thread in threads:
        thread.join()
    assert told == [{"fresh"}] * 4
