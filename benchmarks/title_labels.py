"""`python -m benchmarks.title_labels SHEET ANSWERS READER DATA …`: graded headlines -> labels/titles.jsonl.

SHEET is what `benchmarks.title_sheets` printed, ANSWERS one JSON line a turn, as docs/labels.md tells. A headline is
referred to by the hash of its words, a sentence by its number and hash."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.label_files import append, fingerprint, read_lines
from benchmarks.past_turns import PastTurn, past_turns

LABELS = Path(__file__).parent / "labels" / "titles.jsonl"
_TITLE = re.compile(r"  (t\d+): (.+)")
Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class TitleLabel:
    """A reader's grades of the headlines and sentences that one turn offers."""

    turn: Key
    reader: str
    titles: Mapping[str, int]
    """Hash of a headline -> 2 good, 1 understandable but a side matter, 0 bad."""
    sentences: Mapping[str, str]
    """Hash of a sentence -> `y` good in a summary, `c` needs the text around it, `n` no part of one."""


def load(path: Path = LABELS) -> list[TitleLabel]:
    """Return all grades, in the order in which they were given."""
    return list(map(_label, read_lines(path)))


def _label(told: Mapping[str, object]) -> TitleLabel:
    titles, sentences = told["titles"], told["sentences"]
    assert isinstance(titles, dict)
    assert isinstance(sentences, dict)
    return TitleLabel(
        (str(told["project"]), str(told["session"]), int(str(told["turn"]))),
        str(told["reader"]),
        {sha: int(grade) for sha, grade in titles.items()},
        {ref.partition(":")[2]: mark for ref, mark in sentences.items()},
    )


def titles_in(sheet: str) -> dict[str, dict[str, str]]:
    """Return the headlines that a sheet shows: the name of a turn -> the name of a headline -> its text."""
    found: dict[str, dict[str, str]] = {}
    turn = ""
    for line in sheet.split("\n"):
        if line.startswith("=== "):
            turn = line[4:].strip()
        elif turn and (title := _TITLE.fullmatch(line)):
            found.setdefault(turn, {})[title[1]] = title[2]
    return found


def references(
    answers: Iterable[Mapping[str, object]],
    shown: Mapping[str, Mapping[str, str]],
    turns: Iterable[PastTurn],
    reader: str,
) -> Iterator[str]:
    """Yield a line of references for each answer; ValueError says what is wrong with one."""
    known = {f"{past.turn.session[:8]}:{past.number}": past for past in turns}
    for answer in answers:
        name = str(answer["turn"])
        if name not in known:
            raise ValueError(f"no turn is called {name}")
        past, titles, marks = known[name], answer["t"], answer["s"]
        assert isinstance(titles, dict)
        assert isinstance(marks, dict)
        if set(titles.values()) - {0, 1, 2} or set(marks.values()) - {"y", "c", "n"}:
            raise ValueError(f"{name}: a headline is graded 0, 1 or 2, a sentence y, c or n")
        texts = shown.get(name, {})
        hashes = {one.ref: fingerprint(one.text) for one in past.candidates}
        told = {
            "project": past.project,
            "session": past.turn.session,
            "turn": past.number,
            "reader": reader,
            "titles": {fingerprint(texts[ref]): grade for ref, grade in titles.items() if ref in texts},
            "sentences": {f"{ref}:{hashes[ref]}": mark for ref, mark in marks.items() if ref in hashes},
        }
        yield json.dumps(told)


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    shown = titles_in(Path(arguments[0]).read_text())
    answers = read_lines(Path(arguments[1]))
    turns = [past for folder in arguments[3:] for past in past_turns(Path(folder))]
    lines = list(references(answers, shown, turns, arguments[2]))
    append(LABELS, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
