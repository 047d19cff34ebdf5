"""Check of a release: the built wheel, run by uvx, `pipx run` and pip with every Python that is found.

    python -m tools.release

Each run has a HOME of its own: it prints the version, installs the hooks, gives one prompt to a hook, stores it,
remembers a rule, finds the rule by search, and uninstalls with everything. uv and pipx come from the registry that pip
is set up for."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
OLDEST, NEWEST = (3, 11), (3, 14)
_RULE = "Run the release check before a tag is set"
_MAX_SECONDS = 600
_FOREIGN = ("tests/", "benchmarks/", "demo/", "tools/")


class CheckError(Exception):
    """A command that failed, with its output."""


@dataclass(frozen=True)
class Runner:
    """A program that runs a wheel, and its command without the arguments."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True)
class Desk:
    """Where one check runs: a HOME of its own and the environment that points to it."""

    home: Path
    environment: Mapping[str, str]

    def run(self, command: Sequence[str], text: str = "") -> str:
        done = subprocess.run(
            command,
            cwd=self.home,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=_MAX_SECONDS,
        )
        if done.returncode:
            raise CheckError(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout


def main() -> int:
    """Check every Python by every runner; print one line for each, and return the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = _build(folder / "dist")
        foreign = [path for path in zipfile.ZipFile(wheel).namelist() if path.startswith(_FOREIGN)]
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(foreign)} files of tests, benchmarks or tools")
        programs = _install_runners(folder / "runners")
        failed = [*foreign]
        for version, python in find_pythons():
            for runner in _runners(programs, python, wheel, folder / f"venv-{version}"):
                failed += _report(version, runner, folder / f"{runner.name}-{version}")
    return 1 if failed else 0


def find_pythons() -> Iterator[tuple[str, Path]]:
    """Return each supported minor version once, with its first interpreter: on PATH, then in pyenv's folder."""
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        version = f"3.{minor}"
        kept_by_pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python3"))
        on_path = [Path(found)] if (found := shutil.which(f"python{version}")) else []
        for python in [*on_path, *kept_by_pyenv]:
            shown = subprocess.run([python, "--version"], capture_output=True, text=True, check=False).stdout
            if shown.startswith(f"Python {version}."):
                yield version, python
                break


def check(desk: Desk, command: Sequence[str]) -> str:
    """Run the main job once by a command; return the version that it prints."""
    version = desk.run([*command, "--version"]).split()[-1]
    agent = desk.home / "agent"
    desk.run([*command, "install", "--config-dir", str(agent)])
    try:
        hook = json.loads((agent / "settings.json").read_text())["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
        prompt = {
            "session_id": "s",
            "cwd": str(desk.home),
            "hook_event_name": "UserPromptSubmit",
            "prompt": "Say hello",
        }
        desk.run(["sh", "-c", hook], json.dumps(prompt))
        desk.run([*command, "worker", "drain"])
        desk.run([*command, "remember", "rule", _RULE])
        if _RULE not in desk.run([*command, "search", "release check"]):
            raise CheckError("search does not find the rule that was remembered")
    finally:
        desk.run([*command, "uninstall", "--purge", "--yes", "--config-dir", str(agent)])
    if Path(desk.environment["CLAUDE_MEM_LITE_HOME"]).exists():
        raise CheckError("uninstall --purge left the data folder")
    return version


def _build(into: Path) -> Path:
    into.mkdir(parents=True)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(into)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = into.iterdir()
    return wheel


def _install_runners(folder: Path) -> Path:
    """Install uv and pipx in an environment of their own; return its folder of programs."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "uv", "pipx"], check=True, capture_output=True)
    return folder / "bin"


def _runners(programs: Path, python: Path, wheel: Path, venv: Path) -> Iterator[Runner]:
    program = "claude-mem-lite"
    yield Runner("uvx", (str(programs / "uvx"), "--quiet", "--python", str(python), "--from", str(wheel), program))
    yield Runner("pipx run", (str(programs / "pipx"), "run", "--python", str(python), "--spec", str(wheel), program))
    subprocess.run([python, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin" / "pip", "install", "--quiet", wheel], check=True, capture_output=True)
    yield Runner("pip", (str(venv / "bin" / program),))


def _report(version: str, runner: Runner, home: Path) -> list[str]:
    """Check one runner and print what came of it; return its failure, if it failed."""
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "CLAUDE_MEM_LITE_HOME": str(home / "data")}
    try:
        shown = check(Desk(home, environment), runner.command)
    except (CheckError, subprocess.TimeoutExpired, OSError) as error:
        print(f"Python {version}, {runner.name}: failed: {error}", flush=True)
        return [runner.name]
    print(f"Python {version}, {runner.name}: {shown} installs, remembers, finds and leaves", flush=True)
    return []


if __name__ == "__main__":
    raise SystemExit(main())
