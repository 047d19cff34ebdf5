"""`python -m benchmarks`: measures speed on this machine and keeps the figures in benchmarks/results.

Every claim is a ratio to `python -c pass` of a clean environment, taken turn by turn in the same run."""

import sys

from benchmarks import hooks, reading, worker
from benchmarks.figures import Figure, keep


def main() -> int:
    figures: list[Figure] = []
    for part in (hooks.measure, worker.measure, reading.measure):
        for figure in part():
            print(figure.line(), flush=True)
            figures.append(figure)
    return keep("speed", "Speed", figures, "make bench")


if __name__ == "__main__":
    sys.exit(main())
