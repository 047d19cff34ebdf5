"""A repository through branches, merges, rebases, renames and reverts: after each step the start context tells what a
person in that checkout would want to know, and nothing of work that is not there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import Machine, open_machine, short_folder
from tests.worker.working_repository import WorkingRepository

CART = '''\
"""The cart."""


def total(items):
    """All prices together."""
    summed = 0
    for item in items:
        summed += item.price
    return summed
'''
DISCOUNT = '''

def discount(summed, percent):
    """What is left to pay."""
    taken = summed * percent / 100
    return summed - round(taken, 2)
'''


def feature(name: str) -> str:
    """A module of its own for a feature."""
    return f'''\
"""Everything about {name}."""


def apply_{name}(summed, given):
    """The sum with {name} counted in."""
    if not given:
        return summed
    return summed + given.worth("{name}")
'''


@pytest.fixture
def work() -> Iterator[WorkingRepository]:
    """A repository on main, with a discount that an agent added and somebody committed."""
    with open_machine() as machine, short_folder() as folder:
        machine.start_worker()
        made = WorkingRepository.begin(machine, folder / "shop", {"src/cart.py": CART})
        made.session(
            "give customers a discount",
            {"src/cart.py": CART + DISCOUNT},
            "Added `discount`, which takes a percentage off the sum and rounds to cents.",
        )
        made.commit("Add a discount")
        yield made


def add_feature(work: WorkingRepository, name: str, *, commit: bool = True) -> None:
    """An agent adds a feature in the current checkout."""
    work.session(
        f"we need {name} in the shop",
        {f"src/{name}.py": feature(name)},
        f"Added `apply_{name}`, which counts {name} into the sum of the cart.",
    )
    if commit:
        work.commit(f"Add {name}")


def on_branch(work: WorkingRepository, name: str, *, commit: bool = True) -> None:
    """The same on a new branch, which is left afterwards."""
    work.git("switch", "--quiet", "--create", f"feature/{name}")
    add_feature(work, name, commit=commit)


def recent_work(context: str) -> str:
    """The part of a context that tells of work: memories where no session says the same, or with a mark."""
    assert "## Last sessions" in context
    return context.partition("## Last sessions")[2]


def untagged(context: str, words: str) -> list[str]:
    """The lines that tell of something without saying that it is gone."""
    tags = ("[its code is not here]", "DELETED outside of sessions]")
    return [line for line in context.split("\n") if words in line and not any(tag in line for tag in tags)]


def decide(work: WorkingRepository, what: str) -> None:
    """Something is decided, and no file is changed."""
    work.decided(f"Decided to keep {what} simple", f"Decided to keep {what} simple, because nobody needs more.")


def tells_of(context: str, *names: str) -> list[bool]:
    return [f"apply_{name}" in context or f"{name} in the shop" in context for name in names]


def test_work_on_a_branch_is_told_there_and_not_on_main(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    on_it = work.context()
    assert "apply_coupons" in on_it
    assert "discount" in on_it, "what main had when the branch was made holds on it as well"

    work.git("switch", "--quiet", "main")

    on_main = work.context()
    assert not any(tells_of(on_main, "coupons")), on_main
    assert "discount" in on_main


def test_a_decision_made_on_a_branch_is_told_there_and_where_it_was_merged(work: WorkingRepository) -> None:
    work.git("switch", "--quiet", "--create", "feature/invoices")
    decide(work, "invoices")
    add_feature(work, "invoices")
    assert "keep invoices simple" in work.context()

    work.git("switch", "--quiet", "main")
    assert "keep invoices simple" not in work.context()

    work.git("merge", "--quiet", "--no-edit", "feature/invoices")
    assert "keep invoices simple" in work.context()


def test_a_merged_branch_is_told_on_main_and_stays_told_when_it_is_deleted(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    work.git("switch", "--quiet", "main")
    work.write("README.md", "# Shop\n")
    work.commit("Say what this is")
    assert "apply_coupons" not in work.context()

    work.git("merge", "--quiet", "--no-ff", "--no-edit", "feature/coupons")
    assert "apply_coupons" in work.context()

    work.git("branch", "--delete", "feature/coupons")
    assert "apply_coupons" in work.context()


def test_a_branch_that_was_never_seen_elsewhere_and_fast_forwards_main_is_told_there(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    work.git("switch", "--quiet", "main")
    work.git("merge", "--quiet", "--ff-only", "feature/coupons")
    work.git("branch", "--delete", "feature/coupons")
    assert "apply_coupons" in work.context()


def test_a_squashed_branch_is_told_on_main_though_its_commits_are_nowhere(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    work.replace("src/coupons.py", "return summed\n", "return round(summed, 2)\n")
    work.commit("Round")
    work.git("switch", "--quiet", "main")
    work.write("README.md", "# Shop\n")
    work.commit("Say what this is")
    assert "apply_coupons" not in work.context()

    work.git("merge", "--quiet", "--squash", "feature/coupons")
    work.commit("Coupons (#1)")
    work.git("branch", "--delete", "--force", "feature/coupons")

    assert "apply_coupons" in work.context()


def test_a_branch_deleted_before_its_squash_was_pulled_is_told_once_it_is_here(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    work.git("branch", "server", "main")
    work.git("switch", "--quiet", "server")
    work.git("merge", "--quiet", "--squash", "feature/coupons")
    squashed = work.commit("Coupons (#1)")
    work.git("switch", "--quiet", "main")
    work.git("branch", "--delete", "--force", "feature/coupons", "server")
    assert "apply_coupons" not in work.context()
    work.machine.drain()

    work.git("merge", "--quiet", "--ff-only", squashed)

    work.context()  # the look that this brings about finds it merged, if the first answer did not wait for it
    work.machine.drain()
    assert "apply_coupons" in work.context()


def test_a_rebased_branch_is_told_on_itself_and_on_main_once_main_has_it(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    work.git("switch", "--quiet", "main")
    work.write("README.md", "# Shop\n")
    work.commit("Say what this is")
    work.git("switch", "--quiet", "feature/coupons")
    work.git("rebase", "--quiet", "main")
    assert "apply_coupons" in work.context()

    work.git("switch", "--quiet", "main")
    assert "apply_coupons" not in work.context()

    work.git("merge", "--quiet", "--ff-only", "feature/coupons")
    assert "apply_coupons" in work.context()


def test_a_branch_deleted_unmerged_is_told_nowhere_and_its_memories_are_retired(work: WorkingRepository) -> None:
    on_branch(work, "spike")
    work.git("switch", "--quiet", "main")
    work.context()
    work.git("branch", "--delete", "--force", "feature/spike")

    assert not any(tells_of(work.context(), "spike"))

    work.machine.drain()
    found = work.machine.get(f"/api/memories?cwd={work.root}&status=retired")["memories"]
    assert [memory["branch"] for memory in found] == ["feature/spike"] * len(found)
    assert any("apply_spike" in memory["title"] + memory["summary"] for memory in found)


def test_work_that_is_not_committed_goes_where_its_files_go(work: WorkingRepository) -> None:
    on_branch(work, "coupons", commit=False)
    work.git("stash", "--include-untracked", "--quiet")
    work.git("switch", "--quiet", "main")
    assert "apply_coupons" not in work.context(), "it lies in the stash"

    work.git("stash", "pop", "--quiet")
    assert "apply_coupons" in work.context(), "it is in the working tree of main now"


def test_a_worktree_has_what_is_on_its_branch_and_the_main_checkout_has_not(work: WorkingRepository) -> None:
    other = work.root.parent / "shop-coupons"
    work.git("worktree", "add", "--quiet", "-b", "feature/coupons", str(other))
    there = work.at(other)
    add_feature(there, "coupons")

    assert "apply_coupons" in there.context()
    assert "discount" in there.context()
    assert "apply_coupons" not in work.context()


def test_one_branch_merged_into_another_is_told_there_only(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    work.git("switch", "--quiet", "main")
    on_branch(work, "shipping")
    assert tells_of(work.context(), "coupons", "shipping") == [False, True]

    work.git("merge", "--quiet", "--no-edit", "feature/coupons")
    assert tells_of(work.context(), "coupons", "shipping") == [True, True]

    work.git("switch", "--quiet", "main")
    assert tells_of(work.context(), "coupons", "shipping") == [False, False]


def test_a_detached_head_tells_what_its_commit_contains(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    work.git("switch", "--quiet", "--detach", "main")
    assert "apply_coupons" not in work.context()
    work.git("switch", "--quiet", "--detach", "feature/coupons")
    assert "apply_coupons" in work.context()


def test_a_moved_file_and_a_renamed_function_are_followed(work: WorkingRepository) -> None:
    work.git("mv", "src/cart.py", "src/basket.py")
    work.commit("Call it a basket")
    moved = recent_work(work.context())
    assert "takes a percentage off" in moved
    assert "[may be stale]" not in moved

    work.replace("src/basket.py", "def discount(", "def rebate(")
    renamed = recent_work(work.context())
    assert "takes a percentage off" in renamed
    assert "[may be stale]" not in renamed


def test_code_changed_by_hand_is_marked_at_the_next_start_and_no_more_when_it_is_put_back(
    work: WorkingRepository,
) -> None:
    assert "[may be stale]" not in work.context()

    work.replace("src/cart.py", "return summed - round(taken, 2)", "return max(summed - taken, 0)")
    assert "[may be stale]" in work.context()
    by_layers = work.machine.get(f"/api/context?cwd={work.root}&preset=layers")["context"]
    assert "MODIFIED outside of sessions" in by_layers

    work.git("restore", "src/cart.py")
    assert "[may be stale]" not in work.context()


def test_deleted_code_is_told_of_no_more_and_is_again_when_it_is_back(work: WorkingRepository) -> None:
    work.write("src/cart.py", CART)
    work.commit("No discounts any more")
    gone = work.context()
    assert untagged(gone, "takes a percentage off") == []
    work.machine.drain()
    assert work.machine.get(f"/api/memories?cwd={work.root}&status=retired")["memories"]

    work.git("revert", "--no-edit", "HEAD")
    work.context()
    work.machine.drain()
    assert "takes a percentage off" in recent_work(work.context())


def test_a_reverted_merge_is_told_no_more_until_the_revert_is_reverted(work: WorkingRepository) -> None:
    on_branch(work, "coupons")
    work.git("switch", "--quiet", "main")
    work.git("merge", "--quiet", "--no-ff", "--no-edit", "feature/coupons")
    assert "apply_coupons" in work.context()

    work.git("revert", "--no-edit", "--mainline", "1", "HEAD")
    assert untagged(work.context(), "apply_coupons") == []
    work.machine.drain()

    work.git("revert", "--no-edit", "HEAD")
    work.context()
    work.machine.drain()
    assert "apply_coupons" in recent_work(work.context())


def test_a_folder_without_git_works_as_well(machine: Machine, tmp_path: Path) -> None:
    machine.start_worker()
    plain = WorkingRepository(machine, tmp_path / "plain")
    plain.root.mkdir()
    add_feature(plain, "coupons", commit=False)
    assert "apply_coupons" in plain.context()

    plain.write("src/coupons.py", "# nothing left\n")
    assert untagged(plain.context(), "apply_coupons") == []
