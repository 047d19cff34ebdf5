"""Builds our packages, and installs a wheel as pipx and uv do: an environment of its own, its programs linked into bin.

Needs no network: the dependencies are those of the environment that runs the tests."""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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


def wheel_of_this_run(factory: pytest.TempPathFactory) -> Path:
    """The wheel of the current tree, built by whichever process of a test run needs it first."""
    own = factory.getbasetemp()
    folder = own.parent if own.name.startswith("popen-") else own  # where pytest-xdist has the processes of one run
    with (folder / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (made,) = [*(folder / "wheel").glob("*.whl")] or [build("wheel", folder / "wheel")]
    return made


def make_environment(folder: Path) -> Path:
    """An environment without pip; the folder of its packages."""
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    (site,) = folder.glob("lib/python*/site-packages")
    return site


def install(wheel: Path, environment: Path) -> None:
    """Install a wheel alone, or upgrade it in place."""
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    run([*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--upgrade", str(wheel)])


def link_what_it_requires(site: Path, name: str) -> None:
    """Links to all that a package in this folder of packages requires, and what that requires, and to nothing else."""
    (own,) = site.glob(f"{name}-*.dist-info")
    wanted = _required(PathDistribution(own))
    linked: set[str] = set()
    while missing := sorted(wanted - linked):
        for package in missing:
            found = distribution(package)
            wanted |= _required(found)
            linked.add(package)
            for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
                if not (site / top).exists():
                    (site / top).symlink_to(str(found.locate_file(top)))


def _required(package: Distribution) -> set[str]:
    requirements = [Requirement(line) for line in package.requires or ()]
    needed = [one for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]
    for one in needed:
        assert one.specifier.contains(distribution(one.name).version, prereleases=True), one
    return {one.name for one in needed}


@dataclass(frozen=True)
class Tool:
    """Where pipx and uv would have a program: its environment, and links to its programs."""

    environment: Path
    bin: Path

    def install(self, wheel: Path) -> None:
        """Install, or upgrade in place."""
        if not self.environment.exists():
            site = make_environment(self.environment)
            # A path in a .pth file is not searched for further .pth files: the editable install stays out of it.
            (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
        install(wheel, self.environment)
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
