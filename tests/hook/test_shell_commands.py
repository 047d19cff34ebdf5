"""Parser of shell lines: what it finds in generated lines, and how long hostile lines can keep it."""

import shlex
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.hook.shell_commands import MAX_COMMANDS, MAX_DEPTH, UNKNOWN, parse

if TYPE_CHECKING:
    from _typeshed import TraceFunction

COMMANDS = (
    "npm ci",
    "npm install --save-dev typescript",
    "git push --force origin main",
    "rm -rf build",
    "terraform apply -auto-approve",
    "pytest -q tests/größe",
    "curl -s https://example.org/設定",
)
# A simple command in, a simple command out.
WRAPPERS: tuple[Callable[[str], str], ...] = (
    lambda c: f"sudo {c}",
    lambda c: f"sudo -u deploy -- {c}",
    lambda c: f"env A=1 B='two words' {c}",
    lambda c: f"timeout -k 5 60 {c}",
    lambda c: f"nice -n 10 {c}",
    lambda c: f"nohup {c}",
    lambda c: f"command {c}",
    lambda c: f"A='größe « x »' {c}",
    lambda c: f"/usr/bin/env {c}",
    lambda c: f"xargs -n 1 {c}",
    lambda c: f"stdbuf -oL {c}",
    lambda c: f"uv run {c}",
    lambda c: f"sh -c {shlex.quote(c)}",
    lambda c: f"bash -euo pipefail -c {shlex.quote(c)}",
    lambda c: f"eval {shlex.quote(c)}",
    lambda c: f"gdb -q --args {c}",
)
# A command in, a list of commands out.
LISTS: tuple[Callable[[str], str], ...] = (
    lambda c: f"cd src && {c}",
    lambda c: f"echo 'a; b' ; {c}",
    lambda c: f"false || {c}",
    lambda c: f"{c} && echo fertig",
    lambda c: f"({c})",
    lambda c: f"{{ {c}\n}}",
    lambda c: f"if true; then\n{c}\nfi",
    lambda c: f"for x in a b; do\n{c}\ndone",
    lambda c: f"case $x in\n  a) {c}\n  ;;\nesac",
    lambda c: f"echo $({c}\n)",
    lambda c: f'echo "größe $({c}\n) ende"',
    lambda c: f"sh -c {shlex.quote(c)}",
    lambda c: f"bash <<'END_OF_IT'\n{c}\nEND_OF_IT",
    lambda c: f"cat <<'TEXT' > notes\nit's (a text\nTEXT\n{c}",
    lambda c: f"# a comment (it's one\n{c}",
    lambda c: f"cat <<WORDS > notes\nit's \"$({c}\n)\nWORDS\n",
    lambda c: f"echo ${{X:-$({c}\n)}}",
    lambda c: f"coproc X {{ {c}\n}}",
    lambda c: f"git commit -m \"$(cat <<'EOF'\nDon't (\nEOF\n)\" && {c}",
)
MENTIONS: tuple[Callable[[str], str], ...] = (
    lambda c: f"echo {shlex.quote(c)}",
    lambda c: f"git commit -m {shlex.quote(c)}",
    lambda c: f"git commit -m 'x' -m {shlex.quote(c)}",
    lambda c: f"grep -rn {shlex.quote(c)} docs",
    lambda c: f"cat <<'TEXT' > notes\n{c}\nTEXT\n",
    lambda c: f"git commit -m \"$(cat <<'TEXT'\n{c}\nTEXT\n)\"",
    lambda c: f"ls {shlex.quote('/tmp/' + c)}",
    lambda c: f"python -c {shlex.quote(c)}",
    lambda c: f"NOTE={shlex.quote(c)}",
    lambda c: f"printf '%s' {shlex.quote(c)}",
    lambda c: f"gh pr create --title x --body {shlex.quote(c)}",
    lambda c: f"curl -d {shlex.quote(c)} http://localhost",
    lambda c: f"tee notes <<< {shlex.quote(c)}",
    lambda c: f"names=({shlex.quote(c)})",
    lambda c: f"[[ $x == {shlex.quote(c)} ]]",
    lambda c: f"ls > {shlex.quote(c)}",
    lambda c: "ls # " + c.replace("\n", " ") + "\n",
)
MESSAGES = st.text(alphabet="abc äßé 設定 «»„“ .,:!?()[]{}#*$\\\"'`&|;<>~-_/=\n", max_size=30)


