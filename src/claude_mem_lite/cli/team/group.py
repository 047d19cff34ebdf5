"""Command `team`: the table of its commands; without a command, the state of the team."""

from claude_mem_lite.cli.groups import Entry, LazyGroup

_HERE = "claude_mem_lite.cli.team"
SECTIONS = {
    "Set up": {
        "init": Entry(f"{_HERE}.admin", "init", "Set up a database for a team."),
        "invite": Entry(f"{_HERE}.admin", "invite", "Give a member access to projects."),
        "revoke": Entry(f"{_HERE}.admin", "revoke", "Take all access from a member."),
        "members": Entry(f"{_HERE}.admin", "members", "List the members."),
        "join": Entry(f"{_HERE}.membership", "join", "Join a team with an invitation."),
        "key": Entry(f"{_HERE}.membership", "key", "Store the key of a sealed team."),
        "leave": Entry(f"{_HERE}.membership", "leave", "Leave the team."),
    },
    "Share": {
        "share": Entry(f"{_HERE}.sharing", "share", "Share a project with the team."),
        "unshare": Entry(f"{_HERE}.sharing", "unshare", "Stop sharing a project."),
        "preview": Entry(f"{_HERE}.sharing", "preview", "Show exactly what would be sent."),
    },
    "Look": {
        "status": Entry(f"{_HERE}.sharing", "status", "Log in and show the state."),
        "sync": Entry(f"{_HERE}.sharing", "sync", "Synchronise now."),
        "repair": Entry(f"{_HERE}.sharing", "repair", "Try parked entries again."),
    },
}

team = LazyGroup(
    name="team",
    sections=SECTIONS,
    params=[],
    help="""Share memories of a project with your team, through a PostgreSQL database.

    Nothing is shared before you run `team share` for a project. Then decisions, bug fixes, gotchas, conventions, rules
    and architecture of that project go to your teammates; prompts, preferences and everything personal stay here.
    Your own memory stays on this machine and works without the database.

    \b
    Examples:
      claude-mem-lite team init postgresql://admin@localhost/team
      claude-mem-lite team invite ana --project .
      claude-mem-lite team join
      claude-mem-lite team preview
      claude-mem-lite team share .
      claude-mem-lite team status
    """,
)
