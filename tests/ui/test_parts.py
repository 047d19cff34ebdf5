"""The words that all parts of the page share."""

import pytest

from claude_mem_lite.scopes import project_name
from claude_mem_lite.text import counted


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("event",), "0 events"),
        (1, ("event",), "1 event"),
        (1_200, ("event",), "1,200 events"),
        (1, ("memory", "memories"), "1 memory"),
        (2, ("memory", "memories"), "2 memories"),
    ],
)
def test_one_is_one_and_many_are_many(number: int, words: tuple[str, ...], told: str) -> None:
    assert counted(number, *words) == told


def test_a_project_is_called_by_the_end_of_its_path() -> None:
    assert [project_name(one) for one in ("/srv/shop/", "example.com/zoo", "/")] == ["shop", "zoo", "/"]
