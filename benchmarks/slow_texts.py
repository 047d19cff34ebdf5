"""`python -m benchmarks.slow_texts`: the processor time of the texts that redaction takes longest for.

Texts repeat tokens of the rules' own patterns: one, two or three. All are tried at a small size, and those that
took longest are tried again at the size of the largest event, where time must have grown like the text."""

import sys
import time

from benchmarks.figures import Figure, keep
from benchmarks.slow_tokens import repeated, texts
from claude_mem_lite.inbox.payload import STORED_LIMIT
from claude_mem_lite.safety.redact import redact

SMALL = 4_000
LARGE = STORED_LIMIT
PAIRS = TRIPLES = 1_000
WORST = 12
MAX_SECONDS = 2.0


def main() -> int:
    small = [(_seconds(unit, SMALL), unit) for unit in texts(seed=1, pairs=PAIRS, triples=TRIPLES)]
    worst = sorted(small, reverse=True)[:WORST]
    large = sorted(((_seconds(unit, LARGE), before, unit) for before, unit in worst), reverse=True)
    for seconds, before, unit in large:
        print(f"{seconds:7.3f} s, {seconds / before * SMALL / LARGE:5.2f} of what the small text promises: {unit!r}")
    figures = [
        Figure("texts tried", len(small), "", note=f"of {SMALL} characters, tokens of the rules repeated"),
        Figure(
            "the slowest, at the size of the largest event", large[0][0], "s", MAX_SECONDS, note=f"{LARGE} characters"
        ),
        Figure("growth", max(s / b * SMALL / LARGE for s, b, _ in large), "", 2, note="1 is in proportion to the text"),
    ]
    for figure in figures:
        print(figure.line())
    return keep("slow_texts", "Texts that take long", figures, "python -m benchmarks.slow_texts")


def _seconds(unit: str, size: int) -> float:
    text = repeated(unit, size)
    began = time.process_time()
    redact(text)
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
