"""How long it takes to tell where a session starts, in checkouts of up to 100,000 files: `python -m benchmarks.detect`.

Makes them in a temporary folder (some 600 MB for a while, a minute) and calls what the start context calls. Five
sessions edited 40 files in all, of which three differ from the commit."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.anchored_look import spread
from benchmarks.figures import Figure, keep, p95
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.code.manifests.facts import read_facts, signature
from claude_mem_lite.context.project_setting import detect
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.models import Event, SessionSummary
from claude_mem_lite.store import sessions

_SIZES = (1_000, 10_000, 100_000)
_OF_A_FOLDER = 100
_RUNS = 50
_EDITED = 40
_BAR_MS = 60.0


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="detect-"))
    try:
        figures = [figure for size in _SIZES for version in (2, 4) for figure in _measured(folder, size, version)]
        figures += _facts()
    finally:
        shutil.rmtree(folder)
    return keep("detect", "Where a session starts", figures, "python -m benchmarks.detect")


def _measured(folder: Path, size: int, version: int) -> Iterator[Figure]:
    root = folder / f"{size}-{version}"
    paths = _make(root, size, version)
    location = find_location(str(root))
    with open_for_writing(folder / f"{size}-{version}.db") as db:
        now = datetime.now(UTC)
        migrate(db, MEMORY_MIGRATIONS, now)
        edited = paths[:: max(len(paths) // _EDITED, 1)][:_EDITED]
        for number in range(5):
            told = SessionSummary(headline=f"Work on part {number}", files_edited=tuple(edited[number::5]))
            with atomic(db):
                sessions.touch(db, Event(f"e{number}", "Stop", f"s{number}", now, str(root)), location)
                sessions.set_summary(db, f"s{number}", told, now)
        for path in edited[:3]:
            (root / path).write_text("changed = True\n")
        times = []
        for _ in range(_RUNS):
            began = time.perf_counter()
            found = detect(db, location)
            times.append((time.perf_counter() - began) * 1000)
    named = sum(Path(path).name in found.query.split() for path in edited[:3])
    note = f"{spread(times)}; {found.language}, {named} of 3 changed files named"
    yield Figure(f"{size:,} files, index version {version}, p95", round(p95(times), 1), "ms", bar=_BAR_MS, note=note)


def _make(root: Path, size: int, version: int) -> list[str]:
    """A checkout with so many files, committed; their paths."""
    paths = [
        f"services/part{at // _OF_A_FOLDER % 40}/module_{at // _OF_A_FOLDER}/handler_{at % _OF_A_FOLDER}.py"
        for at in range(size)
    ]
    for path in paths:
        if path.endswith("/handler_0.py"):
            (root / path).parent.mkdir(parents=True)
        (root / path).write_text("value = 1\n")
    for command in (
        ("init", "--quiet", "--initial-branch=work/basket-totals"),
        ("update-index", "--index-version", str(version)),
        ("add", "--all"),
        ("-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "--quiet", "--message=All"),
    ):
        subprocess.run(["git", "-C", str(root), *command], check=True, capture_output=True)
    return paths


def _facts() -> Iterator[Figure]:
    """Of this project: its manifests are no larger than most."""
    root = str(Path(__file__).resolve().parents[1])
    for name, call in (("facts read", read_facts), ("facts unchanged", signature)):
        times = []
        for _ in range(_RUNS):
            began = time.perf_counter()
            call(root)
            times.append((time.perf_counter() - began) * 1000)
        yield Figure(f"{name}, p95", round(p95(times), 2), "ms", note=spread(times))


if __name__ == "__main__":
    sys.exit(main())
