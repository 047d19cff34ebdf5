"""Builds our packages, and installs a wheel as pipx and uv do: an environment of its own, its programs linked into bin.

Needs no network: the dependencies are those of the environment that runs the tests."""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import ROOT

PROGRAMS = ("claude-mem-lite", "claude-mem-worker")
_FOR_A_WHEEL = ("pyproject.toml", "README.md", "LICENSE", "src")


def build(target: str, into: Path, source: Path = ROOT) -> Path:
    """A wheel or an sdist of a source tree."""
    into.mkdir(parents=True, exist_ok=True)
    run([sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)], cwd=source)
    (made,) = into.iterdir()
    return made


def build_as(version: str, into: Path) -> Path:
    """A wheel of the current tree under another version."""
    source = into / "source"
    source.mkdir(parents=True)
    for name in _FOR_A_WHEEL:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    (source / "src" / "claude_mem_lite" / "__init__.py").write_text(f'__version__ = "{version}"\n')
    return build("wheel", into / "dist", source)


@dataclass(frozen=True)
class Tool:
    """Where pipx and uv would have a program: its environment, and links to its programs."""

    environment: Path
    bin: Path

    def install(self, wheel: Path) -> None:
        """Install, or upgrade in place."""
        if not self.environment.exists():
            run([sys.executable, "-m", "venv", "--without-pip", str(self.environment)])
            (site,) = self.environment.glob("lib/python*/site-packages")
            # A path in a .pth file is not searched for further .pth files: the editable install stays out of it.
            (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
        pip = [sys.executable, "-m", "pip", "--python", str(self.environment / "bin" / "python")]
        run([*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--upgrade", str(wheel)])
        self.bin.mkdir(parents=True, exist_ok=True)
        for name in PROGRAMS:
            link = self.bin / name
            link.unlink(missing_ok=True)
            link.symlink_to(self.environment / "bin" / name)

    def uninstall(self) -> None:
        shutil.rmtree(self.environment)
        for name in PROGRAMS:
            (self.bin / name).unlink()
        self.bin.rmdir()


def run(command: list[str], cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """One program that must succeed; its stdout."""
    variables = environment or {"PATH": os.environ["PATH"], "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        command, cwd=cwd, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
