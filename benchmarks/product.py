"""The product at work on recorded sessions: a home of its own, a real worker, the real command."""

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.transcripts import Data, session_of
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker, stop_worker
from claude_mem_lite.paths import HOME_VARIABLE, Home

COMMAND = Path(sys.executable).with_name("claude-mem-lite")
DRAIN_S = 1800.0


class Product:
    """One home below a temporary folder; `transcripts` is where its sessions are read from."""

    def __init__(self, folder: Path, transcripts: Path, command: Path = COMMAND) -> None:
        self.home = Home(folder)
        self.command = command
        """The command of this version, or of another checkout."""
        self.home.make()
        self.transcripts = transcripts
        self.client = Client(self.home)

    def start_import(self) -> "subprocess.Popen[str]":
        """The command, started; in a process group of its own, so that it can be killed alone."""
        return subprocess.Popen(
            [self.command, "import", "transcripts", self.transcripts],
            env={"PATH": os.environ["PATH"], "HOME": str(self.home.root.parent), HOME_VARIABLE: str(self.home.root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run_import(self) -> tuple[float, str]:
        """Import to the end, worked on to the last event; the seconds it took and what the command said."""
        began = time.perf_counter()
        command = self.start_import()
        said, complained = command.communicate()
        if command.returncode != 0:
            raise SystemExit(f"the import failed with {command.returncode}: {complained[-2000:]}")
        self.drain()
        return time.perf_counter() - began, said + complained

    def drain(self) -> None:
        client = ensure_worker(self.home) if self.command == COMMAND else self.client
        drained = client.drain(DRAIN_S)
        if not drained.drained or drained.error:
            raise SystemExit(f"not everything could be worked on: {drained}")

    def wait_until_indexed(self) -> None:
        """Until every document has its words and its vector."""
        until = time.monotonic() + DRAIN_S
        while self.client.index().waiting:
            if time.monotonic() > until:
                raise SystemExit("not everything could be indexed")
            time.sleep(0.1)

    def stop(self) -> None:
        stop_worker(self.client)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="claude-mem-lite-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def product(folder: Path, transcripts: Path, command: Path = COMMAND) -> Iterator[Product]:
    """A product whose worker is stopped in the end."""
    made = Product(folder, transcripts, command)
    try:
        yield made
    finally:
        made.stop()


@contextmanager
def imported(data: Data) -> Iterator[Home]:
    """A home that holds all sessions of a data folder."""
    with temporary_folder() as folder:
        unpack(data, folder / "transcripts")
        with product(folder / "home", folder / "transcripts") as made:
            made.run_import()
            yield made.home


def unpack(data: Data, folder: Path) -> None:
    """The transcripts as the client leaves them: plain, one file a session."""
    folder.mkdir(parents=True)
    for file in data.files:
        (folder / f"{session_of(file)}.jsonl").write_bytes(gzip.decompress(file.read_bytes()))
