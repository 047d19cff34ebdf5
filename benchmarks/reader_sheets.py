"""`python -m benchmarks.reader_sheets DATA … [--number N] [--seed N]`: turns to write closed questions about.

In each project a session of its last third is drawn: questions are asked when it begins. Of the sessions that ended
before, in a random order, each gives one turn, drawn as well; what the product remembers of it plays no part. Printed
are the prompt, what the agent said and what it ran, cut."""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.transcripts import Data, RawTurn, recorded
from claude_mem_lite.evaluation.replay_home import ended_at
from claude_mem_lite.evaluation.session_walk import FIRST
from claude_mem_lite.evaluation.sightings import RecordedSession
from claude_mem_lite.text import one_line, within

_MIN_SAID = 300
_MAX_PROMPT, _MAX_SAID, _MAX_RUN, _MAX_COMMANDS = 400, 1_500, 140, 4


def asking_session(sessions: Sequence[RecordedSession], draw: random.Random) -> RecordedSession:
    """Return the session at whose beginning the questions of a project are asked."""
    return sessions[draw.randrange(max(FIRST, len(sessions) * 2 // 3), len(sessions))]


def drawn_turns(data: Data, number: int, seed: int) -> tuple[str, list[RawTurn]]:
    """Return the id of the asking session, and turns of sessions that ended before it began."""
    draw = random.Random(f"{seed} {data.folder.name}")
    sessions = sorted(recorded(data).past.values(), key=lambda one: one.began_at)
    asking = asking_session(sessions, draw)
    ended = sorted(one.id for one in sessions if max(map(ended_at, one.turns)) < asking.began_at)
    by_session: dict[str, list[RawTurn]] = {one: [] for one in ended}
    for turn in data.turns():
        if turn.session in by_session and turn.prompt and len("\n".join(turn.prose)) >= _MIN_SAID:
            by_session[turn.session].append(turn)
    order = draw.sample(ended, len(ended))
    found = [draw.choice(by_session[one]) for one in order * number if by_session[one]]
    return asking.id, found[:number]


def sheet(turn: RawTurn) -> Iterator[str]:
    """Yield the lines of a turn as a reader needs them."""
    said = "\n".join(turn.prose)
    yield f"=== {turn.session}"
    yield f"PROMPT: {within(one_line(turn.prompt), _MAX_PROMPT)}"
    commands = [one_line(call.command) for call in turn.calls if call.command]
    yield from (f"RUN {within(one, _MAX_RUN)}" for one in commands[-_MAX_COMMANDS:])
    yield said[-_MAX_SAID:]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader_sheets", description=__doc__)
    parser.add_argument("data", type=Path, nargs="+", help="folders of recorded sessions")
    parser.add_argument("--number", type=int, default=14, help="turns of each project")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    for folder in given.data:
        asking, turns = drawn_turns(Data(folder), given.number, given.seed)
        print(f"##### {folder.name}: asked in {asking}")
        for turn in turns:
            print("\n".join(sheet(turn)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
