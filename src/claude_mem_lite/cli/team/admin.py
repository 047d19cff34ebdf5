"""Commands `team init`, `invite`, `revoke` and `members`, for whoever may create tables and roles."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.options import connect, json_option, project_for_worker, refuse_agent
from claude_mem_lite.cli.output import Column, plain, print_json, print_table
from claude_mem_lite.cli.team.secrets import asking, secret
from claude_mem_lite.cli.times import ago

_url_option = click.option(
    "--url",
    default="",
    metavar="URL",
    help="The administrator's connection string; the one of `team init` if not given.",
)


@click.command(short_help="Set up a database for a team.")
@click.argument("url", metavar="[URL]", required=False)
@click.option("--sealed", is_flag=True, help="Encrypt all memories with a team key, so that the host cannot read them.")
@json_option
def init(url: str | None, sealed: bool, as_json: bool) -> None:
    """Set up a database for a team.

    URL is the connection string of a role that may create tables and roles in the database, such as
    postgresql://admin:PASSWORD@db.example.com/team. Without URL it is asked for, or read from standard input. Creates
    the schema `claude_mem_lite`, and upgrades it when run again. The connection string is kept in the data folder,
    readable by you alone, for `team invite` and `team revoke`. Off loopback the connection needs TLS with a verified
    certificate.

    With --sealed a team key is made and printed once: every member needs it, and nobody can restore it.

    \b
    Examples:
      claude-mem-lite team init postgresql://postgres@localhost/team
      claude-mem-lite team init --sealed < url.txt
    """
    refuse_agent("team init")
    url = secret(url, "connection string of the administrator")
    with asking():
        made = connect().team_init(url, sealed=sealed)
    if as_json:
        print_json(made.raw)
        return
    click.echo("The team's database is ready." if made.migrations else "The team's database was ready already.")
    if made.key:
        click.echo(f"Team key, shown only now: {plain(made.key)}")
        click.echo("Keep it in a safe place, and give it to every member; each runs `claude-mem-lite team key`.")
    elif made.is_sealed:
        click.echo("The team is sealed and keeps the key that it has.")
    click.echo("Next: `claude-mem-lite team invite NAME --project FOLDER`, also for yourself.")


@click.command(short_help="Give a member access to projects.")
@click.argument("name", metavar="NAME")
@click.option(
    "--project",
    "projects",
    metavar="PROJECT",
    multiple=True,
    required=True,
    shell_complete=completion_values.projects,
    help="A project: its folder, name or remote. May be repeated.",
)
@click.option("--new-password", is_flag=True, help="Make a new password for a member who is known already.")
@_url_option
@json_option
def invite(name: str, projects: Sequence[str], new_password: bool, url: str, as_json: bool) -> None:
    """Give a member access to projects.

    Makes a role of the database for NAME, which can read and write the given projects and nothing else, and prints its
    connection string once. For a member who is known already, adds projects and keeps the password.

    \b
    Examples:
      claude-mem-lite team invite ana --project ~/code/shop
      claude-mem-lite team invite ana --project github.com/acme/shop --new-password
    """
    refuse_agent("team invite")
    named = [project_for_worker(project) for project in projects]
    with asking():
        made = connect().team_invite(name, named, url=url, new_password=new_password)
    if as_json:
        print_json(made.raw)
        return
    click.echo(f"{plain(made.name)} may share {', '.join(map(plain, made.projects))}.")
    if made.url:
        click.echo("Connection string, shown only now:")
        click.echo(plain(made.url))
        click.echo(f"{plain(made.name)} runs `claude-mem-lite team join` and pastes it.")
    else:
        click.echo("The connection string from before stays; --new-password makes another.")


@click.command(short_help="Take all access from a member.")
@click.argument("name", metavar="NAME")
@_url_option
@json_option
def revoke(name: str, url: str, as_json: bool) -> None:
    """Take all access from a member.

    The role can log in no more, from this moment on. What the member shared stays with the team.

    \b
    Example:
      claude-mem-lite team revoke ana
    """
    refuse_agent("team revoke")
    with asking():
        revoked = connect().team_revoke(name, url=url)
    if as_json:
        print_json(revoked.raw)
        return
    click.echo(f"{plain(revoked.name)} has no access any more. What they shared stays with the team.")


@click.command(short_help="List the members.")
@_url_option
@json_option
def members(url: str, as_json: bool) -> None:
    """List the members.

    Shows their projects, devices and last synchronisation. Needs the connection string of the administrator: teammates
    see each other by what they share, in `team status`.

    \b
    Example:
      claude-mem-lite team members
    """
    with asking():
        found = connect().team_members(url=url)
    if as_json:
        print_json([member.raw for member in found])
        return
    if not found:
        click.echo("Nobody is invited yet: `claude-mem-lite team invite NAME --project FOLDER`.")
        return
    now = datetime.now(UTC)
    print_table(
        [
            Column("member"),
            Column("invited", "dim"),
            Column("devices"),
            Column("last seen"),
            Column("projects", wide=True),
        ],
        [
            [
                member.name + (" (revoked)" if member.revoked_at else ""),
                ago(member.invited_at, now),
                f"{member.devices:,}",
                ago(member.synchronised_at, now) if member.synchronised_at else "never",
                ", ".join(map(plain, member.projects)) or "none",
            ]
            for member in found
        ],
        always_titled=True,
    )
