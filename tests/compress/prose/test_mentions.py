"""Which files, functions and classes a text names, by how the names look."""

import pytest

from claude_mem_lite.compress.prose.mentions import files_named, names_in


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("round_price() in src/price.py rounds", ["src/price.py"]),
        ("price.py and go.mod are made by hand", ["price.py", "go.mod"]),
        ("Ledger.post stays synchronous", []),
        ("user.name and self.run are not files", []),
        ("migrations/ is generated, e.g. by make", ["migrations/"]),
        ("see example.com or https://example.org/a.py", []),
    ],
)
def test_files_are_told_by_folders_and_endings(text: str, files: list[str]) -> None:
    assert files_named(text) == files


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("round_price() must never be given floats", ["round_price"]),
        ("Ledger.post stays synchronous", ["Ledger.post"]),
        ("never call load(path) twice", ["load"]),
        ("`load` reads once, load is a plain word", ["load"]),
        ("applyCoupon and the JsonReader go first", ["applyCoupon", "JsonReader"]),
        ("we load it and post it", []),
    ],
)
def test_functions_are_told_by_calls_dots_quotes_and_spelling(text: str, names: list[str]) -> None:
    assert names_in(text) == names
