"""Embedding without numpy gives the vectors of the table."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from claude_mem_lite.embed.embedder import shared_table
from claude_mem_lite.embed.plain_table import PlainTable, _array

TEXTS = (
    "Keep the shopping carts in SQLite, because Redis lost them",
    "getUserName raises KeyError in src/auth/jwt.py",
    "Grüße aus München: die Prüfung der Schlüssel",
    "a " * 600,
    "",
    "々ぁ",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_vector_differs_by_roundings_at_most(text: str) -> None:
    (plain,), (stored,) = PlainTable().embed([text]), shared_table().embed([text])
    differences = np.frombuffer(plain, np.int8).astype(int) - np.frombuffer(stored, np.int8)
    assert np.abs(differences).max() <= 1
    assert PlainTable().name == shared_table().name


def test_an_array_of_another_form_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.zeros((2, 2), np.int16))
    with pytest.raises(ValueError, match="another form"):
        _array(tmp_path / "rows.npy", "|i1")


def test_numpy_is_not_imported() -> None:
    program = (
        "import sys; from claude_mem_lite.search.plain_index import plain_search\n"
        "from claude_mem_lite.embed.plain_table import PlainTable\n"
        "plain_search(); PlainTable().embed(['carts']); print('numpy' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False"]
