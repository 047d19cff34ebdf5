"""`python -m benchmarks`: measures speed on this machine and keeps the figures in benchmarks/results.

Every claim is a ratio to `python -c pass` of a clean environment, taken turn by turn in the same run."""

import json
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import hooks, reading, worker
from benchmarks.figures import Figure, as_table

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    figures: list[Figure] = []
    for part in (hooks.measure, worker.measure, reading.measure):
        for figure in part():
            print(figure.line(), flush=True)
            figures.append(figure)
    stamp = datetime.now(UTC).date().isoformat()
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    (RESULTS / "speed.json").write_text(
        json.dumps({"date": stamp, "machine": machine, "figures": [figure.as_json() for figure in figures]}, indent=1)
        + "\n"
    )
    (RESULTS / "speed.md").write_text(as_table(figures, f"Measured on {stamp}, {machine}, by `make bench`."))
    failed = [figure for figure in figures if not figure.holds()]
    for figure in failed:
        print(f"over its bar: {figure.name}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
