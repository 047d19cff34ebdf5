"""What `git status` would name, by comparing git's index with the files, and the index looked into here and there."""

import os
from itertools import product

import pytest

from claude_mem_lite.code.git.index import Entries
from claude_mem_lite.code.git.repository import Repository, open_repository
from claude_mem_lite.code.git.status import touched
from claude_mem_lite.deadline import Deadline
from tests.support.git_repositories import Checkout, make_checkout, many_files

VERSIONS = ("2", "4")


def opened(shop: Checkout) -> Repository:
    repository = open_repository(str(shop.root))
    assert repository
    return repository


def status(shop: Checkout, *first: str, most: int = 20, seconds: float = 60) -> list[str]:
    repository = opened(shop)
    return touched(repository, repository.entries(), str(shop.root), first, most, Deadline.after(seconds))


def told_by_git(shop: Checkout) -> list[str]:
    return shop.git("diff", "--name-only").splitlines()


@pytest.fixture(params=VERSIONS)
def small(shop: Checkout, request: pytest.FixtureRequest) -> Checkout:
    shop.git("update-index", "--index-version", request.param)
    for name in ("a.py", "lib/b.py", "lib/c.py", "lib/deep/d.py", "z.py"):
        shop.write(name, f"value = '{name}'\n")
    shop.commit("long/" + "n" * 200 + ".py")
    return shop


def test_a_clean_checkout_has_nothing_to_name(small: Checkout) -> None:
    assert status(small) == []


def test_changed_and_deleted_files_are_named_as_git_does(small: Checkout) -> None:
    small.write("lib/c.py", "value = 'longer than before'\n")
    (small.root / "z.py").unlink()
    small.write("new.py", "")
    assert status(small) == ["lib/c.py", "z.py"]
    assert told_by_git(small) == ["lib/c.py", "z.py"]


def test_a_file_that_was_only_written_again_has_not_changed(small: Checkout) -> None:
    same = (small.root / "a.py").read_text()
    small.write("a.py", same)
    os.utime(small.root / "a.py", (1, 1))
    assert status(small) == []
    small.write("a.py", same.replace("a.py", "b.py"))
    assert status(small) == ["a.py"]


def test_files_that_are_asked_about_come_first_and_new_ones_count(small: Checkout) -> None:
    small.write("a.py", "a = 1\n")
    small.write("lib/b.py", "b = 1\n")
    small.write("made.py", "new = 1\n")
    assert status(small, "made.py", "lib/b.py", "z.py", "never.py") == ["made.py", "lib/b.py", "a.py"]


def test_a_staged_file_that_is_asked_about_is_named(small: Checkout) -> None:
    small.write("lib/b.py", "b = 1\n")
    small.git("add", "-A")
    assert status(small, "lib/b.py") == ["lib/b.py"]
    small.git("commit", "-qm", "b")
    assert status(small, "lib/b.py") == []


def test_what_a_sparse_checkout_leaves_out_is_not_deleted(small: Checkout) -> None:
    small.git("sparse-checkout", "set", "--no-cone", "/lib/")
    assert not (small.root / "z.py").exists()
    assert status(small) == []


def test_nothing_outside_of_the_checkout_is_asked_about(small: Checkout) -> None:
    outside = small.root.parent / "secret.txt"
    outside.write_text("x")
    assert status(small, "../secret.txt", str(outside), "~/x") == []


def test_only_so_many_are_named_and_nothing_when_time_is_up(small: Checkout) -> None:
    for name in ("a.py", "lib/b.py", "lib/c.py"):
        small.write(name, "changed = True\n")
    assert status(small, most=2) == ["a.py", "lib/b.py"]
    assert status(small, "a.py", seconds=-1) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_in_a_large_checkout_files_beside_those_asked_about_are_named(shop: Checkout, version: str) -> None:
    for name in ("work/one.py", "work/two.py", "other/three.py"):
        shop.write(name, "before = 1\n")
    shop.commit("work/four.py")
    shop.git("update-index", "--index-version", version)
    many_files(shop, "pages", 6_000)
    for name in ("work/one.py", "work/two.py", "other/three.py"):
        shop.write(name, "changed = 22\n")
    beside = ["work/two.py"] if version == "2" else []  # in version 4 folders cannot be looked up
    assert status(shop, "work/one.py") == ["work/one.py", *beside]


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_every_file_of_a_large_index_is_found_by_its_name(shop: Checkout, form: str) -> None:
    large = make_checkout(shop.root.parent / form, f"--object-format={form}")
    for folder, number in product(("a", "a-b", "a/b", "ä", "zz" * 40), (3, 400)):
        many_files(large, f"{folder}/{number}", number)
    repository = opened(large)
    entries = repository.entries()
    tracked = repository.tracked()
    found = entries.find(list(tracked))
    assert {path: entry.id for path, entry in found.entries.items()} == tracked
    assert found.is_all
    names = [f"{path}x" for path in tracked] + ["", "0", "zzz/z", "a/b"]
    assert entries.find(names).entries == {}
    assert {entry.path for entry in entries.under("a-b")} == {path for path in tracked if path.startswith("a-b/")}
    assert entries.endings() == {"py": len(tracked)}


def test_a_damaged_index_gives_less_and_breaks_nothing(shop: Checkout) -> None:
    many_files(shop, "pages", 50)
    content = (shop.root / ".git" / "index").read_bytes()
    for cut in range(0, len(content), 7):
        for damaged in (content[:cut], content[:cut] + b"\xff\xff" + content[cut + 2 :]):
            entries = Entries(damaged, 20)
            entries.find(["pages/7.py", "pages/49.py"])
            list(entries.each())
            list(entries.under("pages"))
            entries.endings()
