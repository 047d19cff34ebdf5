"""Tests of `compress/toolcalls/edits.py`: changed files and functions."""

import pytest

from claude_mem_lite.compress.toolcalls.edits import FileChange, describe, is_scratch, merge, read_change
from claude_mem_lite.compress.toolcalls.payload_fields import Folder, folder_of
from claude_mem_lite.models import Event, SymbolChange, ToolCall
from tests.support.turns import AUTH, CWD, edit, write


def change_of(event: Event) -> FileChange:
    assert event.tool is not None
    change = read_change(event.tool, folder_of(event))
    assert change is not None
    return change


def names(change: FileChange) -> list[tuple[str, str]]:
    return [(symbol.name, symbol.action) for symbol in change.symbols]


def test_an_edit_names_the_method_it_is_in() -> None:
    change = change_of(edit("src/auth.py", AUTH, "now * 1000", "now"))
    assert change.path == "src/auth.py"
    assert names(change) == [("Session.is_valid", "modified")]
    assert (change.added, change.removed) == (1, 1)


def test_a_new_function_is_new_and_a_removed_one_deleted() -> None:
    added = change_of(edit("src/auth.py", AUTH, "def load(path):", "def save(path):\n    pass\n\n\ndef load(path):"))
    assert ("save", "new") in names(added)
    removed = change_of(edit("src/auth.py", AUTH, "def load(path):\n    return open(path).read()", ""))
    assert names(removed) == [("load", "deleted")]


GO = """package cart

type Cart struct {
\titems []Item
}

func (c *Cart) Total() int {
\tsum := 0
\tfor _, item := range c.items {
\t\tsum += item.Price
\t}
\treturn sum
}
"""
TS = """export class Cart {
  private items: Item[] = [];

  total(): number {
    return this.items.length;
  }
}

export const format = (n: number) => {
  return `${n} €`;
};
"""
RUST = """impl Cart {
    pub fn total(&self) -> u32 {
        self.items.iter().map(|i| i.price).sum()
    }
}
"""


@pytest.mark.parametrize(
    ("path", "original", "old", "new", "name"),
    [
        ("cart/cart.go", GO, "sum += item.Price", "sum += item.Price * item.Count", "Cart.Total"),
        ("src/cart.ts", TS, "this.items.length", "this.items.reduce(add, 0)", "Cart.total"),
        ("src/cart.ts", TS, "`${n} €`", "`€ ${n}`", "format"),
        ("src/cart.rs", RUST, "i.price", "i.price * i.count", "Cart.total"),
    ],
)
def test_the_enclosing_function_is_found_in_other_languages(
    path: str, original: str, old: str, new: str, name: str
) -> None:
    assert names(change_of(edit(path, original, old, new))) == [(name, "modified")]


def test_a_new_file_lists_what_it_defines() -> None:
    change = change_of(
        write("src/db.py", "import sqlite3\n\n\ndef connect():\n    def inner(): ...\n\n\nclass Pool:\n    pass\n")
    )
    assert change.action == "new"
    assert change.symbols == (SymbolChange("src/db.py", "connect", "new"), SymbolChange("src/db.py", "Pool", "new"))
    assert describe(change) == "src/db.py: new file with connect, Pool (9 lines)"


def test_a_replaced_line_of_a_settings_file_is_shown() -> None:
    change = change_of(edit("config.yml", "timeout: 20\nretries: 3\n", "timeout: 20", "timeout: 60"))
    assert describe(change) == "config.yml: timeout: 20 -> timeout: 60 (+1 -1)"


def test_many_edits_of_one_file_are_one_change() -> None:
    first = change_of(edit("src/auth.py", AUTH, "now * 1000", "now"))
    second = change_of(edit("src/auth.py", AUTH, "open(path).read()", "Path(path).read_text()"))
    (merged,) = merge([first, second])
    assert names(merged) == [("Session.is_valid", "modified"), ("load", "modified")]
    assert (merged.added, merged.removed) == (2, 2)


def test_an_edit_without_a_patch_is_rebuilt_from_its_input() -> None:
    call = ToolCall(
        "Edit", {"file_path": f"{CWD}/a.py", "old_string": "def a():\n    x", "new_string": "def b():\n    x"}
    )
    change = read_change(call, Folder(CWD))
    assert change is not None
    assert names(change) == [("a", "deleted"), ("b", "new")]


