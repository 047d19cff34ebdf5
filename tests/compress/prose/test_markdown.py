"""Markdown to plain sentences, and what each of them is."""

import pytest

from claude_mem_lite.compress.compose.candidates import candidates_of
from claude_mem_lite.compress.compose.next_steps import step_of
from claude_mem_lite.compress.prose import sentence_types as kinds
from claude_mem_lite.compress.prose.markdown import MarkdownBlock, markdown_blocks, plain, sentences


def steps_in(message: str) -> list[str]:
    return [step for said in candidates_of(message, ()) if (step := step_of(said))]


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
    assert markdown_blocks(message) == [
        MarkdownBlock("heading", "Done", "Done"),
        MarkdownBlock("text", "I added a cart to the shop.", "Done"),
        MarkdownBlock("item", "cart.py: new", "Done"),
        MarkdownBlock("todo", "write docs", "Done"),
        MarkdownBlock("item", "first", "Done"),
        MarkdownBlock("row", "a.py: new", "Done"),
        MarkdownBlock("quote", "quoted words", "Done"),
        MarkdownBlock("text", "The end.", "Done"),
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
    assert steps_in(f"Done: {before} {TO_DO}") == [TO_DO.partition(": ")[2]]


def test_numbers_that_count_a_list_end_no_sentence() -> None:
    assert sentences("Steps: 1. Read it. 2. Change it.") == ["Steps: 1. Read it.", "Change it."]


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
    "text",
    [
        "I decided to keep the cache in memory because restarts are rare.",
        "Decision: use SQLite.",
        "We chose SQLite over PostgreSQL for the first release.",
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
    ["Read **/*.toml and *.cfg", "count(*) is slow, sum(*) too", "load(*names, **options) drops a name", "a * b > c"],
)
def test_asterisks_of_code_stay(text: str) -> None:
    assert plain(text) == text


def test_half_of_what_is_bold_loses_its_marks() -> None:
    assert plain("**Prices of `rates.py` are cents** now") == "Prices of rates.py are cents now"
