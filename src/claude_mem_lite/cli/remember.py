"""Commands `remember` and `forget`."""

import difflib
import sys
from collections.abc import Sequence

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.filters import file_of_project
from claude_mem_lite.cli.options import (
    as_kind,
    asking_agent,
    connect,
    doubt_language,
    folder,
    json_option,
    memory_id,
    refuse_agent,
    yes_option,
)
from claude_mem_lite.cli.options import scope as scope_type
from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.cli.records import kind_and_status, print_left_replaced, print_relations, scope_label
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import ControlSession, NotFound
from claude_mem_lite.models import KINDS
from claude_mem_lite.paths import current_folder
from claude_mem_lite.responses.memories import MemoryRecord, RememberedMemory, SavedMemory
from claude_mem_lite.responses.records import Record, SessionRecord, TurnRecord
from claude_mem_lite.scopes import SCOPES
from claude_mem_lite.text import counted, one_line


@click.command(short_help="Store a statement of yours as a memory.")
@click.argument("words", metavar="[KIND] TEXT...", nargs=-1, required=True, shell_complete=completion_values.kinds)
@click.option(
    "--scope", metavar="S", type=scope_type, shell_complete=completion_values.scopes, help=f"Where it holds: {SCOPES}."
)
@click.option("--tag", "tags", metavar="T", multiple=True, help="A word to find it by; may be given several times.")
@click.option(
    "--file", "files", metavar="F", multiple=True, help="A file that it is about; may be given several times."
)
@json_option
def remember(words: Sequence[str], scope: str | None, tags: Sequence[str], files: Sequence[str], as_json: bool) -> None:
    """Store a statement of yours as a memory.

    Without a KIND, the kind is guessed from the text and printed. A memory belongs to the current folder's project,
    unless the text says where it holds ("in all my projects", "in Python …") or --scope does. If you name the KIND,
    preferences, rules and anti-patterns hold everywhere; --file means the project. A single - as TEXT reads standard
    input. Adds one memory, or counts an equal memory as seen again. In an agent's shell, stores a note of the agent for
    the current project, and says so.

    \b
    Kinds:
      decision bugfix feature refactor change discovery
      preference rule anti_pattern correction convention gotcha architecture pattern
      failure handoff goal note project_fact

    \b
    Examples:
      claude-mem-lite remember "Never commit to main"
      claude-mem-lite remember gotcha "The test database needs port 5433" --tag db
      claude-mem-lite remember preference "Use uv, not pip" --scope language:python
      claude-mem-lite remember gotcha "Tokens expire after 5 minutes" --file src/auth/jwt.py
    """
    kind, text = _kind_and_text(words)
    here = folder()
    named = [file_of_project(file, here) for file in files]
    client, agent = connect(), asking_agent(here)
    memory: RememberedMemory | SavedMemory
    if agent is None:
        memory = client.remember(kind, text, scope=scope, tags=tags, files=named, cwd=here)
    else:
        memory = client.save(agent, kind, text, scope=scope or "", tags=tags, files=named)
    if doubt := doubt_language(scope):
        click.echo(doubt, err=True)
    if as_json:
        print_json(memory.raw)
        return
    if agent is None or memory.origin == "user":
        _print_remembered(memory, scope_label(memory, client.project_names()))
    else:
        _print_noted(memory)
    print_relations(memory)


def _kind_and_text(words: Sequence[str]) -> tuple[str | None, str]:
    """Return the kind, if the first word names one, and the text to remember."""
    first, *rest = words
    kind = None
    if as_kind(first) in KINDS:
        kind = as_kind(first)
        if not rest:
            raise click.UsageError(
                f"there is no text after the kind {kind}; write it as in: claude-mem-lite remember {kind} 'TEXT'"
            )
    elif len(rest) == 1 and (near := difflib.get_close_matches(as_kind(first), KINDS, n=1, cutoff=0.8)):
        raise click.UsageError(
            f"there is no kind {first!r}, did you mean {near[0]}? Else put all of the text in quotes"
        )
    else:
        rest = list(words)
    text = (sys.stdin.read() if rest == ["-"] else " ".join(rest)).strip()
    if not text:
        raise click.UsageError("there is no text to remember")
    return kind, text


def _print_remembered(memory: RememberedMemory | SavedMemory, scope: str) -> None:
    id_, kind = plain(memory.id), plain(memory.kind)
    is_repeat = isinstance(memory, RememberedMemory) and memory.is_repeat
    is_guessed = isinstance(memory, RememberedMemory) and memory.is_guessed and not is_repeat
    if is_repeat:
        times = f"said {memory.times_seen} times now"
        click.echo(f"Known already as {id_} ({kind}, {scope}), {times}: {one_line(plain(memory.title))}")
    else:
        click.echo(f"Remembered as {id_} ({kind}{', guessed' if is_guessed else ''}, {scope}).")
    if memory.is_redacted:
        click.echo("A secret in the text was taken out before it was stored.")
    if memory.has_private:
        click.echo("A private passage in the text was taken out before it was stored.")
    if isinstance(memory, RememberedMemory) and memory.is_excluded:
        click.echo("This folder is excluded: it is given elsewhere, and nothing is given here.")
    if is_guessed:
        click.echo(f"If it is another kind: `claude-mem-lite edit {id_} --kind KIND`.")
    if isinstance(memory, RememberedMemory) and memory.guard and not is_repeat:
        guard = plain(memory.guard)
        click.echo(
            f"It can be held against tool calls: `claude-mem-lite guards show {guard}` lists past calls that it would "
            f"have caught, `guards accept {guard}` puts it in force."
        )


