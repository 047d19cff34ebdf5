"""Which code of a working tree is meant by names that somebody wrote."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.knowledge.code_links import NamedCode, find_named

LEDGER = "class Ledger:\n    def post(self):\n        return 1\n\n    def close(self):\n        return 2\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for file, text in {
        "src/ledger.py": LEDGER,
        "src/book.py": LEDGER.replace("Ledger", "Book").replace("close", "shut"),
        "src/notes.txt": "Ledger.close is told of here, too.\n",
        "lib/book.py": "def open_book():\n    return 1\n",
    }.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CodeCache]:
    made = CodeCache(tmp_path / "code.db")
    yield made
    made.release()


def meant(
    cache: CodeCache, root: Path, *names: str, paths: tuple[str, ...] = (), inside: str = "", in_s: float = 60
) -> list[str]:
    """What names and paths mean, without hashes."""
    found = find_named(cache, str(root), inside, paths, names, Deadline.after(in_s))
    return [f"{anchor.file}::{anchor.name}" if anchor.name else anchor.file for anchor in found.anchors]


def test_a_name_that_only_one_has_means_that_one(cache: CodeCache, root: Path) -> None:
    assert meant(cache, root, "close") == ["src/ledger.py::Ledger.close"]
    assert meant(cache, root, "Ledger.post") == ["src/ledger.py::Ledger.post"]
    assert meant(cache, root, "ledger.Ledger") == ["src/ledger.py::Ledger"]


def test_a_name_that_several_have_means_none_unless_a_file_decides(cache: CodeCache, root: Path) -> None:
    assert meant(cache, root, "post") == []
    assert meant(cache, root, "post", paths=("src/book.py",)) == ["src/book.py::Book.post"]
    both = ("src/book.py", "src/ledger.py")
    assert meant(cache, root, "post", paths=both) == list(both), "the files are meant, and neither of the functions"


def test_a_path_means_a_file_from_the_root_from_the_folder_or_by_its_end_if_that_is_the_only_one(
    cache: CodeCache, root: Path
) -> None:
    assert meant(cache, root, paths=("./src/notes.txt",)) == ["src/notes.txt"]
    assert meant(cache, root, paths=(f"{root}/src/notes.txt",)) == ["src/notes.txt"]
    assert meant(cache, root, paths=("book.py",), inside="lib") == ["lib/book.py"]
    assert meant(cache, root, paths=("ledger.py",)) == ["src/ledger.py"]
    assert meant(cache, root, paths=("book.py",)) == []
    assert meant(cache, root, paths=("../project/src/ledger.py", "src/", "none.py")) == []


@pytest.mark.parametrize(
    ("file", "text", "name", "full"),
    [
        (
            "a.go",
            "package a\n\ntype (\n\tStore struct{ n int }\n)\n\nfunc (s *Store) Put(n int) {}\n",
            "Put",
            "Store.Put",
        ),
        ("a.go", "package a\n\nfunc PutAll() {}\n", "PutAll", "PutAll"),
        ("a.rs", "pub struct Store;\nimpl Store {\n    pub fn put_it(&self) {}\n}\n", "put_it", "Store.put_it"),
        ("a.rb", "class Store\n  def self.put_it\n    1\n  end\nend\n", "put_it", "Store.put_it"),
        ("a.ts", "export class Store {\n  putIt(n: number) { return n }\n}\n", "putIt", "Store.putIt"),
        ("A.java", "class Store {\n  int putIt(int n) { return n; }\n}\n", "putIt", "Store.putIt"),
        ("a.c", "static int *put_it(int n)\n{\n  return 0;\n}\n", "put_it", "put_it"),
    ],
)
def test_a_definition_is_found_in_every_language(
    cache: CodeCache, root: Path, file: str, text: str, name: str, full: str
) -> None:
    (root / file).write_text(text)
    (root / "uses.py").write_text(f"from a import {name}\n\n{name}(1)\n")
    assert meant(cache, root, name) == [f"{file}::{full}"]


def test_what_cannot_be_looked_through_in_time_means_nothing(cache: CodeCache, root: Path) -> None:
    assert meant(cache, root, "close", in_s=-1) == []


def test_without_a_working_tree_nothing_is_meant(cache: CodeCache, root: Path) -> None:
    assert find_named(cache, str(root / "gone"), "", ["a.py"], ["close"], Deadline.after(60)) == NamedCode()
