"""What README and docs show must exist: commands with their options, make targets, files and headings."""

import re
from pathlib import Path

import click
import pytest

from tests.docs.pages import ROOT, Page, page, pages
from tests.support.command_lines import parse

PAGES = pages()
GENERATED = "docs/commands.md"
SHOWN = [(one.name, words) for one in PAGES if one.name != GENERATED for words in one.commands("claude-mem-lite")]
LINKS = [(one.name, target) for one in PAGES for target in one.links()]


@pytest.mark.parametrize(("where", "words"), SHOWN, ids=[f"{name}: {' '.join(words)}" for name, words in SHOWN])
def test_a_command_that_is_shown_can_be_called_so(
    where: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parse(words)


def test_an_option_that_does_not_exist_would_be_noticed() -> None:
    with pytest.raises(click.UsageError):
        parse(["claude-mem-lite", "search", "words", "--nearest"])


def test_the_readme_shows_the_commands_a_new_user_needs() -> None:
    shown = {words[1] for words in page("README.md").commands("claude-mem-lite")}
    assert shown >= {
        "install",
        "uninstall",
        "status",
        "sessions",
        "context",
        "search",
        "remember",
        "doctor",
        "off",
        "on",
    }


@pytest.mark.parametrize("one", PAGES, ids=[one.name for one in PAGES])
def test_a_make_target_that_is_shown_exists(one: Page) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    shown = {words[-1] for words in one.commands("make")}
    assert shown <= targets


@pytest.mark.parametrize(("where", "target"), LINKS, ids=[f"{name}: {target}" for name, target in LINKS])
def test_a_link_leads_somewhere(where: str, target: str) -> None:
    path, _, anchor = target.partition("#")
    linked = (ROOT / where).parent / path if path else ROOT / where
    assert linked.exists()
    if anchor:
        assert anchor in page(str(linked.resolve().relative_to(ROOT))).anchors()
