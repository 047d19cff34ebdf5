"""`python -m benchmarks.code DATA`: what becomes known of the code that recorded sessions worked on.

Three parts: how many functions and classes a session changes, as the import stores them in `symbol_changes`; what it
takes to read an edit; and how many earlier memories would have been stale when given (staleness.py, freshness.py).
An edit is one of which the client recorded the file before it. It is read as the worker reads it: capped and redacted
by the inbox, in the order of time, and compared with the same call on a file of no known language."""

import sqlite3
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figures import Figure, keep, p95
from benchmarks.freshness import stale_figures
from benchmarks.product import product, temporary_folder
from benchmarks.staleness import Walk
from benchmarks.stored import remembered
from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.code.syntax.changes import CodeChange, combined
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.code.syntax.symbols import read_symbols
from claude_mem_lite.compress.toolcalls import edit_states
from claude_mem_lite.compress.toolcalls.edits import read_change
from claude_mem_lite.compress.toolcalls.payload_fields import folder_of
from claude_mem_lite.evaluation.sightings import RecordedSession, is_edit, recorded_sessions
from claude_mem_lite.importers.transcripts import find_transcripts
from claude_mem_lite.inbox.payload import parse, to_stored
from claude_mem_lite.models import Event, JsonValue, ToolCall, text
from claude_mem_lite.store import symbol_changes

PASSES = 3
_UNREAD = ".unread"


def main(arguments: Sequence[str]) -> int:
    transcripts = find_transcripts([Path(arguments[0]) / "sessions"])
    sessions = recorded_sessions(transcripts, datetime.now(UTC), is_one_project=True)
    figures: list[Figure] = []
    with temporary_folder() as folder, product(folder / "home", folder) as made:
        visits = list(Walk(made, folder, sessions).visits())
        with remembered(made.home) as db:
            changes = {
                session.id: [one.change for one in symbol_changes.of_session(db, session.id)] for session in sessions
            }
            figures += _of_symbols(sessions, changes, _stored(db))
    figures += _of_edits(_edits(sessions))
    figures += stale_figures(visits, sessions)
    for figure in figures:
        print(figure.line(), flush=True)
    return keep("code", "Code that memories tell of", figures, "python -m benchmarks.code DATA")


def _stored(db: sqlite3.Connection) -> int:
    return int(db.execute("select count(*) from symbol_changes where name <> ''").fetchone()[0])


def _of_symbols(
    sessions: Sequence[RecordedSession], changes: Mapping[str, Sequence[CodeChange]], rows: int
) -> Iterator[Figure]:
    """What sessions did to functions and classes, each counted once a session, for what became of it in the end."""
    edited = [session.id for session in sessions if any(one.is_change for one in session.sightings)]
    found = {id_: [one for one in combined(changes[id_]) if one.name] for id_ in edited}
    numbers = [len(found[id_]) for id_ in edited]
    everything = [one for some in found.values() for one in some]
    yield Figure("sessions with edits", len(edited), "", note=f"of {len(sessions)}")
    note = f"mean {statistics.fmean(numbers):.1f}, most {max(numbers)}, in {sum(map(bool, numbers))} sessions any"
    yield Figure(
        "functions and classes changed in a session with edits, median", statistics.median(numbers), "", note=note
    )
    for action, number in sorted(Counter(one.action for one in everything).items()):
        note = f"{number} of {len(everything)}; {rows} changes are stored, turn by turn"
        yield Figure(f"of these {action}", round(number / len(everything), 3), "", note=note)
    renamed = [one for one in everything if one.was]
    note = (
        f"{len(renamed)} of {len(everything)}, {sum(one.before == one.after for one in renamed)} without another change"
    )
    yield Figure("of these renamed", round(len(renamed) / len(everything), 3), "", note=note)


def _edits(sessions: Sequence[RecordedSession]) -> list[Event]:
    """All recorded edits as they come out of the inbox."""
    payloads = [event for session in sessions for turn in session.turns for event in turn.events]
    edits = sorted((event for event in payloads if is_edit(event.payload)), key=lambda event: event.name)
    return [event_from_payload(event.name, parse(to_stored(event.payload).encode())) for event in edits]


def _of_edits(edits: Sequence[Event]) -> Iterator[Figure]:
    of_source = [event for event in edits if language_of(_path(event))]
    read = sum(_is_read(event) for event in of_source)
    note = f"{read} of {len(of_source)}; the others are told by the look of their lines"
    yield Figure("edits of source files whose functions are read", round(read / len(of_source), 3), "", note=note)
    times = _times(of_source, lambda event: event.tool)
    cold = _times(of_source, lambda event: event.tool, before_each=edit_states._symbols.cache_clear)
    unread = _times(of_source, _unread)
    size = statistics.median(len(_original(event)) for event in of_source)
    how = f"of the processor, each edit the median of {PASSES} times; files of {size / 1000:.0f} KB in the median"
    note = f"{_spread(times)}; {how}"
    yield Figure("reading an edit of a source file, p95", round(p95(times), 2), "ms", note=note)
    yield Figure("the same, nothing kept from the edit before, p95", round(p95(cold), 2), "ms", note=_spread(cold))
    yield Figure("the same, a file of no known language, p95", round(p95(unread), 2), "ms", note=_spread(unread))
    ratio = statistics.median(times) / statistics.median(unread)
    yield Figure("reading code against not reading it, p50", round(ratio, 1), "times", note="the first over the third")


def _times(
    edits: Sequence[Event], call_of: Callable[[Event], ToolCall | None], before_each: Callable[[], None] | None = None
) -> list[float]:
    """The milliseconds that reading each edit takes, of the processor: other work on the machine distorts them less."""
    passes = []
    for _ in range(PASSES):
        taken = []
        for event in edits:
            call, folder = call_of(event), folder_of(event)
            assert call is not None
            if before_each:
                before_each()
            began = time.thread_time()
            read_change(call, folder)
            taken.append((time.thread_time() - began) * 1000)
        passes.append(taken)
    return [statistics.median(each) for each in zip(*passes, strict=True)]


def _unread(event: Event) -> ToolCall | None:
    """The same edit of a file whose name tells of no language."""
    call = event.tool
    return call and replace(call, input={**call.input, "file_path": _path(event) + _UNREAD})


def _is_read(event: Event) -> bool:
    change = read_change(event.tool, folder_of(event)) if event.tool else None
    is_parsed = read_symbols(_original(event), language_of(_path(event))) is not None
    return change is not None and change.code is not None and is_parsed


def _path(event: Event) -> str:
    return text(event.tool.input.get("file_path")) if event.tool else ""


def _original(event: Event) -> str:
    response: JsonValue = event.tool.response if event.tool else None
    return text(response.get("originalFile")) if isinstance(response, Mapping) else ""


def _spread(times: Sequence[float]) -> str:
    return f"p50 {statistics.median(times):.2f}, p95 {p95(times):.2f}, most {max(times):.2f} of {len(times)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
