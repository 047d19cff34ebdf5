"""The built wheel in a clean environment: what users install must run without our development tools."""

import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.wheels import install, link_what_it_requires, make_environment, wheel_of_this_run


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a fresh environment that has the wheel and its dependencies, nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    site = make_environment(folder / "venv")
    install(wheel_of_this_run(tmp_path_factory), folder / "venv")
    link_what_it_requires(site, "claude_mem_lite")
    return folder / "venv" / "bin"


@pytest.fixture
def environment(tmp_path: Path, installed: Path) -> Iterator[dict[str, str]]:
    """A user's environment; the worker that a test starts is stopped."""
    values = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLAUDE_MEM_LITE_HOME": str(tmp_path / "data")}
    yield values
    subprocess.run([installed / "claude-mem-lite", "worker", "stop"], env=values, capture_output=True, check=False)


def test_the_wheel_shows_its_help(installed: Path, environment: dict[str, str]) -> None:
    shown = _run([str(installed / "claude-mem-lite"), "--help"], environment)
    assert "remember" in shown
    assert "install" in shown


def test_the_wheel_installs_its_hooks_runs_one_and_starts_its_worker(
    installed: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    program = str(installed / "claude-mem-lite")
    _run([program, "install", "--config-dir", str(tmp_path / "agent")], environment)
    settings = json.loads((tmp_path / "agent" / "settings.json").read_text())
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    payload = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": "UserPromptSubmit", "prompt": "Say hello"}
    hook = subprocess.run(
        ["sh", "-c", command], input=json.dumps(payload).encode(), env=environment, capture_output=True
    )
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, b"", b"")
    _run([program, "worker", "drain"], environment)
    assert json.loads(_run([program, "queue", "--json"], environment))["done"] == 1
    assert json.loads(_run([program, "worker", "status", "--json"], environment))["running"] is True


def test_the_wheel_serves_its_page(installed: Path, environment: dict[str, str]) -> None:
    command = [str(installed / "claude-mem-lite"), "ui", "--no-open"]
    unbuffered = {**environment, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=unbuffered, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address, _, code = process.stdout.readline().split()[-1].partition("/#")
            code_sent, kind = json.dumps({"code": code}).encode(), {"Content-Type": "application/json"}
            with urllib.request.urlopen(urllib.request.Request(f"{address}/enter", code_sent, kind)) as answer:
                token = json.load(answer)["token"]
            for path, told in (
                ("/", "app.js"),
                ("/static/app.js", "Authorization"),
                ("/part/", "Nothing is remembered"),
            ):
                asked = urllib.request.Request(address + path, headers={"Authorization": f"Bearer {token}"})
                with urllib.request.urlopen(asked, timeout=30) as answer:
                    assert told in answer.read().decode()
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0


def test_the_wheel_holds_the_hook_and_no_tests(installed: Path) -> None:
    (package,) = installed.parent.glob("lib/python*/site-packages/claude_mem_lite")
    assert (package / "hook" / "kernel.py").is_file()
    assert not (package.parent / "tests").exists()
    assert not (package.parent / "pytest").exists()


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
