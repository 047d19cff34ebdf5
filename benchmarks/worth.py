"""`python -m benchmarks.worth DATA …`: does the composer keep what careful readers found worth a memory?

The turns of each data folder are judged by models that were trained on the labels of the others, never on its own.
Beside the composer stand two plain ways: a memory for each commit subject, and the first sentence of the closing
message as a memory. docs/labels.md has the figures of the rules that the composer replaced.

- *worth*: of the turns that are given a memory, the share in which readers saw one (and saw one of grade 2); of the
  turns of grade 2, the share that is given a memory.
- *carrying sentence*: of the turns in which both see a memory, the share whose memory tells a sentence that readers
  named: at least 80 % of its words stand in title and summary.
- *kind*: of the same turns, the share with the readers' kind."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from training.examples import Example, examples
from training.learn import learn

from benchmarks.figures import Figure, keep
from benchmarks.label_files import fingerprint
from claude_mem_lite.compress.compose.composer import compose
from claude_mem_lite.compress.compose.judge import Judge
from claude_mem_lite.compress.compose.material import material_of
from claude_mem_lite.evaluation.intervals import share_interval
from claude_mem_lite.models import WORK_KINDS, Draft
from claude_mem_lite.text import overlap

TOLD = 0.8
Way = Callable[[Example], Sequence[Draft]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way made of one labelled turn."""

    project: str
    grade: int
    kept: bool
    carries: bool
    right_kind: bool


def by_composer(judge: Judge, one: Example) -> Sequence[Draft]:
    past = one.past
    return compose(material_of(past.turn, past.message, past.steps, (), judge))


def by_commits(one: Example) -> Sequence[Draft]:
    return [Draft("change", commit.subject, commit.body) for commit in one.past.commits]


def by_first_sentence(one: Example) -> Sequence[Draft]:
    said = [found.text for found in one.past.candidates if found.source == "closing"]
    return [Draft("change", said[0], said[0])] if said else []


def outcome(one: Example, drafts: Sequence[Draft]) -> Outcome:
    """Compare what was made of a turn with what its reader said."""
    label = one.label
    carriers = {sha for card in label.cards for sha in card.carriers}
    texts = [found.text for found in one.past.candidates if fingerprint(found.text) in carriers]
    told = "\n".join(f"{draft.title} {draft.summary}" for draft in drafts)
    kinds = {card.kind for card in label.cards}
    return Outcome(
        one.project,
        label.grade,
        bool(drafts),
        any(overlap(text, told) >= TOLD for text in texts),
        any(draft.kind in kinds for draft in drafts[:1]),
    )


def figures_of(name: str, outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    """Yield the measures of one way, over all projects and by project."""
    projects = sorted({one.project for one in outcomes})
    for project in ("", *projects):
        part = [one for one in outcomes if not project or one.project == project]
        kept = [one for one in part if one.kept]
        both = [one for one in kept if one.grade]
        place = f"{name}, {project}" if project else name
        yield _share(f"{place}: turns with a memory", [one.kept for one in part])
        yield _share(f"{place}: readers saw a memory too", [one.grade > 0 for one in kept])
        yield _share(f"{place}: readers were glad of it", [one.grade > 1 for one in kept])
        yield _share(f"{place}: kept of what readers were glad of", [one.kept for one in part if one.grade > 1])
        yield _share(f"{place}: tells a carrying sentence", [one.carries for one in both])
        yield _share(f"{place}: kind", [one.right_kind for one in both])


def _share(name: str, found: Sequence[bool]) -> Figure:
    share = sum(found) / len(found) if found else 0.0
    low, high = share_interval(sum(found), len(found))
    return Figure(name, round(share, 3), "", note=f"of {len(found)}; 95 % interval {low:.3f} to {high:.3f}")


def main(arguments: Sequence[str]) -> int:
    given = examples(map(Path, arguments))
    projects = sorted({one.project for one in given})
    if len(projects) < 2:
        print("python -m benchmarks.worth DATA … needs labelled turns of two projects at least (docs/labels.md)")
        return 2
    ways: dict[str, list[Outcome]] = {"composer": [], "commits": [], "first sentence": []}
    for project in projects:
        judge = learn([one for one in given if one.project != project])
        print(f"{project}: judged by a model of the other {len(projects) - 1} projects", file=sys.stderr)
        plain: dict[str, Way] = {
            "composer": partial(by_composer, judge),
            "commits": by_commits,
            "first sentence": by_first_sentence,
        }
        for one in (one for one in given if one.project == project):
            for name, way in plain.items():
                drafts = [draft for draft in way(one) if draft.kind in WORK_KINDS]
                ways[name].append(outcome(one, drafts))
    figures = [figure for name, outcomes in ways.items() for figure in figures_of(name, outcomes)]
    for figure in figures:
        print(figure.line())
    return keep("worth", "Memories worth having, on labelled turns", figures, "python -m benchmarks.worth DATA …")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
