"""The whole text that sessions are given in many situations, as it stands in tests/snapshots.

`python -m tests.snapshots.situations` writes the texts anew; read the difference before you keep it."""

from pathlib import Path

import pytest

from tests.snapshots.situations import FOLDER, SITUATIONS, text_file, told_in


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_text_is_as_it_was_read_and_found_good(name: str, tmp_path: Path) -> None:
    assert told_in(name, tmp_path) == text_file(name).read_text("utf-8")


def test_every_text_belongs_to_a_situation() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(SITUATIONS)


def test_no_text_has_what_is_not_for_a_model() -> None:
    for name in SITUATIONS:
        text = text_file(name).read_text("utf-8")
        assert "|--" not in text
        assert "/nowhere" not in text
        assert not any(character > "\U0001f000" for character in text)
        assert text == "" or text.splitlines()[-2].startswith("More: `claude-mem-lite search")
