"""Tables of programs, options and phrases: what they name fits together."""

import pytest

from claude_mem_lite.guards import programs
from claude_mem_lite.guards.matching import Call, matched
from claude_mem_lite.guards.rule import Rule

COMMANDS = sorted(
    {
        *(command for commands in programs.PHRASES.values() for command in commands),
        *(command for commands in programs.FLAG_COMMANDS.values() for command in commands),
        *(runner for group in programs.TEST_RUNNERS for runner in group),
    }
)


def test_ambiguous_names_are_programs() -> None:
    assert programs.AMBIGUOUS <= programs.PROGRAMS


def test_words_behind_a_program_belong_to_a_known_one() -> None:
    assert {lead.split()[0] for lead in programs.SUBCOMMANDS} <= programs.PROGRAMS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_tables_matches_itself(command: str) -> None:
    call = Call("Bash", {"command": f"sudo {command} x"}, "/", "/")
    assert matched(Rule(commands=(command,)), call)


@pytest.mark.parametrize("command", [one for group in programs.HARMLESS.values() for one in group])
def test_a_harmless_command_passes(command: str) -> None:
    lead = next(lead for lead, group in programs.HARMLESS.items() if command in group)
    rule = Rule(commands=(lead,), excepts=programs.HARMLESS[lead])
    assert not matched(rule, Call("Bash", {"command": command}, "/", "/"))
    assert matched(rule, Call("Bash", {"command": lead}, "/", "/"))
