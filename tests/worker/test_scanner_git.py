"""The look in the background, with git: on which branch something is gone for good, and what is where."""

from dataclasses import replace
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.branch_visibility import BranchFindings, BranchTracker
from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.paths import Home
from claude_mem_lite.store import retirements
from tests.e2e.repositories import git
from tests.support.code_anchors import LOAD, work_on
from tests.support.fakes import NOW, Store
from tests.support.patience import PATIENT
from tests.worker.checkouts import commit, look, on_branch, remember, status


def test_on_the_branch_it_was_made_on_a_memory_is_retired(
    store: Store, looking: StalenessScanner, checkout: Path
) -> None:
    git(checkout, "switch", "--quiet", "--create", "feature")
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "rm", "--quiet", "files.py")
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "retired"


def test_on_another_branch_that_has_not_the_code_nothing_is_retired(
    store: Store, looking: StalenessScanner, checkout: Path
) -> None:
    git(checkout, "branch", "old")
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "switch", "--quiet", "old")
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_with_a_detached_head_nothing_is_retired(store: Store, looking: StalenessScanner, checkout: Path) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "switch", "--quiet", "--detach", "HEAD~1")
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_a_switch_of_branches_brings_back_what_was_deleted_on_the_other(
    store: Store, looking: StalenessScanner, checkout: Path
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


def test_a_moved_file_retires_nothing(store: Store, looking: StalenessScanner, checkout: Path) -> None:
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    git(checkout, "mv", "files.py", "reading.py")
    commit(checkout)
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_what_another_worktree_has_is_not_gone(
    store: Store, looking: StalenessScanner, checkout: Path, tmp_path: Path
) -> None:
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
    store: Store, looking: StalenessScanner, checkout: Path, tmp_path: Path
) -> None:
    older = (tmp_path / "older").resolve()
    git(tmp_path, "clone", "--quiet", str(checkout), str(older))
    for one in (checkout, older):  # clones of one remote are one project
        git(one, "config", "remote.origin.url", "https://example.org/me/shop.git")
    memory = remember(store, checkout, work_on(checkout, "files.py", LOAD))
    commit(checkout)
    assert find_location(str(older)).project == memory.project
    look(looking, older)
    assert status(store, memory) == "active"


# Branches.


def test_what_was_made_on_a_branch_that_is_gone_unmerged_is_retired(
    store: Store, looking: StalenessScanner, checkout: Path
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
    why = retirements.of(store.db, [memory.id])
    assert {id_: one.reason for id_, one in why.items()} == {memory.id: "its branch spike is gone, unmerged"}


def test_it_is_active_again_when_the_branch_is_back(store: Store, looking: StalenessScanner, checkout: Path) -> None:
    memory = on_branch(store, checkout, "spike")
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    git(checkout, "branch", "--delete", "--force", "spike")
    look(looking, checkout)
    assert status(store, memory) == "retired"

    git(checkout, "branch", "spike", "HEAD@{1}")

    assert look(looking, checkout) == {memory.project}
    assert status(store, memory) == "active"


def test_it_is_active_again_when_it_turns_out_to_be_merged(
    store: Store, looking: StalenessScanner, checkout: Path
) -> None:
    memory = on_branch(store, checkout, "spike")
    look(looking, checkout)
    git(checkout, "switch", "--quiet", "main")
    git(checkout, "branch", "--delete", "--force", "spike")
    look(looking, checkout)
    assert status(store, memory) == "retired"

    git(checkout, "merge", "--quiet", "--no-ff", "--no-edit", "HEAD@{1}")

    look(looking, checkout)
    assert status(store, memory) == "active"


def test_what_was_merged_before_its_branch_was_deleted_stays(
    store: Store, looking: StalenessScanner, checkout: Path
) -> None:
    memory = on_branch(store, checkout, "feature")
    git(checkout, "switch", "--quiet", "main")
    git(checkout, "merge", "--quiet", "--no-ff", "--no-edit", "feature")
    git(checkout, "branch", "--delete", "feature")
    look(looking, checkout)
    assert status(store, memory) == "active"


def test_merged_work_that_is_deleted_on_the_default_branch_is_retired(
    store: Store, looking: StalenessScanner, checkout: Path
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


def test_a_look_that_lacked_time_for_branches_has_more_the_next_time(
    home: Home, store: Store, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[bool] = []
    lacking = [True, True, False, False]

    def look_at_branches(*asked: object, **_: object) -> BranchFindings:
        deadline = asked[5]
        assert isinstance(deadline, Deadline)
        given.append(deadline.left_s() > 500)
        return BranchFindings(lacked_time=lacking.pop(0))

    limits = replace(PATIENT, long_branches_s=1_000.0)
    looking = StalenessScanner(home, store.db, lambda: NOW, lambda _: False, limits)
    monkeypatch.setattr(BranchTracker, "check_branches", look_at_branches)
    for _ in range(4):
        look(looking, checkout)
    assert given == [False, True, True, False]
