"""Command `sessions`: list of sessions."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli.options import (
    all_projects_option,
    connect_to_read,
    json_option,
    limit_option,
    place_options,
    where,
)
from claude_mem_lite.cli.output import Column, plain, print_json, print_table
from claude_mem_lite.cli.records import project_names
from claude_mem_lite.cli.times import ago
from claude_mem_lite.text import query_words, within

_MAX_SHOWN_LENGTH = 100


@click.command(short_help="List the last sessions, or the sessions about a topic.")
@click.argument("words", metavar="[QUERY...]", nargs=-1)
@place_options
@all_projects_option
@limit_option(20)
@json_option
def sessions(
    words: Sequence[str], cwd: str | None, project: str | None, all_projects: bool, limit: int, as_json: bool
) -> None:
    """List the last sessions, or the sessions about a topic.

    One line for each session, newest first; with QUERY, the sessions about it, best first. `claude-mem-lite timeline
    SESSION` shows the content of a session. --json has the whole summaries. Reads only.

    \b
    Examples:
      claude-mem-lite sessions
      claude-mem-lite sessions moving the tests to pytest
      claude-mem-lite sessions --all-projects --limit 5 --json
    """
    query = " ".join(words).strip()
    if query and not query_words(query):
        raise click.UsageError("the query has no words to look for; `claude-mem-lite sessions` lists the last")
    place = where(cwd, project, all_projects)
    client = connect_to_read([], as_json=as_json)
    found = client.sessions(place, query=query, limit=limit)
    if as_json:
        print_json([session.raw for session in found])
        return
    if not found:
        click.echo(_why_no_sessions(query, all_projects))
        return
    now = datetime.now(UTC)
    names = project_names(found, client.project_names()) if all_projects else {}
    print_table(
        [
            Column("session", "cyan"),
            Column("when", "dim"),
            Column("status"),
            *([Column("project")] if all_projects else []),
            Column("what", wide=True, cut=True),
        ],
        [
            [
                session.id,
                ago(session.last_event_at, now),
                session.status,
                *([names.get(plain(session.project), "")] if all_projects else []),
                session.title,
            ]
            for session in found
        ],
    )


def _why_no_sessions(query: str, all_projects: bool) -> str:
    if query:
        wider = "" if all_projects else " or --all-projects"
        about = f"No session is about {within(plain(query), _MAX_SHOWN_LENGTH)!r}."
        return f"{about} Try other words{wider}, or `claude-mem-lite sessions` for the last."
    wider = "" if all_projects else " --all-projects lists those of other folders."
    return (
        "No sessions here yet. After `claude-mem-lite install`, start your agent in this folder as usual "
        "(`claude-mem-lite doctor` checks that it is seen), or bring in its old sessions "
        f"(`claude-mem-lite import transcripts`).{wider}"
    )
