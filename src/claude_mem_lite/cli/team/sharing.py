"""Commands `team share`, `unshare`, `preview`, `status`, `sync` and `repair`; `share` and `keep` for one memory."""

from datetime import UTC, datetime

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.options import (
    connect_to_find,
    connect_to_look,
    json_option,
    memory_id,
    project_for_worker,
    refuse_agent,
)
from claude_mem_lite.cli.output import Column, dim, plain, print_json, print_table
from claude_mem_lite.cli.times import ago
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.responses.team import TeamShared, TeamStatus
from claude_mem_lite.text import counted

_MAX_LISTED = 200
_project_argument = click.argument("project", metavar="PROJECT", shell_complete=completion_values.projects)


@click.command(short_help="Share a project with the team.")
@_project_argument
@click.option("--handoffs", is_flag=True, help="Share open work too: what a session left to do.")
@json_option
def share(project: str, handoffs: bool, as_json: bool) -> None:
    """Share a project with the team.

    From now on, decisions, bug fixes with their cause, gotchas, conventions, rules and architecture of PROJECT go to
    the team, also those stored before. PROJECT is a folder, a name or a remote; it needs a remote, because teammates
    are matched by it. A file in a repository can never turn this on.

    \b
    Examples:
      claude-mem-lite team share .
      claude-mem-lite team share shop --handoffs
    """
    refuse_agent("team share")
    shared = connect_to_find().team_share(project_for_worker(project), handoffs=handoffs)
    _print_shared(shared, as_json)


@click.command(short_help="Stop sharing a project.")
@_project_argument
@json_option
def unshare(project: str, as_json: bool) -> None:
    """Stop sharing a project.

    What you shared of it is taken back from the team at the next synchronisation, and nothing of it is received any
    more. Your own memories stay.

    \b
    Example:
      claude-mem-lite team unshare shop
    """
    refuse_agent("team unshare")
    _print_shared(connect_to_find().team_unshare(project_for_worker(project)), as_json)


def _print_shared(shared: TeamShared, as_json: bool) -> None:
    if as_json:
        print_json(shared.raw)
        return
    if not shared.is_shared:
        click.echo(f"{plain(shared.name)} is not shared any more; what was sent is taken back.")
        return
    click.echo(f"{plain(shared.name)} ({plain(shared.remote)}) is shared with the team.")
    considered = counted(shared.marked, "memory", "memories")
    click.echo(f"{considered} will be considered; `claude-mem-lite team preview` shows which go and which stay.")


@click.command(short_help="Show exactly what would be sent.")
@click.option(
    "--project",
    default="",
    metavar="PROJECT",
    shell_complete=completion_values.projects,
    help="A project, shared or not; all shared projects if not given.",
)
@json_option
def preview(project: str, as_json: bool) -> None:
    """Show exactly what would be sent, and why the rest stays.

    Sends nothing. --json has the body of each memory as it would be sent.

    \b
    Examples:
      claude-mem-lite team preview
      claude-mem-lite team preview --project . --json
    """
    client = connect_to_look({"memories": [], "held_back": [], "more": 0}, as_json=as_json)
    found = client.team_preview(project_for_worker(project) if project else "")
    if as_json:
        print_json(found.raw)
        return
    for memory in found.memories[:_MAX_LISTED]:
        state = "sent" if memory.is_sent else "would go"
        click.echo(f"{state:9} {plain(memory.id)}  {plain(memory.kind):12} {plain(memory.title)}")
    total = len(found.memories) + found.more
    if total > _MAX_LISTED:
        click.echo(dim(f"and {total - _MAX_LISTED:,} more"))
    if not found.memories:
        click.echo("Nothing would be sent.")
    for held in found.held_back:
        click.echo(f"{counted(held.memories, 'memory stays', 'memories stay')} here: {plain(held.reason)}")


@click.command(short_help="Log in and show the state.")
@json_option
def status(as_json: bool) -> None:
    """Log in to the team's database and show the state.

    Shows who you are, what is shared and received, how much waits in both directions, parked entries with their reason
    codes, and what to do about a failure.

    \b
    Examples:
      claude-mem-lite team status
      claude-mem-lite team status --json
    """
    state = connect_to_look({"is_joined": False}, as_json=as_json).team_status()
    if as_json:
        print_json(state.raw)
        return
    if not state.is_joined:
        click.echo("This machine is in no team: `claude-mem-lite team join` joins one.")
        return
    _print_status(state)


