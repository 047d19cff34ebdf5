"""How what is remembered looks on a terminal: hits, a whole record, a timeline.

What a change means for other memories, told after it: what is replaced or contradicted now, what stays replaced."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli.output import bold, dim, field, items, plain
from claude_mem_lite.cli.times import ago, clock
from claude_mem_lite.client.responses import NOTHING_CERTAIN, is_uncertain, objects, part, whole
from claude_mem_lite.models import JsonObject
from claude_mem_lite.scopes import called, project_of_scope
from claude_mem_lite.text import counted, one_line, within

LISTS_SHOWN = ("facts", "files", "tags")
FIELDS_SHOWN = ("scope", "project", "session", "branch", "commit", "origin", "confidence", "times_seen", "made_by")
RAW_KINDS = ("turn", "session")
SUMMARY_SHOWN = ("request", "investigated", "learned", "completed", "notes")
SUMMARY_LISTS_SHOWN = ("key_decisions", "next_steps", "files_edited", "files_read")
_SENTENCES = ("facts", "key_decisions", "next_steps")
"""Lists whose entries may hold commas themselves."""
_MAX_LINE_LENGTH = 300
_STALE = {"changed": "[may be stale]", "gone": "[code is gone]"}
_STATES = {
    "fresh": "fresh, its code is as it tells",
    "changed": "may be stale",
    "gone": "its code is gone",
}


def print_hits(hits: Sequence[JsonObject], explain: bool, names: Mapping[str, str]) -> None:
    """Memories in their order, then what was said; each with the name of its project if that is among `names`, and
    with the score and every reason for each, if asked.

    Hits that are not certain are marked; when none is, a line says so instead."""
    is_nothing_certain = bool(hits) and all(map(is_uncertain, hits))
    if is_nothing_certain:
        click.echo(f"{NOTHING_CERTAIN}:")
    now = datetime.now(UTC)
    memories = [hit for hit in hits if field(hit, "kind") not in RAW_KINDS]
    said = [hit for hit in hits if field(hit, "kind") in RAW_KINDS]
    for hit in memories:
        _print_hit(hit, names, explain, now, is_marked=not is_nothing_certain)
    if said:
        click.echo("Also said in sessions:" if memories else "Said in sessions:")
    for hit in said:
        _print_hit(hit, names, explain, now, is_marked=not is_nothing_certain)


def _print_hit(hit: JsonObject, names: Mapping[str, str], explain: bool, now: datetime, *, is_marked: bool) -> None:
    alike = len(items(hit, "alike"))
    told = (
        kind_and_status(hit),
        ago(hit.get("created_at"), now),
        names.get(field(hit, "project"), ""),
        f"+{alike} alike" if alike else "",
        "not certain" if is_marked and is_uncertain(hit) else "",
    )
    tail = dim(f"[{', '.join(filter(None, told))}]")
    marked = "".join(f" {click.style(mark, fg='yellow')}" for mark in marks(hit))
    click.echo(f"{head(hit)}{marked}  {tail}")
    _print_summary(hit, "    ")
    if explain:
        for reason in (f"score {field(hit, 'score')}, the sum of", *map(plain, items(hit, "why"))):
            click.echo(dim(f"    {reason}"))


def print_timeline(answer: JsonObject) -> None:
    """Everything in order, a line where another session begins, and a mark at what was asked for."""
    headlines = {field(one, "id"): field(one, "headline") for one in objects(answer, "sessions")}
    found = objects(answer, "items")
    session: str | None = None
    for one in found:
        if field(one, "session") != session:
            session = field(one, "session")
            click.echo(dim(_border(session, headlines.get(session, ""))))
        mark = click.style(">", fg="green") if one.get("is_center") is True else " "
        tail = dim(f"[{field(one, 'kind')}, {clock(one.get('created_at'))}]")
        click.echo(f"{mark} {head(one)}  {tail}")
        _print_summary(one, "      ")
    if not found:
        click.echo("Nothing is kept of this session: neither a memory nor what was asked in it.")


def whole_record(record: JsonObject) -> str:
    """Everything about a memory, a turn, a session or an unsure lesson."""
    shown = {"turn": _turn, "session": _session, "lesson": _lesson}.get(field(record, "kind"), _memory)
    return "\n".join(shown(record))


def kind_and_status(record: JsonObject) -> str:
    """The kind, and the status of what no longer holds: `bugfix` or `bugfix, retired`."""
    status = field(record, "status")
    return field(record, "kind") + (f", {status}" if status not in ("", "active") else "")


def marks(record: JsonObject) -> Sequence[str]:
    """What to know before relying on a memory: that the user holds on to it, how it stands with its code, that its
    branch is not merged here, what it is contradicted or was replaced by, and since when and why it is retired."""
    stale = _STALE.get(_freshness(record)[0], "")
    elsewhere = field(record, "elsewhere")
    against = [field(one, "id") for one in objects(record, "conflicts")]
    successor = field(record, "superseded_by")
    found = (
        "[pinned]" if record.get("pinned") is True else "",
        stale,
        f"[on branch {elsewhere}]" if elsewhere else "",
        f"[contradicted by {', '.join(against)}]" if against else "",
        f"[now {successor}]" if successor and field(record, "status") == "superseded" else "",
        f"[{_since(record)}{retired}]" if (retired := field(record, "retired_because")) else "",
    )
    return [mark for mark in found if mark]


def related_line(other: JsonObject) -> str:
    """Another memory in a line: its id, when it was last said, and its title."""
    told = [clock(other.get("last_seen_at"))[:10], *(["pinned"] if other.get("pinned") is True else [])]
    return f"{field(other, 'id')} ({', '.join(told)}): {one_line(field(other, 'title'))}"


def project_names(records: Iterable[JsonObject], stored: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names of projects for records: the stored names, or the ids of projects that share a name."""
    projects = {field(one, "project") for one in records} - {""}
    names = {one: plain(called(one, stored)) for one in projects}
    shared = Counter(names.values())
    return {one: name if shared[name] == 1 else one for one, name in names.items()}


