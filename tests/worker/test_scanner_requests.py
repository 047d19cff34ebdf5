"""What those are told who ask how the code stands in a checkout, at once."""

import sqlite3
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.paths import Home
from tests.e2e.repositories import git
from tests.support.code_anchors import LOAD, LOAD_SAFELY, SAVE, work_on
from tests.support.fakes import NOW, Store
from tests.worker.checkouts import commit, look, on_branch, remember, soon


def test_what_is_not_committed_is_where_its_files_are(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, checkout: Path
) -> None:
    git(checkout, "switch", "--quiet", "--create", "next")
    remember(store, checkout, work_on(checkout, "files.py", LOAD))
    (checkout / "other.py").write_text(SAVE)
    git(checkout, "add", "other.py")
    git(checkout, "commit", "--quiet", "--message=Some of it")
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    location = find_location(str(checkout))
    assert looking.checkout(reader, location, soon()).hidden == ()
    (checkout / "files.py").unlink()
    assert [branch for branch, _ in looking.checkout(reader, location, soon()).hidden] == ["next"]


def test_a_checkout_for_a_context_has_all_of_it(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    on_branch(store, checkout, "feature", "Save safely")
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    work_on(checkout, "files.py", SAVE)
    seen = looking.checkout(reader, find_location(str(checkout)), soon())
    assert seen.hidden == (("feature", None),)
    assert seen.freshness([memory])[memory.id].verdict == "gone"
    changes = [
        CodeChange("files.py", "load", "function", "new", after="abc"),
        CodeChange("files.py", "save", "function", "modified", before="abc", after="def"),
        CodeChange("files.py", "old", "function", "deleted", before="abc"),
        CodeChange("README.md", "", "file", "modified", before="+", after="+"),
    ]
    assert seen.states(changes) == ["gone since", "changed since", "unchanged", "unchanged"]


def test_of_an_excluded_folder_and_of_none_nothing_is_seen(
    home: Home, store: Store, reader: sqlite3.Connection, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    looking = StalenessScanner(home, store.db, lambda: NOW, lambda folder: folder == str(checkout))
    for root in (str(checkout), ""):
        seen = looking.checkout(reader, replace(find_location(str(checkout)), root=root), soon())
        assert seen.hidden == ()
        assert seen.freshness([memory]) == {memory.id: Freshness("unknown")}


def test_whoever_asks_is_told_how_the_code_stands_now(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    work_on(root, "files.py", LOAD_SAFELY)
    seen = looking.checkout(reader, find_location(str(root)), soon())
    assert seen.freshness([memory]) == {memory.id: Freshness("changed", ("files.py::load changed",))}
    assert seen.hidden == (), "without git there are no branches"


def test_memories_of_other_projects_are_not_judged_here(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, root: Path
) -> None:
    memory = store.remember("Something of the shop", anchors=("code:a:b:files.py::load",))
    assert looking.checkout(reader, find_location(str(root)), soon()).freshness([memory]) == {}


def test_a_file_untouched_since_the_turn_is_taken_as_it_was_left_where_it_was_made_only(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, checkout: Path, tmp_path: Path
) -> None:
    work_on(checkout, "files.py", LOAD)
    commit(checkout)
    other = (tmp_path / "other").resolve()
    git(checkout, "worktree", "add", "--quiet", "-b", "feature", str(other))
    later = datetime.now(UTC) + timedelta(hours=1)
    memory = remember(store, other, work_on(other, "files.py", LOAD_SAFELY), created_at=later)
    there = looking.checkout(reader, find_location(str(other)), soon()).freshness([memory])
    here = looking.checkout(reader, find_location(str(checkout)), soon()).freshness([memory])
    assert there[memory.id] == Freshness("fresh")
    assert here[memory.id].verdict == "gone", "main is older than the memory, and never had the change"


def test_of_what_was_seen_again_an_untouched_file_says_nothing(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, checkout: Path
) -> None:
    anchors = work_on(checkout, "files.py", LOAD)
    work_on(checkout, "files.py", LOAD_SAFELY)
    later = datetime.now(UTC) + timedelta(hours=1)
    once = remember(store, checkout, anchors, "Load at once", created_at=later)
    again = remember(store, checkout, anchors, "Load again", created_at=later, times_seen=2)
    told = looking.checkout(reader, find_location(str(checkout)), soon()).freshness([once, again])
    assert (told[once.id].verdict, told[again.id].verdict) == ("fresh", "changed")


def test_several_threads_may_ask_while_a_look_is_under_way(
    home: Home, store: Store, looking: StalenessScanner, root: Path
) -> None:
    made = [remember(store, root, work_on(root, f"a{at}.py", LOAD), f"Matter {at * 7919}") for at in range(40)]
    location = find_location(str(root))
    told: list[set[str]] = []

    def ask() -> None:
        db = open_for_reading(home.memory_db)
        told.append({one.verdict for one in looking.checkout(db, location, soon()).freshness(made).values()})
        db.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    looking.request_scan(location)
    for thread in threads:
        thread.start()
    while looking.is_busy():
        looking.step()
    for thread in threads:
        thread.join()
    assert told == [{"fresh"}] * 4
