"""Tests of questions that are answered with yes or no, at a real terminal: `cli/setup/yes_or_no.py`."""

import pytest

from claude_mem_lite.paths import Home
from tests.support.terminals import CTRL_D, at_terminal

TOOLS, MODEL, LAST = "each time? [y/N]: ", "Who writes the notes? [rules]: ", "Go ahead? [Y/n]: "


def test_another_answer_is_told_which_there_are(home: Home) -> None:
    with at_terminal("install") as terminal:
        place = terminal.wait_for(TOOLS)
        terminal.type("maybe\n")
        place = terminal.wait_for("Error: answer y or n", place)
        terminal.wait_for(TOOLS, place)


@pytest.mark.parametrize(("typed", "told"), [("YES", "allowed"), (" n ", "as before"), ("  ", "as before")])
def test_case_and_spaces_do_not_matter(home: Home, typed: str, told: str) -> None:
    with at_terminal("install") as terminal:
        place = terminal.wait_for(TOOLS)
        terminal.type(f"{typed}\n")
        place = terminal.wait_for(MODEL, place)
        terminal.type("\n")
        terminal.wait_for(LAST, place)
    assert f"Memory tools: {told}." in terminal.shown


def test_the_end_of_the_input_is_answered_on_a_line_of_its_own(home: Home) -> None:
    with at_terminal("install") as terminal:
        terminal.wait_for(TOOLS)
        terminal.type(CTRL_D)
        assert terminal.finish() == 1
    assert "\nclaude-mem-lite: nothing was done" in terminal.shown.replace("\r", "")
