"""`python -m benchmarks.mcp_start [RUNS]`: how long an agent waits for the list of tools, from the start of the server.

Side by side with `python -c pass` of a clean environment, turn by turn in the same run. No worker is up: the list needs
none. Beside it, the first call of a tool with a worker that is up, which brings the imports that the start left out."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, keep, p95
from benchmarks.stage import Stage, stage

RUNS = 60
BAR_S = 0.3
COMMAND = Path(sys.executable).parent / "claude-mem-lite"
HELLO: tuple[dict[str, object], ...] = (
    {"jsonrpc": "2.0", "id": "probe", "method": "server/discover", "params": {}},
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
)
SEARCH = {"name": "memory_search", "arguments": {"query": "anything"}}


def measure(runs: int) -> Iterator[Figure]:
    with stage() as made:
        bare, listed = [], []
        for _ in range(runs):
            bare.append(made.time_pass_s())
            listed.append(_time_list_s(made))
        made.start_worker()
        calls = [_time_first_call_s(made) for _ in range(runs)]
    base, median = statistics.median(bare), statistics.median(listed)
    taken = f"{runs} runs in turns"
    yield Figure("python -c pass, clean environment", round(base * 1000, 1), "ms", note=f"median of {taken}")
    yield Figure("start to the answer of tools/list", round(median, 4), "s", BAR_S, note=f"median of {taken}")
    yield Figure("the same, p95", round(p95(listed), 4), "s", BAR_S, note=taken)
    yield Figure("the same, as a ratio to python -c pass", round(median / base, 2), "×", note="medians")
    called = round(statistics.median(calls), 4)
    yield Figure("start to the answer of a first search", called, "s", note="worker up, nothing to find; median")


def _time_list_s(made: Stage) -> float:
    return _time_s(made, [*HELLO], 1)


def _time_first_call_s(made: Stage) -> float:
    call: dict[str, object] = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": SEARCH}
    return _time_s(made, [*HELLO, call], 2)


def _time_s(made: Stage, messages: list[dict[str, object]], last: int) -> float:
    """From starting the process until the answer to the last message has been read."""
    lines = "".join(f"{json.dumps(message)}\n" for message in messages).encode()
    began = time.perf_counter()
    with subprocess.Popen(
        [COMMAND, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=made.environment, cwd=made.folder
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(lines)
        server.stdin.flush()
        while json.loads(server.stdout.readline()).get("id") != last:
            pass
        taken = time.perf_counter() - began
        server.stdin.close()
        assert server.wait() == 0
    return taken


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    figures = []
    for figure in measure(runs):
        print(figure.line(), flush=True)
        figures.append(figure)
    return keep("mcp", "Start of the MCP server", figures, "python -m benchmarks.mcp_start")


if __name__ == "__main__":
    sys.exit(main())
