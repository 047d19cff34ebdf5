"""Every command teaches: more than one paragraph, and examples that the program would take."""

import inspect
import shlex
from pathlib import Path

import click
import pytest

from claude_mem_lite.cli.main import cli
from claude_mem_lite.cli.reference.commands import commands
from tests.support.command_lines import parse

COMMANDS = dict(commands(cli, "claude-mem-lite"))
SHELL_SIGNS = ("|", ">", "<", "&&", ";")


def examples(command: click.Command) -> list[str]:
    """The lines under `Example:` or `Examples:`."""
    _, _, shown = inspect.cleandoc(command.help or "").partition("\b\nExample")
    return [line.strip() for line in shown.splitlines()[1:] if line.strip()]


EXAMPLES = [(path, line) for path, command in COMMANDS.items() for line in examples(command)]


def there(word: str, folder: Path) -> str:
    """A word of an example; if it names a file or folder of the user, one that exists."""
    name, is_given, value = word.partition("=~/")
    if is_given:
        return f"{name}={there(f'~/{value}', folder)}"
    path = folder / word.removeprefix("~").lstrip("/")
    if word.endswith((".jsonl", ".db")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    elif word.startswith(("~/", "/")):
        path.mkdir(parents=True)
    else:
        return word
    return str(path)


@pytest.mark.parametrize("path", COMMANDS)
def test_the_help_is_more_than_one_line_with_a_summary_and_examples(path: str) -> None:
    command = COMMANDS[path]
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    assert len(paragraphs) >= 3, "what it is for, what it does, examples"
    assert any(not one.startswith("\b") for one in paragraphs[1:])
    assert examples(command)
    assert path == "claude-mem-lite" or paragraphs[0] == command.short_help


@pytest.mark.parametrize(("path", "line"), EXAMPLES, ids=[f"{path}: {line}" for path, line in EXAMPLES])
def test_an_example_of_the_help_can_be_called_so(
    path: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line, comments=True)
    if words[0] != "claude-mem-lite":  # of another program, which runs ours in between
        assert "claude" in line
        return
    end = next((index for index, word in enumerate(words) if word in SHELL_SIGNS), len(words))
    parse([there(word, tmp_path) for word in words[:end]])
