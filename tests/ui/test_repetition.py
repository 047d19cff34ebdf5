"""What says the same as something else on the page, and what a summary adds to its title."""

import pytest

from claude_mem_lite.ui.repeated_text import beyond, is_same, joined

LONG = "so that nobody has to count them by hand in the evening, when the light is poor and the keepers are tired"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Use pnpm, not npm", "No, use pnpm, not npm!", True),
        ("Count the wombats", "“count the wombats”", True),
        ("Add to the list as an item", "Added to the list as a second item", False),
        ("Add to the list as a second item", "Added to the list as a second item (no commit)", True),
        ("Count", "Count the wombats in the basket twice a day", False),
        ("Count the wombats", "Feed the wombats", False),
        ("", "", False),
        ("", "words", False),
        ("…", "!", False),
    ],
)
def test_texts_are_the_same_when_one_is_nearly_all_of_the_other(one: str, other: str, same: bool) -> None:
    assert is_same(one, other) is same
    assert is_same(other, one) is same


@pytest.mark.parametrize(
    ("title", "summary", "told"),
    [
        ("Never commit", "Never commit", ("Never commit", "")),
        ("Never commit", "", ("Never commit", "")),
        ("", "Words", ("", "Words")),
        ("Use pnpm", "Use pnpm, not npm.", ("Use pnpm, not npm", "")),
        ("Feeding time", "Feeding time\n\n$ make feed", ("Feeding time", "$ make feed")),
        ("Add an item", "Added an item (by hand). It works.", ("Added an item (by hand)", "It works.")),
        ("make fails: no rule", "make failed: no rule.", ("make fails: no rule", "")),
        ("Cache the carts", "Reads were slow.", ("Cache the carts", "Reads were slow.")),
        ("Count the wombats", f"Count the wombats {LONG} and {LONG}.", ("Count the wombats", f"…{LONG} and {LONG}.")),
    ],
)
def test_a_title_and_what_its_summary_adds(title: str, summary: str, told: tuple[str, str]) -> None:
    assert joined(title, summary) == told


def test_the_rest_of_a_text_follows_its_beginning() -> None:
    assert beyond("Count the wombats", "Count the wombats.\n\nThey are seven.") == "They are seven."
    assert beyond("Count the wombats…", "Count the wombats in the basket") == "…in the basket"
    assert beyond("Count the wombats", "They are seven") == "They are seven"
