"""Commands that only read memories and sessions: search, list, show, sessions, context."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli import times
from claude_mem_lite.cli.options import (
    all_projects_option,
    connect,
    cwd_option,
    json_option,
    kinds_option,
    limit_option,
    memory_id,
    where,
)
from claude_mem_lite.cli.output import Column, bold, dim, field, items, plain, print_json, print_table
from claude_mem_lite.cli.times import ago
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.models import JsonObject

HIT_KEYS = ("id", "kind", "title", "summary", "session", "project", "created_at", "score", "why")
LISTS_SHOWN = ("facts", "files", "tags")
FIELDS_SHOWN = ("scope", "project", "session", "branch", "commit", "origin", "confidence", "times_seen", "made_by")


@click.command(short_help="Find memories by words.")
@click.argument("query")
@cwd_option
@all_projects_option
@kinds_option
@click.option("--file", metavar="F", help="Only memories about this file.")
@click.option("--since", metavar="D", type=times.since, help="Not older than: 2026-03-01, 12h, 7d, 2w.")
@click.option("--until", metavar="D", type=times.until, help="Not newer than, written like --since.")
@limit_option(10)
@click.option("--explain", is_flag=True, help="Say why each was found.")
@json_option
def search(
    query: str,
    cwd: str | None,
    all_projects: bool,
    kinds: Sequence[str],
    file: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    explain: bool,
    as_json: bool,
) -> None:
    """Find memories by words.

    Words may stand in any order and form; parts of identifiers and paths are found too. Looks at the current
    folder's project and at what holds everywhere, unless told otherwise. Reads only.

    \b
    Examples:
      claude-mem-lite search "token refresh"
      claude-mem-lite search deploy --kind decision --since 30d
      claude-mem-lite search timeout --file src/http.py --explain
    """
    place = where(cwd, all_projects)
    hits = connect().search(query, place, kinds=kinds, file=file, since=since, until=until, limit=limit)
    if as_json:
        print_json([{key: hit.get(key) for key in HIT_KEYS} for hit in hits])
        return
    if not hits:
        wider = "" if all_projects else ", or add --all-projects"
        click.echo(f"Nothing found for {plain(query)!r}. Try fewer or other words{wider}.")
    for hit in hits:
        _print_hit(hit, explain)


@click.command(name="list", short_help="List the newest memories.")
@cwd_option
@all_projects_option
@kinds_option
@limit_option(50)
@json_option
def list_memories(cwd: str | None, all_projects: bool, kinds: Sequence[str], limit: int, as_json: bool) -> None:
    """List the newest memories.

    Those of the current folder's project and those that hold everywhere, newest first. Reads only.

    \b
    Examples:
      claude-mem-lite list
      claude-mem-lite list --kind decision --kind gotcha
      claude-mem-lite list --all-projects --limit 200 --json
    """
    memories = connect().memories(where(cwd, all_projects), kinds=kinds, limit=limit)
    if as_json:
        print_json(memories)
        return
    if not memories:
        what = f" of kind {' or '.join(kinds)}" if kinds else ""
        wider = "" if all_projects else " --all-projects lists those of other folders."
        click.echo(
            f"No memories{what} here yet. They come from working with your agent (`claude-mem-lite install`), from its "
            'old sessions (`claude-mem-lite import transcripts`), or from `claude-mem-lite remember note "…"`.'
            f"{wider}"
        )
        return
    now = datetime.now(UTC)
    print_table(
        [Column("id", "cyan"), Column("kind"), Column("when", "dim"), Column("title", wide=True)],
        [[field(m, "id"), field(m, "kind"), ago(m.get("created_at"), now), field(m, "title")] for m in memories],
    )


@click.command(short_help="Show memories in full.")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@json_option
@click.pass_context
def show(ctx: click.Context, ids: Sequence[str], as_json: bool) -> None:
    """Show memories in full.

    An id may be cut short to its first four or more characters. With --json a list, in the order asked for;
    exits 1 when one of them does not exist. Reads only.

    \b
    Examples:
      claude-mem-lite show k7f3a9
      claude-mem-lite show k7f3 b21c --json
    """
    wanted = [memory_id(given) for given in ids]
    client, found, failed = connect(), [], False
    for each in wanted:
        try:
            found.append(client.memory(each))
        except (NotFound, Ambiguous) as error:
            click.echo(f"{ctx.command_path}: {error}", err=True)
            failed = True
    if as_json:
        print_json(found)
    else:
        click.echo("\n\n".join(_full(memory) for memory in found), nl=bool(found))
    if failed:
        ctx.exit(1)


@click.command(short_help="List the last sessions and what came of them.")
@cwd_option
@all_projects_option
@limit_option(20)
@json_option
def sessions(cwd: str | None, all_projects: bool, limit: int, as_json: bool) -> None:
    """List the last sessions and what came of them.

    One line each, newest first; --json has the whole summaries. Reads only.

    \b
    Examples:
      claude-mem-lite sessions
      claude-mem-lite sessions --all-projects --limit 5 --json
    """
    found = connect().sessions(where(cwd, all_projects), limit=limit)
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo(
            "No sessions here yet. After `claude-mem-lite install`, start your agent in this folder as usual; "
            "`claude-mem-lite doctor` checks that it is seen."
        )
        return
    now = datetime.now(UTC)
    print_table(
        [Column("session", "cyan"), Column("when", "dim"), Column("status"), Column("what", wide=True)],
        [[field(s, "id"), ago(s.get("last_event_at"), now), field(s, "status"), _headline(s)] for s in found],
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


def _print_hit(hit: JsonObject, explain: bool) -> None:
    when = ago(hit.get("created_at"), datetime.now(UTC))
    head = f"{click.style(field(hit, 'id'), fg='cyan')}  {bold(field(hit, 'title'))}"
    tail = dim(f"[{field(hit, 'kind')}, {when}]")
    click.echo(f"{head}  {tail}")
    if (summary := field(hit, "summary")) != field(hit, "title"):
        click.echo(f"    {' '.join(summary.split())}")
    if explain:
        reasons = "; ".join(plain(reason) for reason in items(hit, "why"))
        click.echo(dim(f"    score {field(hit, 'score')}: {reasons or 'no reasons given'}"))


def _full(memory: JsonObject) -> str:
    kind, status = field(memory, "kind"), field(memory, "status")
    state = "" if status == "active" else f", {status}"
    lines = [f"{click.style(field(memory, 'id'), fg='cyan')}  {bold(field(memory, 'title'))}  [{kind}{state}]"]
    told = ("", field(memory, "title"))
    lines += [text for key in ("summary", "detail") if (text := field(memory, key)) not in told]
    for key in LISTS_SHOWN:
        if values := items(memory, key):
            lines.append(f"{dim(key + ':')} {', '.join(plain(value) for value in values)}")
    symbols = [
        f"{field(one, 'name')} {field(one, 'action')}" for one in items(memory, "symbols") if isinstance(one, dict)
    ]
    lines += [f"{dim('symbols:')} {', '.join(symbols)}"] if symbols else []
    lines += [f"{dim(key + ':')} {field(memory, key)}" for key in FIELDS_SHOWN if field(memory, key)]
    lines.append(f"{dim('created:')} {field(memory, 'created_at')}, last seen {field(memory, 'last_seen_at')}")
    return "\n".join(lines)


def _headline(session: JsonObject) -> str:
    summary = session.get("summary")
    if not isinstance(summary, dict):
        return ""
    return field(summary, "headline") or field(summary, "request")
