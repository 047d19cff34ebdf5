"""Commands that find and show memories, turns and sessions: search, list, show, timeline."""

import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.filters import filter_options
from claude_mem_lite.cli.options import (
    WholeNumber,
    connect_to_find,
    connect_to_read,
    json_option,
    limit_option,
    memory_id,
)
from claude_mem_lite.cli.output import Column, dim, plain, print_json, print_table
from claude_mem_lite.cli.records import (
    Shown,
    kind_and_status,
    marks,
    print_hits,
    print_timeline,
    project_names,
    whole_record,
    with_project_name,
)
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Wanted, Where
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.paths import current_folder
from claude_mem_lite.responses.lessons import LessonCandidate
from claude_mem_lite.text import one_line, query_words, within

HIT_KEYS = (
    *("id", "kind", "origin", "author", "title", "summary", "session", "project", "created_at", "score"),
    *("certain", "why"),
)
_MAX_NEIGHBOURS = 500
_MAX_TEAM_HITS = 100
_MAX_SHOWN_LENGTH = 100
# Of a memory or a turn, or of a session; an id that is cut short is known by its `#` alone.
_ID = re.compile(r"#[a-z2-7]{4,}|[a-z2-7]{10}|[0-9a-f]{8}-[0-9a-f-]{27}", re.IGNORECASE)


@click.command(short_help="Find memories and turns, by words and by meaning.")
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@filter_options
@limit_option(10)
@click.option("--explain", is_flag=True, help="Say why each was found.")
@click.option("--team", is_flag=True, help="Ask the team's database instead, over all projects that you may see there.")
@json_option
def search(
    words: Sequence[str], place: Where, wanted: Wanted, limit: int, explain: bool, team: bool, as_json: bool
) -> None:
    """Find memories and turns, by words and by meaning.

    Words may have any order and form. Search also finds parts of identifiers and paths, and texts with the same meaning
    in other words. Prints memories first, then prompts and answers of sessions; --json has both in the order of their
    scores. If no hit is certain, a line above the hits says so; --json has `certain` for each hit. Searches the current
    folder's project and memories that hold everywhere, unless options say otherwise. Superseded, retired and
    quarantined memories are left out without --status. Memories of the current project are marked if their code
    changed, is gone, or is on a branch that is not merged, and --explain gives the details. --explain shows the score
    as a sum of its terms, and the certainty with its minimum. Reads only.

    --team asks the database of your team for shared memories, also of projects that are not on this machine; other
    filters do not apply there. The database of a sealed team cannot search: then --team searches what was received.

    \b
    Examples:
      claude-mem-lite search token refresh
      claude-mem-lite search "why did we drop redis" --kind decision --since "3 months ago"
      claude-mem-lite search timeout --file src/http.py --explain
      claude-mem-lite search migration --branch main --since 2026-03-01 --until yesterday
      claude-mem-lite search "code style" --scope universal --status any --json
      claude-mem-lite search --team "why did we drop redis"
    """
    query = " ".join(words).strip()
    if not query_words(query):
        newest = f"list --file {shlex.quote(wanted.file)}" if wanted.file else "list"
        raise click.UsageError(f"the query has no words to look for; `claude-mem-lite {newest}` shows the newest")
    client = connect_to_read([], as_json=as_json)
    if team:
        _search_team(client, query, min(limit, _MAX_TEAM_HITS), as_json=as_json)
        return
    hits = client.search(query, place, wanted, limit=limit)
    if as_json:
        print_json([{key: hit.raw.get(key) for key in HIT_KEYS} for hit in hits])
        return
    if not hits:
        click.echo(
            f"Nothing found for {within(plain(query), _MAX_SHOWN_LENGTH)!r}. {_what_to_try(query, place, wanted)}"
        )
    print_hits(hits, explain, project_names(hits, client.project_names()) if place.all_projects else {})


def _search_team(client: Client, query: str, limit: int, *, as_json: bool) -> None:
    """Print the hits of the team's database; those among the received memories if the team is sealed."""
    found = client.team_search(query, limit=limit)
    if as_json:
        print_json([hit.raw for hit in found.hits])
        return
    if not found.hits:
        who = "What was received of the sealed team" if found.is_sealed else "The team"
        click.echo(f"{who} has nothing about {within(plain(query), _MAX_SHOWN_LENGTH)!r}.")
    now = datetime.now(UTC)
    for hit in found.hits:
        tail = ", ".join(plain(part) for part in (hit.kind, hit.author, ago(hit.created_at, now), hit.project) if part)
        here = f"{plain(hit.id)}  " if hit.id else ""
        click.echo(f"{here}{plain(hit.title)}  {dim(f'[{tail}]')}")
        if hit.summary and hit.summary != hit.title:
            click.echo(f"    {plain(one_line(hit.summary))}")


