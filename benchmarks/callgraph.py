"""`python -m benchmarks.callgraph [PACKAGE]`: what it takes to ask who calls whom in a package.

PACKAGE is the folder of a package; without one, that of `rich` in this environment. It is copied to a temporary folder
and asked about through a real worker, as `claude-mem-lite code` does: first when nothing is known of it, then once for
each of its symbols' names, then after an edit of every tenth file. The time is that of a request, from a client that
runs already; every claim is told as a ratio to the first question too."""

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.figures import Figure, keep, p95
from benchmarks.stage import Stage, stage
from claude_mem_lite.client.queries import Where
from claude_mem_lite.responses.code import CodeResponse

MAX_NAMES = 300
SECOND_MS = 100


def main(arguments: Sequence[str]) -> int:
    package = Path(arguments[0]) if arguments else _default()
    figures: list[Figure] = []
    with stage() as made:
        root = made.folder / "project"
        shutil.copytree(package, root / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        made.start_worker()
        for figure in _measure(made, root, package.name):
            print(figure.line(), flush=True)
            figures.append(figure)
        made.stop_worker()
    return keep("callgraph", f"Who calls whom in {package.name}", figures, "python -m benchmarks.callgraph")


def _default() -> Path:
    found = find_spec("rich")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def _measure(made: Stage, root: Path, name: str) -> Iterator[Figure]:
    files = sorted(root.rglob("*.py"))
    lines = sum(len(path.read_text("utf-8", "replace").splitlines()) for path in files)
    yield Figure(f"lines of {name}", lines, "", floor=20_000, note=f"in {len(files)} files")
    before = _resident_mb(made)
    first, _ = _asked(made, root, "callers", "main")
    yield Figure("first question", round(first, 2), "s")
    yield Figure("first question, lines read", round(lines / first), "lines/s")
    names = _names(made, root, files)
    for what in ("callers", "callees"):
        taken = [_asked(made, root, what, one)[0] * 1000 for one in names]
        note = f"p50 {statistics.median(taken):.1f}, most {max(taken):.1f} of {len(taken)} names"
        yield Figure(f"{what}, everything known, p95", round(p95(taken), 1), "ms", SECOND_MS, note=note)
        yield Figure(f"{what}, slowest name", round(max(taken), 1), "ms", SECOND_MS)
        yield Figure(
            f"{what}, median against the first question", round(statistics.median(taken) / first / 1000, 4), ""
        )
    changed = files[::10]
    for path in changed:
        path.write_text(path.read_text("utf-8") + "\n# changed\n", "utf-8")
    again, _ = _asked(made, root, "callers", names[0])
    yield Figure("after an edit of every tenth file", round(again * 1000, 1), "ms", note=f"{len(changed)} files")
    yield Figure("after that edit against the first question", round(again / first, 3), "")
    yield Figure("code.db", round(made.home.code_db.stat().st_size / 1024 / 1024, 1), "MB")
    yield Figure("memory of the worker, more than before", round(_resident_mb(made) - before, 1), "MB")


def _asked(made: Stage, root: Path, what: str, name: str) -> tuple[float, CodeResponse]:
    """Return the seconds until the response, and the response."""
    began = time.perf_counter()
    while True:
        response = made.client.code(what, name, Where(str(root)), limit=50)
        if response.reading is None:
            return time.perf_counter() - began, response


def _names(made: Stage, root: Path, files: Sequence[Path]) -> list[str]:
    """Names of symbols, spread over all files."""
    found: list[str] = []
    for path in files:
        _, response = _asked(made, root, "symbols", str(path.relative_to(root)))
        found += [f"{symbol.file}::{symbol.name}" for symbol in response.symbols]
    return found[:: len(found) // MAX_NAMES + 1]


def _resident_mb(made: Stage) -> float:
    pid = made.client.health().pid
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
