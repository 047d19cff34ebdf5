"""The files git tracks, by indexes the real git wrote."""

import random
from pathlib import Path

import pytest

from claude_mem_lite.code.git.index import read_index
from tests.code.git.opening import opened
from tests.support.git_repositories import Checkout


def told(shop: Checkout) -> dict[str, str]:
    """What git says is tracked, without submodules."""
    listed = (line.partition("\t") for line in shop.git("ls-files", "-s", "-z").split("\0") if line)
    return {path: head.split()[1] for head, _, path in listed if not head.startswith("160000")}


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index_is_read(shop: Checkout, version: str) -> None:
    names = ["a", "src/cart.py", "src/cart_test.py", "src/längs/ß.py", "src/" + "x" * 200, "z" * 300 + ".md", "a b/c"]
    for name in names:
        shop.write(name[:250], f"{name}\n")
    shop.git("add", "-A")
    shop.write("new.py", "soon\n")
    if version == "3":
        shop.git("add", "-N", "new.py")
    shop.git("update-index", "--index-version", version)
    # A new file that is only announced is what makes git write version 3.
    assert (shop.root / ".git" / "index").read_bytes()[7] == int(version)
    assert opened(shop).tracked() == told(shop)
    assert opened(shop).tracked_count() == len(told(shop))


def test_links_are_tracked_and_submodules_are_not(shop: Checkout) -> None:
    (shop.root / "link").symlink_to("readme.md")
    shop.git("add", "-A")
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{shop.id()},vendor/part")
    assert sorted(opened(shop).tracked()) == ["link", "readme.md"]


def test_a_worktree_has_an_index_of_its_own(shop: Checkout, tmp_path: Path) -> None:
    tree = shop.worktree(tmp_path / "tree", "-b", "feature")
    tree.commit("cart.py", "total = 0\n")
    assert sorted(opened(tree).tracked()) == ["cart.py", "readme.md"]
    assert sorted(opened(shop).tracked()) == ["readme.md"]


def test_a_file_in_conflict_is_tracked_once(shop: Checkout) -> None:
    shop.begin("feature")
    shop.commit("readme.md", "A cart.\n")
    shop.switch("main")
    shop.commit("readme.md", "A store.\n")
    with pytest.raises(Exception, match="merge"):
        shop.git("merge", "-q", "feature")
    assert list(opened(shop).tracked()) == ["readme.md"]


def test_folders_left_out_of_a_sparse_index_are_skipped(shop: Checkout) -> None:
    for name in ("app/a.py", "far/away/b.py", "far/c.py"):
        shop.commit(name)
    shop.git("sparse-checkout", "set", "--cone", "--sparse-index", "app")
    assert sorted(opened(shop).tracked()) == ["app/a.py", "readme.md"]


def test_a_repository_without_an_index_tracks_nothing(shop: Checkout, tmp_path: Path) -> None:
    clone = shop.clone(tmp_path / "clone", "--no-checkout")
    assert opened(clone).tracked() == {}


def test_paths_that_lead_out_of_the_checkout_are_left_out(shop: Checkout) -> None:
    shop.commit("z..py")
    index = shop.root / ".git" / "index"
    content = index.read_bytes()
    for path in (b"../readme", b"/eadme.md"):
        index.write_bytes(content.replace(b"readme.md", path))
        assert list(opened(shop).tracked()) == ["z..py"]


def test_a_damaged_index_gives_nothing_or_something_but_no_error(shop: Checkout) -> None:
    for number in range(40):
        shop.write(f"src/file-{number}.py", f"{number}\n")
    shop.git("add", "-A")
    chance = random.Random(3)
    for version in ("2", "4"):
        shop.git("update-index", "--index-version", version)
        whole = (shop.root / ".git" / "index").read_bytes()
        folder = shop.root / "damaged"
        folder.mkdir(exist_ok=True)
        for _ in range(300):
            broken = bytearray(whole)
            for _ in range(chance.randrange(1, 20)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            (folder / "index").write_bytes(broken[: chance.randrange(len(broken)) if chance.random() < 0.3 else None])
            assert len(dict(read_index(folder, 20))) <= 41
