"""Commands `install` and `hooks`, and the question whether Claude may use the memory tools without asking each time.
`uninstall` is in `uninstall.py`."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import ClientSettings, config_folder
from claude_mem_lite.agents.permissions import Permission, permission
from claude_mem_lite.cli.options import OneOf, chosen_home, refuse_agent
from claude_mem_lite.cli.output import print_json
from claude_mem_lite.errors import MemoryLiteError, SettingsChanged, SettingsError
from claude_mem_lite.install import agent_extras, guard_hooks, hook_install, plugin, settings_files
from claude_mem_lite.install.hook_config import hook_groups, hook_settings
from claude_mem_lite.install.hook_install import Plan
from claude_mem_lite.install.permissions import ASKS
from claude_mem_lite.install.targets import AGENT_TEXTS, Scope, Target, install_command, settings_path, target_of
from claude_mem_lite.paths import Home

Decorated = TypeVar("Decorated", bound=Callable[..., object])
_allow_option = click.option(
    "--allow-tools/--no-allow-tools",
    default=None,
    help="Whether Claude may use the memory tools without asking each time; asked on a terminal if not given.",
)


def _config_folder(_: click.Context, __: click.Parameter, given: str | None) -> Path | None:
    """Return a folder as a path; refuse the empty text of an unset variable, which would mean the current folder."""
    if given is not None and not given.strip():
        raise click.BadParameter("the folder is empty text; name it, or leave the option out")
    return Path(given) if given is not None else None


def target_options(command: Decorated) -> Decorated:
    """Add the options for the agent and its settings file."""
    for option in (
        click.option(
            "--config-dir",
            metavar="DIR",
            type=click.Path(file_okay=False),
            callback=_config_folder,
            help="The agent's configuration folder, if not the usual one ($CLAUDE_CONFIG_DIR or ~/.claude, say).",
        ),
        click.option(
            "--scope",
            type=click.Choice(["user", "project"]),
            default="user",
            help="For all your work, or only in the current folder (for Claude Code .claude/settings.local.json).",
        ),
        click.option(
            "--agent",
            type=OneOf(NAMES),
            default=CLAUDE_CODE,
            help="Which agent.",
        ),
    ):
        command = option(command)
    return command


@click.command(short_help="Let your agent use this memory.")
@target_options
@_allow_option
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def install(agent: str, scope: Scope, config_dir: Path | None, allow_tools: bool | None, dry_run: bool) -> None:
    """Let your agent use this memory.

    Adds hooks to the agent's settings (by default Claude Code's settings.json) and keeps all other settings, with a
    backup; registers the MCP server that gives the agent memories on request, and writes the skill that says when to
    ask; makes the data folder; tries one hook. Running it again changes nothing; after an upgrade it updates all parts.
    `uninstall` removes exactly these parts.

    On a terminal, asks whether Claude may use the memory tools without asking each time, and shows the rules that would
    be added to the settings. Without a terminal and without --allow-tools, adds no rules.

    All agents share one memory. Install into each agent that you use.

    \b
    Examples:
      claude-mem-lite install
      claude-mem-lite install --dry-run
      claude-mem-lite install --allow-tools
      claude-mem-lite install --agent codex
      claude-mem-lite install --scope project
    """
    home = chosen_home()
    target = chosen_target(agent, scope, config_dir)
    path, tools = target.settings, target.tools

    def planned(allow: bool | None) -> Plan:
        return hook_install.plan_install(home, path, hook_groups(home, agent), agent, target.project, allow)

    _check_word(home, target, allow_tools)
    plan = planned(allow_tools)
    if plan.changes:
        settings_files.check_writable(plan.path)
    agent_extras.check(home, tools)
    is_new_folder = scope == "user" and not target.folder.exists()
    if dry_run:
        if is_new_folder:
            click.echo(f"Would create the folder {target.folder}, which does not exist.")
        _print_dry_run(home, plan)
        for sentence in agent_extras.preview_install(home, tools):
            click.echo(sentence)
        _print_plugin(target)
        return
    if allow_tools is None and _can_ask(home, target) and _ask(planned(True)):
        allow_tools = True
    hook_install.prepare(home)
    if hook_install.stop_older_worker(home):
        click.echo("Stopped the worker of another version; the next hook starts the new one.")
    with guard_hooks.lifted(home, path):
        plan = _apply(home, target, lambda: planned(allow_tools), is_new_folder=is_new_folder)
    _print_next(home, target, plan, allow_tools)


@click.command(short_help="Print the hook configuration that install writes.")
@click.option("--agent", type=OneOf(NAMES), default=CLAUDE_CODE, help="Which agent.")
def hooks(agent: str) -> None:
    """Print the hook configuration that install writes.

    Prints JSON, for settings files that you or other tools manage. Reads only; `install` makes the links named in the
    output.

    \b
    Examples:
      claude-mem-lite hooks
      claude-mem-lite hooks --agent gemini
    """
    print_json(hook_settings(chosen_home(), agent))


def _apply(home: Home, target: Target, planned: Callable[[], Plan], *, is_new_folder: bool) -> Plan:
    """Write hooks, MCP server and skill, and print each result; return the plan of the hooks."""
    plan = planned()
    try:
        hook_install.apply_install(home, plan)
    except SettingsChanged:  # by another install, most likely, which wanted the same
        plan = planned()
        hook_install.apply_install(home, plan)
    if is_new_folder:
        spoken = AGENT_TEXTS[target.agent].name
        click.echo(f"Created the folder {target.folder}, which did not exist: check that {spoken} uses it.")
    _print_hooks(home, target.settings, plan)
    _print_rules(plan)
    try:
        for sentence in agent_extras.install(home, target.tools):
            click.echo(sentence)
    except SettingsError as error:
        raise SettingsError(
            f"{error.message}, so the MCP server or the skill is missing; the hooks work without them",
            "fix that and run this again to add the rest",
        ) from error
    return plan


def chosen_target(agent: str, scope: Scope, config_dir: Path | None) -> Target:
    if scope == "project" and config_dir is not None:
        raise click.UsageError("--config-dir and --scope project exclude each other")
    return target_of(agent, scope, config_dir, os.environ)


def _print_dry_run(home: Home, plan: Plan) -> None:
    if not plan.changes:
        click.echo(f"{plan.path} has our hooks already; nothing would change there.")
        return
    backup = f"keep a backup of {plan.path} in it, and change that file" if plan.before else f"write {plan.path}"
    click.echo(f"Would use {home.root} for the data, {backup} like this:\n")
    click.echo(plan.diff(), nl=False)


def _print_hooks(home: Home, path: Path, plan: Plan) -> None:
    if not plan.changes_hooks:
        click.echo(f"Installed already: the hooks in {path} are up to date.")
    else:
        click.echo(f"{'Updated' if plan.had_ours else 'Added'} the hooks in {path}.")
        if plan.before is not None and not plan.had_ours:
            click.echo(f"A backup of it is in {home.installs}.")


def _print_plugin(target: Target) -> None:
    """Print a note if the plugin is on where these hooks run, by the settings of the user or of the project."""
    if target.agent != CLAUDE_CODE:
        return
    read = [target.settings]
    if target.scope == "project":
        read += [target.settings.with_name("settings.json"), settings_path("user", None, os.environ)]
    for sentence in plugin.plugin_warnings(read):
        click.echo(sentence)


def _print_next(home: Home, target: Target, plan: Plan, allow_tools: bool | None) -> None:
    tools, agent = target.tools, target.agent
    if target.scope == "project":
        click.echo("This is the file for you alone, because the hooks name paths of this machine: keep it out of git.")
        click.echo(f"So is the skill in {tools.skill.parent.parent}, which is of no use without them.")
    if plan.hooks_disabled:
        click.echo('Careful: the same file says "disableAllHooks", so nothing will run until that is gone.')
    _print_plugin(target)
    if home.off_switch.exists():
        click.echo("Memory is switched off; `claude-mem-lite on` turns it on.")
    _print_decision(home, target, allow_tools)
    click.echo(f"Memories are kept in {home.root}.")
    if AGENT_TEXTS[agent].first:
        click.echo(AGENT_TEXTS[agent].first)
    click.echo(f"Next: start {AGENT_TEXTS[agent].program} as usual, work, then run `claude-mem-lite status`.")
    if agent == CLAUDE_CODE:
        click.echo("`claude-mem-lite import transcripts` imports your earlier sessions.")


def _check_word(home: Home, target: Target, allow_tools: bool | None) -> None:
    """Refuse a word that is not the user's, or that would allow tools of somebody else."""
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


def _can_ask(home: Home, target: Target) -> bool:
    """Return True if the question makes sense: a person is at the terminal, and no rule has decided yet."""
    if target.agent != CLAUDE_CODE or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return agent_extras.server_state(home, target.tools) != "foreign" and _permission(target).decision == "unset"


def _ask(allowing: Plan) -> bool:
    """Show the rules and their file, and ask."""
    shown = json.dumps({"permissions": {"allow": list(allowing.rules_added)}}, indent=2)
    click.echo(f"{ASKS}.\nTo allow them, this is added to {allowing.path}:")
    click.echo("\n".join(f"  {line}" for line in shown.splitlines()))
    return click.confirm("May Claude use these tools without asking each time?", default=False)


def _print_rules(plan: Plan) -> None:
    """Print the rules that were written or removed."""
    if plan.rules_added:
        click.echo(f"Allowed the memory tools in {plan.path}; before one deletes a memory, Claude still asks.")
    if plan.rules_removed:
        click.echo(f"Took the rules that allowed the memory tools out of {plan.path}.")


def _print_decision(home: Home, target: Target, allow_tools: bool | None) -> None:
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
        return permission(ClientSettings(config_folder(None, os.environ), target.project))
    return permission(ClientSettings(target.settings.parent))
