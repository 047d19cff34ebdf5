"""`python -m training DATA …`: makes the weights of the judge from benchmarks/labels and recorded sessions."""

import sys
from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite.compress.compose.judge import WEIGHTS, save
from training.examples import examples
from training.learn import learn


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    given = examples(map(Path, arguments))
    print(f"{len(given)} labelled turns of {len({one.project for one in given})} projects")
    judge = learn(given)
    save(judge, WEIGHTS)
    print(f"{len(judge.sentence.vocabulary)} n-grams; {WEIGHTS.name}: {WEIGHTS.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
