"""`python -m benchmarks.compression DATA`: what compression by rules makes of recorded sessions.

All sessions are imported by the product's own command into a home of their own, and what is stored is measured.
Retrieval is measured in a second home, filled from transcripts without what gives a commit away (evidence.py), with
nothing but memories and summaries to search."""

import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

if not __package__:  # run as a file, not as a module
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.baselines import Chunks
from benchmarks.evidence import write_without_evidence
from benchmarks.figures import Figure, keep
from benchmarks.product import product, temporary_folder, unpack
from benchmarks.ranking import measure
from benchmarks.stored import (
    all_memories,
    all_sessions,
    duplicates,
    memory_text,
    near_duplicates,
    remembered,
    sessions_by_memories,
    summary_text,
)
from benchmarks.title_checks import is_verb_and_path, why_worthless
from benchmarks.transcripts import Data, RawTurn, plain_turns, strings
from claude_mem_lite.agents.claude_code import TOOL_EVENTS
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.evaluation.intervals import Measured
from claude_mem_lite.models import Memory, Session
from claude_mem_lite.paths import Home

R5_FLOOR = 0.57
MAX_OF_PROSE = 50
MAX_MEDIAN_TOKENS = 120
MIN_MB_PER_MINUTE = 50


def main(arguments: Sequence[str]) -> int:
    data = Data(Path(arguments[0]))
    figures: list[Figure] = []
    with temporary_folder() as folder:
        unpack(data, folder / "transcripts")
        write_without_evidence(data, folder / "filtered")
        for part in (_as_it_is(data, folder), _retrieval(data, folder)):
            for figure in part:
                print(figure.line(), flush=True)
                figures.append(figure)
    return keep("compression", "Compression by rules", figures, "python -m benchmarks.compression DATA")


def _as_it_is(data: Data, folder: Path) -> Iterator[Figure]:
    with product(folder / "home", folder / "transcripts") as made:
        seconds, _ = made.run_import()
        speed = data.megabytes / seconds * 60
        note = f"{data.megabytes:.1f} MB, worked on to the last event"
        yield Figure("import", round(speed, 1), "MB/min", floor=MIN_MB_PER_MINUTE, note=note)
        yield Figure("time per MB", round(seconds / data.megabytes, 2), "s")
        with remembered(made.home) as db:
            memories, sessions = all_memories(db), all_sessions(db)
        yield from _skipped(made.home)
        yield from _numbers(memories, sessions)
        yield from _sizes(memories, sessions, list(data.turns()))
        yield from _titles(memories)


def _skipped(home: Home) -> Iterator[Figure]:
    with closing(open_for_reading(home.inbox_db)) as db:
        rows = db.execute("select event, status, count(*) as number from inbox group by event, status").fetchall()
    for name, kinds in (("events", None), ("tool events", TOOL_EVENTS)):
        chosen = [row for row in rows if kinds is None or row["event"] in kinds]
        total = sum(row["number"] for row in chosen)
        skipped = sum(row["number"] for row in chosen if row["status"] == "skipped")
        yield Figure(f"{name} skipped", round(100 * skipped / total, 1), "%", note=f"{skipped} of {total}")


