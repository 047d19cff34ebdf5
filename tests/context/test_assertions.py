"""Pairs of sentences on named code that cannot both hold, and pairs that can."""

import pytest

from claude_mem_lite.context import assertions
from claude_mem_lite.context.assertions import Assertion, assertions_in
from tests.support.regex_steps import Count

PORT = "The debug server of `src/cart/store.py` listens on port 4711."


def assertion(text: str) -> Assertion:
    (found,) = assertions_in(text, (" ",))
    return found


@pytest.mark.parametrize(
    ("older", "newer", "value"),
    [
        (PORT, "From now on the debug server of store.py listens on port 4812.", "4812"),
        ("The owner of `loadCarts` is Ada Byron.", "The new owner of loadCarts is Grace Hopper.", "grace hopper"),
        ("`make release` is owned by Ada Byron.", "`make release` is now owned by Grace Hopper.", "grace hopper"),
        ("load_carts works with 1.4.2 of the driver.", "load_carts works with 1.5.0 of the driver now.", "1.5.0"),
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
        (
            "The environment variable CART_DB overrides `load_carts`.",
            "The environment variable that overrides load_carts was renamed to CART_URL.",
            "cart_url",
        ),
        (
            "The deploy target `web_blue` serves load_carts.",
            "The deploy target that serves load_carts has been changed to `web_green`.",
            "web_green",
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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Do not edit `schema.sql` by hand; run `make schema`.", "Do not edit `api.json` by hand; run `make schema`."),
        ("Never call `load_carts` from `render_page`.", "Never call `load_carts` from `send_mail`."),
        ("Run `make lint` before a commit in `src/api/v1`.", "Run `make types` before a commit in `src/api/v1`."),
        ("Call load_carts with 5 rows at most.", "Call load_carts with 9 rows at most."),
        ("`api/server.py` depends on `redis`.", "`api/server.py` depends on `kafka`."),
        ("`api/server.py` imports `redis`.", "`api/server.py` imports `kafka`."),
        ("The callers of `load_carts` include `send_mail`.", "The callers of `load_carts` include `render_page`."),
        ("The callers of `load_carts` are `send_mail`.", "The callers of `load_carts` are `render_page`."),
        ("Tests of `load_carts` need the variable CART_DB.", "Tests of `load_carts` need the variable CART_KEY."),
        ("The flag carts_v2 guards `make release`.", "The flag carts_v3 guards `make release`."),
        ("We chose `redis` for load_carts.", "We chose `kafka` for load_carts."),
        ("We also chose `md5` as the checksum for a_b.", "We also chose `sha1` as the checksum for a_b."),
        ("The loop of `load_carts` is calling `db_pool`.", "The loop of `load_carts` is calling `io_loop`."),
        ("load_carts is not owned by Ada Byron.", "load_carts is not owned by Grace Hopper."),
        ("The port of `api.py` is 8080.", "The port of `api.py` on staging hosts is 9090."),
        ("The variable CART_DB overrides `load_carts`.", "The variable CART_URL overrides `load_carts`."),
        (
            "The variable CART_DB overrides `load_carts`.",
            "The variable that hides `load_carts` was renamed to CART_URL.",
        ),
        ("Tests of `load_carts` read CART_DB.", "The file that tests of `load_carts` read was renamed to CART_URL."),
        ("load_carts fails in line 30.", "load_carts fails in line 40."),
        ("The port of `api.py` is 8080.", "The port of `api.py` is `api_port`."),
    ],
)
def test_what_may_have_several_values_excludes_nothing(one: str, other: str) -> None:
    assert assertion(one).value_in(assertion(other)) is None
    assert assertion(other).value_in(assertion(one)) is None


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


@pytest.mark.parametrize("part", [" ,", ",", " because", " of x is"])
def test_a_hostile_sentence_takes_few_steps(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch, [assertions])
    list(assertions_in(f"The port of `store.py` is 5{part * 300}", ("store.py",)))
    assert count.taken < 100_000
