"""The file of a project's guards: what the hook reads, whole or not at all."""

import json
from dataclasses import replace

import pytest

from claude_mem_lite import held_guards
from claude_mem_lite.guards import guards_file
from claude_mem_lite.guards.guard import Example, Guard
from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.paths import Home

PROJECT = "example.org/team/shop"
NAME = held_guards.name_of(PROJECT)
GUARD = Guard(
    "g1",
    PROJECT,
    Rule(commands=("npm",)),
    "use pnpm,\nnot npm",
    "pnpm",
    "ask",
    "active",
    Example("Bash", "npm ci"),
    Example("Bash", "pnpm i"),
    "",
    "2026-11-03T10:00:00Z",
    "",
    "",
)


def test_only_active_guards_are_written_closed_to_others(home: Home) -> None:
    guards_file.write(home, PROJECT, [GUARD, replace(GUARD, id="g2", status="paused")])
    tokens, *lines = (home.guards / NAME).read_text().splitlines()
    assert tokens == "npm"
    (written,) = map(json.loads, lines)
    assert (written["id"], written["date"], written["reason"]) == ("g1", "2026-11-03", "use pnpm, not npm")
    assert (home.guards / NAME).stat().st_mode & 0o777 == 0o600
    assert home.guards.stat().st_mode & 0o777 == 0o700


def test_what_is_written_is_read_again(home: Home) -> None:
    guards_file.write(home, PROJECT, [GUARD])
    (held,) = held_guards.read(home, NAME)
    assert (held.id, held.project) == ("g1", PROJECT)
    assert (held.fires_on.tool, held.fires_on.text, held.passes_on.text) == ("Bash", "npm ci", "pnpm i")
    assert held_guards.names(home) == [NAME]


def test_without_an_active_guard_nothing_is_left(home: Home) -> None:
    guards_file.write(home, PROJECT, [GUARD])
    guards_file.write(home, PROJECT, [replace(GUARD, status="removed")])
    assert not home.guards.exists()
    assert held_guards.names(home) == []


@pytest.mark.parametrize("content", [b"\n", b"npm\n{", b"npm\n[]\n", b"npm\n{}\n", b'npm\n{"rule": {}}\n', b"\xff"])
def test_a_broken_file_is_a_value_error(home: Home, content: bytes) -> None:
    guards_file.write(home, PROJECT, [GUARD])
    (home.guards / NAME).write_bytes(content)
    with pytest.raises(ValueError):
        held_guards.read(home, NAME)


def test_the_files_of_other_projects_can_be_removed(home: Home) -> None:
    guards_file.write(home, PROJECT, [GUARD])
    guards_file.write(home, "/home/ada/till", [GUARD])
    guards_file.remove_others(home, [PROJECT])
    assert held_guards.names(home) == [NAME]


def test_the_name_of_a_file_tells_nothing_of_the_project_and_is_safe_in_a_command() -> None:
    assert NAME.isalnum()
    assert len(NAME) == 16
    assert held_guards.name_of("/home/ada/my project") != NAME
