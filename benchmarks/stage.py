"""A temporary home with the links that install makes, a clean environment to compare with, and payloads."""

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.versions import THIS, Version
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker, is_answering, stop_worker
from claude_mem_lite.paths import Home


class Stage:
    """Runs hooks, workers and bare interpreters, and times them."""

    def __init__(self, folder: Path, version: Version = THIS) -> None:
        self.folder = folder
        self.version = version
        self.home = Home(folder / "home")
        self.home.make()
        self.home.hook_python.symlink_to(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]
        self.home.worker_python.symlink_to(version.python)
        self.clean_python = folder / "clean" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "clean"], check=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CLAUDE_MEM_LITE_HOME": str(self.home.root),
        }
        self.client = Client(self.home)

    def hook_command(self, event: str) -> list[str]:
        return [str(self.home.hook_python), "-I", "-S", str(self.version.hook), event]

    def time_hook_s(self, event: str, payload: bytes) -> float:
        """One whole hook process, from start to exit."""
        return self.time_s(self.hook_command(event), payload)

    def time_pass_s(self) -> float:
        """`python -c pass` of a clean environment: what every figure is compared with."""
        return self.time_s([str(self.clean_python), "-c", "pass"], b"")

    def time_s(self, command: list[str], payload: bytes) -> float:
        began = time.perf_counter()
        subprocess.run(command, input=payload, env=self.environment, cwd=self.folder, check=True, capture_output=True)
        return time.perf_counter() - began

    def time_answer_s(self, event: str, payload: bytes) -> float:
        """The worker's own time: the same request from a program that runs already."""
        name = f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}-{event}"
        written = self.folder / name
        written.write_bytes(payload)
        written.rename(self.home.spool_new / name)  # whole, as a hook leaves it: a worker may be looking
        request = f"POST /hook/{event} HTTP/1.1\r\nHost: localhost\r\nX-Spool: {name}\r\nContent-Length: 0\r\n\r\n"
        began = time.perf_counter()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(self.home.socket))
            connection.sendall(request.encode())
            connection.recv(65536)
            return time.perf_counter() - began

    def start_worker(self) -> None:
        if self.version == THIS:
            ensure_worker(self.home)
            return
        subprocess.Popen([self.version.python, "-I", "-m", "claude_mem_lite.worker"], env=self.environment)
        self.until_answer()

    def until_answer(self) -> None:
        """Wait for a worker that something else has started."""
        for _ in range(2000):
            if is_answering(self.client):
                return
            time.sleep(0.005)
        raise SystemExit("no worker came up")

    def until_hook(self) -> None:
        """Wait until it answers what a hook sends, which needs less of it than the API does."""
        for _ in range(2000):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking, suppress(OSError):
                asking.settimeout(30)
                asking.connect(str(self.home.socket))
                asking.sendall(b"POST /hook/SessionEnd HTTP/1.1\r\nHost: hook\r\nContent-Length: 0\r\n\r\n")
                if asking.recv(64).startswith(b"HTTP/1.1 204"):
                    return
            time.sleep(0.005)
        raise SystemExit("no worker came up")

    def stop_worker(self) -> None:
        stop_worker(self.client)


@contextmanager
def stage(version: Version = THIS) -> Iterator[Stage]:
    folder = Path(tempfile.mkdtemp(prefix="claude-mem-lite-bench-"))
    made = Stage(folder, version)
    try:
        yield made
    finally:
        made.stop_worker()
        shutil.rmtree(folder)


_calls = itertools.count()


def payload(event: str, folder: Path, *, session: str = "bench", size: int = 20_000, **more: object) -> bytes:
    """A hook's input of about `size` bytes."""
    fields: dict[str, object] = {
        "session_id": session,
        "transcript_path": str(folder / "t.jsonl"),
        "cwd": str(folder),
        "hook_event_name": event,
        **more,
    }
    if event.startswith("PostToolUse"):
        line = "src/module_{0}.py:{0}: checked, nothing to report\n"
        output = "".join(line.format(number) for number in range(size // 45))
        # Each call has an id of its own: what has the same one is one event, told twice.
        fields |= {"tool_name": "Bash", "tool_input": {"command": "make check"}, "tool_use_id": f"t-{next(_calls)}"}
        fields |= {"tool_response": {"stdout": output, "stderr": "", "interrupted": False}, "duration_ms": 4}
    return json.dumps(fields).encode()