def named(line: str) -> list[list[str]]:
    return [words for words, *_ in parse(line, "/home/dev")]


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.sampled_from(COMMANDS),
    st.lists(st.sampled_from(WRAPPERS), max_size=3),
    st.lists(st.sampled_from(LISTS), max_size=3),
)
def test_a_command_is_found_within_wrappers_and_lists(
    command: str, wrappers: list[Callable[[str], str]], lists: list[Callable[[str], str]]
) -> None:
    line = command
    for wrap in (*wrappers, *lists):
        line = wrap(line)
    assert shlex.split(command) in named(line)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.sampled_from(COMMANDS),
    MESSAGES,
    st.sampled_from(MENTIONS),
    st.lists(st.sampled_from(LISTS), max_size=2),
)
def test_a_mention_is_not_found(
    command: str, message: str, mention: Callable[[str], str], lists: list[Callable[[str], str]]
) -> None:
    line = mention(f"{message.replace('TEXT', '')}\n{command}")
    for wrap in lists:
        line = wrap(line)
    assert not [words for words in named(line) if words[:2] == shlex.split(command)[:2]]


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text(alphabet="ab \t\n;&|()<>'\"\\$`#{}[]=!*-~", max_size=80))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for words, folder, branch, outer, is_linked in parse(text, "/home/dev"):
        assert words
        assert all(isinstance(word, str) for word in (*words, folder, branch))
        assert all(outer) or not outer
        assert is_linked in (True, False)


def test_the_wrappers_of_a_command_are_told() -> None:
    commands = parse("sudo uv run pytest -q", "/")
    assert [words[0] for words, *_ in commands] == ["sudo", "uv", "pytest"]
    assert [words[0] for words in commands[-1][3]] == ["sudo", "uv"]


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("ls", "/home/dev"),
        ("cd src && ls", "/home/dev/src"),
        ("cd /tmp/../opt; ls", "/opt"),
        ("(cd src); ls", "/home/dev"),
        ("cd $X && ls", ""),
        ("cd ~/x && ls", ""),
        ("cd && ls", ""),
        ("popd; ls", ""),
        ("pushd a && ls", "/home/dev/a"),
        ("cd 'größe ä' && ls", "/home/dev/größe ä"),
        ("echo $(cd /tmp && pwd); ls", "/home/dev"),
    ],
)
def test_the_folder_follows_cd(line: str, folder: str) -> None:
    assert parse(line, "/home/dev")[-1][1] == folder


def test_what_only_a_shell_knows_is_marked() -> None:
    assert named("echo $A ${B:-x} $(date) `date` a$C")[0] == ["date"]
    assert named("echo $A ${B:-x} a$C")[0] == ["echo", UNKNOWN, UNKNOWN, f"a{UNKNOWN}"]


HOSTILE = (
    "$(",
    "`",
    '"$(',
    "'",
    '"',
    "${",
    "{",
    "(",
    ")",
    "((",
    "(( ",
    '"${',
    "a=(",
    "<(",
    "<<A ",
    "<<A\n",
    "<<<",
    "\\",
    "sudo ",
    "sh -c ",
    "eval ",
    "find -exec ",
    "find . -exec x ; ",
    "case x in ",
    "case x in a) ",
    "esac ",
    "[[ ",
    "if ",
    "a;",
    "a|",
    "a&&",
    "$((",
    "nix develop -c ",
    "env -S ",
    "xargs ",
    "a=b ",
    "> ",
    "1> ",
    "# ",
    "git -C a ",
    "cd a;",
    "* ",
    '"`',
    "$'",
    "\0",
    "é",
    "tmux 'a b' ",
    "${$(",
    "${a:-`",
    "<<A\n$(",
    "<<''\n",
    "$((cat <<A\n",
    "coproc X { ",
    "gdb --args ",
)


def steps(text: str) -> int:
    """Return the number of lines of the parser that run over a text."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> "TraceFunction | None":
        nonlocal count
        if "shell_commands" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        parse(text, "/home/dev")
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("part", HOSTILE)
def test_steps_grow_with_the_length_of_a_hostile_line(part: str) -> None:
    short, long = steps(part * 1_000), steps(part * 2_000)
    assert long <= 2.2 * short + 20_000


@pytest.mark.parametrize("part", ["$(", "`", '"$(', "'", "{", "<<A\n", "sudo ", "find -exec "])
def test_a_line_of_a_megabyte_is_read(part: str) -> None:
    assert len(parse(part * (1_000_000 // len(part)), "/home/dev")) <= MAX_COMMANDS


def test_scripts_within_scripts_end() -> None:
    line = "npm ci"
    for _ in range(MAX_DEPTH + 5):
        line = f"sh -c {shlex.quote(line)}" if len(line) < 50_000 else line
    assert ["npm", "ci"] not in named(line)
    assert len(parse("$(" * 50 + "npm ci" + ")" * 50, "/")) <= MAX_COMMANDS
