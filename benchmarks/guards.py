"""`python -m benchmarks.guards DATA …`: do guards fire on what their rules forbid, and on nothing else?

The rules of `guard_rules.toml` go through `propose`, and each guard is held against every recorded command and edit.

- *precision*: of the labelled calls on which a guard fires, the share that does what the rule forbids.
- *precision by other readers*: the same by two readers who did not know the matcher, on firings that were drawn after
  its last change; what they called arguable counts as wrong.
- *recall*: of the calls that do so, the share on which the guard fires. Calls that hold the words of a rule and do not
  match are drawn by rule, and each label stands for its part of them (`benchmarks.guard_sheets`).
- *prompts*: how many sentences of recorded prompts get a proposal.

Nothing was tuned on the projects `agent-swarm` and `forge`, which were read once: their figures stand apart."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.guard_calls import Pair, PastCall, pairs, past_calls, proposals, rules
from benchmarks.guard_sheets import HELD_OUT, LABELS, is_near
from benchmarks.label_files import read_lines
from benchmarks.transcripts import records, session_of, turns_of
from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.evaluation.intervals import share_interval
from claude_mem_lite.evaluation.trigger_walk import is_typed
from claude_mem_lite.guards.proposal import propose

MIN_PRECISION = 0.95
INDEPENDENT = "independent"
"""Draw that readers judged who did not know the matcher."""
_MAX_PROMPT_LENGTH = 8_000
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Label:
    """Judgement of a reader: does a call do what a rule forbids?"""

    key: Key
    draw: str
    should: bool


def labels(path: Path = LABELS) -> list[Label]:
    """Return the judgements, by project, call and rule."""
    return [
        Label((str(one["project"]), str(one["call"]), str(one["rule"])), str(one["draw"]), one["should"] is True)
        for one in read_lines(path)
    ]


def precision(name: str, judged: Sequence[Label], fired: Mapping[Key, Pair], *, is_bar: bool) -> Figure:
    """Return the share of right firings among those that were judged."""
    firing = [label for label in judged if label.key in fired]
    right = sum(label.should for label in firing)
    low, high = share_interval(right, len(firing))
    note = f"{right} of {len(firing)}; 95 % interval {low:.2f} to {high:.2f}"
    floor = MIN_PRECISION if is_bar else None
    return Figure(name, round(right / max(len(firing), 1), 3), "", floor=floor, note=note)


def recall(name: str, judged: Sequence[Label], fired: Mapping[Key, Pair], near: Sequence[Pair]) -> Figure:
    """Return the estimated share of calls against a rule on which its guard fires. `near` are the calls without a match
    that hold the words of a rule; those of the other draws hold less, and none of them was against a rule."""
    drawn = [label for label in judged if label.draw == "near"]
    asked = Counter(label.key[2] for label in drawn)
    missed = Counter(label.key[2] for label in drawn if label.should and label.key not in fired)
    sizes = Counter(pair.rule for pair in near)
    right = [label.should for label in judged if label.key in fired]
    found = len(fired) * sum(right) / max(len(right), 1)
    lost = sum(sizes[rule] * count / asked[rule] for rule, count in missed.items())
    share = share_interval(sum(missed.values()), len(drawn))[1]
    low = found / max(found + share * len(near), 1)
    others = [label for label in judged if label.draw in ("unfired", "other") and label.key not in fired]
    note = (
        f"at least {low:.2f} by a 95 % interval; {sum(missed.values())} of {len(drawn)} near ones without a match"
        f" should have one, about {lost:.0f} of {len(near):,};"
        f" of other calls {sum(one.should for one in others)} of {len(others)}"
    )
    return Figure(f"{name}: recall", round(found / max(found + lost, 1), 3), "", note=note)


def figures_of(name: str, calls: Sequence[PastCall], judged: Sequence[Label], *, is_bar: bool) -> Iterator[Figure]:
    """Yield the measures of some projects."""
    projects = {past.project for past in calls}
    own = [label for label in judged if label.key[0] in projects]
    guards = {rule: proposal.rule for rule, proposal in proposals().items()}
    held = list(pairs(calls, guards))
    fired = {pair.key: pair for pair in held if pair.match}
    tools = Counter(past.call.tool == "Bash" for past in calls)
    firing = len({pair.rule for pair in fired.values()})
    note = f"{tools[True]:,} commands and {tools[False]:,} edits; {firing} guards fire"
    yield Figure(f"{name}: firings", len(fired), "", note=note)
    by_author = [label for label in own if label.draw != INDEPENDENT]
    by_others = [label for label in own if label.draw == INDEPENDENT]
    yield precision(f"{name}: precision", by_author, fired, is_bar=is_bar)
    yield precision(f"{name}: precision by other readers", by_others, fired, is_bar=is_bar)
    yield recall(name, by_author, fired, [pair for pair in held if not pair.match and is_near(pair, guards[pair.rule])])


def proposed_in_prompts(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield each sentence of the prompts of a data folder once, and whether it gets a proposal."""
    seen: set[str] = set()
    for path in sorted((folder / "sessions").glob("*.jsonl.gz")):
        for turn in turns_of(session_of(path), records(path)):
            if is_typed(turn.prompt) and len(turn.prompt) <= _MAX_PROMPT_LENGTH:
                said = {one for line in turn.prompt.split("\n") for one in sentences(line)} - seen
                seen |= said
                yield from ((one, propose(one) is not None) for one in sorted(said))


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    folders = [Path(argument) for argument in arguments]
    judged = labels()
    calls = {folder.name: list(past_calls(folder)) for folder in folders}
    groups = {
        "five projects": [past for name, found in calls.items() if name not in HELD_OUT for past in found],
        "held out": [past for name, found in calls.items() if name in HELD_OUT for past in found],
    }
    figures = [Figure("rules with a proposal", len(proposals()), "", floor=30, note=f"of {len(rules())}")]
    for name, found in groups.items():
        figures += figures_of(name, found, judged, is_bar=True)
    for name, found in sorted(calls.items()):
        figures += figures_of(f"{name}{' (held out)' if name in HELD_OUT else ''}", found, judged, is_bar=False)
    for folder in folders:
        said = list(proposed_in_prompts(folder))
        for sentence, is_proposed in said:
            if is_proposed:
                print(f"{folder.name}: {sentence}")
        note = f"of {len(said):,} sentences"
        figures.append(Figure(f"{folder.name}: proposals from prompts", sum(one for _, one in said), "", note=note))
    return keep("guards", "Guards on recorded calls", figures, "python -m benchmarks.guards DATA …")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
