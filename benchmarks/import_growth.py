"""`python -m benchmarks.import_growth [NUMBER...]`: the time of an import per session, by the number of sessions.

The sessions are made up: two turns each with a failing check, an edit and a closing message, in the projects and words
of `synthetic.py`. Each number is imported into an empty home by the real command. Processor time is judged, of the
command and its worker together, because other programs change the clock."""

import random
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from tests.support.past_sessions import LONG_AGO, PastSession

from benchmarks.figures import RESULTS, Figure, keep
from benchmarks.import_transcripts import timed_import
from benchmarks.plot import Line, Panel, svg
from benchmarks.product import product, temporary_folder
from benchmarks.synthetic import Language, project_of, topic_of

NUMBERS = (100, 1_000, 5_000)
MAX_GROWTH = 1.2
_TURNS = 2


def main(arguments: Sequence[str]) -> int:
    numbers = [int(argument) for argument in arguments] or list(NUMBERS)
    figures: list[Figure] = []
    worked_ms: list[tuple[float, float]] = []
    by_clock_ms: list[tuple[float, float]] = []
    for number in numbers:
        worked_s, seconds = _import(number)
        worked_ms.append((number, 1000 * worked_s / number))
        by_clock_ms.append((number, 1000 * seconds / number))
        note = f"{worked_s:.1f} s of processor time, {seconds:.1f} s by the clock"
        figures.append(Figure(f"{number:,} sessions", round(worked_ms[-1][1], 2), "ms a session", note=note))
        print(figures[-1].line(), flush=True)
    growth = worked_ms[-1][1] / worked_ms[0][1]
    name = f"time a session with {numbers[-1]:,} sessions, to that with {numbers[0]:,}"
    figures.append(Figure(name, round(growth, 2), "times", bar=MAX_GROWTH))
    lines = [Line("processor time", worked_ms, 0), Line("clock", by_clock_ms, 1)]
    (RESULTS / "import_growth.svg").write_text(svg([Panel("import, ms a session", "sessions", lines)]))
    return keep("import_growth", "Import of many sessions", figures, "python -m benchmarks.import_growth")


def _import(number: int) -> tuple[float, float]:
    """Import so many sessions and index them; the processor time and the time by the clock, in seconds."""
    with temporary_folder() as folder:
        transcripts = folder / "transcripts"
        transcripts.mkdir()
        language = Language()
        for at in range(number):
            _session(language, at).write(transcripts)
        with product(folder / "home", transcripts) as made:
            timed = timed_import(made)
            return timed.worked_s, timed.seconds


def _session(language: Language, number: int) -> PastSession:
    rng = random.Random(f"import {number}")
    folder = f"/home/dev/{Path(project_of(number)).name}"
    session = PastSession(f"made-up-{number:05d}", LONG_AGO + timedelta(hours=number), folder)
    for turn in range(_TURNS):
        words = language.of_topic(topic_of(number), rng, 12)
        name = f"{words[0]}_{words[1]}"
        path = f"{folder}/{words[2]}/{words[3]}.py"
        check = f"python3 check_{words[2]}.py"
        session.prompt(f"The {words[0]} of {words[1]} is wrong when {words[4]} has no {words[5]}, please fix it")
        session.runs(check, f"AssertionError: {name} is None without {words[5]}", exit_code=1)
        session.edits(path, f"def {name}(items): return sum(items) or None", f"def {name}(items): return {turn}")
        session.runs(check, "ok")
        session.says(
            f"Fixed {name} in {words[3]}.py: {words[4]} without {words[5]} now counts as {words[6]}. "
            f"The cause was the {words[7]} after the {words[8]}; {words[9]} and {words[10]} stay as they were."
        )
    return session


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
