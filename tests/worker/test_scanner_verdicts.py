"""What a context is told of code that it has no time to look at: what the last look in the background found."""

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.freshness.time_budget import CpuBudget, next_step_at
from claude_mem_lite.code.freshness.verdicts import Freshness, VerdictCache
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.models import Memory
from claude_mem_lite.paths import Home
from tests.e2e.repositories import git
from tests.support.code_anchors import LOAD, LOAD_SAFELY, SAVE, work_on
from tests.support.fakes import NOW, Store
from tests.support.patience import PATIENT
from tests.worker.checkouts import commit, look, remember, soon

CHANGED = Freshness("changed", ("files.py::load changed",))
UNKNOWN = Freshness("unknown")


def told_without_time(
    looking: StalenessScanner, reader: sqlite3.Connection, root: Path, memories: Sequence[Memory]
) -> list[Freshness]:
    found = looking.checkout(reader, find_location(str(root)), CpuBudget(0, 0)).freshness(memories)
    return [found[memory.id] for memory in memories]


def test_what_the_last_look_found_changed_is_told_where_there_is_no_time(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, root: Path
) -> None:
    changed = remember(store, root, work_on(root, "files.py", LOAD))
    fresh = remember(store, root, work_on(root, "other.py", SAVE), "Save safely")
    work_on(root, "files.py", LOAD_SAFELY)
    assert told_without_time(looking, reader, root, [changed, fresh]) == [UNKNOWN, UNKNOWN]
    look(looking, root)
    assert told_without_time(looking, reader, root, [changed, fresh]) == [CHANGED, UNKNOWN]
    look(looking, root)
    assert told_without_time(looking, reader, root, [changed]) == [CHANGED], "a look that need not look says the same"


def test_what_a_later_look_finds_fresh_is_told_no_more(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    work_on(root, "files.py", LOAD_SAFELY)
    look(looking, root)
    work_on(root, "files.py", LOAD)
    look(looking, root)
    assert told_without_time(looking, reader, root, [memory]) == [UNKNOWN]


def test_what_was_gone_and_is_kept_may_be_stale(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "switch", "--quiet", "--create", "next")
    git(checkout, "rm", "--quiet", "files.py")
    commit(checkout)
    look(looking, checkout)
    (told,) = told_without_time(looking, reader, checkout, [memory])
    assert told == Freshness("changed", ("files.py is gone",))


def test_a_missing_file_that_there_is_no_time_to_search_for_may_be_stale_until_it_is_found(
    home: Home, store: Store, reader: sqlite3.Connection, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "mv", "files.py", "loading.py")
    limits = replace(PATIENT, search_s_per_file=50.0)
    looking = StalenessScanner(home, store.db, lambda: NOW, lambda _: False, limits)

    def told() -> Freshness:
        return looking.checkout(reader, find_location(str(checkout)), soon()).freshness([memory])[memory.id]

    assert told() == Freshness("changed", ("files.py is not where it was",))
    look(looking, checkout)
    assert told() == Freshness("fresh", ("files.py moved to loading.py",))


def test_what_was_found_on_another_branch_says_nothing_until_it_is_found_here(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, checkout: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    work_on(checkout, "files.py", LOAD_SAFELY)
    commit(checkout)
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "--create", "next")
    assert told_without_time(looking, reader, checkout, [memory]) == [UNKNOWN]
    look(looking, checkout)
    assert told_without_time(looking, reader, checkout, [memory]) == [CHANGED]


def test_of_another_checkout_and_of_other_code_nothing_is_told(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, checkout: Path, tmp_path: Path
) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    work_on(checkout, "files.py", LOAD_SAFELY)
    commit(checkout)
    look(looking, checkout)
    other = (tmp_path / "other").resolve()
    git(checkout, "worktree", "add", "--quiet", "--detach", str(other))
    assert told_without_time(looking, reader, other, [memory]) == [UNKNOWN]
    tied_anew = replace(memory, anchors=work_on(checkout, "files.py", LOAD))
    assert told_without_time(looking, reader, checkout, [tied_anew]) == [UNKNOWN]


def test_what_is_cleared_is_told_no_more(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    work_on(root, "files.py", LOAD_SAFELY)
    look(looking, root)
    looking.clear()
    assert told_without_time(looking, reader, root, [memory]) == [UNKNOWN]
    look(looking, root)
    assert told_without_time(looking, reader, root, [memory]) == [CHANGED]


def test_threads_may_ask_while_a_look_notes_what_it_finds(
    home: Home, store: Store, looking: StalenessScanner, root: Path
) -> None:
    made = [remember(store, root, work_on(root, f"a{at}.py", LOAD), f"Matter {at * 7919}") for at in range(40)]
    for at in range(40):
        work_on(root, f"a{at}.py", LOAD_SAFELY)
    told: list[set[str]] = []
    is_over = threading.Event()

    def ask() -> None:
        db = open_for_reading(home.memory_db)
        verdicts: set[str] = set()
        while not is_over.is_set():
            verdicts |= {one.verdict for one in told_without_time(looking, db, root, made)}
        verdicts |= {one.verdict for one in told_without_time(looking, db, root, made)}
        told.append(verdicts)
        db.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    look(looking, root)
    is_over.set()
    for thread in threads:
        thread.join()
    assert len(told) == 4
    assert all("changed" in verdicts and verdicts <= {"changed", "unknown"} for verdicts in told)


def test_of_very_many_the_newest_are_kept_and_of_checkouts_the_last(store: Store, root: Path) -> None:
    place, memory = find_location(str(root)), remember(store, root, work_on(root, "files.py", LOAD))
    many = {seq: replace(memory, id=f"m{seq}") for seq in range(3_000)}
    last = VerdictCache()
    last.begin(place)
    for some in (range(1_000, 3_000), range(1_000)):
        last.note(place, {seq: many[seq] for seq in some}, {many[seq].id: CHANGED for seq in some})
    assert set(last.find(place, list(many.values()))) == {many[seq].id for seq in range(1_000, 3_000)}
    for at in range(5):
        last.begin(replace(place, root=f"/other/{at}"))
        last.note(replace(place, root=f"/other/{at}"), {1: many[1]}, {"m1": CHANGED})
    assert last.find(place, list(many.values())) == {}
    assert last.find(replace(place, root="/other/0"), [many[1]]) == {"m1": CHANGED}


def test_a_look_stands_back_while_contexts_are_asked_for_and_goes_on_in_the_end() -> None:
    undisturbed = next_step_at(100.0, asked_at=0.0)
    assert 100.0 < undisturbed < 100.1
    assert next_step_at(100.0, asked_at=100.0) > 100.0 + 4 * 0.1, "a context takes some 100 ms"
    assert next_step_at(100.0, asked_at=102.9) == next_step_at(100.0, asked_at=1000.0) > undisturbed
