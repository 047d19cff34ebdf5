"""Work on many files is told in a short memory for each file that has something to tell."""

from dataclasses import replace

from claude_mem_lite.compress.rules.turns import fold
from tests.unit.compress.build import AUTH, bash, edit, turn, write

CART = "class Cart:\n    def total_price(self):\n        ...\n\n    def add_item(self, item):\n        ...\n"
ORDER = "def place_order(cart):\n    ...\n\n\ndef cancel_order(order):\n    ...\n"
CLOSING = """I've added orders to the shop, from the cart to the confirmation.

- `src/cart.py`: added `total_price()`, which rounds to cents and takes the discount of the customer into account
- `place_order()` refuses an empty cart with an error that names the customer and the page
- Added `cancel_order()`, which gives the money back and writes a note for accounting
- The session check is unchanged
"""
WORK = turn(
    "Add orders",
    write("src/cart.py", CART),
    write("src/order.py", ORDER),
    edit("src/auth.py", AUTH, "now * 1000", "now"),
    closing=CLOSING,
)


def test_the_whole_comes_first_and_its_parts_by_file() -> None:
    whole, *parts = fold(WORK).drafts
    assert whole.title == "Add orders to the shop, from the cart to the confirmation"
    assert whole.files == ("src/cart.py", "src/order.py", "src/auth.py")
    assert [part.files for part in parts] == [("src/cart.py",), ("src/order.py",)]


def test_a_part_has_what_was_said_of_its_file_and_functions() -> None:
    _, cart, order = fold(WORK).drafts
    assert "rounds to cents" in f"{cart.title} {cart.summary}"
    assert order.title == "Add cancel_order(), which gives the money back and writes a note for accounting"
    assert order.summary == "place_order() refuses an empty cart with an error that names the customer and the page."
    assert {symbol.name for symbol in order.symbols} == {"place_order", "cancel_order"}


def test_nothing_is_told_twice() -> None:
    whole, *parts = fold(WORK).drafts
    assert "rounds to cents" not in f"{whole}"
    assert "The session check is unchanged" in whole.summary
    assert not set(whole.symbols) & {symbol for part in parts for symbol in part.symbols}


def test_a_file_of_which_nothing_was_said_is_told_with_the_whole() -> None:
    whole, *_ = fold(WORK).drafts
    assert [symbol.name for symbol in whole.symbols] == ["Session.is_valid"]
    assert any(fact.startswith("src/auth.py: ") for fact in whole.facts)


def test_a_part_of_which_only_its_title_was_said_tells_what_it_is_for() -> None:
    closing = CLOSING.replace(
        "- `place_order()` refuses an empty cart with an error that names the customer and the page\n", ""
    )
    *_, order = fold(replace(WORK, events=(*WORK.events[:-1], replace(WORK.events[-1], message=closing)))).drafts
    assert order.summary == "For: Add orders to the shop, from the cart to the confirmation."


def test_a_small_change_of_two_files_is_one_memory() -> None:
    (draft,) = fold(
        turn(
            "compare in seconds",
            edit("src/auth.py", AUTH, "now * 1000", "now"),
            edit("NOTES.md", "old notes\n", "old notes", "new notes"),
            closing="I changed `is_valid` to compare in seconds.",
        )
    ).drafts
    assert draft.files == ("src/auth.py", "NOTES.md")
    assert "NOTES.md: old notes -> new notes" in draft.summary


def test_the_parts_of_two_commits_stay_with_their_commit() -> None:
    drafts = fold(
        turn(
            "do both",
            write("src/cart.py", CART),
            write("src/order.py", ORDER),
            bash('git commit -am "feat: add orders and carts"', "[main 1111111] feat: add orders and carts"),
            edit("src/auth.py", AUTH, "now * 1000", "now"),
            bash('git commit -am "fix: compare seconds"', "[main 2222222] fix: compare seconds with seconds"),
            closing=CLOSING,
        )
    ).drafts
    assert [draft.title for draft in drafts[:2]] == ["Add orders and carts", "Compare seconds with seconds"]
    assert all("Add orders and carts" not in part.summary for part in drafts if part.files == ("src/auth.py",))
