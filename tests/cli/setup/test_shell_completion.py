"""Tests of `cli/setup/shell_completion.py` and `cli/completion_values.py`: commands without importing them, kinds,
scopes, and ids while a worker runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from claude_mem_lite.cli.main import cli
from claude_mem_lite.cli.setup.shell_completion import SHELLS
from claude_mem_lite.models import KINDS, JsonObject
from claude_mem_lite.paths import Home
from tests.support.fake_worker import fake_worker, run
from tests.support.running import cannot

SCRIPTS = Path(sys.executable).parent
VARIABLE = "_CLAUDE_MEM_LITE_COMPLETE"


def completed(*words: str) -> list[str]:
    """What may stand for the last word."""
    completion = ShellComplete(cli, {}, "claude-mem-lite", VARIABLE)
    return [item.value for item in completion.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("sea",), ["search"]),
        (("worker", "st"), ["start", "status", "stop"]),
        (("search", "--expl"), ["--explain"]),
        (("remember", "de"), ["decision"]),
        (("remember", "ANTI-"), ["anti_pattern"]),
        (("search", "x", "--kind", ""), list(KINDS)),
        (("list", "--scope", "proj"), ["project", "project:"]),
        (("edit", "k7", "--scope", "u"), ["universal"]),
        (("list", "--status", "ret"), ["retired"]),
        (("completion", ""), list(SHELLS)),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_a_word_is_completed(words: tuple[str, ...], meant: list[str]) -> None:
    assert completed(*words) == meant


def test_a_command_that_does_not_exist_is_no_reason_to_complain_while_somebody_types() -> None:
    assert "search" in completed("xyzzy", "")


@pytest.mark.parametrize("command", ["show", "timeline", "edit", "pin", "confirm", "retire", "forget"])
def test_ids_are_those_of_the_projects_newest_memories(home: Home, command: str) -> None:
    memories: list[JsonObject] = [{"id": "k7f3a9", "title": "One"}, {"id": "b21c77", "title": "Two\nlines"}]
    with fake_worker(home) as worker:
        worker.answer("GET /api/memories", {"memories": list(memories)})
        assert completed(command, "") == ["k7f3a9", "b21c77"]
        assert completed(command, "#b2") == ["#b21c77"]


def test_backups_are_those_that_are_there(home: Home) -> None:
    home.backups.mkdir()
    names = [f"memory-2026030{day}T000000Z-00000000000{day}.db" for day in (1, 2)]
    for name in (*names, ".making-7"):
        (home.backups / name).touch()
    assert completed("restore", "") == names[::-1]
    assert completed("restore", "memory-20260301") == names[:1]
    assert completed("restore", "/srv/") == ["/srv/"]


def test_without_a_worker_no_id_is_offered_and_none_is_started(home: Home) -> None:
    assert completed("show", "") == []
    assert not home.worker_log.exists()


def test_names_of_commands_are_completed_without_importing_any() -> None:
    told = "import sys; from claude_mem_lite.cli.entry import run\ntry:\n    run()\nfinally:\n    print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", told],
        env={
            "PATH": os.environ["PATH"],
            VARIABLE: "bash_complete",
            "COMP_WORDS": "claude-mem-lite s",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    *names, modules = ran.stdout.splitlines()
    assert "plain,search" in names
    loaded = {name.removeprefix("claude_mem_lite.cli.") for name in modules.split() if "_lite.cli." in name}
    assert loaded == {"entry", "groups", "main"}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_gets_a_script_that_asks_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("completion", shell) == 0
    shown = capsys.readouterr().out
    assert f"{VARIABLE}={shell}_complete" in shown


@pytest.mark.parametrize("shell", [name for name in SHELLS if shutil.which(name)])
def test_the_script_is_understood_by_its_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("completion", shell)
    subprocess.run([shell, "-n"], input=capsys.readouterr().out, text=True, check=True)


def test_the_shell_is_the_users_own_if_none_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert run("completion") == 0
    assert "fish_complete" in capsys.readouterr().out
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert run("completion") == 2
    assert "bash, zsh, fish" in capsys.readouterr().err


def test_bash_completes_a_command(tmp_path: Path) -> None:
    program = shutil.which("bash")
    if program is None:
        cannot("there is no bash")
    line = (
        'eval "$(claude-mem-lite completion bash)"; COMP_WORDS=(claude-mem-lite tim); COMP_CWORD=1; '
        '_claude_mem_lite_completion claude-mem-lite; echo "${COMPREPLY[@]}"'
    )
    environment = {"PATH": f"{SCRIPTS}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    ran = subprocess.run([program, "-c", line], env=environment, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("timeline\n", "")