def _print_noted(memory: RememberedMemory | SavedMemory) -> None:
    """Print the result of a command that an agent ran."""
    click.echo(
        f"Stored as the agent's note: {plain(memory.id)} ({kind_and_status(memory)}, {plain(memory.scope)}). "
        "This shell is an agent's, so it is no rule of the user's and holds in this project only."
    )
    if memory.is_redacted:
        click.echo("A secret in the text was taken out before it was stored.")


@click.command(short_help="Remove memories for good.")
@click.argument("ids", metavar="[ID...]", nargs=-1, shell_complete=completion_values.ids)
@click.option("--session", metavar="S", help="Everything of one session, by its id or the beginning of it.")
@click.option("--project", metavar="P", help="Everything of one project, by its name or id.")
@yes_option
@json_option
@click.pass_context
def forget(
    ctx: click.Context, ids: Sequence[str], session: str | None, project: str | None, yes: bool, as_json: bool
) -> None:
    """Remove memories for good.

    Removes memories, and the text that they were made from, from every file in the data folder; this cannot be undone.
    The ID of a turn, as search shows it, removes the turn's prompt and answer with all its memories. Memories that a
    forgotten memory had replaced stay replaced, and are listed. Asks first on a terminal. In a script, --session and
    --project need --yes. In an agent's shell, memories that the user stated, changed, pinned or confirmed, turns,
    --session and --project are refused.

    \b
    Examples:
      claude-mem-lite forget k7f3a5mq2x
      claude-mem-lite forget --session 2f6d1c0e-8a4b-4c55-9d1e-0b7a6f3c2e11
      claude-mem-lite forget --project github.com/me/shop --yes
    """
    if sum((bool(ids), session is not None, project is not None)) != 1:
        raise click.UsageError("name memories by their ids, or one --session, or one --project", ctx)
    if not ids:
        refuse_agent("forget --session" if session is not None else "forget --project")
    wanted = [memory_id(given) for given in ids]
    may_ask = sys.stdin.isatty()
    if not wanted and not yes and not may_ask:
        raise click.UsageError("forgetting that much needs --yes without a terminal to ask on", ctx)
    client = connect()
    if not yes and may_ask:
        click.confirm(_question(client, wanted, session, project), abort=True, err=True)
    known = [record for each in dict.fromkeys(wanted) if (record := _record(client, each)) is not None]
    turns = sum(isinstance(record, TurnRecord) for record in known)
    holding = [record for record in known if isinstance(record, MemoryRecord) and record.status == "active"]
    holding += [older for record in holding for older in client.replaced_before(record)]
    agent = asking_agent(current_folder())
    if agent is None:
        forgotten = client.forget(ids=wanted, session=session, project=project)
    else:
        forgotten = client.forget_for(agent, wanted).ids
    if as_json:
        print_json({"forgotten": forgotten})
        return
    memories = len(forgotten) - turns
    numbers = [counted(turns, "turn")] if turns else []
    numbers += [counted(memories, "memory", "memories")] if memories else []
    click.echo(f"Forgot {' and '.join(numbers)}." if numbers else "There was nothing to forget.")
    if wanted and not turns:
        _print_also_forgotten(forgotten, wanted)
    for record in holding:
        if record.id in forgotten:  # with older versions of the memory, whose predecessors are named too
            print_left_replaced(record, gone=forgotten)


def _print_also_forgotten(forgotten: Sequence[str], wanted: Sequence[str]) -> None:
    """Print the ids of forgotten memories that the user did not name."""
    if others := [plain(id_) for id_ in forgotten if not id_.startswith(tuple(wanted))]:
        click.echo(f"Not named, but older versions or repetitions of the same text: {', '.join(others)}.")


def _question(client: Client, ids: Sequence[str], session: str | None, project: str | None) -> str:
    if session is not None:
        return f"Forget everything of session {_session(client, session)} for good?"
    if project is not None:
        return f"Forget everything of project {project} for good?"
    for each in ids:
        record = _record(client, each)
        shown = record if isinstance(record, TurnRecord) else client.memory(each)
        click.echo(f"{plain(shown.id)}  {plain(shown.title)}", err=True)
    click.echo(
        "This also erases the prompt and the answer of its turns, and memories that repeat them. To keep it without "
        "giving it to sessions, use `claude-mem-lite retire`.",
        err=True,
    )
    return "Forget this for good?" if len(ids) == 1 else f"Forget these {len(ids)} for good?"


def _record(client: Client, given: str) -> Record | None:
    """Return a memory or a turn before it is forgotten; None for an unknown id, and for an agent without memories."""
    try:
        return client.record(given)
    except (NotFound, ControlSession):
        return None


def _session(client: Client, given: str) -> str:
    """Return the whole id of a session, with its headline."""
    try:
        found = client.record(given)
    except NotFound:
        return given  # only the id is known of sessions of imported memories
    if not isinstance(found, SessionRecord):
        return given
    headline = one_line(plain(found.title))
    return plain(found.session) + (f" ({headline})" if headline else "")
