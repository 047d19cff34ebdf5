"""The presets, as they were agreed on."""

import re

import pytest

from claude_mem_lite.config import Config
from claude_mem_lite.context.presets import BUILT_IN, find_preset
from claude_mem_lite.context.selection import FULL_BUDGET
from claude_mem_lite.errors import ConfigError
from tests.docs.pages import page

BY_VALUE = "handoff, sessions, project, universal, language, changed code, observations"
AGREED = {
    "layers": "session index 400, function map 500, learnings 300, observations 600",
    "codes": "impl 300, dec 200, block+next 300, project 400, universal 300, language 300",
}


def test_the_default_preset_has_layers_without_caps() -> None:
    preset = BUILT_IN["balanced"]
    assert preset.by_value
    assert ", ".join(layer.name for layer in preset.layers) == BY_VALUE
    assert f"| `balanced` | {BY_VALUE}: by value, without shares |" in page("docs/context.md").text


@pytest.mark.parametrize("name", AGREED)
def test_a_preset_has_its_layers_and_caps_in_order(name: str) -> None:
    layers = BUILT_IN[name].layers
    assert ", ".join(f"{layer.name} {layer.cap_tokens}" for layer in layers) == AGREED[name]
    assert sum(layer.cap_tokens for layer in layers) == FULL_BUDGET - 200


def test_the_page_tells_the_same_numbers() -> None:
    documented = dict(re.findall(r"^\| `(\w+)` \| (.+), reserve 200 \|$", page("docs/context.md").text, re.M))
    assert documented == AGREED


def test_the_settings_choose_unless_a_preset_is_asked_for() -> None:
    config = Config(preset="layers")
    assert find_preset(config).name == "layers"
    assert find_preset(config, "codes").name == "codes"
    with pytest.raises(ConfigError, match="there is no preset 'code'; known are balanced, layers, codes"):
        find_preset(config, "code")
