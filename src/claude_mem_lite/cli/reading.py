"""Commands that read sessions and the context they would be given: sessions, context."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli.options import all_projects_option, connect, cwd_option, json_option, limit_option, where
from claude_mem_lite.cli.output import Column, field, items, plain, print_json, print_table
from claude_mem_lite.cli.records import headline, project_names
from claude_mem_lite.cli.times import ago
from claude_mem_lite.models import JsonObject
from claude_mem_lite.words import query_words

_SHORT_ID = 8


@click.command(short_help="List the last sessions, or those that are about something.")
@click.argument("words", metavar="[QUERY...]", nargs=-1)
@cwd_option
@all_projects_option
@limit_option(20)
@json_option
def sessions(words: Sequence[str], cwd: str | None, all_projects: bool, limit: int, as_json: bool) -> None:
    """List the last sessions, or those that are about something.

    One line each, newest first; with QUERY those that are about it, best first: in which session was that done?
    `claude-mem-lite timeline SESSION` tells what is in one. --json has the whole summaries. Reads only.

    \b
    Examples:
      claude-mem-lite sessions
      claude-mem-lite sessions moving the tests to pytest
      claude-mem-lite sessions --all-projects --limit 5 --json
    """
    query = " ".join(words).strip()
    if query and not query_words(query):
        raise click.UsageError("the query has no words to look for; `claude-mem-lite sessions` lists the last")
    found = connect().sessions(where(cwd, all_projects), query=query, limit=limit)
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo(_why_no_sessions(query, all_projects))
        return
    now = datetime.now(UTC)
    names = project_names(found) if all_projects else {}
    ids = _ids(found)
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
                id_,
                ago(s.get("last_event_at"), now),
                field(s, "status"),
                *([names.get(field(s, "project"), "")] if all_projects else []),
                headline(s),
            ]
            for id_, s in zip(ids, found, strict=True)
        ],
    )


def _ids(found: Sequence[JsonObject]) -> list[str]:
    """The ids of sessions: for people as much as every command takes, whole for programs, or where two begin alike."""
    whole = [field(one, "id") for one in found]
    short = [id_[:_SHORT_ID] for id_ in whole]
    if not sys.stdout.isatty():
        return whole
    return [cut if short.count(cut) == 1 else id_ for cut, id_ in zip(short, whole, strict=True)]


def _why_no_sessions(query: str, all_projects: bool) -> str:
    if query:
        wider = "" if all_projects else " or --all-projects"
        return (
            f"No session is about {plain(query)!r}. Try other words{wider}, or `claude-mem-lite sessions` for the last."
        )
    wider = "" if all_projects else " --all-projects lists those of other folders."
    return (
        "No sessions here yet. After `claude-mem-lite install`, start your agent in this folder as usual "
        "(`claude-mem-lite doctor` checks that it is seen), or bring in its old sessions "
        f"(`claude-mem-lite import transcripts`).{wider}"
    )


@click.command(short_help="Print the context a new session would be given.")
@cwd_option
@click.option("--budget", metavar="N", type=click.IntRange(1, 100_000), help="Its size in tokens, at most.")
@click.option("--explain", is_flag=True, help="Say of each line why it is there, and what was left out.")
@json_option
def context(cwd: str | None, budget: int | None, explain: bool, as_json: bool) -> None:
    """Print the context a new session would be given.

    The text exactly as the agent would see it in this folder; nothing counts as given by looking. --json adds
    its size, the layers in and out, and why each item is there. Reads only.

    \b
    Examples:
      claude-mem-lite context
      claude-mem-lite context --cwd ~/code/shop --budget 500
      claude-mem-lite context --explain
    """
    answer = connect().context(where(cwd, False).cwd, budget)
    if as_json:
        print_json(_context_json(answer))
        return
    text = field(answer, "context")
    if text:
        click.echo(text)
    else:
        click.echo(_why_nothing(answer), err=True)
    if explain:
        _print_explanation(answer)


def _why_nothing(answer: JsonObject) -> str:
    skipped = [field(each, "reason") for each in items(answer, "layers_skipped") if isinstance(each, dict)]
    if answer.get("excluded"):
        return "Nothing is said here: this folder is excluded in config.toml."
    if "no room" in skipped:
        return f"Nothing fits into {field(answer, 'budget')} tokens; 300 are always enough for something."
    return "Nothing to say yet: no session and no memory of this folder is known."


def _print_explanation(answer: JsonObject) -> None:
    click.echo(f"\n{field(answer, 'tokens')} of {field(answer, 'budget')} tokens by estimate")
    for each in items(answer, "items"):
        if isinstance(each, dict):
            click.echo(f"in   {field(each, 'layer')}: {field(each, 'source')}, {field(each, 'reason')}")
    for each in items(answer, "layers_skipped"):
        if isinstance(each, dict):
            click.echo(f"out  {field(each, 'layer')}: {field(each, 'reason')}")


def _context_json(answer: JsonObject) -> JsonObject:
    tokens, budget = answer.get("tokens"), answer.get("budget")
    used = round(tokens / budget, 3) if isinstance(tokens, int) and isinstance(budget, int) and budget else 0.0
    return {
        "text": answer.get("context"),
        "tokens": tokens,
        "budget": budget,
        "budget_used": used,
        "truncated": answer.get("truncated"),
        "layers_included": answer.get("layers"),
        "layers_skipped": answer.get("layers_skipped"),
        "items": answer.get("items"),
        "build_ms": answer.get("build_ms"),
    }
