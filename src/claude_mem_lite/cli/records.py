"""Output of memories, turns, sessions and lessons on a terminal: hits, whole records, timelines, relations."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import click

from claude_mem_lite.authors import author_name, received_from
from claude_mem_lite.cli.output import bold, dim, plain
from claude_mem_lite.cli.times import ago, clock
from claude_mem_lite.client.queries import NOTHING_CERTAIN
from claude_mem_lite.responses.lessons import LessonCandidate
from claude_mem_lite.responses.memories import CodeFreshness, MemoryBrief, MemoryRecord, SavedMemory, StoredMemory
from claude_mem_lite.responses.records import (
    RAW_KINDS,
    SearchHit,
    SessionRecord,
    TimelineItem,
    TimelineResponse,
    TurnRecord,
)
from claude_mem_lite.scopes import called, project_of_scope
from claude_mem_lite.text import counted, one_line, within

LISTS_SHOWN = ("facts", "files", "tags")
FIELDS_SHOWN = ("scope", "project", "session", "branch", "commit", "origin", "confidence", "times_seen", "made_by")
SUMMARY_SHOWN = ("request", "investigated", "learned", "completed", "notes")
SUMMARY_LISTS_SHOWN = ("key_decisions", "next_steps", "files_edited", "files_read")
_SENTENCES = ("facts", "key_decisions", "next_steps")
"""Lists whose entries may hold commas themselves."""
_MAX_LINE_LENGTH = 300
_STALE = {"changed": "[may be stale]", "gone": "[code is gone]"}
_STATES = {
    "fresh": "fresh, it matches the code",
    "changed": "may be stale",
    "gone": "its code is gone",
}
Shown = MemoryRecord | TurnRecord | SessionRecord | LessonCandidate
"""Records that `show` prints."""
_WithStatus = SearchHit | StoredMemory | SavedMemory | MemoryBrief
_OfProject = SearchHit | StoredMemory | SessionRecord | LessonCandidate


def print_hits(hits: Sequence[SearchHit], explain: bool, names: Mapping[str, str]) -> None:
    """Print memories in their order, then passages, with the names of their projects from `names`.

    Uncertain hits are marked; when no hit is certain, a line above says so. `explain` adds scores and reasons."""
    is_nothing_certain = bool(hits) and all(hit.is_uncertain for hit in hits)
    if is_nothing_certain:
        click.echo(f"{NOTHING_CERTAIN}:")
    now = datetime.now(UTC)
    memories = [hit for hit in hits if not hit.is_raw]
    passages = [hit for hit in hits if hit.is_raw]
    for hit in memories:
        _print_hit(hit, names, explain, now, is_marked=not is_nothing_certain)
    if passages:
        click.echo("Also said in sessions:" if memories else "Said in sessions:")
    for hit in passages:
        _print_hit(hit, names, explain, now, is_marked=not is_nothing_certain)


def _print_hit(hit: SearchHit, names: Mapping[str, str], explain: bool, now: datetime, *, is_marked: bool) -> None:
    details = (
        kind_and_status(hit),
        ago(hit.created_at, now),
        names.get(plain(hit.project), ""),
        f"+{len(hit.alike)} alike" if hit.alike else "",
        "not certain" if is_marked and hit.is_uncertain else "",
    )
    tail = dim(f"[{', '.join(filter(None, details))}]")
    marked = "".join(f" {click.style(mark, fg='yellow')}" for mark in marks(hit))
    click.echo(f"{head(hit)}{marked}  {tail}")
    _print_summary(hit, "    ")
    if explain:
        for reason in (f"score {hit.score}, the sum of", *map(plain, hit.why)):
            click.echo(dim(f"    {reason}"))


def print_timeline(timeline: TimelineResponse) -> None:
    """Print all items in order, a line where another session begins, and a mark at the requested item."""
    headlines = {session.id: plain(session.headline) for session in timeline.sessions}
    session: str | None = None
    for item in timeline.items:
        if item.session != session:
            session = item.session
            click.echo(dim(_border(plain(session), headlines.get(session, ""))))
        mark = click.style(">", fg="green") if item.is_center else " "
        tail = dim(f"[{', '.join(filter(None, (plain(item.kind), _author(item), clock(item.created_at))))}]")
        click.echo(f"{mark} {head(item)}  {tail}")
        _print_summary(item, "      ")
    if not timeline.items:
        click.echo("Nothing is stored of this session: no memory and no prompt.")


def whole_record(record: Shown) -> str:
    """Return all fields of a memory, a turn, a session or a lesson candidate as text."""
    if isinstance(record, TurnRecord):
        return "\n".join(_turn(record))
    if isinstance(record, SessionRecord):
        return "\n".join(_session(record))
    return "\n".join(_lesson(record) if isinstance(record, LessonCandidate) else _memory(record))


def kind_and_status(record: _WithStatus) -> str:
    """Return the kind, a status other than active, and the author of a received memory: `bugfix, retired, Ana`."""
    status = plain(record.status)
    shown = (plain(record.kind), "" if status == "active" else status, _author(record))
    return ", ".join(filter(None, shown))


def _author(record: _WithStatus | TimelineItem) -> str:
    """Return the name of the teammate who shared a memory; '' for any other memory."""
    if isinstance(record, SavedMemory) or record.origin != "team":
        return ""
    return plain(author_name(record.author))


def marks(record: SearchHit | MemoryRecord) -> Sequence[str]:
    """Return warnings about a memory: pin, freshness, branch, contradictions, successor, retirement."""
    found = [
        "[pinned]" if record.pinned else "",
        _STALE.get(record.freshness.verdict, "") if record.freshness else "",
        f"[on branch {plain(record.elsewhere)}]" if record.elsewhere else "",
    ]
    if isinstance(record, MemoryRecord):
        conflicts = ", ".join(plain(other.id) for other in record.conflicts)
        successor = plain(record.superseded_by) if record.status == "superseded" else ""
        found += [f"[contradicted by {conflicts}]" if conflicts else "", f"[now {successor}]" if successor else ""]
    retired_at = record.retired_at if isinstance(record, MemoryRecord) else None
    found.append(f"[{_day(retired_at)}{plain(record.retired_because)}]" if record.retired_because else "")
    return [mark for mark in found if mark]


def related_line(other: MemoryBrief) -> str:
    """Return another memory as a line: id, day of the last sighting, title."""
    details = (_author(other), clock(other.last_seen_at)[:10], "pinned" if other.pinned else "")
    return f"{plain(other.id)} ({', '.join(filter(None, details))}): {one_line(plain(other.title))}"


def project_names(records: Iterable[_OfProject], stored: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names of projects for records: the stored names, or the ids of projects that share a name."""
    return names_of_projects([plain(record.project) for record in records], stored)


