"""Tests of `cli/figures/stop_signals.py`: a walk whose threads hang, in a process of its own."""

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

HANGING = """
import threading
from claude_mem_lite.cli.figures.stop_signals import stopped_by_signals
from claude_mem_lite.evaluation.walk_folder import walk_folder
with stopped_by_signals(), walk_folder() as folder:
    (folder / "kept.txt").write_text("text of a session")
    hanging = threading.Thread(target=threading.Event().wait, daemon=True)
    hanging.start()
    try:
        print("walking", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        hanging.join()
"""


@pytest.mark.parametrize(
    "signals",
    [
        (signal.SIGTERM, signal.SIGTERM),
        (signal.SIGINT, signal.SIGINT, signal.SIGINT),
        (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGTERM),
    ],
)
def test_a_repeated_signal_ends_a_walk_that_hangs_and_removes_its_folder(
    tmp_path: Path, signals: tuple[signal.Signals, ...]
) -> None:
    command = [sys.executable, "-c", HANGING]
    environment = {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            assert running.stderr is not None
            assert running.stdout.readline() == b"walking\n"
            running.send_signal(signals[0])
            assert running.stderr.readline() == b"Stopping.\n"
            for number in signals[1:]:
                with suppress(subprocess.TimeoutExpired):  # so that no two signals become one
                    running.wait(0.3)
                running.send_signal(number)
            running.wait(30)
        finally:
            running.kill()
    assert running.returncode == 128 + signals[-1]
    assert list(tmp_path.glob("claude-mem-lite-walk-*")) == []
