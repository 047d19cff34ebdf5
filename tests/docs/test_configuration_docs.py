"""docs/configuration.md lists every setting as the program has it, every variable, and examples that load."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from claude_mem_lite.cli.reference.settings import with_table
from claude_mem_lite.compress.model.turn_digest import MIN_RAW
from claude_mem_lite.config import Config
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.project_config import ALLOWED, MAX_BYTES, NAME
from tests.docs.pages import ROOT, page, pages

PAGE = page("docs/configuration.md")
EXAMPLES = [(one.name, body) for one in pages() for body in one.blocks("toml")]


def test_every_setting_is_documented_as_the_program_has_it() -> None:
    told = "run `python -m claude_mem_lite.cli.reference.settings docs/configuration.md`"
    assert with_table(PAGE.text) == PAGE.text, told
    assert all(f"| `{key.name}` |" in PAGE.text for key in fields(Config))


def test_what_a_project_may_say_is_documented() -> None:
    part = PAGE.text.partition("## A project's own file")[2].partition("\n## ")[0]
    assert set(ALLOWED) == {
        key for row in re.findall(r"^\| (`.*?`) \|", part, re.M) for key in re.findall(r"`(\w+)`", row)
    }
    assert f"`{NAME}`" in part
    assert f"{MAX_BYTES // 1024} KiB" in part


@pytest.mark.parametrize(("where", "body"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_an_example_of_the_file_can_be_loaded(where: str, body: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(body)
    assert load_config(path, {}) != Config()


def test_the_least_size_of_a_turn_that_a_model_is_asked_about_is_told() -> None:
    assert f"less than {MIN_RAW:,} characters" in page("docs/models.md").text


def test_every_variable_of_ours_is_documented() -> None:
    sources = (ROOT / "src").rglob("*.py")
    used = {name for path in sources for name in re.findall(r"CLAUDE_MEM_LITE_[A-Z_]+", path.read_text("utf-8"))}
    assert used <= set(re.findall(r"`(CLAUDE_MEM_LITE_[A-Z_]+)`", PAGE.text))