def names_of_projects(projects: Iterable[str], stored: Mapping[str, str]) -> Mapping[str, str]:
    """Return the stored names of projects by id, or the ids of projects that share a name."""
    names = {project: plain(called(project, stored)) for project in set(projects) - {""}}
    shared = Counter(names.values())
    return {project: name if shared[name] == 1 else project for project, name in names.items()}


def with_project_name(record: Shown, stored: Mapping[str, str]) -> Shown:
    """Return the record with the name of its project before the id."""
    return replace(record, project=project_label(record.project, stored))


def project_label(project: str, stored: Mapping[str, str]) -> str:
    """Return the name of a project with the id behind; '' without a project."""
    return f"{called(project, stored)} ({project})" if project else ""


def scope_label(record: StoredMemory | SavedMemory, stored: Mapping[str, str]) -> str:
    """Return the scope of a memory for a person: a project by its name, any other scope as it is written."""
    project = project_of_scope(plain(record.scope), "")
    return f"in project {plain(called(project, stored))}" if project else plain(record.scope)


def _memory(memory: MemoryRecord) -> Iterator[str]:
    yield f"{head(memory)}  [{kind_and_status(memory)}]"
    texts = (plain(memory.summary), plain(memory.detail))
    yield from (text for text in texts if text not in ("", plain(memory.title)))
    yield from _lists(memory, LISTS_SHOWN)
    if symbols := [plain(f"{symbol.name} {symbol.action}") for symbol in memory.symbols]:
        yield f"{dim('symbols:')} {', '.join(symbols)}"
    yield from _relations(memory)
    yield from (f"{dim('state:')} {state}" for state in _states(memory))
    origin = received_from(memory.author) if memory.origin == "team" else memory.origin
    yield from _fields(replace(memory, origin=origin), FIELDS_SHOWN)
    yield from _given(memory)
    yield f"{dim('created:')} {plain(memory.created_at)}, last seen {plain(memory.last_seen_at)}"


def _given(memory: MemoryRecord) -> Iterator[str]:
    """Return a line with the number of sessions that got the memory, by outcome."""
    tally = memory.given
    if given := tally.used + tally.ignored + tally.unknown:
        outcomes = f"used in {tally.used}, ignored in {tally.ignored}, unknown in {tally.unknown}"
        yield f"{dim('given:')} to {counted(given, 'session')}, {outcomes}"


