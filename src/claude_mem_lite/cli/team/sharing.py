"""Commands `team share`, `unshare`, `preview`, `status`, `sync` and `repair`; `share` and `keep` for one memory."""

from datetime import UTC, datetime

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.options import (
    chosen_home,
    connect_to_find,
    connect_to_read,
    is_anything_stored,
    json_option,
    memory_id,
    project_for_worker,
    refuse_agent,
)
from claude_mem_lite.cli.output import Column, dim, plain, print_json, print_table
from claude_mem_lite.cli.team.dialogue import asking
from claude_mem_lite.cli.times import ago
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.responses.team import TeamShared, TeamStatus
from claude_mem_lite.text import counted

_MAX_LISTED = 200
_IN_NO_TEAM = "This machine is in no team: `claude-mem-lite team join` joins one, `team init` makes one."
_project_argument = click.argument("project", metavar="PROJECT", shell_complete=completion_values.projects)


@click.command(short_help="Share a project with the team.")
@_project_argument
@click.option("--handoffs", is_flag=True, help="Share open work too: what a session left to do.")
@json_option
def share(project: str, handoffs: bool, as_json: bool) -> None:
    """Share a project with the team.

    From now on, decisions, bug fixes with their cause, gotchas, conventions, rules and architecture of PROJECT go to
    the team, also those stored before. PROJECT is a folder, a name or a remote; it needs a remote, because teammates
    are matched by it. A file in a repository can never turn this on. From now on, too, memories of teammates in PROJECT
    are received. Run again without --handoffs, open work is taken back.

    \b
    Examples:
      claude-mem-lite team share .
      claude-mem-lite team share shop --handoffs
    """
    refuse_agent("team share")
    with asking():
        shared = connect_to_find().team_share(project_for_worker(project), handoffs=handoffs)
    _print_shared(shared, as_json)