def with_project_name(record: JsonObject, stored: Mapping[str, str]) -> JsonObject:
    """The record with its project as a person knows it, the id behind the name."""
    project = field(record, "project")
    return {**record, "project": f"{called(project, stored)} ({project})"} if project else record


def scope_label(record: JsonObject, stored: Mapping[str, str]) -> str:
    """Return the scope of a memory for a person: a project by its name, any other scope as it is written."""
    scope = field(record, "scope")
    project = project_of_scope(scope, "")
    return f"in project {plain(called(project, stored))}" if project else scope


def _memory(memory: JsonObject) -> Iterator[str]:
    yield f"{head(memory)}  [{kind_and_status(memory)}]"
    told = ("", field(memory, "title"))
    yield from (text for key in ("summary", "detail") if (text := field(memory, key)) not in told)
    yield from _lists(memory, LISTS_SHOWN)
    symbols = [f"{field(one, 'name')} {field(one, 'action')}" for one in objects(memory, "symbols")]
    if symbols:
        yield f"{dim('symbols:')} {', '.join(symbols)}"
    yield from _relations(memory)
    yield from (f"{dim('state:')} {state}" for state in _states(memory))
    yield from _fields(memory, FIELDS_SHOWN)
    yield from _given(memory)
    yield f"{dim('created:')} {field(memory, 'created_at')}, last seen {field(memory, 'last_seen_at')}"


def _given(memory: JsonObject) -> Iterator[str]:
    """How many sessions it was given to, and how many of them had use for it."""
    tally = part(memory, "given")
    used, ignored, unknown = (whole(tally, name) for name in ("used", "ignored", "unknown"))
    if given := used + ignored + unknown:
        told = f"used in {used}, ignored in {ignored}, unknown in {unknown}"
        yield f"{dim('given:')} to {counted(given, 'session')}, {told}"


def _relations(memory: JsonObject) -> Iterator[str]:
    """What replaced it, what it replaced, and what contradicts it, with dates."""
    if successor := part(memory, "replaced_by"):
        yield f"{dim('superseded by:')} {related_line(successor)}"
    elif field(memory, "superseded_by"):
        yield f"{dim('superseded by:')} {field(memory, 'superseded_by')}"
    elif field(memory, "status") == "superseded":
        yield f"{dim('superseded by:')} something that was forgotten"
    for label, key in (("replaced:", "replaced"), ("contradicted by:", "conflicts")):
        yield from (f"{dim(label)} {related_line(one)}" for one in objects(memory, key))


