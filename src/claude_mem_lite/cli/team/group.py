"""Command `team`: the table of its commands; without a command, the state of the team, or the help outside of one."""

import click

from claude_mem_lite.cli.groups import LazyCommand, LazyGroup

_HERE = "claude_mem_lite.cli.team"
SECTIONS = {
    "Set up": {
        "init": LazyCommand(f"{_HERE}.admin", "init", "Set up a database for a team."),
        "invite": LazyCommand(f"{_HERE}.admin", "invite", "Give a member access to projects."),
        "revoke": LazyCommand(f"{_HERE}.admin", "revoke", "Take all access from a member."),
        "members": LazyCommand(f"{_HERE}.admin", "members", "List the members."),
        "join": LazyCommand(f"{_HERE}.membership", "join", "Join a team with an invitation."),
        "key": LazyCommand(f"{_HERE}.membership", "key", "Store the key of a sealed team."),
        "leave": LazyCommand(f"{_HERE}.membership", "leave", "Leave the team."),
    },
    "Share": {
        "share": LazyCommand(f"{_HERE}.sharing", "share", "Share a project with the team."),
        "unshare": LazyCommand(f"{_HERE}.sharing", "unshare", "Stop sharing a project."),
        "preview": LazyCommand(f"{_HERE}.sharing", "preview", "Show exactly what would be sent."),
    },
    "Look": {
        "status": LazyCommand(f"{_HERE}.sharing", "status", "Log in and show the state."),
        "sync": LazyCommand(f"{_HERE}.sharing", "sync", "Synchronise now."),
        "repair": LazyCommand(f"{_HERE}.sharing", "repair", "Try parked entries again."),
    },
}


@click.pass_context
def show_state(ctx: click.Context) -> None:
    """Show the state of the team without a command; the help if this machine is in no team."""
    if ctx.invoked_subcommand is None:
        from claude_mem_lite.cli.team.sharing import print_state

        if not print_state():
            click.echo(ctx.get_help())
            click.echo("\nThis machine is in no team. `claude-mem-lite team join` joins one, `team init` makes one.")


team = LazyGroup(
    name="team",
    sections=SECTIONS,
    params=[],
    callback=show_state,
    short_help="Share memories of a project with your team.",
    help="""Share memories of a project with your team.

    The team exchanges them through a PostgreSQL database. Nothing is shared before you run `team share` for a project.
    Then decisions, bug fixes, gotchas, conventions, rules and architecture of that project go to your teammates;
    prompts, preferences and everything personal stay here. Your own memory stays on this machine and works without the
    database. Without a command, shows the state.

    \b
    Examples:
      claude-mem-lite team init postgresql://admin@localhost/team
      claude-mem-lite team invite ana --project .
      claude-mem-lite team join
      claude-mem-lite team preview --project .
      claude-mem-lite team share .
      claude-mem-lite team status
    """,
)
