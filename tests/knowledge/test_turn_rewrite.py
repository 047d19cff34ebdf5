"""Which old memory of a turn a new one takes the place of."""

from dataclasses import replace
from datetime import UTC, datetime

from claude_mem_lite.knowledge.turn_rewrite import pair
from claude_mem_lite.models import Kind, Memory

AT = datetime(2026, 3, 2, tzinfo=UTC)


def memory(title: str, *files: str, kind: Kind = "change", summary: str = "") -> Memory:
    return Memory(title, kind, title, summary, AT, AT, "project:shop", "shop", files=files)


def titles(old: list[Memory], new: list[Memory]) -> dict[int, str]:
    return {position: one.title for position, one in pair(old, new).items()}


def test_the_same_title_comes_before_the_same_files() -> None:
    old = [memory("Change b in cart.py", "cart.py"), memory("Round the total", "cart.py")]
    assert titles(old, [memory("Round the total", "cart.py")]) == {0: "Round the total"}


def test_most_of_the_words_are_enough() -> None:
    old = [memory("The total of an empty cart is None"), memory("Add a tax table")]
    new = [memory("Return 0 as the total of an empty cart", kind="bugfix")]
    assert titles(old, new) == {0: "The total of an empty cart is None"}


def test_the_same_files_are_enough() -> None:
    old = [memory("Change 3 functions", "cart.py", "tax.py")]
    assert titles(old, [memory("Taxes are rounded per line", "tax.py", "cart.py")]) == {0: "Change 3 functions"}


def test_nothing_in_common_is_no_pair() -> None:
    assert titles([memory("Add a tax table", "tax.py")], [memory("Cache the exchange rates", "rates.py")]) == {}


def test_a_lesson_is_never_the_place_of_work() -> None:
    old = [memory("Use tabs in Go files", kind="rule")]
    assert titles(old, [memory("Use tabs in Go files", kind="refactor")]) == {}


def test_each_old_memory_has_one_successor() -> None:
    old = [memory("Round the total", "cart.py")]
    new = [memory("Round the tax", "cart.py"), memory("Round the total", "cart.py")]
    assert titles(old, new) == {1: "Round the total"}


def test_an_anchor_ties_a_failure_to_its_fix() -> None:
    failed = replace(memory("pytest fails: KeyError", kind="failure"), anchors=("error:abc",))
    fixed = replace(memory("Carts without items have a total", kind="bugfix"), anchors=("error:abc",))
    assert titles([failed], [fixed]) == {0: "pytest fails: KeyError"}