def _print_status(state: TeamStatus) -> None:
    now = datetime.now(UTC)
    sealed = ", sealed" if state.is_sealed else ""
    click.echo(f"Member {plain(state.member)}, device {plain(state.device)[:8]}{sealed}")
    if state.reached:
        click.echo("The database accepted the login.")
    if state.code:
        click.echo(f"{plain(state.code)}: {plain(state.message)}; {plain(state.next_step)}.")
    last = ago(state.last_sync_at, now) if state.last_sync_at else "not since the worker started"
    click.echo(f"Last synchronisation: {last}. Waiting: {state.waiting_out:,} out, {state.waiting_in:,} in.")
    if state.projects:
        print_table(
            [Column("project"), Column("granted"), Column("shared"), Column("sent"), Column("received")],
            [
                [
                    plain(project.name or project.key[:8]),
                    "yes" if project.is_granted else "no",
                    ("with open work" if project.handoffs else "yes") if project.is_shared else "no",
                    f"{project.sent:,}",
                    f"{project.received:,}",
                ]
                for project in state.projects
            ],
            always_titled=True,
        )
    for author in state.authors:
        click.echo(
            f"From {plain(author.name)}: {counted(author.memories, 'memory', 'memories')}, "
            f"the last {ago(author.last_at, now)}"
        )
    for parked in state.parked:
        way = "not sent" if parked.direction == "out" else f"from {plain(parked.author)} not applied"
        click.echo(f"Parked {plain(parked.uid)} ({way}): {plain(parked.code)}; {plain(parked.next_step)}.")


@click.command(short_help="Synchronise now.")
@json_option
def sync(as_json: bool) -> None:
    """Synchronise now, and wait for the result.

    \b
    Example:
      claude-mem-lite team sync
    """
    done = connect_to_find().team_sync()
    if as_json:
        print_json(done.raw)
    elif not done.code:
        click.echo(f"Sent {done.pushed:,} and received {done.pulled:,}.")
    if done.code:
        raise MemoryLiteError(f"{plain(done.code)}: {plain(done.message)}", plain(done.next_step))


@click.command(short_help="Try parked entries again.")
@json_option
def repair(as_json: bool) -> None:
    """Try parked entries again: send what was refused, fetch and apply what could not be read.

    \b
    Example:
      claude-mem-lite team repair
    """
    refuse_agent("team repair")
    done = connect_to_find().team_repair()
    if as_json:
        print_json(done.raw)
        return
    click.echo(f"Sending {done.requeued:,} again, applied {done.applied:,}; {done.still_parked:,} are still parked.")


@click.command(name="share", short_help="Share one memory with the team.")
@click.argument("given", metavar="ID", shell_complete=completion_values.ids)
@json_option
def share_memory(given: str, as_json: bool) -> None:
    """Share one memory with the team, though its kind is not shared by default.

    Preferences, memories that hold everywhere, quarantined and private ones, and text from the web never go.

    \b
    Example:
      claude-mem-lite share k7f3a5mq2x
    """
    _choose("share", given, as_json)


@click.command(short_help="Keep one memory from the team.")
@click.argument("given", metavar="ID", shell_complete=completion_values.ids)
@json_option
def keep(given: str, as_json: bool) -> None:
    """Keep one memory from the team; what was sent of it is taken back from everyone.

    \b
    Example:
      claude-mem-lite keep k7f3a5mq2x
    """
    _choose("keep", given, as_json)


def _choose(choice: str, given: str, as_json: bool) -> None:
    refuse_agent(choice)
    chosen = connect_to_find().team_choice(memory_id(given), choice)
    if as_json:
        print_json(chosen.raw)
    elif choice == "keep":
        click.echo(f"{plain(chosen.id)} stays here, and is taken back if it was sent.")
    elif chosen.reason:
        raise MemoryLiteError(f"{plain(chosen.id)} stays here: {plain(chosen.reason)}")
    else:
        click.echo(f"{plain(chosen.id)} goes to the team: {plain(chosen.title)}")
