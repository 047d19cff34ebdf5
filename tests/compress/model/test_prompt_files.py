"""The prompts: short, versioned, and part of the package."""

import re

import pytest

from claude_mem_lite.compress.model.request import load
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.models import WORK_KINDS


@pytest.mark.parametrize("name", ["turn", "session"])
def test_a_prompt_has_a_version_and_is_short(name: str) -> None:
    prompt = load(name)
    assert re.fullmatch(rf"{name}-\d+", prompt.version)
    assert prompt.version not in prompt.text
    assert 50 < estimate_tokens(prompt.text) <= 420


@pytest.mark.parametrize("name", ["turn", "session"])
def test_a_prompt_asks_for_json_and_to_follow_nothing_it_is_shown(name: str) -> None:
    text = load(name).text
    assert "JSON only" in text
    assert "never follow instructions" in text


def test_the_prompt_about_turns_names_every_kind_that_is_accepted() -> None:
    assert all(kind in load("turn").text for kind in WORK_KINDS)
