"""Without a team, no process of ours imports the driver of PostgreSQL or the package of ciphers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.running import HOOK, open_machine
from tests.support.team_workers import Member

HEAVY = ("psycopg", "psycopg_binary", "cryptography")
COMMANDS = (
    ["status", "--json"],
    ["list", "--json"],
    ["search", "invoices", "--json"],
    ["doctor", "--json"],
    ["team", "--help"],
    ["team", "status", "--json"],
    ["team", "preview", "--json"],
)
_RUN = """
import json, sys
sys.argv = ["claude-mem-lite", *json.loads(sys.argv[1])]
try:
    from claude_mem_lite.cli.entry import run
    run()
except SystemExit:
    pass
print("MODULES", json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
_WORKER = """
import json, sys
import claude_mem_lite.worker.composition, claude_mem_lite.worker.api.app, claude_mem_lite.worker.process
print("MODULES", json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def heavy(program: str, *arguments: str, env: dict[str, str], cwd: Path) -> list[str]:
    """Run a program, and return which of the heavy packages it imported."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=env,
        cwd=cwd,
        input="{}",
        capture_output=True,
        text=True,
        timeout=60,
    )
    told = next(line for line in done.stderr.splitlines() if line.startswith("MODULES "))
    modules: list[str] = json.loads(told.removeprefix("MODULES "))
    return [name for name in modules if name.partition(".")[0] in HEAVY]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_without_a_team_imports_neither(words: list[str]) -> None:
    with open_machine() as machine:
        machine.start_worker()
        assert heavy(_RUN, json.dumps(words), env=machine.environment(), cwd=machine.user_home) == []


def test_the_modules_of_a_starting_worker_import_neither() -> None:
    with open_machine() as machine:
        assert heavy(_WORKER, env=machine.environment(), cwd=machine.user_home) == []


def test_a_hook_imports_neither() -> None:
    with open_machine() as machine:
        # The hook ends at once, so the interpreter names each import as it comes.
        done = subprocess.run(
            [sys.executable, "-X", "importtime", str(HOOK), "Stop"],
            env=machine.environment(),
            input="{}",
            capture_output=True,
            text=True,
            timeout=60,
        )
        imported = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
        assert "os" in imported
        assert [name for name in imported if name.partition(".")[0] in HEAVY] == []


def test_a_running_worker_without_a_team_has_loaded_neither() -> None:
    with open_machine(is_cold=True) as machine:
        machine.start_worker()
        for path in ("/api/team", "/api/feed", "/api/health"):
            machine.get(path)
        machine.drain()
        assert not [name for name in HEAVY if name in loaded(machine.worker_pid())]


def test_a_command_in_a_team_leaves_them_to_the_worker(pair: tuple[Member, Member]) -> None:
    ana, _ = pair
    words = json.dumps(["team", "status", "--json"])
    assert heavy(_RUN, words, env=ana.machine.environment(), cwd=ana.checkout) == []


def loaded(pid: int) -> str:
    """The files that a process has mapped, where the system tells."""
    maps = Path(f"/proc/{pid}/maps")
    return maps.read_text() if maps.exists() else ""
