"""Tests of `compress/model/response_parser.py`, `compress/model/request.py` and `compress/model/response_parser.py`:
answers as a model with 1.5 billion parameters gives them, without claims that have no grounds in the digest.

Each case has the form of a real answer, in made-up words."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from claude_mem_lite.compress.model.request import TurnRequest, ask
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.models import Draft, SessionSummary
from tests.compress.model.test_request import Canned

SHOP = TurnRequest(
    "",
    ("Sum the cart in one pass",),
    "Asked:\nAdd a cache for prices to the shop\n\nEdited:\nsrc/cart.py: added price_of (+9 -0)\n\n"
    "Ran:\n$ pytest tests: 14 passed\n\nSaid at the end:\nPrices were read from disk for every item, which took 40 ms. "
    "`price_of` keeps 500 prices now. You may want to clear the cache at night.",
    ("src/cart.py",),
)
CARD = {
    "kind": "feature",
    "title": "Keep 500 prices in memory",
    "summary": "Prices were read from disk for every item.",
    "facts": [],
    "files": ["./src/cart.py", "src/prices.py"],
}


def of_shop(**more: object) -> Sequence[Draft]:
    return ask(Canned(json.dumps({"memories": [{**CARD, **more}], "session": {}})), SHOP).drafts


def test_a_fact_whose_words_numbers_or_names_the_digest_does_not_have_is_left_out() -> None:
    facts = [
        "pytest tests: 14 passed",
        "pytest tests: 15 passed",
        "price_list keeps 500 prices now",
        "The issue seems to be in the component that renders it",
        "pytest tests: 14 passed",
        "Prices were read from … (1,200 characters cut) … disk",
    ]
    assert of_shop(facts=facts)[0].facts == ("pytest tests: 14 passed",)


def test_a_sentence_with_a_name_that_the_digest_does_not_have_is_left_out() -> None:
    (draft,) = of_shop(summary="Prices were read from disk for every item. They are kept in src/price_cache.py now.")
    assert draft.summary == "Prices were read from disk for every item."


def test_a_title_with_a_name_that_the_digest_does_not_have_is_made_of_the_summary() -> None:
    assert of_shop(title="Keep prices in PriceStore.load_all")[0].title == "Prices were read from disk for every item"


def test_files_that_were_not_edited_are_left_out() -> None:
    assert of_shop()[0].files == ("src/cart.py",)


def test_a_title_that_repeats_the_request_is_made_of_the_summary_if_that_reads_as_a_whole() -> None:
    (draft,) = of_shop(title="Add a cache for prices to the shop")
    assert draft.title == "Prices were read from disk for every item"
    long = (
        "Prices were read from the disk for all of the items of each of the carts of the shop and their own prices too"
    )
    (draft,) = of_shop(title="Add a cache for prices to the shop", summary=f"{long}.")
    assert draft.title == "Add a cache for prices to the shop"


def test_a_long_request_as_a_title_is_not_cut_to_a_part_of_it() -> None:
    asked = "clean up the cart as well, leave the prices for now because that is a larger piece of work, and note it"
    request = replace(SHOP, digest=SHOP.digest.replace("Add a cache for prices to the shop", asked))
    (draft,) = ask(Canned(json.dumps({"memories": [{**CARD, "title": asked}]})), request).drafts
    assert draft.title == "Prices were read from disk for every item"


@pytest.mark.parametrize(
    "summary",
    [
        "Add a cache for prices to the shop.",
        "The team needs to add a cache for prices, as the disk is slow.",
        "We wonder if prices should be kept.",
        "The session is dedicated to the cache of the shop.",
        "Prices are read from lib/price_reader.rb for every item.",
    ],
)
def test_a_memory_that_repeats_the_request_narrates_or_invents_is_none_and_no_failure(summary: str) -> None:
    assert of_shop(summary=summary) == ()


def test_a_summary_that_tells_of_the_agent_is_told_without_it() -> None:
    (draft,) = of_shop(summary="The agent noticed that prices were read from disk for every item.")
    assert draft.summary == "Prices were read from disk for every item."


def test_a_memory_that_is_among_the_titles_so_far_is_none() -> None:
    assert of_shop(title="Sum the cart in one pass") == ()


@pytest.mark.parametrize(("kind", "expected"), [("bugfix", "discovery"), ("decision", "decision")])
def test_a_turn_that_changed_nothing_found_something_out_or_settled_it(kind: str, expected: str) -> None:
    looked = TurnRequest("", (), "Asked:\nWhy so slow?\n\nSaid at the end:\nPrices were read from disk.")
    card = {**CARD, "kind": kind, "title": "Prices come from disk for every item"}
    (draft,) = ask(Canned(json.dumps({"memories": [card]})), looked).drafts
    assert draft.kind == expected


def test_an_answer_that_loops_until_it_is_cut_off_gives_its_whole_memories() -> None:
    whole = json.dumps({"memories": [CARD, {**CARD, "title": "Keep prices of the shop in memory"}, CARD, CARD]})
    drafts = ask(Canned(whole[:-30]), SHOP).drafts
    assert [draft.title for draft in drafts] == ["Keep 500 prices in memory", "Keep prices of the shop in memory"]


def test_a_summary_that_loops_until_it_is_cut_off_is_refused() -> None:
    looping = "The cache keeps prices and will need to keep them. " * 80
    with pytest.raises(ModelRefused):
        ask(Canned(f'{{"memories": [{{"title": "Keep 500 prices in memory", "summary": "{looping}'), SHOP)


def test_a_key_that_is_repeated_counts_with_its_last_value() -> None:
    twice = f'{{"memories": [], "memories": [{json.dumps(CARD)}]}}'
    assert len(ask(Canned(twice), SHOP).drafts) == 1


def test_the_empty_template_of_the_prompt_is_no_answer() -> None:
    empty = {"kind": "", "title": "", "summary": "", "facts": [], "files": []}
    with pytest.raises(ModelRefused):
        ask(Canned(json.dumps({"memories": [empty], "session": {"headline": ""}})), SHOP)


def summary_of_shop(**session: object) -> SessionSummary | None:
    return ask(Canned(json.dumps({"memories": [], "session": session})), SHOP).summary


def test_a_session_has_no_next_step_that_nobody_named() -> None:
    steps = ["Clear the cache at night", "Review the changes", "None"]
    summary = summary_of_shop(headline="Prices are kept in memory", next_steps=steps)
    assert summary is not None
    assert summary.next_steps == ("Clear the cache at night",)


def test_a_session_says_each_sentence_once() -> None:
    cause = "Prices were read from disk for every item."
    summary = summary_of_shop(headline="Prices are kept in memory", learned=cause, completed=cause)
    assert summary is not None
    assert (summary.learned, summary.completed) == (cause, "")


@pytest.mark.parametrize("padding", ["Yes", "True", "Done.", "n/a", "Completed"])
def test_a_word_of_assent_is_no_summary(padding: str) -> None:
    summary = summary_of_shop(headline="Prices are kept in memory", completed=padding)
    assert summary is not None
    assert summary.completed == ""


def test_a_headline_that_repeats_the_request_leaves_the_summary_to_rules() -> None:
    assert summary_of_shop(headline="Add a cache for prices to the shop") is None