def _relations(memory: MemoryRecord) -> Iterator[str]:
    """Return the successor, the replaced memories and the contradictions as lines with dates."""
    if memory.replaced_by:
        yield f"{dim('superseded by:')} {related_line(memory.replaced_by)}"
    elif memory.superseded_by:
        yield f"{dim('superseded by:')} {plain(memory.superseded_by)}"
    elif memory.status == "superseded":
        yield f"{dim('superseded by:')} something that was forgotten"
    yield from (f"{dim('replaced:')} {related_line(other)}" for other in memory.replaced)
    yield from (f"{dim('contradicted by:')} {related_line(other)}" for other in memory.conflicts)


def _states(memory: MemoryRecord) -> Iterator[str]:
    freshness = memory.freshness or CodeFreshness()
    if freshness.verdict in _STATES:
        reasons = "; ".join(map(plain, freshness.reasons))
        yield _STATES[freshness.verdict] + (f": {reasons}" if reasons else "")
    if memory.elsewhere:
        yield f"made on branch {plain(memory.elsewhere)}, whose work is not here"
    if memory.retired_because:
        since = _day(memory.retired_at).rstrip(": ")
        yield f"retired{f' on {since}' if since else ''}, because {plain(memory.retired_because)}"
    if memory.pinned:
        yield "pinned"


def _day(retired_at: str | None) -> str:
    """Return the day of a retirement, to stand before the reason: `2026-02-01: `."""
    return f"{clock(retired_at)[:10]}: " if retired_at else ""


def _turn(turn: TurnRecord) -> Iterator[str]:
    yield f"{head(turn)}  [turn]"
    for label, text in (("asked:", turn.asked), ("answered:", turn.answered)):
        if shown := plain(text).strip():
            yield f"{dim(label)}\n{shown}"
    yield from _fields(turn, ("session", "project"))
    yield f"{dim('created:')} {plain(turn.created_at)}"


def _lesson(lesson: LessonCandidate) -> Iterator[str]:
    yield f"{head_line(lesson.id, lesson.sentence)}  [lesson, {plain(lesson.state)}]"
    if lesson.after_message:
        yield f"{dim('in answer to:')}\n{plain(lesson.after_message)}"
    yield from _fields(lesson, ("session", "project", "memory"))
    yield f"{dim('said:')} {plain(lesson.created_at)}"


def _session(session: SessionRecord) -> Iterator[str]:
    summary = session.summary
    yield f"{head(session)}  [session, {plain(session.status)}]"
    yield from _fields(summary, tuple(key for key in SUMMARY_SHOWN if getattr(summary, key) != session.title))
    yield from _lists(summary, SUMMARY_LISTS_SHOWN)
    yield from _fields(session, ("session", "project", "cwd", "branch", "turns"))
    yield f"{dim('started:')} {plain(session.started_at)}, last active {plain(session.last_event_at)}"


def head(record: _WithStatus | TimelineItem | TurnRecord | SessionRecord) -> str:
    """Return id and title."""
    return head_line(record.id, record.title)


def head_line(id_: str, title: str) -> str:
    return f"{click.style(plain(id_), fg='cyan')}  {bold(one_line(plain(title)))}"


def _print_summary(record: SearchHit | TimelineItem, indent: str) -> None:
    summary = one_line(plain(record.summary))
    if summary and summary != one_line(plain(record.title)):
        click.echo(f"{indent}{within(summary, _MAX_LINE_LENGTH) if record.kind in RAW_KINDS else summary}")


def _border(session: str, headline: str) -> str:
    label = f"session {session}" if session else "outside of any session"
    return f"-- {label}{': ' + one_line(headline) if headline else ''}"


def _lists(record: object, keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        if values := getattr(record, key):
            yield f"{dim(key + ':')} {('; ' if key in _SENTENCES else ', ').join(map(plain, values))}"


def _fields(record: object, keys: tuple[str, ...]) -> Iterator[str]:
    yield from (f"{dim(key + ':')} {text}" for key in keys if (text := plain(getattr(record, key))))


def print_relations(memory: MemoryRecord | SavedMemory) -> None:
    """Print the memories that a new or changed memory replaces or contradicts, and its successor."""
    for label, others in (("It replaces", memory.replaced), ("It contradicts", memory.conflicts)):
        for other in others:
            click.echo(f"{label} {related_line(other)}")
    if memory.replaced_by:
        click.echo(f"It is itself replaced by {related_line(memory.replaced_by)}")


def print_left_replaced(memory: MemoryRecord, gone: Collection[str] = ()) -> None:
    """Print the memories that a retired or forgotten memory had replaced: those stay replaced."""
    for other in memory.replaced:
        if other.id not in gone:
            click.echo(f"It had replaced {related_line(other)}")
            click.echo(f"  which stays replaced; `claude-mem-lite confirm {plain(other.id)}` makes it hold again.")
