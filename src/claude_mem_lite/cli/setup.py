"""Commands that set things up: install, uninstall, hooks."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.cli.options import yes_option
from claude_mem_lite.cli.output import print_json
from claude_mem_lite.errors import MemoryLiteError, SettingsChanged, SettingsError
from claude_mem_lite.install import agent_tools, claude_code, files, permissions
from claude_mem_lite.install import purge as purging
from claude_mem_lite.install.claude_code import Plan, Scope
from claude_mem_lite.install.hooks import hook_groups, hook_settings
from claude_mem_lite.install.targets import PROGRAMS, SPOKEN, Target, target_of
from claude_mem_lite.paths import Home, find_home

_FIRST = {
    "codex": "Codex runs new and changed hooks only once you have trusted them: type /hooks after you have started it.",
    "gemini": "In a folder that Gemini CLI does not trust, no hooks run: it asks when it is first started there.",
    "cursor": "Cursor reads its hooks when it starts: start it again. This was built from its documentation, not run.",
    "copilot": "This was built from Copilot CLI's documentation, not run.",
}
Decorated = TypeVar("Decorated", bound=Callable[..., object])
OUTCOMES = {
    "restored": "put back exactly as it was before the install",
    "removed": "removed, because the install had made it",
    "stripped": "our hooks were taken out, your changes since the install were kept",
}


def _target_options(command: Decorated) -> Decorated:
    """Which agent, and which of its settings files."""
    for option in (
        click.option(
            "--config-dir",
            metavar="DIR",
            type=click.Path(file_okay=False, path_type=Path),
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
            type=click.Choice(NAMES),
            default=CLAUDE_CODE,
            help="Which agent.",
        ),
    ):
        command = option(command)
    return command


@click.command(short_help="Let your agent use this memory.")
@_target_options
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def install(agent: str, scope: Scope, config_dir: Path | None, dry_run: bool) -> None:
    """Let your agent use this memory.

    Adds hooks to the agent's settings (Claude Code's settings.json, if no other is named), keeping everything else in
    them as it is, with a backup; registers the MCP server by which the agent asks for memories, and writes the skill
    that says when; makes the data folder; tries one hook. Running it again changes nothing; after an upgrade it brings
    all of it up to date. `uninstall` takes back exactly this.

    All agents share one memory. Install into each that you use.

    \b
    Examples:
      claude-mem-lite install
      claude-mem-lite install --dry-run
      claude-mem-lite install --agent codex
      claude-mem-lite install --scope project
    """
    home = find_home()
    target = _target(agent, scope, config_dir)
    path, tools = target.settings, target.tools

    def planned() -> Plan:
        return claude_code.plan_install(home, path, hook_groups(home, agent), agent, target.project)

    plan = planned()
    if plan.changes:
        files.check_writable(plan.path)
    agent_tools.check(home, tools)
    is_new_folder = scope == "user" and not target.folder.exists()
    if dry_run:
        if is_new_folder:
            click.echo(f"Would make the folder {target.folder}, which is not there.")
        _print_dry_run(home, plan)
        for sentence in agent_tools.told_before(home, tools):
            click.echo(sentence)
        return
    claude_code.prepare(home)
    if claude_code.stop_older_worker(home):
        click.echo("Stopped the worker of another version; the next hook starts the new one.")
    try:
        claude_code.apply_install(home, plan)
    except SettingsChanged:  # by another install, most likely, which wanted the same
        plan = planned()
        claude_code.apply_install(home, plan)
    if is_new_folder:
        spoken = SPOKEN[agent]
        click.echo(f"Made the folder {target.folder}, which was not there: see that it is the one {spoken} uses.")
    _print_hooks(home, path, plan)
    try:
        for sentence in agent_tools.install(home, tools):
            click.echo(sentence)
    except SettingsError as error:
        raise SettingsError(
            f"{error.message}, so the tools for asking are not all there; the hooks are in and work without them",
            "mend that and run this again, which adds the rest",
        ) from error
    _print_next(home, target, plan)


@click.command(short_help="Take the hooks out of your agent again.")
@_target_options
@click.option("--purge", is_flag=True, help="Also delete the data folder with everything remembered.")
@yes_option
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.pass_context
def uninstall(
    ctx: click.Context, agent: str, scope: Scope, config_dir: Path | None, purge: bool, yes: bool, dry_run: bool
) -> None:
    """Take the hooks out of your agent again.

    A settings file nobody wrote to since the install becomes again what it was, byte for byte; else only our
    entries are taken out. The MCP server and the skill go too. Stops the worker. What is remembered stays, unless
    --purge is given.

    \b
    Examples:
      claude-mem-lite uninstall
      claude-mem-lite uninstall --agent codex
      claude-mem-lite uninstall --scope project
      claude-mem-lite uninstall --purge
    """
    home = find_home()
    target = _target(agent, scope, config_dir)
    path, tools = target.settings, target.tools
    others = claude_code.other_installs(home, path)
    if purge:
        _check_purge(home, others, yes or dry_run, ctx)
    if dry_run:
        click.echo(f"Would take our hooks out of {path}{f' and delete {home.root}' if purge else ''}.")
        server = f"take our MCP server out of {tools.server.told()} and " if tools.has_server else ""
        click.echo(f"Would {server}remove {tools.skill}.")
        return
    sentences = list(agent_tools.uninstall(home, tools))  # first: it may have made the folder of the settings
    outcome = claude_code.uninstall(home, path)
    if outcome == "nothing":
        click.echo(f"There were no hooks of ours in {path}.")
    else:
        click.echo(f"{path}: {OUTCOMES[outcome]}.")
    for sentence in sentences:
        click.echo(sentence)
    if others:
        click.echo(f"Still installed in {', '.join(map(str, others))}; the worker stays for that.")
        return
    _stop_worker(home)
    claude_code.remove_program(home)
    _finish_data(home, purge)


@click.command(short_help="Print the hook configuration that install writes.")
@click.option("--agent", type=click.Choice(NAMES), default=CLAUDE_CODE, help="Which agent.")
def hooks(agent: str) -> None:
    """Print the hook configuration that install writes.

    As JSON, for settings files that are managed by hand or by other tools. Reads only; the links it names are
    made by `install`.

    \b
    Examples:
      claude-mem-lite hooks
      claude-mem-lite hooks --agent gemini
    """
    print_json(hook_settings(find_home(), agent))


def _target(agent: str, scope: Scope, config_dir: Path | None) -> Target:
    if scope == "project" and config_dir is not None:
        raise click.UsageError("--config-dir and --scope project exclude each other")
    return target_of(agent, scope, config_dir, os.environ)


def _stop_worker(home: Home) -> None:
    from claude_mem_lite.client import Client

    if Client(home).stop():
        click.echo("Stopped the worker.")


def _print_dry_run(home: Home, plan: Plan) -> None:
    if not plan.changes:
        click.echo(f"{plan.path} has our hooks already; nothing would change there.")
        return
    backup = f"keep a backup of {plan.path} in it, and change that file" if plan.before else f"write {plan.path}"
    click.echo(f"Would use {home.root} for the data, {backup} so:\n")
    click.echo(plan.diff(), nl=False)


def _print_hooks(home: Home, path: Path, plan: Plan) -> None:
    if not plan.changes:
        click.echo(f"Installed already: the hooks in {path} are up to date.")
    else:
        click.echo(f"{'Updated' if plan.had_ours else 'Added'} the hooks in {path}.")
        if plan.before is not None and not plan.had_ours:
            click.echo(f"A backup of it is in {home.installs}.")


def _print_next(home: Home, target: Target, plan: Plan) -> None:
    tools, agent = target.tools, target.agent
    if target.scope == "project":
        click.echo("This is the file for you alone, because the hooks name paths of this machine: keep it out of git.")
        click.echo(f"So is the skill in {tools.skill.parent.parent}, which is of no use without them.")
    if plan.hooks_disabled:
        click.echo('Careful: the same file says "disableAllHooks", so nothing will run until that is gone.')
    if home.off_switch.exists():
        click.echo("It is switched off at the moment; `claude-mem-lite on` undoes that.")
    asks = agent == CLAUDE_CODE and agent_tools.is_registered(home, tools)
    if asks and not permissions.is_allowed(tools.settings, Path.cwd()):
        click.echo(f"{permissions.ASKS}. To allow them, add this to {tools.settings}:")
        click.echo(f"  {permissions.FORM}")
    click.echo(f"Memories are kept in {home.root}.")
    if agent in _FIRST:
        click.echo(_FIRST[agent])
    click.echo(f"Next: start {PROGRAMS[agent]} as usual, work, then look with `claude-mem-lite status`.")
    if agent == CLAUDE_CODE:
        click.echo("`claude-mem-lite import transcripts` brings in the sessions you had before.")


def _check_purge(home: Home, others: Sequence[Path], yes: bool, ctx: click.Context) -> None:
    if others:
        places = ", ".join(map(str, others))
        raise MemoryLiteError(f"this memory is installed in {places} too", "uninstall there first, then purge")
    if not home.root.exists():
        return
    if not purging.is_data_folder(home):
        raise MemoryLiteError(f"{home.root} does not look like a data folder of ours", "delete it by hand")
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("--purge needs --yes when nobody can be asked", ctx)
    click.confirm(f"Delete {home.root} and everything remembered in it?", abort=True, err=True)


def _finish_data(home: Home, purge: bool) -> None:
    if not home.root.exists():
        return
    if not purge:
        click.echo(
            f"What is remembered stays in {home.root}; `claude-mem-lite uninstall --purge` or deleting that "
            "folder removes it."
        )
        return
    left = purging.purge(home)
    if left:
        named = ", ".join(path.name for path in left[:5])
        click.echo(f"Deleted what was ours in {home.root}. Left alone, because it is not: {named}.")
    else:
        click.echo(f"Deleted {home.root}.")
