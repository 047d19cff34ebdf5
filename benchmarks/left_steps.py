"""`python -m benchmarks.left_steps DATA …`: are the steps that a session is said to leave open those that readers saw?

On labelled turns (docs/labels.md), by the sentences that readers marked as what is left. A rule of
`compress/compose/next_steps.py` stays only while it is right four times in five; most of what is left is told in so
many other ways that nothing is said of it."""

import sys
from collections.abc import Sequence
from pathlib import Path

from training.examples import Example, examples

from benchmarks.figures import Figure, keep
from benchmarks.label_files import fingerprint
from claude_mem_lite.compress.compose.next_steps import step_of

MIN_PRECISION = 0.8


def figures_of(given: Sequence[Example]) -> list[Figure]:
    """Return precision and recall by sentence, and precision by turn."""
    marked = [(one.label.next_steps, found) for one in given for found in one.past.candidates]
    stated = [fingerprint(found.text) in left for left, found in marked if step_of(found)]
    total = sum(fingerprint(found.text) in left for left, found in marked)
    turns = [bool(one.label.next_steps) for one in given if any(map(step_of, one.past.candidates))]
    return [
        Figure("steps that readers saw too", _share(stated), "", floor=MIN_PRECISION, note=f"of {len(stated)}"),
        Figure("turns with a step in which readers saw one", _share(turns), "", note=f"of {len(turns)}"),
        Figure("found of the steps that readers saw", round(sum(stated) / total, 3) if total else 0.0, ""),
    ]


def _share(found: Sequence[bool]) -> float:
    return round(sum(found) / len(found), 3) if found else 0.0


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    figures = figures_of(examples(map(Path, arguments)))
    for figure in figures:
        print(figure.line())
    return keep("left_steps", "Steps that sessions leave open", figures, "python -m benchmarks.left_steps DATA …")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
