"""The hook configuration, and how our own entries are recognised in it."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import IGNORED_TOOLS, KNOWN_EVENTS, TOOL_EVENTS, is_own_tool
from claude_mem_lite.install.hook_config import hook_command, hook_groups, is_ours, tool_matcher
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home


def in_shell(command: str, payload: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """A command as clients run it."""
    return subprocess.run(["/bin/sh", "-c", command], input=payload, capture_output=True, check=False)


def test_every_event_we_know_has_one_hook_with_a_timeout(home: Home) -> None:
    groups = hook_groups(home)
    assert set(groups) == set(KNOWN_EVENTS)
    assert all(isinstance(group["hooks"], list) and len(group["hooks"]) == 1 for group in groups.values())


def test_the_command_runs_the_copy_of_the_hook_program_in_the_home(home: Home) -> None:
    run = [str(home.hook_python), "-I", "-S", str(home.hook_program), "Stop"]
    assert shlex.split(hook_command(home, "Stop"))[-6:] == ["exec", *run]


def test_a_folder_with_spaces_and_quotes_survives_the_shell(tmp_path: Path) -> None:
    home = Home(tmp_path / "it's a $HOME")
    home.hook_program.parent.mkdir(parents=True)
    home.hook_program.touch()
    home.hook_python.write_text('#!/bin/sh\necho ran "$@"')
    home.hook_python.chmod(0o700)
    ran = in_shell(hook_command(home, "Stop"))
    assert ran.stdout.decode() == f"ran -I -S {home.hook_program} Stop\n"


@pytest.mark.parametrize("agent", NAMES)
def test_the_hooks_of_a_home_that_was_deleted_read_the_payload_and_say_nothing(home: Home, agent: str) -> None:
    for event in KNOWN_EVENTS:
        ran = in_shell(hook_command(home, event, agent), b"x" * 300_000)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_they_stay_silent_when_a_command_has_made_the_home_again(home: Home) -> None:
    """A worker that a command starts makes a home, but no program for hooks in it."""
    home.make()
    ran = in_shell(hook_command(home, "Stop"), b"{}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.mark.parametrize("lacks", ["no link", "link to nowhere", "no program"])
@pytest.mark.parametrize("agent", NAMES)
def test_hooks_whose_python_or_program_is_gone_read_the_payload_and_say_nothing(
    home: Home, agent: str, lacks: str
) -> None:
    home.hook_program.parent.mkdir(parents=True)
    if lacks in ("no link", "link to nowhere"):
        home.hook_program.touch()
    if lacks == "link to nowhere":
        home.hook_python.symlink_to(home.root / "gone" / "python3")
    elif lacks == "no program":
        home.hook_python.symlink_to(sys.executable)
    for event in KNOWN_EVENTS:
        ran = in_shell(hook_command(home, event, agent), b"x" * 300_000)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_the_end_of_a_session_is_given_two_seconds(home: Home) -> None:
    hooks = hook_groups(home)["SessionEnd"]["hooks"]
    assert isinstance(hooks, list)
    assert hooks[0]["timeout"] == 2


def test_only_tool_events_have_a_matcher(home: Home) -> None:
    assert {event for event, group in hook_groups(home).items() if "matcher" in group} == set(TOOL_EVENTS)


@pytest.mark.parametrize(
    "tool",
    [
        *IGNORED_TOOLS,
        "mcp__claude-mem-lite__memory_search",
        "mcp__claude_mem_lite__memory_search",
        "mcp__plugin_claude-mem-lite_m__x",
        "mcp__plugin_tools_claude-mem-lite__x",
    ],
)
def test_a_tool_not_worth_capturing_is_left_out(tool: str) -> None:
    assert re.search(tool_matcher(), tool) is None
    assert tool in IGNORED_TOOLS or is_own_tool(tool)


@pytest.mark.parametrize(
    "tool",
    [
        *("Bash", "Edit", "Write", "Read", "GrepAll", "MyGlob", "LSP", "mcp__other__Grep", "TodoWrite"),
        *("mcp__claude-mem-lite-fork__x", "mcp__tracker__about_claude-mem-lite"),
    ],
)
def test_any_other_tool_is_captured(tool: str) -> None:
    assert re.search(tool_matcher(), tool) is not None
    assert not is_own_tool(tool)


@pytest.mark.parametrize("agent", NAMES)
def test_every_command_we_write_is_ours(home: Home, agent: str) -> None:
    commands = [hook_command(home, event, agent) for event in KNOWN_EVENTS]
    assert all(is_ours({"type": "command", "command": command}) for command in commands)


@pytest.mark.parametrize(
    "command",
    [
        "'/old home/py' -I -S '/old venv/lib/python3.11/site-packages/claude_mem_lite/hook/hook.py' Stop",
        "[ -d /h/claude_mem_lite/hook ] || exec cat >/dev/null; exec /h/py -I -S /h/claude_mem_lite/hook/hook.py Stop",
        "/h/py -I -S /x/claude_mem_lite/hook/hook.py SessionStart",
        "env A=1 /h/py -I -S /x/claude_mem_lite/hook/hook.py SessionStart",
        'trap "" TERM; exec /h/py -I -S /x/claude_mem_lite/hook/hook.py StopFailure',
    ],
)
def test_a_command_of_an_older_install_is_ours(command: str) -> None:
    assert is_ours({"type": "command", "command": command})


@pytest.mark.parametrize(
    "hook",
    [
        None,
        "text",
        {},
        {"command": None},
        {"command": "cat /x/claude_mem_lite/hook/hook.py"},
        {"command": "echo 'claude_mem_lite/hook/hook.py is nice' today"},
        {"command": "/x/other_claude_mem_lite/hook/hook.py Stop"},
        {"command": "py -I -S '/x/claude_mem_lite/hook/hook.py Stop"},
        {"url": "http://localhost/claude_mem_lite/hook/hook.py"},
    ],
)
def test_what_only_looks_similar_is_not_ours(hook: JsonValue) -> None:
    assert not is_ours(hook)


@pytest.mark.parametrize(
    "command",
    [
        "{home}/py -I -S {home}/claude_mem_lite/hook/oldhook.py Stop",
        "python3 {home}/hook/oldhook.py Stop",
        "{home}/bin/hook Stop",
        'trap "" TERM; exec {home}/py -I -S /elsewhere/hook.py StopFailure',
        "A=1 exec {home}/py /elsewhere/hook.py",
    ],
)
def test_a_command_whose_program_lies_in_our_home_is_ours(home: Home, command: str) -> None:
    hook: JsonValue = {"type": "command", "command": command.format(home=home.root)}
    assert is_ours(hook, home)
    assert not is_ours(hook, Home(home.root.parent / "other"))


@pytest.mark.parametrize(
    "command",
    ["cp {home}/memory.db /backup", "tail {home}/worker.log", "python3 /mine/report.py {home}/memory.db", "", "A=1"],
)
def test_a_command_that_only_reads_our_home_is_the_users_own(home: Home, command: str) -> None:
    assert not is_ours({"type": "command", "command": command.format(home=home.root)}, home)