@click.command(name="list", short_help="List the newest memories.")
@filter_options
@limit_option(50)
@json_option
def list_memories(place: Where, wanted: Wanted, limit: int, as_json: bool) -> None:
    """List the newest memories.

    Lists memories of the current folder's project and memories that hold everywhere, newest first. With --file, lists
    the memories about a file. Reads only.

    \b
    Examples:
      claude-mem-lite list
      claude-mem-lite list --file src/auth/jwt.py
      claude-mem-lite list --kind decision --kind gotcha --since "2 weeks ago"
      claude-mem-lite list --all-projects --limit 200 --json
    """
    client = connect_to_read([], as_json=as_json)
    memories = client.memories(place, wanted, limit=limit)
    if as_json:
        print_json([memory.raw for memory in memories])
        return
    if not memories:
        click.echo(_why_none(place, wanted))
        return
    now = datetime.now(UTC)
    names = project_names(memories, client.project_names()) if place.all_projects else {}
    print_table(
        [
            Column("id", "cyan"),
            Column("kind"),
            Column("when", "dim"),
            *([Column("project")] if place.all_projects else []),
            Column("title", wide=True),
        ],
        [
            [
                memory.id,
                kind_and_status(memory),
                ago(memory.created_at, now),
                *([names.get(plain(memory.project), "")] if place.all_projects else []),
                " ".join((memory.title, *marks(memory))),
            ]
            for memory in memories
        ],
    )


@click.command(short_help="Show memories, turns and sessions in full.")
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=completion_values.ids)
@json_option
@click.pass_context
def show(ctx: click.Context, ids: Sequence[str], as_json: bool) -> None:
    """Show memories, turns and sessions in full.

    Shows every field of a memory, and the state of its code if the memory is of the current folder's project; prompt
    and answer of a turn; the summary of a session; the sentence of an unsure lesson with the message that it answered.
    An id may be cut to its first four or more characters. --json prints a list in the order of the IDs. Exits 1 when an
    ID does not exist. Reads only.

    \b
    Examples:
      claude-mem-lite show k7f3a5mq2x
      claude-mem-lite show k7f3a5 b2xc --json
    """
    wanted = [memory_id(given) for given in ids]
    here = current_folder()
    client, found, failed = connect_to_find(), [], False
    for each in wanted:
        try:
            found.append(_record_or_lesson(client, each, here))
        except (NotFound, Ambiguous) as error:
            click.echo(f"{ctx.command_path}: {error}", err=True)
            failed = True
    if as_json:
        print_json([record.raw for record in found])
    elif found:
        names = client.project_names()
        click.echo("\n\n".join(whole_record(with_project_name(record, names)) for record in found))
    if failed:
        ctx.exit(1)


@click.command(short_help="Show the memories and turns around a memory or a turn.")
@click.argument("id_", metavar="ID", shell_complete=completion_values.ids)
@click.option(
    "--before",
    metavar="N",
    type=WholeNumber(0, _MAX_NEIGHBOURS),
    default=5,
    help="So many before it; 5 if not given.",
)
@click.option(
    "--after",
    metavar="N",
    type=WholeNumber(0, _MAX_NEIGHBOURS),
    default=5,
    help="So many after it; 5 if not given.",
)
@json_option
def timeline(id_: str, before: int, after: int, as_json: bool) -> None:
    """Show the memories and turns around a memory or a turn.

    Lists memories and turns of the same project, oldest first, with the turn that the memory was made in. For the id of
    a session, as `sessions` shows it, lists the whole session in order. Reads only.

    \b
    Examples:
      claude-mem-lite timeline k7f3a5mq2x
      claude-mem-lite timeline k7f3a5 --before 20 --after 0
      claude-mem-lite timeline 2f6d1c0e-8a4b-4c55-9d1e-0b7a6f3c2e11 --json
    """
    client, given = connect_to_find(), memory_id(id_)
    try:
        found = client.timeline(given, before=before, after=after)
    except NotFound as error:
        session = plain(_lesson(client, given, error).session)
        found = client.timeline(session, before=before, after=after)
    if as_json:
        print_json(found.raw)
    else:
        print_timeline(found)


def _record_or_lesson(client: Client, id_: str, here: str) -> Shown:
    try:
        return client.record(id_, here)
    except NotFound as error:
        return _lesson(client, id_, error)


def _lesson(client: Client, id_: str, error: NotFound) -> LessonCandidate:
    """Return the lesson candidate of an id; without a candidate, raise the error of the first search."""
    try:
        return client.lesson(id_)
    except NotFound:
        raise error from None


def _what_to_try(query: str, place: Where, wanted: Wanted) -> str:
    ways = f"Try {_other_ways('fewer or other words', place, wanted)}."
    if _ID.fullmatch(query):
        ways += f" If it is an id, `claude-mem-lite show {query.removeprefix('#')}` shows what it names."
    return ways


def _other_ways(first: str, place: Where, wanted: Wanted) -> str:
    """Return options that may find more and were not used."""
    ways = [first]
    if wanted.as_query():
        ways.append("fewer filters")
    if not wanted.statuses:
        ways.append("--status any")
    if not place.all_projects:
        ways.append("--all-projects")
    return f"{', '.join(ways[:-1])} or {ways[-1]}" if len(ways) > 1 else first


def _why_none(place: Where, wanted: Wanted) -> str:
    if wanted.as_query():
        return f"No memories fit. Try {_other_ways('other filters', place, wanted)}."
    wider = "" if place.all_projects else " --all-projects lists those of other folders."
    return (
        "No memories here yet. They come from working with your agent (`claude-mem-lite install`), from its "
        'old sessions (`claude-mem-lite import transcripts`), or from `claude-mem-lite remember note "…"`.'
        f"{wider}"
    )
