"""`python -m benchmarks.prompt_labels ANSWERS READER DATA …`: a reader's answers -> references in labels/prompts.jsonl.

An answer is one JSON line a prompt, as docs/labels.md tells. A reference names a sentence by number and hash."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.label_files import append, read_lines
from benchmarks.prompt_sheets import PastPrompt, past_prompts

LABELS = Path(__file__).parent / "labels" / "prompts.jsonl"
GRADES = ("strong", "weak")
KINDS = ("correction", "preference", "rule", "convention", "decision", "fact")


@dataclass(frozen=True, slots=True)
class Lesson:
    """One sentence of a prompt that holds beyond its task."""

    sentence: str
    """The hash of the sentence."""
    grade: str
    kind: str
    worded: str
    """The lesson in the reader's words."""
    needs_before: bool
    """It cannot be understood without the agent's message before it."""


@dataclass(frozen=True, slots=True)
class PromptLabel:
    """A reader's judgement of one prompt."""

    project: str
    session: str
    number: int
    reader: str
    lessons: tuple[Lesson, ...]


def load(path: Path = LABELS) -> list[PromptLabel]:
    """Return all labels, in the order in which they were made."""
    return list(map(label_of, read_lines(path)))


def label_of(told: Mapping[str, object]) -> PromptLabel:
    """Return a line of references as a label."""
    lessons = told["lessons"]
    assert isinstance(lessons, list)
    found = (
        Lesson(one["s"].partition(":")[2], one["grade"], one["kind"], one["lesson"], one.get("before", False))
        for one in lessons
    )
    return PromptLabel(
        str(told["project"]), str(told["session"]), int(str(told["turn"])), str(told["reader"]), tuple(found)
    )


def references(answers: Iterable[Mapping[str, object]], prompts: Iterable[PastPrompt], reader: str) -> Iterator[str]:
    """Yield a line of references for each answer; ValueError says what is wrong with one."""
    known = {prompt.name: prompt for prompt in prompts}
    for answer in answers:
        name = str(answer["prompt"])
        if name not in known:
            raise ValueError(f"no prompt is called {name}")
        prompt, refs = known[name], known[name].refs()
        lessons = answer["lessons"]
        assert isinstance(lessons, list)
        for one in lessons:
            if one["grade"] not in GRADES or one["kind"] not in KINDS or one["s"] not in refs:
                raise ValueError(f"{name}: {one['s']!r} has grade {one['grade']!r} and kind {one['kind']!r}")
        told = {
            "project": prompt.project,
            "session": prompt.session,
            "turn": prompt.number,
            "reader": reader,
            "lessons": [{**one, "s": f"{one['s']}:{refs[one['s']]}"} for one in lessons],
        }
        yield json.dumps(told, ensure_ascii=False)


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    answers = read_lines(Path(arguments[0]))
    prompts = [prompt for folder in arguments[2:] for prompt in past_prompts(Path(folder))]
    lines = list(references(answers, prompts, arguments[1]))
    append(LABELS, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
