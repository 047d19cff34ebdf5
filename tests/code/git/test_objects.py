"""git's objects, in all the forms in which the real git stores them."""

import os
import random
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from claude_mem_lite.code.git.commits import Commits, Trees
from claude_mem_lite.code.git.objects import Objects, apply_delta
from claude_mem_lite.deadline import NEVER
from tests.code.git.opening import after_checks, opened
from tests.support.git_repositories import Checkout, make_checkout, many_files

MANY = 60


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A repository with many versions of a large file, which packs as differences."""
    made = make_checkout(tmp_path_factory.mktemp("catalogue") / "shop")
    lines = [f"line {number} of the catalogue" for number in range(400)]
    for number in range(MANY):
        lines[number * 5] = f"changed in {number}"
        made.commit("src/catalogue.txt", "\n".join(lines))
    return made


@pytest.fixture
def grown(catalogue: Checkout, tmp_path: Path) -> Checkout:
    """The same, for a test to change."""
    shutil.copytree(catalogue.root, tmp_path / "grown")
    return Checkout(tmp_path / "grown", catalogue.clock)


def contents(checkout: Checkout) -> dict[str, bytes]:
    """Every version of every file, by its id, as git tells it."""
    command = ["git", "-C", str(checkout.root), "cat-file", "--batch", "--batch-all-objects"]
    told = subprocess.run(command, check=True, capture_output=True).stdout
    found = {}
    while told:
        head, _, told = told.partition(b"\n")
        id_, kind, size = head.decode().split()
        if kind == "blob":
            found[id_] = told[: int(size)]
        told = told[int(size) + 1 :]
    return found


def objects_of(checkout: Checkout) -> Objects:
    return Objects(checkout.root / ".git")


def assert_all_is_read(checkout: Checkout) -> None:
    found, expected = objects_of(checkout), contents(checkout)
    assert {id_: found.blob(id_, 1_000_000) for id_ in expected} == expected
    commits = Commits(found)
    for line in checkout.git("log", "--all", "--format=%H|%T|%P|%ct").splitlines():
        id_, tree, parents, when = line.split("|")
        commit = commits.get(id_)
        assert commit is not None
        assert (commit.tree, " ".join(commit.parents), commit.time) == (tree, parents, int(when))
        assert found.tree(tree) is not None


def test_loose_objects_are_read(grown: Checkout) -> None:
    assert_all_is_read(grown)


def test_packed_objects_are_read_with_bases_by_offset(grown: Checkout) -> None:
    grown.git("repack", "-adfq", "--depth=50")
    assert grown.git("count-objects", "-v").splitlines()[0] == "count: 0"
    assert_all_is_read(grown)


def test_packed_objects_are_read_with_bases_by_id(grown: Checkout) -> None:
    grown.git("-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq")
    assert_all_is_read(grown)


def test_several_packs_and_loose_objects_stand_beside_each_other(grown: Checkout) -> None:
    grown.git("repack", "-dq")
    grown.commit("src/catalogue.txt", "short now\n")
    grown.git("repack", "-dq")
    grown.commit("src/catalogue.txt", "shorter\n")
    assert_all_is_read(grown)


def test_ids_of_sha_256_are_read_like_those_of_sha_1(tmp_path: Path) -> None:
    shop = make_checkout(tmp_path / "shop", "--object-format=sha256")
    first = shop.commit("a.txt", "one\n")
    last = shop.commit("b/c.txt", "two\n")
    shop.git("repack", "-adq")
    assert_all_is_read(shop)
    found = opened(shop)
    assert found.contains(last, first, NEVER) is True
    assert found.tracked() == {"a.txt": shop.id("HEAD:a.txt"), "b/c.txt": shop.id("HEAD:b/c.txt")}


def test_objects_borrowed_from_another_repository_are_found(shop: Checkout, tmp_path: Path) -> None:
    borrower = _shared_clone(shop, tmp_path / "borrower")
    commit = borrower.commit("cart.py")
    assert not (borrower.root / ".git" / "objects" / shop.id()[:2] / shop.id()[2:]).exists()
    assert opened(borrower).contains(commit, shop.id(), NEVER) is True


def test_repositories_that_borrow_from_each_other_come_to_an_end(shop: Checkout, tmp_path: Path) -> None:
    borrower = _shared_clone(shop, tmp_path / "borrower")
    alternates = shop.root / ".git" / "objects" / "info" / "alternates"
    alternates.write_text(f"{borrower.root}/.git/objects\n../objects\n#comment\n\n" + "/nowhere\n" * 1000)
    assert opened(shop).contains("a" * 40, shop.id(), NEVER) is None


def test_the_file_of_a_commit_is_found_by_its_path(shop: Checkout) -> None:
    shop.commit("src/deep/cart.py", "total = 0\n")
    found = opened(shop)
    assert found.blob_at(shop.id(), "src/deep/cart.py") == shop.id("HEAD:src/deep/cart.py")
    assert [found.blob_at(shop.id(), path) for path in ("src/deep", "src/none.py", "readme.md/x", "")] == [""] * 4
    assert (found.blob_at("f" * 40, "readme.md"), found.blob_at("no id", "readme.md")) == (None, None)


def test_many_packs_are_read_with_few_files_open(shop: Checkout) -> None:
    for number in range(30):
        shop.commit(f"file-{number}.txt")
        shop.git("repack", "-dq")
    before = len(os.listdir("/dev/fd"))
    found = opened(shop)
    assert found.contains(shop.id(), shop.git("rev-list", "--max-parents=0", "HEAD"), NEVER) is True
    assert len(os.listdir("/dev/fd")) <= before + 24
    del found
    assert len(os.listdir("/dev/fd")) <= before


def test_a_file_of_a_folder_is_found_by_its_very_name(shop: Checkout) -> None:
    names = ["a", "b", "a b", "100644 a", "40000 b", "x100644 a", "c/a", "ä"]
    for name in names:
        shop.write(name, f"{name}\n")
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "names")
    found, head = opened(shop), shop.id()
    assert {name: found.blob_at(head, name) for name in names} == {name: shop.id(f"HEAD:{name}") for name in names}
    assert [found.blob_at(head, name) for name in ("40000 a", "100644 b", "644 a", "c", " a", "\ud800")] == [""] * 6


def test_what_was_not_found_in_time_is_not_taken_for_missing(shop: Checkout) -> None:
    commit = shop.commit("src/deep/cart.py", "total = 0\n")
    assert opened(shop).blob_at(commit, "src/deep/cart.py", after_checks(2)) is None
    assert opened(shop).blob_at(commit, "src/deep/none.py", after_checks(2)) is None


def test_a_large_folder_is_read_once_for_all_that_is_asked_of_it(shop: Checkout) -> None:
    many_files(shop, "pages", 6_000)
    shop.git("commit", "-q", "-m", "pages")

    class Counting(Objects):
        trees = 0

        def tree(self, id_: str) -> bytes | None:
            self.trees += 1
            return super().tree(id_)

    objects = Counting(shop.root / ".git")
    trees = Trees(objects)
    ids = {trees.find(shop.id("HEAD^{tree}"), f"pages/{number}.py", NEVER) for number in range(20)}
    assert (ids, objects.trees) == ({shop.id("HEAD:pages/1.py")}, 2)


class TestDamage:
    def test_an_object_that_is_too_large_is_missing(self, shop: Checkout) -> None:
        shop.commit("large.txt", "x" * 200_000)
        id_ = shop.id("HEAD:large.txt")
        assert objects_of(shop).blob(id_, 200_000) is not None
        assert objects_of(shop).blob(id_, 199_999) is None
        shop.git("repack", "-adq")
        assert objects_of(shop).blob(id_, 200_000) is not None
        assert objects_of(shop).blob(id_, 199_999) is None

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"no zlib",
            zlib.compress(b"blob 5"),
            zlib.compress(b"blob 5\0four"),
            zlib.compress(b"blob 3\0four"),
            zlib.compress(b"blob -4\0four"),
            zlib.compress(b"blob " + b"9" * 5000 + b"\0four"),
            zlib.compress(b"monster 4\0four"),
            zlib.compress(b"blob 4\0four")[:-9],
            zlib.compress(b"blob 4\0" + bytes(100_000_000)),
        ],
    )
    def test_a_damaged_file_is_a_missing_object(self, shop: Checkout, content: bytes) -> None:
        folder = shop.root / ".git" / "objects" / "ab"
        folder.mkdir()
        (folder / ("c" * 38)).write_bytes(content)
        assert objects_of(shop).blob("ab" + "c" * 38, 1000) is None

    def test_links_and_pipes_are_missing_objects(self, shop: Checkout, tmp_path: Path) -> None:
        (tmp_path / "outside").write_bytes(zlib.compress(b"blob 4\0four"))
        folder = shop.root / ".git" / "objects" / "ab"
        folder.mkdir()
        (folder / ("c" * 38)).symlink_to(tmp_path / "outside")
        os.mkfifo(folder / ("d" * 38))
        found = objects_of(shop)
        assert (found.blob("ab" + "c" * 38, 99), found.blob("ab" + "d" * 38, 99)) == (None, None)

    @pytest.mark.parametrize("ending", ["pack", "idx"])
    def test_a_damaged_pack_gives_what_can_be_read_or_nothing(self, grown: Checkout, ending: str) -> None:
        expected = contents(grown)
        grown.git("repack", "-adfq")
        (file,) = (grown.root / ".git" / "objects" / "pack").glob(f"*.{ending}")
        whole = file.read_bytes()
        file.chmod(0o600)
        chance = random.Random(7)
        for _ in range(150):
            broken = bytearray(whole)
            for _ in range(chance.randrange(1, 40)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            file.write_bytes(bytes(broken[: chance.randrange(len(broken))] if chance.random() < 0.3 else broken))
            found = objects_of(grown)
            for id_ in chance.sample(sorted(expected), 10):
                read = found.blob(id_, 1_000_000)
                assert read is None or len(read) <= 1_000_000
        file.write_bytes(whole)
        assert_all_is_read(grown)

    @pytest.mark.parametrize(
        "delta",
        [
            b"",
            b"\x05",
            b"\x04\x04\x04four",  # made for another base
            b"\x05\x04\x00",  # a step that does nothing
            b"\x05\x04\x04fo",
            b"\x05\x04\x90",
            b"\x05\x04\x91\x09\x04",  # from beyond the base
            b"\x05\x04" + b"\x90\x05" * 100,
            b"\x05" + b"\xff" * 20,
        ],
    )
    def test_a_damaged_difference_makes_nothing(self, delta: bytes) -> None:
        assert apply_delta(b"seven"[:5], delta, 1000, 1000) is None

    def test_a_difference_may_copy_and_add(self) -> None:
        assert apply_delta(b"seven", b"\x05\x06\x90\x03\x03 up", 1000, 2) == (b"sev up", 2)
        assert apply_delta(b"seven", b"\x05\x06\x90\x03\x03 up", 5, 2) is None
        assert apply_delta(b"seven", b"\x05\x06\x90\x03\x03 up", 1000, 1) is None


def _shared_clone(checkout: Checkout, folder: Path) -> Checkout:
    checkout.git("clone", "-q", "--shared", str(checkout.root), str(folder))
    return Checkout(folder, checkout.clock)


def test_a_hostile_config_of_empty_lines_is_read(tmp_path: Path) -> None:
    made = make_checkout(tmp_path / "shop")
    made.commit("a.txt", "one")
    with (made.root / ".git" / "config").open("a") as config:
        config.write("\n" * 80_000)
    assert list(opened(made).tracked()) == ["a.txt"]
