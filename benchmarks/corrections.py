"""`python -m benchmarks.corrections DATA [--dev]`: how well rules tell what users teach from what they ask or report.

Two sets of labelled sentences, both labelled before any rule was written. The real ones are sentences of the prompts in
DATA, and of the words with which users rejected tool calls; of them only references are kept, session and a hash of the
sentence in `corrections_labels.json`, never the words. The own ones stand in tests/taught_sentences.py. A sentence of
which two readers could differ is labelled null and not counted. A third of both, by hash, was held out: with `--dev`
only the rest is measured, its misses are printed, and nothing is kept.

Whoever labels a sentence has read it, so the held-out third flatters. The own sentences that were written later,
against the rules, are told apart; of these, those that no rule was changed for are the fairest measure here.

At last, what the rules make of every prompt of DATA as a whole, where nearly all sentences teach nothing; there a
sentence that is labelled null, or not labelled, counts as wrong."""

import hashlib
import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.taught_sentences import SENTENCES, TAUGHT_LATER, TAUGHT_UNSEEN, UNTAUGHT_LATER, UNTAUGHT_UNSEEN

from benchmarks.figures import Figure, keep
from benchmarks.transcripts import Data, records, session_of, turns_of
from claude_mem_lite.compress.language.prose import plain
from claude_mem_lite.compress.lessons.reading import read
from claude_mem_lite.compress.lessons.spoken import spoken

LABELS = Path(__file__).parent / "corrections_labels.json"
_REJECTED = "The user doesn't want"
_USER_SAID = "the user said:\n"
_END = re.compile(r"(?<=[.!?])\s+")
_LETTER = re.compile(r"[^\W\d_]")
_PRECISION, _RECALL = 0.9, 0.8


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence, whether it teaches something, and whether the rules say so."""

    text: str
    is_real: bool
    teaches: bool
    found: bool

    @property
    def is_held_out(self) -> bool:
        return is_held_out(self.text)


def is_held_out(sentence: str) -> bool:
    return int(digest(sentence), 16) % 3 == 0


def digest(sentence: str) -> str:
    return hashlib.sha256(sentence.encode()).hexdigest()[:16]


def typed(data: Data) -> Iterator[tuple[str, str]]:
    """Session and text of every prompt, and of every word that came with the rejection of a tool call."""
    for file in data.files:
        for turn in turns_of(session_of(file), records(file)):
            if turn.prompt:
                yield turn.session, turn.prompt
            for call in turn.calls:
                if call.failed and call.output.startswith(_REJECTED) and _USER_SAID in call.output:
                    yield turn.session, call.output.split(_USER_SAID, 1)[1]


def cut(text: str) -> list[str]:
    """The sentences that labels refer to: by a rule of their own, so that the product's may change."""
    parts = (part.strip() for line in text.split("\n") for part in _END.split(line.strip()))
    return [part for part in parts if _LETTER.search(part)]


def _bare(sentence: str) -> str:
    """A sentence as the rules get it: plain, and without backticks."""
    return plain(sentence).replace("`", "")


def real(data: Data) -> list[Labelled]:
    labels = {(one["session"], one["sentence"]): one["teaches"] for one in json.loads(LABELS.read_text())}
    found = {(session, digest(part)): part for session, text in typed(data) for part in cut(text)}
    if missing := set(labels) - set(found):
        raise SystemExit(f"{len(missing)} labelled sentences are not in {data.folder}")
    return [
        Labelled(found[key], True, teaches, read(_bare(found[key].lstrip("-* "))) is not None)
        for key, teaches in labels.items()
        if teaches is not None
    ]


def own() -> list[Labelled]:
    return [Labelled(text, False, bool(kind), read(text) is not None) for text, kind in SENTENCES]


def later(taught: Sequence[str], untaught: Sequence[str]) -> list[Labelled]:
    return [
        Labelled(text, False, teaches, read(text) is not None)
        for texts, teaches in ((taught, True), (untaught, False))
        for text in texts
    ]


def _figures(name: str, sentences: Sequence[Labelled], *, is_judged: bool) -> Iterator[Figure]:
    right = sum(one.found and one.teaches for one in sentences)
    found, taught = sum(one.found for one in sentences), sum(one.teaches for one in sentences)
    for what, of, floor in (("precision", found, _PRECISION), ("recall", taught, _RECALL)):
        low, high = interval(right, of)
        note = f"{right} of {of}, 95 % interval {low:.2f} to {high:.2f}; {len(sentences)} sentences"
        yield Figure(f"{what}, {name}", round(right / of, 3), "", floor=floor if is_judged else None, note=note)


def interval(right: int, of: int) -> tuple[float, float]:
    """Wilson's interval of a share: unlike drawing again it does not take a share of 1 for certain."""
    share, z2 = right / of, 1.96**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = 1.96 / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return middle - half, middle + half


def _of_all(data: Data) -> list[Figure]:
    """What the rules make of all prompts as they are."""
    labels = {one["sentence"]: one["teaches"] for one in json.loads(LABELS.read_text())}
    prompts = list(dict.fromkeys(typed(data)))
    found = [sentence for _, prompt in prompts for sentence in spoken(prompt) if read(sentence) is not None]
    marks = {_bare(part): labels.get(digest(part)) for _, text in prompts for part in cut(text)}
    good = sum(any(mark and (text in one or one in text) for text, mark in marks.items() if text) for one in found)
    for sentence in found:
        if not any(mark and (text in sentence or sentence in text) for text, mark in marks.items() if text):
            print(f"not labelled as taught: {sentence}")
    return [
        Figure("lessons found in all prompts", len(found), f"of {len(prompts)} prompts"),
        Figure(
            "of them labelled as taught", good / len(found) if found else 1.0, "", note="the others are unsure or wrong"
        ),
    ]


def main(arguments: Sequence[str]) -> int:
    data = Data(Path(arguments[0]))
    every = [*real(data), *own()]
    only_dev = "--dev" in arguments
    dev, held = ([one for one in every if one.is_held_out == out] for out in (False, True))
    for one in dev if only_dev else every:
        if one.found != one.teaches:
            print(f"{'missed' if one.teaches else 'wrong'}{' (held out)' if one.is_held_out else ''}: {one.text}")
    sets = [("developed with", dev)] if only_dev else [("all", every), ("developed with", dev), ("held out", held)]
    figures: list[Figure] = []
    for name, sentences in sets:
        figures += _figures(name, sentences, is_judged=name == "all")
        for whose, is_real in (("real", True), ("own", False)):
            part = [one for one in sentences if one.is_real == is_real]
            figures += _figures(f"{name}, {whose}", part, is_judged=False)
    figures += _figures("written later", later(TAUGHT_LATER, UNTAUGHT_LATER), is_judged=False)
    if not only_dev:
        figures += _figures("written later, unseen", later(TAUGHT_UNSEEN, UNTAUGHT_UNSEEN), is_judged=True)
        figures += _of_all(data)
    for figure in figures:
        print(figure.line())
    return 0 if only_dev else keep("corrections", "What users teach", figures, "python -m benchmarks.corrections DATA")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
