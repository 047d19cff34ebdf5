"""docs/configuration.md lists every setting with its default, every variable, and examples that load."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from claude_mem_lite.compress.model.digest import LEAST_RAW
from claude_mem_lite.config import Config, load_config
from tests.docs.pages import ROOT, page, pages

PAGE = page("docs/configuration.md")
ROWS = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", PAGE.text, re.M))
EXAMPLES = [(one.name, body) for one in pages() for body in one.blocks("toml")]


def as_toml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def test_every_setting_is_documented_with_its_default() -> None:
    defaults = {field.name: as_toml(field.default) for field in fields(Config)}
    assert {**defaults, "presets": "{}"} == ROWS  # written as tables, kept as a tuple


@pytest.mark.parametrize(("where", "body"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_of_the_file_can_be_loaded(where: str, body: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(body)
    assert load_config(path, {}) != Config()


def test_the_least_size_of_a_turn_that_a_model_is_asked_about_is_told() -> None:
    assert f"less than {LEAST_RAW:,} characters" in page("docs/models.md").text


def test_every_variable_of_ours_is_documented() -> None:
    sources = (ROOT / "src").rglob("*.py")
    used = {name for path in sources for name in re.findall(r"CLAUDE_MEM_LITE_[A-Z_]+", path.read_text("utf-8"))}
    assert used <= set(re.findall(r"`(CLAUDE_MEM_LITE_[A-Z_]+)`", PAGE.text))
