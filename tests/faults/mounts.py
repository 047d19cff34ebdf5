"""A mount namespace of its own: the only way to a full or read-only disk for tests that may run as root."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from claude_mem_lite.paths import Home
from tests.support.running import Machine, cannot, link_interpreters


@dataclass(frozen=True, slots=True)
class Mounts:
    """A namespace kept alive by one process; what is mounted here nobody else sees."""

    pid: int

    @property
    def prefix(self) -> tuple[str, ...]:
        return ("nsenter", f"--mount=/proc/{self.pid}/ns/mnt", "--")

    def seen(self, path: Path) -> Path:
        """A path inside, as this process can reach it."""
        return Path(f"/proc/{self.pid}/root{path}")

    def run(self, *command: str) -> None:
        subprocess.run([*self.prefix, *command], check=True, capture_output=True, timeout=30)

    def small_disk(self, folder: Path, size: str) -> None:
        self.run("mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(folder))

    def read_only(self, folder: Path) -> None:
        """Nothing below `folder` can be written from inside any more."""
        self.run("mount", "--bind", str(folder), str(folder))
        self.run("mount", "-o", "remount,bind,ro", str(folder))

    def read_only_everywhere(self, machine: Machine) -> None:
        """Neither the home nor any of the fallback places can be written."""
        self.read_only(machine.home.root)
        for parent in {place.parent for place in machine.home.fallback_spools()}:
            if parent.is_dir():
                self.read_only(parent)

    def inside(self, machine: Machine) -> Machine:
        """The same home, with programs that run in this namespace."""
        return replace(machine, prefix=self.prefix, view=Home(self.seen(machine.home.root)), workers=machine.workers)

    def home_on_small_disk(self, machine: Machine, size: str) -> Machine:
        """An empty home of its own size, seen from inside only."""
        self.small_disk(machine.home.root, size)
        made = self.inside(machine)
        made.view.make()
        link_interpreters(made.view)
        return made


@contextmanager
def open_mounts() -> Iterator[Mounts]:
    """A fresh namespace; the test is skipped where the system does not grant one."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        cannot("needs unshare and nsenter for a disk of its own")
    allowed = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True)
    if allowed.returncode != 0:
        cannot(f"this user may not make a mount namespace: {allowed.stderr.strip()}")
    keeper = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", "echo ready; read end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == b"ready\n"
        yield Mounts(keeper.pid)
