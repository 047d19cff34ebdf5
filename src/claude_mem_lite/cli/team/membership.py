"""Commands `team join`, `team key` and `team leave`, for a member."""

import click

from claude_mem_lite.cli.options import connect, connect_to_find, json_option, refuse_agent, yes_option
from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.cli.team.secrets import secret
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
    joined = connect().team_join(secret(url, "connection string of your invitation"))
    if as_json:
        print_json(joined.raw)
        return
    click.echo(f"Joined as {plain(joined.member)}. Nothing is shared yet.")
    if joined.is_sealed and not joined.has_key:
        click.echo("The team is sealed: run `claude-mem-lite team key` first.")
    granted = ", ".join(plain(project.name or project.key[:8]) for project in joined.projects if project.is_granted)
    click.echo(f"You may share {granted or 'no project yet'}.")
    click.echo("Next: `claude-mem-lite team preview --project .` shows what would go, `team share .` begins.")


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
    state = connect().team_key(secret(key, "team key"))
    if as_json:
        print_json(state.raw)
        return
    click.echo("The key is right and stored.")


@click.command(short_help="Leave the team.")
@click.option("--purge", is_flag=True, help="Also remove from the database, and from teammates, what this device sent.")
@yes_option
@json_option
def leave(purge: bool, yes: bool, as_json: bool) -> None:
    """Leave the team.

    Removes the connection string, the key and all received memories from this machine. Your own memories stay. What you
    shared stays with the team; with --purge it is removed there too, which needs the database to be reachable.

    \b
    Examples:
      claude-mem-lite team leave
      claude-mem-lite team leave --purge --yes
    """
    refuse_agent("team leave")
    if not yes and not as_json:
        what = "Leave the team and remove everywhere what this device shared?" if purge else "Leave the team?"
        click.confirm(what, abort=True)
    left = connect_to_find().team_leave(purge=purge)
    if as_json:
        print_json(left.raw)
        return
    click.echo(f"Left the team. Removed {counted(left.forgotten, 'received memory', 'received memories')} here.")
    if purge:
        click.echo(f"Removed {counted(left.purged, 'memory', 'memories')} of yours from the team.")
