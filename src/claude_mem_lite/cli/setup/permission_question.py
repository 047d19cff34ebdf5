"""Question whether Claude may use the memory tools without asking each time, and the sentences about the answer."""

import json
import os

import click

from claude_mem_lite.agents.agent_folders import agent_folder
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import ClientSettings
from claude_mem_lite.agents.permissions import Permission, permission
from claude_mem_lite.cli.options import refuse_agent
from claude_mem_lite.cli.setup.yes_or_no import ask_yes_or_no
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.install import agent_extras
from claude_mem_lite.install.hook_install import Plan
from claude_mem_lite.install.permissions import ASKS
from claude_mem_lite.install.targets import Target, install_command
from claude_mem_lite.paths import Home


def check_allow_option(home: Home, target: Target, allow_tools: bool | None) -> None:
    """Refuse an option that is not the user's, or that would allow tools of somebody else."""
    if allow_tools is not None and target.agent != CLAUDE_CODE:
        raise click.UsageError("--allow-tools and --no-allow-tools are for Claude Code")
    if not allow_tools:
        return
    refuse_agent("install --allow-tools")
    if agent_extras.server_state(home, target.tools) == "foreign":
        place = target.tools.server.describe()
        raise MemoryLiteError(
            f"another MCP server has our name in {place}, and --allow-tools would allow that one; nothing was changed",
            "rename that one, then run this again",
        )


def ask_permission(home: Home, target: Target, allowing: Plan) -> bool | None:
    """Show the rules and their file, and ask; None if there is nothing to ask: a rule has decided."""
    if target.agent != CLAUDE_CODE or agent_extras.server_state(home, target.tools) == "foreign":
        return None
    found = _permission(target)
    if found.decision != "unset":
        allowed = "allowed" if found.decision == "allowed" else "not allowed"
        hint = " (`claude-mem-lite install --no-allow-tools` takes that back)" if found.decision == "allowed" else ""
        click.echo(f"\nThe memory tools are {allowed} by {found.rule} in {found.path}{hint}.")
        return None
    shown = json.dumps({"permissions": {"allow": list(allowing.rules_added)}}, indent=2)
    click.echo(f"\n{ASKS}.\nTo allow them, this is added to {allowing.path}:")
    click.echo("\n".join(f"  {line}" for line in shown.splitlines()))
    return ask_yes_or_no("May Claude use these tools without asking each time?", default=False)


def print_rules(plan: Plan) -> None:
    """Print the rules that were written or removed."""
    if plan.rules_added:
        click.echo(f"Allowed the memory tools in {plan.path}; before one deletes a memory, Claude still asks.")
    if plan.rules_removed:
        click.echo(f"Took the rules that allowed the memory tools out of {plan.path}.")


def print_decision(home: Home, target: Target, allow_tools: bool | None) -> None:
    """Print the client's present decision, where the user may expect another."""
    if target.agent != CLAUDE_CODE or agent_extras.server_state(home, target.tools) != "current":
        return
    found = _permission(target)
    if found.decision == "unset":
        allowing = install_command(target.agent, target.settings, option="--allow-tools")
        click.echo(f"{ASKS}. To allow them, {allowing}.")
    elif found.decision == "allowed" and allow_tools is False:
        click.echo(f"The memory tools are allowed all the same, by a rule of your own: {found.rule} in {found.path}.")
    elif found.decision != "allowed" and allow_tools:
        verb = "denies them" if found.decision == "denied" else "has Claude ask"
        click.echo(f"Careful: the rule {found.rule} in {found.path} {verb} all the same.")


def _permission(target: Target) -> Permission:
    if target.project is not None:
        return permission(ClientSettings(agent_folder(CLAUDE_CODE, os.environ), target.project))
    return permission(ClientSettings(target.settings.parent))
