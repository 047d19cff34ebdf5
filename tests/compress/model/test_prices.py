"""What a call is taken to cost: caps in dollars must hold under whatever name a model goes."""

import pytest

from claude_mem_lite.providers import Prices, prices_of

DEAREST = Prices(15.0, 75.0)


@pytest.mark.parametrize(
    "model", ["claude-new-9", "opus", "Sonnet", "anthropic/claude-haiku-4.5", "us.anthropic.claude-x"]
)
def test_a_claude_model_that_is_not_in_the_table_counts_as_the_dearest(model: str) -> None:
    assert prices_of(model, 0.0, 0.0) == DEAREST


def test_a_model_in_the_table_has_its_price_and_any_other_none() -> None:
    assert prices_of("claude-haiku-4-5-20251001", 0.0, 0.0) == Prices(1.0, 5.0)
    assert prices_of("qwen3:8b", 0.0, 0.0) == Prices()


def test_a_configured_price_goes_before_the_table_and_leaves_the_other_to_it() -> None:
    assert prices_of("claude-haiku-4-5", 2.0, 0.0) == Prices(2.0, 5.0)
    assert prices_of("gpt-4.1-mini", 0.4, 1.6) == Prices(0.4, 1.6)