@click.command(short_help="Stop sharing a project.")
@_project_argument
@json_option
def unshare(project: str, as_json: bool) -> None:
    """Stop sharing a project.

    What you shared of it is taken back from the team at the next synchronisation. What you received of it is removed
    here at once, and nothing of it is received any more. Your own memories stay.

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
        gone = "What was sent is taken back, and what was received is removed here."
        click.echo(f"{plain(shared.name)} is not shared any more. {gone}")
        return
    open_work = ", open work too" if shared.handoffs else ""
    click.echo(f"{plain(shared.name)} ({plain(shared.remote)}) is shared with the team{open_work}.")
    if shared.marked:
        considered = counted(shared.marked, "memory", "memories")
        click.echo(f"{considered} will be considered; `claude-mem-lite team preview` shows which go and which stay.")
    click.echo("Memories of teammates arrive in the background; `claude-mem-lite team sync` waits for them.")


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
    """Show exactly what would be sent.

    Sends nothing, and says why the rest stays here. --json has the body of each memory as it would be sent.

    \b
    Examples:
      claude-mem-lite team preview
      claude-mem-lite team preview --project . --json
    """
    client = connect_to_read({"memories": [], "held_back": [], "more": 0}, as_json=as_json, why=_IN_NO_TEAM)
    with asking():
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
    if found.memories:
        click.echo(dim("Their texts, as sent: `--json`, or Team on the page of `claude-mem-lite ui`."))
    if not found.memories:
        all_shared = "" if project or found.held_back else " `--project .` asks about a project that is not shared."
        click.echo(f"Nothing would be sent.{all_shared}")
    for held in found.held_back:
        stay = counted(held.memories, "memory stays", "memories stay")
        click.echo(f"{stay} here: {plain(held.reason)} ({', '.join(map(plain, held.examples))})")


@click.command(short_help="Log in and show the state.")
@json_option
def status(as_json: bool) -> None:
    """Log in and show the state.

    Logs in to the team's database. Shows who you are, what is shared and received, how much waits in both directions,
    parked entries with their reason codes, and what to do about a failure.

    \b
    Examples:
      claude-mem-lite team status
      claude-mem-lite team status --json
    """
    client = connect_to_read({"is_joined": False}, as_json=as_json, why=_IN_NO_TEAM)
    with asking():
        state = client.team_status()
    if as_json:
        print_json(state.raw)
    elif state.is_joined:
        _print_status(state)
    else:
        click.echo(_IN_NO_TEAM)


def print_state() -> bool:
    """Print the state of the team; return False, and print nothing, if this machine is in no team."""
    if not is_anything_stored():
        return False
    with asking():
        state = connect_to_find().team_status()
    if state.is_joined:
        _print_status(state)
        click.echo("`claude-mem-lite team --help` lists the commands.")
    return state.is_joined


def _print_status(state: TeamStatus) -> None:
    now = datetime.now(UTC)
    sealed = ", sealed" if state.is_sealed else ""
    click.echo(f"Member {plain(state.member)}, device {plain(state.device)[:8]}{sealed}")
    if state.reached:
        click.echo("The database accepted the login.")
    if state.code:
        click.echo(f"{plain(state.code)}: {plain(state.message)}; {plain(state.next_step)}.")
    last = ago(state.last_sync_at, now) if state.last_sync_at else "not since the worker started"
    incoming = f"{state.waiting_in:,}" if state.reached else "?"
    click.echo(f"Last synchronisation: {last}. Waiting: {state.waiting_out:,} out, {incoming} in.")
    if chosen_home().off_switch.exists():
        click.echo("Memory is off, so nothing is synchronised: `claude-mem-lite on` switches it on.")
    if state.projects:
        print_table(
            [Column("project"), Column("granted"), Column("shared"), Column("sent"), Column("received")],
            [
                [
                    plain(project.name or project.key[:8]),
                    ("yes" if project.is_granted else "no") if state.reached and not state.code else "?",
                    ("with open work" if project.handoffs else "yes") if project.is_shared else "no",
                    f"{project.sent:,}",
                    f"{project.received:,}",
                ]
                for project in state.projects
            ],
            always_titled=True,
        )
    if not any(project.is_shared for project in state.projects):
        click.echo("Nothing is shared: `claude-mem-lite team share .` in the folder of a project begins.")
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
    """Synchronise now.

    Waits for the result. The worker synchronises by itself after each session and every few minutes; this is for those
    who cannot wait.

    \b
    Example:
      claude-mem-lite team sync
    """
    with asking():
        done = connect_to_find().team_sync()
    if as_json:
        print_json(done.raw)
    elif not done.code and not (done.pushed or done.pulled):
        click.echo("Everything is synchronised already.")
    elif not done.code:
        click.echo(f"Sent {done.pushed:,} and received {done.pulled:,}.")
    if done.code:
        raise MemoryLiteError(f"{plain(done.code)}: {plain(done.message)}", plain(done.next_step))


@click.command(short_help="Try parked entries again.")
@json_option
def repair(as_json: bool) -> None:
    """Try parked entries again.

    Sends what was refused, fetches and applies what could not be read. `team status` lists parked entries with their
    reasons. An entry that a newer version wrote needs an upgrade first.

    \b
    Example:
      claude-mem-lite team repair
    """
    refuse_agent("team repair")
    with asking():
        done = connect_to_find().team_repair()
    if as_json:
        print_json(done.raw)
        return
    if not (done.requeued or done.applied or done.still_parked):
        click.echo("Nothing is parked.")
        return
    click.echo(f"Sending {done.requeued:,} again, applied {done.applied:,}; {done.still_parked:,} are still parked.")


@click.command(name="share", short_help="Share one memory with the team.")
@click.argument("given", metavar="ID", shell_complete=completion_values.ids)
@json_option
def share_memory(given: str, as_json: bool) -> None:
    """Share one memory with the team.

    For a memory that is not shared by default; `team preview` says which stay and why. What never goes: preferences,
    corrections and failures; what holds beyond the project; memories that are quarantined, repeat a prompt, have the
    tag `private` or may contain a secret; text from pages, tools, commands and imports; memories of teammates.

    \b
    Example:
      claude-mem-lite share k7f3a5mq2x
    """
    _choose("share", given, as_json)


@click.command(short_help="Keep one memory from the team.")
@click.argument("given", metavar="ID", shell_complete=completion_values.ids)
@json_option
def keep(given: str, as_json: bool) -> None:
    """Keep one memory from the team.

    What was sent of it is taken back from everyone.

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
    if chosen.reason:
        raise MemoryLiteError(
            f"{plain(chosen.id)} stays here: {plain(chosen.reason)}",
            "`claude-mem-lite share --help` says what is never shared",
        )
    if as_json:
        return
    if choice == "keep":
        click.echo(f"{plain(chosen.id)} stays here, and is taken back if it was sent.")
    else:
        click.echo(f"{plain(chosen.id)} goes to the team: {plain(chosen.title)}")
