"""Precision of the marks `used` and `ignored`: `python -m benchmarks.outcomes DATA…`, on labelled pairs.

A pair is a session and an item that the product gave it, at its start or with a prompt. 428 of them were drawn at
random from walks through seven projects, more of those with traces of use than of those without, and each was labelled
by reading the session, without its mark: was its work about what the item tells, or did the agent make use of it? The
labels are references (`outcomes_labels.json`). Each session is imported by the product at its time, after those that
ended before it, and judged by the product's own functions as if it had been given the items. Pairs labelled `unclear`
are in no precision, and counted beside it."""

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

if not __package__:  # run as a file, not as a module
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.figures import Figure, keep
from benchmarks.product import temporary_folder
from benchmarks.stored import remembered
from benchmarks.transcripts import Data, recorded
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.evaluation.in_process_worker import served
from claude_mem_lite.evaluation.intervals import share_interval
from claude_mem_lite.evaluation.session_walk import Walk
from claude_mem_lite.evaluation.sightings import RecordedSession, prompt_of
from claude_mem_lite.evaluation.trigger_walk import is_typed
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge import usage_evidence
from claude_mem_lite.knowledge.outcomes import MIN_USED, outcome_of, score, signature_of
from claude_mem_lite.models import Outcome
from claude_mem_lite.store import memories, sessions

LABELS = Path(__file__).with_name("outcomes_labels.json")
CHOSEN_ON = ("agent-swarm", "cc-backend", "coding")
"""The projects that the thresholds were chosen on; the others confirm them."""
MIN_PRECISION = 0.8


@dataclass(frozen=True, slots=True)
class Label:
    """One labelled pair."""

    session: str
    prompt: int | None
    """The number of the prompt the item was given with; None at the start."""
    item: str
    title: str
    """The hash of a memory's title when it was labelled."""
    label: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled pair with what the product makes of it."""

    project: str
    is_start: bool
    label: str
    outcome: Outcome
    has_traces: bool
    """Whether the score is as high as `used` asks for at a prompt."""


def main(arguments: Sequence[str]) -> int:
    labels: defaultdict[str, list[Label]] = defaultdict(list)
    for row in json.loads(LABELS.read_text()):
        labels[row["session"]].append(Label(**row))
    judged: list[Judged] = []
    for folder in arguments:
        judged += _of_project(Data(Path(folder)), labels)
        print(f"{folder}: {len(judged)} pairs judged so far", flush=True)
    figures = list(_figures(judged))
    for figure in figures:
        print(figure.line(), flush=True)
    return keep("outcomes", "Marks of use", figures, "python -m benchmarks.outcomes DATA…")


def _of_project(data: Data, labels: Mapping[str, Sequence[Label]]) -> list[Judged]:
    judged: list[Judged] = []
    with temporary_folder() as folder:
        walk = Walk(recorded(data), folder)
        ends = sorted((_end_of(walk.past[one.id]), one.id) for one in walk.listed if labels.get(one.id))
        with served(walk.home, walk.clock):
            for ended_at, session in ends:
                walk.go_to(ended_at + timedelta(seconds=1))
                judged += _of_session(walk, session, labels[session], data.folder.name)
    return judged


def _of_session(walk: Walk, session: str, labels: Sequence[Label], project: str) -> Iterator[Judged]:
    typed = [turn.began_at for turn in walk.past[session].turns if is_typed(prompt_of(turn))]
    started_at = next(one.started_at for one in walk.listed if one.id == session)
    with remembered(walk.home) as db, closing(open_for_reading(walk.home.inbox_db)) as inbox:
        told = sessions.find(db, session)
        work = usage_evidence.work_of(db, Queue(inbox), told) if told else None
        if told is None or work is None:
            raise SystemExit(f"{session} was not imported")
        common, weights = (
            usage_evidence.common_files(db, told.project, session),
            usage_evidence.WordWeights(db, told.project),
        )
        for label in labels:
            given, memory = signature_of(db, label.item), memories.find(db, label.item)
            if given is None or (memory and hashlib.sha256(memory.title.encode()).hexdigest()[:12] != label.title):
                print(f"changed since it was labelled: {label.item}", file=sys.stderr)
            if given is None:
                continue
            is_start = label.prompt is None
            shown = (
                work.evidence() if label.prompt is None else work.evidence_after(max(typed[label.prompt], started_at))
            )
            outcome = outcome_of(given, shown, "startup" if is_start else "prompt", common, weights)
            has_traces = score(given, shown, common, weights) >= MIN_USED
            yield Judged(project, is_start, label.label, outcome, has_traces)


def _end_of(session: RecordedSession) -> datetime:
    return max(time_of(turn.events[-1].name) for turn in session.turns)


def _figures(judged: Sequence[Judged]) -> Iterator[Figure]:
    at_prompts = [one for one in judged if not one.is_start]
    at_starts = [one for one in judged if one.is_start]
    used = [one for one in at_prompts if one.outcome == "used"]
    ignored = [one for one in at_starts if one.outcome == "ignored"]
    halves = {"chosen on": True, "confirmed on": False}
    for what, marked, right in (("used, at prompts", used, "yes"), ("ignored, at starts", ignored, "no")):
        yield _precision(f"precision of {what}", marked, right)
        for half, is_chosen in halves.items():
            some = [one for one in marked if (one.project in CHOSEN_ON) is is_chosen]
            yield _precision(f"precision of {what}, {half} {len({one.project for one in some})} projects", some, right)
        for project in sorted({one.project for one in marked}):
            some = [one for one in marked if one.project == project]
            yield _precision(f"precision of {what}, {project}", some, right, floor=None)
    yield _share("recall of used, at prompts", [one.outcome == "used" for one in at_prompts if one.label == "yes"])
    yield _share("recall of ignored, at starts", [one.outcome == "ignored" for one in at_starts if one.label == "no"])
    # Why these two count as unknown.
    traces = [one for one in at_starts if one.has_traces]
    yield _precision("precision of the same traces at starts, not marked as used", traces, "yes", floor=None)
    silent = [one for one in at_prompts if one.outcome == "unknown"]
    yield _precision("precision of no traces at prompts, not marked as ignored", silent, "no", floor=None)


def _precision(name: str, marked: Sequence[Judged], right: str, floor: float | None = MIN_PRECISION) -> Figure:
    counts = Counter(one.label for one in marked)
    number = counts["yes"] + counts["no"]
    low, high = share_interval(counts[right], number)
    note = f"{counts[right]} of {number}, 95 % between {low:.2f} and {high:.2f}; {counts['unclear']} unclear besides"
    value = round(counts[right] / number, 3) if number else 0.0
    return Figure(name, value, "", floor=floor if number else None, note=note)


def _share(name: str, hits: Sequence[bool]) -> Figure:
    low, high = share_interval(sum(hits), len(hits))
    note = f"{sum(hits)} of {len(hits)}, 95 % between {low:.2f} and {high:.2f}"
    return Figure(name, round(sum(hits) / max(len(hits), 1), 3), "", note=note)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
