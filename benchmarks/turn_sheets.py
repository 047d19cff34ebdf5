"""`python -m benchmarks.turn_sheets DATA [--session ID] [--sample N] [--of K --part I]`: turns to be labelled.

Prints each turn as a reader needs it: prompt, what was done, commits, and the numbered sentences that may carry a
memory. docs/labels.md tells how to label; `python -m benchmarks.turn_labels` turns the answers into references."""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.past_turns import PastTurn, past_turns
from claude_mem_lite.compress.rules.turn import trail
from claude_mem_lite.compress.toolcalls.edits import describe, merge
from claude_mem_lite.compress.toolcalls.steps import Agreed, Answered, Delegated, FileEdited, open_tasks
from claude_mem_lite.text import one_line, within

_MAX_PROMPT = 1_000
_MAX_BEFORE = 400
_MAX_SENTENCE = 420
_MAX_FILES = 14
_MAX_SENTENCES = 70


def sheet(past: PastTurn) -> str:
    """Return one turn as text to be read and labelled."""
    head = f"=== {past.turn.session[:8]}:{past.number}"
    before = f"BEFORE (end of the agent's last message): …{one_line(past.before)[-_MAX_BEFORE:]}" if past.before else ""
    lines = [head, before, f"PROMPT: {within(past.turn.prompt.strip(), _MAX_PROMPT)}", *_done(past)]
    group = ""
    offered = [one for one in past.candidates if one.source not in ("heading", "plan")]
    for one in offered[:_MAX_SENTENCES]:
        if one.source == "closing" and not group.startswith("closing"):
            lines.append("CLOSING MESSAGE:")
        place = " · ".join(filter(None, (f"# {one.under}" if one.under else "", one.lead and f"{one.lead}:")))
        if place and place != group.partition("|")[2]:
            lines.append(f"  [{within(place, 140)}]")
        group = f"{one.source}|{place}"
        mark = {"item": "- ", "todo": "- [ ] ", "row": "| ", "quote": "> "}.get(one.kind, "")
        lines.append(f"  {one.ref}: {mark}{within(one.text, _MAX_SENTENCE)}")
    return "\n".join(line for line in lines if line)


def _done(past: PastTurn) -> Iterator[str]:
    """Yield what the turn did: edits, commands with their outcome, answers, plans, open tasks."""
    changes = merge(step.change for step in past.steps if isinstance(step, FileEdited))
    for change in changes[:_MAX_FILES]:
        yield f"EDIT {within(describe(change), 160)}"
    if len(changes) > _MAX_FILES:
        yield f"EDIT … {len(changes) - _MAX_FILES} more files"
    yield from (f"RUN {within(line, 220)}" for line in trail(past.steps))
    for step in past.steps:
        if isinstance(step, Answered):
            yield f"ASKED {within(one_line(step.question), 300)} -> {within(one_line(step.answer), 200)}"
        elif isinstance(step, Agreed):
            yield f"PLAN AGREED {within(one_line(step.plan), 300)}"
        elif isinstance(step, Delegated):
            yield f"SUBAGENT {within(one_line(step.task), 100)}"
    if left := open_tasks(past.steps):
        yield f"TASKS OPEN {'; '.join(left[:8])}"


def chosen(folder: Path, *, session: str, sample: int, seed: int) -> list[PastTurn]:
    """Return turns that have a sentence to label: of one session, or a random sample in order of time."""
    found = [one for one in past_turns(folder) if one.candidates and one.turn.session.startswith(session)]
    if not sample or sample >= len(found):
        return found
    return [found[at] for at in sorted(random.Random(seed).sample(range(len(found)), sample))]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.turn_sheets", description=__doc__)
    parser.add_argument("data", type=Path, help="a folder of recorded sessions")
    parser.add_argument("--session", default="", help="the beginning of a session's id")
    parser.add_argument("--sample", type=int, default=0, help="so many turns, drawn at random (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", type=int, default=1, help="cut the turns into so many parts")
    parser.add_argument("--part", type=int, default=1, help="and print this one")
    given = parser.parse_args(arguments)
    turns = chosen(given.data, session=given.session, sample=given.sample, seed=given.seed)
    size = -(-len(turns) // given.of)
    print("\n\n".join(map(sheet, turns[size * (given.part - 1) : size * given.part])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
