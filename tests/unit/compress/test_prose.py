"""Markdown to plain sentences, and what each of them is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.language import sentence_kinds as kinds
from claude_mem_lite.compress.language.closing import read_closing
from claude_mem_lite.compress.language.prose import Passage, passages, plain, sentences


def test_marks_of_markdown_go() -> None:
    assert plain("**Fixed** the *cart* in [`cart.py`](http://x/cart.py) ✅") == "Fixed the cart in cart.py ✅"


def test_names_with_underscores_and_signs_in_code_stay() -> None:
    assert plain("`shop/__init__.py` loads __all__ and `a**b`") == "shop/__init__.py loads __all__ and a**b"


def test_angle_brackets_that_are_no_tags_stay() -> None:
    assert plain("Returns `Option<String>` for <name><br>") == "Returns Option<String> for <name>"


def test_a_message_is_cut_into_its_passages() -> None:
    message = """## Done

I added a **cart**
to the shop.

- `cart.py`: new
- [ ] write docs
1. first

| File | State |
|------|-------|
| a.py | new |

```python
print("never")
```
> quoted words
---
The end."""
    assert passages(message) == [
        Passage("heading", "Done", "Done"),
        Passage("text", "I added a cart to the shop.", "Done"),
        Passage("item", "cart.py: new", "Done"),
        Passage("todo", "write docs", "Done"),
        Passage("item", "first", "Done"),
        Passage("row", "a.py: new", "Done"),
        Passage("quote", "quoted words", "Done"),
        Passage("text", "The end.", "Done"),
    ]


def test_sentences_are_not_cut_at_names_and_abbreviations() -> None:
    text = "Use cart.py, e.g. Cart.total. It works in v1.2 now! Done (see docs)."
    assert sentences(text) == ["Use cart.py, e.g. Cart.total.", "It works in v1.2 now!", "Done (see docs)."]


TO_DO = "Still to do: update the Swiss tax table."


@pytest.mark.parametrize(
    "before",
    [
        "F now returns 2.",
        "It took 12 of 100.",
        "We took plan B.",
        "It is called x.",
        "The answer is no.",
        "It has fruit, nuts, etc.",
        "Waiting...",
        "It is v1.2.",
        "It costs 3 Fr.",
    ],
)
def test_a_sentence_ends_at_a_value_a_letter_or_a_small_word(before: str) -> None:
    assert sentences(f"{before} {TO_DO}") == [before, TO_DO]
    closing = read_closing(f"Done: {before} {TO_DO}")
    assert closing.next_steps() == [TO_DO]
    assert not any("Swiss" in told for told in closing.told)


@pytest.mark.parametrize("joined", ["; ", ", ", " – ", "\n"])
@pytest.mark.parametrize("label", ["Still to do", "still to do", "TODO", "Next", "next steps", "Left"])
def test_what_is_labelled_as_to_be_done_is_a_sentence_of_its_own(joined: str, label: str) -> None:
    closing = read_closing(f"Done: f now returns 2{joined}{label}: update the Swiss tax table.")
    assert [step.partition(": ")[2] for step in closing.next_steps()] == ["update the Swiss tax table."]
    assert not any("Swiss" in told for told in closing.told)


def test_numbers_that_count_a_list_end_no_sentence() -> None:
    assert sentences("Steps: 1. Read it. 2. Change it.") == ["Steps: 1. Read it.", "Change it."]
    assert sentences("It is in no. 3 of the list. It stays.") == ["It is in no. 3 of the list.", "It stays."]


@pytest.mark.parametrize(
    "text",
    [
        "Would you like me to add tests?",
        "Let me know if you want more.",
        "Here's a summary of the changes:",
        "Done.",
        "Want me to commit this?",
        "I'll now look at the file.",
        "You're right, I missed that.",
    ],
)
def test_words_to_the_user_are_talk(text: str) -> None:
    assert kinds.is_talk(text)


@pytest.mark.parametrize(
    "text", ["All tests pass.", "Build, tests, and lint all pass.", "All 42 tests pass and linting is clean."]
)
def test_good_results_of_checks_are_told_from_work(text: str) -> None:
    assert kinds.is_check_result(text)


@pytest.mark.parametrize(
    "text",
    [
        "I decided to keep the cache in memory because restarts are rare.",
        "Decision: use SQLite.",
        "We chose SQLite over PostgreSQL for the first release.",
        "We will use one lock per cart because carts are small.",
        "I used a set instead of a list since order does not matter.",
        "Went with polling rather than sockets.",
    ],
)
def test_a_choice_is_a_decision(text: str) -> None:
    assert kinds.states_decision(text)


@pytest.mark.parametrize(
    "text",
    [
        "The function returns an empty string instead of failing.",
        "If you decide to use Redis, set the URL.",
        "Should we use SQLite instead of PostgreSQL?",
        "The cart is stored in memory.",
    ],
)
def test_a_description_is_no_decision(text: str) -> None:
    assert not kinds.states_decision(text)


@pytest.mark.parametrize(
    "text",
    [
        "The root cause was a missing index.",
        "It failed because the token had expired.",
        "It turned out that the clock was wrong.",
        "The issue was that carts were shared.",
    ],
)
def test_a_cause_is_a_cause(text: str) -> None:
    assert kinds.states_cause(text)


@pytest.mark.parametrize(
    "text",
    [
        "Next: add the migration.",
        "TODO: document the flag.",
        "The admin page still needs tests.",
        "The retry logic should be tested next.",
        "Rate limiting is left for a follow-up.",
        "You'll need to set SHOP_TOKEN before deploying.",
        "The changes have not been committed, and docs haven't been updated.",
    ],
)
def test_what_is_still_to_do_is_a_next_step(text: str) -> None:
    assert kinds.states_next_step(text)


@pytest.mark.parametrize(
    "text",
    [
        "Would you like me to add the migration next?",
        "Let me know if anything is still missing.",
        "If you want, I can add tests next.",
        "The next function returns the following item.",
        "You could also cache it.",
    ],
)
def test_offers_and_plain_words_are_no_next_steps(text: str) -> None:
    assert not kinds.states_next_step(text)


def test_what_stands_under_a_heading_for_next_steps_is_to_be_done() -> None:
    closing = read_closing("I added the cart.\n\n## Next steps\n1. Add migrations\n2. Write docs\n\nShall I go on?")
    assert closing.next_steps() == ["Add migrations", "Write docs"]


def test_a_list_after_remaining_work_is_to_be_done() -> None:
    closing = read_closing("The cart works.\n\nRemaining:\n- checkout\n- refunds\n")
    assert closing.next_steps() == ["checkout", "refunds"]


def test_a_short_finding_gives_way_to_its_explanation() -> None:
    closing = read_closing("I found the bug. `total` joined prices as strings.")
    assert closing.findings() == ["`total` joined prices as strings."]


@given(st.text() | st.text(alphabet="#*`_-|>[]() \nabc.:?!0123", max_size=300))
def test_all_that_is_read_from_a_message_was_said_in_it(text: str) -> None:
    closing = read_closing(text)
    said = [one.text for one in closing.said]
    for read in (closing.told, closing.points, closing.findings(), closing.decisions(), closing.next_steps()):
        assert set(read) <= set(said)
    assert len(closing.joined()) < max(len(said), 1)
