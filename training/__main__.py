"""`python -m training turns|lessons DATA …`: makes weights from benchmarks/labels and recorded sessions.

`turns` makes those of the judge of turns, `lessons` those of the scorer of what users say."""

import sys
from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite.compress.compose import judge
from claude_mem_lite.compress.lessons import candidates
from training.examples import examples
from training.learn import learn
from training.lessons import learn_lessons
from training.logistic import save_models
from training.prompts import labelled_prompts


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 2 or arguments[0] not in ("turns", "lessons"):
        print(__doc__, file=sys.stderr)
        return 2
    made = _turns(arguments[1:]) if arguments[0] == "turns" else _lessons(arguments[1:])
    print(f"{made.name}: {made.stat().st_size:,} bytes")
    return 0


def _turns(folders: Sequence[str]) -> Path:
    given = examples(map(Path, folders))
    print(f"{len(given)} labelled turns of {len({one.project for one in given})} projects")
    save_models(vars(learn(given)), judge.WEIGHTS)
    return judge.WEIGHTS


def _lessons(folders: Sequence[str]) -> Path:
    given = labelled_prompts(map(Path, folders))
    print(f"{len(given)} labelled prompts of {len({prompt.project for prompt in given})} projects")
    save_models(vars(learn_lessons(given)), candidates.WEIGHTS)
    return candidates.WEIGHTS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
