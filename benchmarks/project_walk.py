"""A walk through one data folder that is over: its starts and prompts, for the benchmarks of both."""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.transcripts import Data, recorded
from claude_mem_lite.evaluation.measurement import ProjectWalk
from claude_mem_lite.evaluation.session_walk import Walk
from claude_mem_lite.evaluation.trigger_walk import Observe, walk_in_time
from claude_mem_lite.evaluation.variants import Variant
from claude_mem_lite.evaluation.walk_folder import walk_folder


def walked(place: Path, variants: Sequence[Variant] = (), observe: Observe | None = None) -> ProjectWalk:
    """Walk through the sessions of a data folder; `observe` sees each prompt before its answer."""
    with walk_folder() as folder:
        walk = Walk(recorded(Data(place)), folder, variants)
        found = ProjectWalk(walk.listed)
        for reached in walk_in_time(walk, observe):
            found.add(reached)
    for message, count in walk.problems.items():
        print(f"{place.name}: the worker logged {count} times: {message}", file=sys.stderr)
    return found
