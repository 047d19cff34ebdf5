"""Commands `team join`, `team key` and `team leave`, for a member."""

import click

from claude_mem_lite.cli.options import chosen_home, connect, connect_to_find, json_option, refuse_agent, yes_option
from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.cli.team.secrets import asking, secret
from claude_mem_lite.responses.team import TeamStatus
from claude_mem_lite.text import counted


@click.command(short_help="Join a team with an invitation.")
@click.argument("url", metavar="[URL]", required=False)
@json_option
def join(url: str | None, as_json: bool) -> None:
    """Join a team with an invitation.

    URL is the connection string that `team invite` printed. Without URL it is asked for, or read from standard input.
    It is kept in the data folder, readable by you alone; CLAUDE_MEM_LITE_TEAM_URL takes its place if set. Joining
    shares nothing: run `team preview`, then `team share`.

    \b
    Examples:
      claude-mem-lite team join
      claude-mem-lite team join postgresql://cml_ana:PASSWORD@db.example.com/team
    """
    refuse_agent("team join")
    url = secret(url, "connection string of your invitation")
    with asking():
        joined = connect().team_join(url)
    if as_json:
        print_json(joined.raw)
        return
    shared = [project.name for project in joined.projects if project.is_shared]
    sharing = f"Shared from here: {', '.join(map(plain, shared))}." if shared else "Nothing is shared yet."
    click.echo(f"Joined as {plain(joined.member)}. {sharing}")
    if joined.is_sealed and not joined.has_key:
        click.echo("The team is sealed. Next: `claude-mem-lite team key` stores its key.")
        return
    _print_grants(joined)


def _print_grants(joined: TeamStatus) -> None:
    granted = [project for project in joined.projects if project.is_granted]
    if not granted:
        click.echo("You may share no project yet: ask for `claude-mem-lite team invite NAME --project PROJECT`.")
        return
    names = [plain(project.name) for project in granted if project.name]
    unnamed = counted(len(granted) - len(names), "project", "projects")
    listed = [*names, *([f"{unnamed} whose names are sealed"] if len(names) < len(granted) else [])]
    click.echo(f"You may share {', '.join(listed)}.")
    click.echo("Next, in the folder of a project: `claude-mem-lite team preview --project .` shows what would go, and")
    click.echo("`claude-mem-lite team share .` begins to send and to receive.")


@click.command(short_help="Store the key of a sealed team.")
@click.argument("key", metavar="[KEY]", required=False)
@json_option
def key(key: str | None, as_json: bool) -> None:
    """Store the key of a sealed team.

    KEY is the key that `team init --sealed` printed. Without KEY it is asked for, or read from standard input. It is
    checked against the database before it is stored, so a mistyped key changes nothing.

    \b
    Example:
      claude-mem-lite team key
    """
    refuse_agent("team key")
    key = secret(key, "team key")
    with asking():
        state = connect().team_key(key)
    if as_json:
        print_json(state.raw)
        return
    click.echo("The key is right and stored.")
    _print_grants(state)


@click.command(short_help="Leave the team.")
@click.option("--purge", is_flag=True, help="Also remove from the database, and from teammates, what this device sent.")
@yes_option
@json_option
def leave(purge: bool, yes: bool, as_json: bool) -> None:
    """Leave the team.

    Removes the connection string, the key and all received memories from this machine. Your own memories stay. What you
    shared stays with the team; with --purge it is removed there too, which needs the database to be reachable. The
    administrator's connection string of `team init` stays.

    \b
    Examples:
      claude-mem-lite team leave
      claude-mem-lite team leave --purge --yes
    """
    refuse_agent("team leave")
    if not yes and not as_json:
        what = "Leave the team and remove everywhere what this device shared?" if purge else "Leave the team?"
        click.confirm(what, abort=True)
    with asking():
        left = connect_to_find().team_leave(purge=purge)
    if as_json:
        print_json(left.raw)
        return
    click.echo(f"Left the team. Removed {counted(left.forgotten, 'received memory', 'received memories')} here.")
    if purge:
        click.echo(f"Removed {counted(left.purged, 'memory', 'memories')} of yours from the team.")
    kept = chosen_home().team_admin_address
    if kept.exists():
        click.echo(f"The administrator's connection string stays in {plain(str(kept))}, for `team invite`.")
