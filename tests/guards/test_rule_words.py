"""`guards.rule_words`: a rule as people read it."""

from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.guards.rule_words import in_words


def test_a_command_is_named_with_its_flags() -> None:
    assert in_words(Rule(commands=("git push",), flags=("--force",))) == "runs `git push` with `--force`"


def test_excepted_commands_are_named() -> None:
    assert in_words(Rule(commands=("pytest",), excepts=("uv run",))) == "runs `pytest`, except `uv run`"


def test_an_excepted_position_is_described() -> None:
    words = in_words(Rule(commands=("grep",), excepts=("<",)))
    assert words == "runs `grep`, except as a filter of another command's output"


def test_excepted_commands_stand_before_excepted_positions() -> None:
    words = in_words(Rule(commands=("cat",), excepts=("|", "cat -A")))
    assert words == "runs `cat`, except `cat -A` or inside a pipe or with a redirection"
