"""Pairs of sentences on named code that cannot both hold, and pairs that can."""

import pytest

from claude_mem_lite.context.assertions import Assertion, assertions_in

PORT = "The debug server of `src/cart/store.py` listens on port 4711."


def assertion(text: str) -> Assertion:
    (found,) = assertions_in(text, (" ",))
    return found


@pytest.mark.parametrize(
    ("older", "newer", "value"),
    [
        (PORT, "From now on the debug server of store.py listens on port 4812.", "4812"),
        ("The owner of `loadCarts` is Ada Byron.", "The new owner of loadCarts is Grace Hopper.", "grace hopper"),
        ("The flag carts_v2 guards `make release`.", "`make release` is guarded by the flag carts_v3.", "carts_v3"),
        ("load_carts is kept until 2031-04-05.", "load_carts is kept until 2032-04-05.", "2032-04-05"),
        (
            "We chose `md5` as the checksum for load_carts because it is fast.",
            "We chose `sha1` as the checksum for load_carts, since it is in the standard library.",
            "sha1",
        ),
        (
            "The cause of the flaky retries in load_carts was a stale db_pool handle.",
            "After another look, the cause of the flaky retries in load_carts was the io_loop thread.",
            "io_loop",
        ),
    ],
)
def test_the_same_words_of_the_same_code_with_another_value_exclude_each_other(
    older: str, newer: str, value: str
) -> None:
    found = assertion(older).value_in(assertion(newer))
    assert found is not None
    assert found.text == value
    assert assertion(newer).value_in(assertion(older)) is not None


@pytest.mark.parametrize(
    "other",
    [
        "The metrics server of `src/cart/store.py` listens on port 4812.",
        "The debug server of `src/user/cart.py` listens on port 4812.",
        "The debug server of `src/cart/store.py` never listens on port 4812.",
        "The debug server of `src/cart/store.py` and run_all listens on port 4812.",
        PORT,
    ],
    ids=["something else", "other code", "denied", "two differences", "the same"],
)
def test_statements_that_may_both_hold_exclude_nothing(other: str) -> None:
    assert assertion(PORT).value_in(assertion(other)) is None


def test_a_value_for_another_case_excludes_nothing() -> None:
    first = assertion("The timeout of `load_carts` is 5 seconds in tests.")
    assert first.value_in(assertion("The timeout of `load_carts` is 9 seconds in benchmarks.")) is None
    assert first.value_in(assertion("The timeout of `load_carts` is 9 minutes in tests.")) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Does the debug server of `src/cart/store.py` listen on port 4711?",
        "- [ ] the debug server of `src/cart/store.py` listens on port 4711",
        "| `src/cart/store.py` | 4711 |",
        "The debug server listens on port 4711.",
        "The code is in `src/cart/store.py`.",
        "Set a_b, c_d, e_f and g_h to 5.",
    ],
    ids=["question", "to-do list", "table", "no code", "no value", "list"],
)
def test_what_states_no_value_of_code_is_no_assertion(text: str) -> None:
    assert list(assertions_in(text, (" ",))) == []


def test_only_sentences_with_the_name_are_read() -> None:
    text = f"Done. {PORT} All tests pass.\nThe timeout of `load_carts` is 5 seconds."
    assert [one.text for one in assertions_in(text, ("store.py",))] == [PORT.rstrip(".")]
    assert len(list(assertions_in(text, ("store.py", "load_carts")))) == 2
    assert list(assertions_in(text, ("", "cart_page"))) == []
