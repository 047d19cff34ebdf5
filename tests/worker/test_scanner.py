"""Tests of `code/freshness/scanner.py` and `code/freshness/project_scan.py`: memories are retired when their code is
gone everywhere, and revived when the code is back."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memories, retirements
from tests.support.code_anchors import LOAD, LOAD_SAFELY, SAVE, work_on
from tests.support.fakes import NOW, Store
from tests.worker.checkouts import look, remember, status


def test_a_memory_whose_code_is_gone_is_retired_with_the_reason(
    store: Store, looking: StalenessScanner, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    assert look(looking, root) == set()
    assert status(store, memory) == "active"

    (root / "files.py").write_text(SAVE)

    assert look(looking, root) == {str(root)}
    assert status(store, memory) == "retired"
    why = retirements.of(store.db, [memory.id])
    assert {id_: one.reason for id_, one in why.items()} == {memory.id: "its code is gone: files.py::load is gone"}


def test_it_is_active_again_when_the_code_is_back(store: Store, looking: StalenessScanner, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").write_text(SAVE)
    look(looking, root)
    assert status(store, memory) == "retired"

    work_on(root, "files.py", LOAD)

    assert look(looking, root) == {str(root)}
    assert memories.get(store.db, memory.id) == memory


def test_what_was_changed_or_renamed_stays_active_and_as_it_was_told(
    store: Store, looking: StalenessScanner, root: Path
) -> None:
    changed = remember(store, root, work_on(root, "files.py", LOAD))
    renamed = remember(store, root, work_on(root, "other.py", SAVE), "Save the text")
    work_on(root, "files.py", LOAD_SAFELY)
    work_on(root, "other.py", SAVE.replace("save", "write_text"))
    assert look(looking, root) == set()
    assert memories.get(store.db, changed.id) == changed
    assert memories.get(store.db, renamed.id) == renamed


def test_a_change_made_by_hand_is_noticed_at_the_next_look(store: Store, looking: StalenessScanner, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", SAVE + LOAD)[1:])
    look(looking, root)
    (root / "files.py").write_text(SAVE)
    look(looking, root)
    assert status(store, memory) == "retired"
    (root / "files.py").write_text(LOAD + SAVE)
    look(looking, root)
    assert status(store, memory) == "active"


def test_what_the_user_retired_stays_retired_though_its_code_is_there(
    store: Store, looking: StalenessScanner, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    memories.retire(store.db, memory.id)
    look(looking, root)
    assert status(store, memory) == "retired"


@pytest.mark.parametrize("held", [{"pinned": True}, {"origin": "user"}, {"anchors": ("error:abc",)}])
def test_what_the_user_holds_on_to_or_nothing_ties_to_code_is_never_retired(
    store: Store, looking: StalenessScanner, root: Path, held: dict[str, object]
) -> None:
    memory = remember(store, root, **{"anchors": work_on(root, "files.py", LOAD), **held})  # type: ignore[arg-type]
    (root / "files.py").unlink()
    look(looking, root)
    assert status(store, memory) == "active"


def test_many_memories_are_looked_at_in_steps(store: Store, looking: StalenessScanner, root: Path) -> None:
    kept = [remember(store, root, work_on(root, f"a{at}.py", LOAD), f"Matter {at * 7919}") for at in range(60)]
    lost = [remember(store, root, work_on(root, f"b{at}.py", SAVE), f"Thing {at * 104729}") for at in range(60)]
    for at in range(60):
        (root / f"b{at}.py").write_text("")
    looking.request_scan(find_location(str(root)))
    steps = 0
    while looking.is_busy():
        looking.step()
        steps += 1
    assert steps > 3
    assert {status(store, memory) for memory in kept} == {"active"}
    assert {status(store, memory) for memory in lost} == {"retired"}


def test_a_checkout_is_looked_at_once_however_often_it_is_wanted(looking: StalenessScanner, root: Path) -> None:
    for _ in range(3):
        looking.request_scan(find_location(str(root)))
    assert looking.is_busy()
    while looking.step().more:
        pass
    assert not looking.is_busy()
    assert not looking.step().more


def test_a_checkout_that_is_gone_retires_nothing(
    store: Store, looking: StalenessScanner, root: Path, tmp_path: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    looking.request_scan(find_location(str(root)))
    root.rename(tmp_path / "elsewhere")
    while looking.is_busy():
        looking.step()
    assert status(store, memory) == "active"


def test_an_emptied_checkout_retires_nothing(store: Store, looking: StalenessScanner, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").unlink()
    (root / "README.md").unlink()
    look(looking, root)
    assert status(store, memory) == "active"


def test_an_excluded_folder_is_not_looked_at(home: Home, store: Store, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").unlink()
    look(StalenessScanner(home, store.db, lambda: NOW, lambda folder: folder == str(root)), root)
    assert status(store, memory) == "active"
    assert not home.code_db.exists()


def test_a_failing_look_ends_and_the_next_one_begins_anew(store: Store, looking: StalenessScanner, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    (root / "files.py").write_text("")
    store.db.execute("alter table memories rename to hidden")
    with pytest.raises(sqlite3.OperationalError):
        look(looking, root)
    assert not looking.is_busy()
    store.db.execute("alter table hidden rename to memories")
    look(looking, root)
    assert status(store, memory) == "retired"


def test_what_was_put_back_within_its_own_turn_is_retired(store: Store, looking: StalenessScanner, root: Path) -> None:
    work_on(root, "files.py", LOAD)
    anchors = work_on(root, "files.py", LOAD_SAFELY)
    work_on(root, "files.py", LOAD)
    memory = remember(store, root, anchors, created_at=datetime.now(UTC) + timedelta(hours=1))
    look(looking, root)
    assert status(store, memory) == "retired"