def _states(memory: JsonObject) -> Iterator[str]:
    verdict, reasons = _freshness(memory)
    if verdict in _STATES:
        yield _STATES[verdict] + (f": {'; '.join(reasons)}" if reasons else "")
    if elsewhere := field(memory, "elsewhere"):
        yield f"made on branch {elsewhere}, whose work is not here"
    if retired := field(memory, "retired_because"):
        since = _since(memory).rstrip(": ")
        yield f"retired{f' on {since}' if since else ''}, because {retired}"
    if memory.get("pinned") is True:
        yield "pinned"


def _since(record: JsonObject) -> str:
    """The day on which a memory was retired, before the reason: `2026-02-01: `."""
    return f"{clock(record.get('retired_at'))[:10]}: " if record.get("retired_at") else ""


def _freshness(record: JsonObject) -> tuple[str, Sequence[str]]:
    told = part(record, "freshness")
    return field(told, "verdict"), [plain(reason) for reason in items(told, "reasons")]


def _turn(turn: JsonObject) -> Iterator[str]:
    yield f"{head(turn)}  [turn]"
    for key in ("asked", "answered"):
        if text := field(turn, key).strip():
            yield f"{dim(key + ':')}\n{text}"
    yield from _fields(turn, ("session", "project"))
    yield f"{dim('created:')} {field(turn, 'created_at')}"


def _lesson(lesson: JsonObject) -> Iterator[str]:
    title = {"id": field(lesson, "id"), "title": field(lesson, "sentence")}
    yield f"{head(title)}  [lesson, {field(lesson, 'state')}]"
    if before := field(lesson, "after_message"):
        yield f"{dim('in answer to:')}\n{before}"
    yield from _fields(lesson, ("session", "project", "memory"))
    yield f"{dim('said:')} {field(lesson, 'created_at')}"


def _session(session: JsonObject) -> Iterator[str]:
    summary = part(session, "summary")
    yield f"{head(session)}  [session, {field(session, 'status')}]"
    yield from _fields(summary, tuple(key for key in SUMMARY_SHOWN if field(summary, key) != field(session, "title")))
    yield from _lists(summary, SUMMARY_LISTS_SHOWN)
    yield from _fields(session, ("session", "project", "cwd", "branch", "turns"))
    yield f"{dim('started:')} {field(session, 'started_at')}, last active {field(session, 'last_event_at')}"


def head(record: JsonObject) -> str:
    """Id and title."""
    return f"{click.style(field(record, 'id'), fg='cyan')}  {bold(one_line(field(record, 'title')))}"


def _print_summary(record: JsonObject, indent: str) -> None:
    summary = one_line(field(record, "summary"))
    if summary and summary != one_line(field(record, "title")):
        raw = field(record, "kind") in RAW_KINDS
        click.echo(f"{indent}{within(summary, _MAX_LINE_LENGTH) if raw else summary}")


def _border(session: str, headline: str) -> str:
    told = f"session {session}" if session else "outside of any session"
    return f"-- {told}{': ' + one_line(headline) if headline else ''}"


def _lists(record: JsonObject, keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        if values := items(record, key):
            yield f"{dim(key + ':')} {('; ' if key in _SENTENCES else ', ').join(map(plain, values))}"


def _fields(record: JsonObject, keys: tuple[str, ...]) -> Iterator[str]:
    yield from (f"{dim(key + ':')} {text}" for key in keys if (text := field(record, key)))


def tell_relations(memory: JsonObject) -> None:
    """What a memory that was just stored or changed replaces and contradicts."""
    for label, key in (("It replaces", "replaced"), ("It contradicts", "conflicts")):
        for other in objects(memory, key):
            click.echo(f"{label} {related_line(other)}")
    if successor := part(memory, "replaced_by"):
        click.echo(f"It is itself replaced by {related_line(successor)}")


def tell_left_replaced(memory: JsonObject, gone: Collection[str] = ()) -> None:
    """What a memory that holds no more had replaced: that stays so, and the user can have it otherwise."""
    for other in objects(memory, "replaced"):
        if (id_ := field(other, "id")) not in gone:
            click.echo(f"It had replaced {related_line(other)}")
            click.echo(f"  which stays replaced; `claude-mem-lite confirm {id_}` makes it hold again.")