def test_every_edit_of_a_multi_edit_counts() -> None:
    edits = [{"old_string": "a = 1", "new_string": "a = 2"}, {"old_string": "b = 1", "new_string": "b = 2"}]
    change = read_change(ToolCall("MultiEdit", {"file_path": f"{CWD}/a.ini", "edits": edits}), Folder(CWD))
    assert change is not None
    assert change.samples == (("a = 1", "a = 2"), ("b = 1", "b = 2"))


def test_a_notebook_cell_is_an_edit() -> None:
    call = ToolCall("NotebookEdit", {"notebook_path": f"{CWD}/a.ipynb", "new_source": "print(1)"}, {"cell_id": "x"})
    change = read_change(call, Folder(CWD))
    assert change is not None
    assert change.path == "a.ipynb"


def test_writing_the_same_content_again_changes_nothing() -> None:
    call = ToolCall(
        "Write", {"file_path": f"{CWD}/a.txt", "content": "x"}, {"originalFile": "x", "structuredPatch": []}
    )
    assert read_change(call, Folder(CWD)) is None


def test_a_path_outside_the_working_folder_stays_whole() -> None:
    change = read_change(ToolCall("Write", {"file_path": "/etc/hosts", "content": "x"}), Folder(CWD))
    assert change is not None
    assert change.path == "/etc/hosts"


def test_every_setting_that_was_changed_is_shown() -> None:
    original = "timeout: 20\nretries: 3\nname: shop\n"
    first = change_of(edit("config.yml", original, "timeout: 20\nretries: 3", "timeout: 60\nretries: 5"))
    assert describe(first) == "config.yml: timeout: 20 -> timeout: 60; retries: 3 -> retries: 5 (+2 -2)"


def test_a_brace_that_moves_is_no_change_of_its_surroundings() -> None:
    given = {
        "file_path": f"{CWD}/src/cart.ts",
        "old_string": "  total(): number {",
        "new_string": "  clear(): void {\n    this.items = [];\n  }\n\n  total(): number {",
    }
    change = read_change(ToolCall("Edit", given, {"originalFile": TS}), Folder(CWD))
    assert change is not None
    assert names(change) == [("Cart.clear", "new")]


@pytest.mark.parametrize(
    ("path", "old", "new", "versions"),
    [
        ("go.mod", "require (", "require (\n\tgithub.com/a/b v1.2.3", ("github.com/a/b v1.2.3",)),
        ("package.json", "{", '{\n  "zod": "^3.23.8",', ('"zod": "^3.23.8"',)),
        (".github/workflows/ci.yml", "jobs:", "jobs:\n  - uses: actions/checkout@v4", ("- uses: actions/checkout@v4",)),
        ("src/app.py", "import os", 'import os\n__version__ = "1.9.0"', ('__version__ = "1.9.0"',)),
        ("src/app.py", "import os", "import os\nRATE = 1.25", ()),
        ("go.sum", "x", "x\ngithub.com/a/b v1.2.3 h1:abc", ()),
    ],
)
def test_versions_that_were_pinned_are_kept(path: str, old: str, new: str, versions: tuple[str, ...]) -> None:
    assert change_of(edit(path, f"{old}\n", old, new)).versions == versions


def cell(mode: str, old: str, new: str) -> FileChange | None:
    response = {"edit_mode": mode, "language": "python", "new_source": new, "error": ""}
    given = {"notebook_path": f"{CWD}/a.ipynb", "new_source": new, "cell_id": "x"}
    return read_change(
        ToolCall("NotebookEdit", given, {**response, "old_source": old} if old else response), Folder(CWD)
    )


def test_a_cell_that_was_replaced_shows_what_changed_in_it() -> None:
    change = cell("replace", "import a\n\ndef load():\n    return a", "import b\n\ndef load():\n    return b")
    assert change is not None
    assert names(change) == [("load", "modified")]
    assert change.samples == (("import a", "import b"), ("return a", "return b"))


def test_a_cell_that_was_inserted_or_deleted_is_told_as_such() -> None:
    inserted, deleted = cell("insert", "", "def plot():\n    pass"), cell("delete", "def plot():\n    pass", "")
    assert inserted is not None
    assert deleted is not None
    assert (names(inserted), names(deleted)) == ([("plot", "new")], [("plot", "deleted")])


@pytest.mark.parametrize(
    ("path", "scratch"),
    [("/tmp/x.py", True), ("/home/dev/.claude/plans/a.md", True), ("src/a.py", False), ("/home/dev/other/a.py", False)],
)
def test_notes_of_the_agent_to_itself_are_told_from_files(path: str, scratch: bool) -> None:
    assert is_scratch(path) is scratch