def _numbers(memories: Sequence[Memory], sessions: Sequence[Session]) -> Iterator[Figure]:
    by_session = Counter(memory.session for memory in memories)
    counts = [by_session[session.id] for session in sessions]
    yield Figure(
        "sessions", len(sessions), "", note=f"{sum(bool(s.summary.headline) for s in sessions)} with a headline"
    )
    yield Figure("memories", len(memories), "", note=_counted(Counter(memory.kind for memory in memories)))
    yield Figure("memories a session, mean", round(statistics.fmean(counts), 1), "")
    yield Figure("memories a session, median", statistics.median(counts), "", note=f"at most {max(counts)}")
    told = [memory for memory in memories if memory.times_seen > 1]
    yield Figure("memories seen more than once", len(told), "")
    origins = Counter[str](memory.origin for memory in memories)
    yield Figure("origins", len(origins), "", note=_counted(origins))
    whole = [estimate_tokens("\n".join((m.title, m.summary, *m.facts, m.detail))) for m in memories]
    short = [estimate_tokens(f"{m.title}\n{m.summary}") for m in memories]
    note = "title, summary, facts and detail, by estimate"
    yield Figure("tokens a memory, median", statistics.median(whole), "", bar=MAX_MEDIAN_TOKENS, note=note)
    yield Figure("tokens a memory, p90", _p90(whole), "", note=f"at most {max(whole)}")
    listed = [estimate_tokens(memory_text(m)) for m in memories]
    note = "told, not judged: lists that are for finding it"
    yield Figure("tokens a memory with its files and symbols, median", statistics.median(listed), "", note=note)
    yield Figure("tokens of title and summary, median", statistics.median(short), "", note=f"p90 {_p90(short):g}")


def _sizes(memories: Sequence[Memory], sessions: Sequence[Session], turns: Sequence[RawTurn]) -> Iterator[Figure]:
    prose = sum(len(turn.prompt) + sum(map(len, turn.prose)) for turn in turns)
    tools = sum(len(call.output) + sum(map(len, strings(call.input))) for turn in turns for call in turn.calls)
    of_memories = sum(len(memory_text(memory)) for memory in memories)
    of_summaries = sum(len(summary_text(session.summary)) for session in sessions)
    stored = of_memories + of_summaries
    note = f"{of_memories} characters of memories, {of_summaries} of summaries, against {prose}"
    yield Figure("stored text, of prompts and prose", round(100 * stored / prose, 1), "%", bar=MAX_OF_PROSE, note=note)
    note = f"against {prose + tools} characters"
    yield Figure("stored text, of prompts, prose and tools", round(100 * stored / (prose + tools), 2), "%", note=note)
    asked = sum(len(memory.prompt) for memory in memories)
    yield Figure(
        "besides: the id of the prompt, kept with each memory", round(100 * asked / prose, 1), "% of prompts and prose"
    )


def _titles(memories: Sequence[Memory]) -> Iterator[Figure]:
    worthless = [(why, memory.title) for memory in memories if (why := why_worthless(memory.title))]
    for why, title in worthless:
        print(f"  {why}: {title!r}")
    note = _counted(Counter(why for why, _ in worthless))
    yield Figure("titles that are a tool, a path or an empty phrase", len(worthless), "", bar=0, note=note)
    thin = [memory.title for memory in memories if is_verb_and_path(memory.title)]
    yield Figure("titles of a verb and a path only", len(thin), "", note="told, not judged")
    yield Figure("duplicates left", duplicates(memories), "", note="the same words in title and summary")
    yield Figure("near-duplicates left", near_duplicates(memories), "", note="of one kind, 80 % of the words shared")


def _retrieval(data: Data, folder: Path) -> Iterator[Figure]:
    with product(folder / "filtered-home", folder / "filtered") as made:
        made.run_import()
        with remembered(made.home) as db:
            kept = measure(data.queries, sessions_by_memories(db))
    raw = measure(data.queries, Chunks(plain_turns(folder / "filtered")).by_words())
    yield from _measures("memories and summaries", kept, R5_FLOOR)
    yield from _measures("raw chunks", raw, None)


def _measures(name: str, measured: Mapping[str, Measured], r5_floor: float | None) -> Iterator[Figure]:
    for measure_name, value in measured.items():
        note = f"95 % interval {value.low:.3f} to {value.high:.3f}"
        floor = r5_floor if measure_name == "R@5" else None
        yield Figure(f"{name}: {measure_name}", round(value.mean, 3), "", floor=floor, note=note)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items(), key=lambda item: -item[1]))


def _p90(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=10)[-1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
