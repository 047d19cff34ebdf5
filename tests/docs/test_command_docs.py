"""The page about commands says what the commands themselves say."""

from pathlib import Path

from claude_mem_lite.cli.reference.commands import reference

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_is_what_the_commands_generate() -> None:
    told = "run `python -m claude_mem_lite.cli.reference.commands > docs/commands.md`"
    assert PAGE.read_text(encoding="utf-8") == reference(), told
