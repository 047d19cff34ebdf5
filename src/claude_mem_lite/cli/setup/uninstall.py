"""Command `uninstall`: remove what `install` added."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.cli.options import possible_home, yes_option
from claude_mem_lite.cli.setup.install import chosen_target, target_options
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.evaluation.walk_folder import remove_left_folders
from claude_mem_lite.install import agent_extras, guard_hooks, hook_install, plugin, settings_files
from claude_mem_lite.install import purge as purging
from claude_mem_lite.install.agent_extras import ExtraPaths
from claude_mem_lite.install.targets import Scope, Target, target_of, why_missing
from claude_mem_lite.paths import Home
from claude_mem_lite.text import counted

_GIVEN = ParameterSource.COMMANDLINE
_PLUGIN_SCOPES = {"settings.json": "project", "settings.local.json": "local"}
OUTCOMES = {
    "restored": "put back exactly as it was before the install",
    "removed": "removed, because the install had made it",
    "stripped": "our entries were taken out, your changes since the install were kept",
}


@click.command(short_help="Remove the hooks from your agent.")
@target_options
@click.option("--all", "everywhere", is_flag=True, help="Out of every agent and project that it was installed into.")
@click.option("--gone", is_flag=True, help="Only take back what was installed into folders that are gone.")
@click.option("--purge", is_flag=True, help="Also delete the data folder with everything remembered.")
@yes_option
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.pass_context
def uninstall(
    ctx: click.Context,
    agent: str,
    scope: Scope,
    config_dir: Path | None,
    everywhere: bool,
    gone: bool,
    purge: bool,
    yes: bool,
    dry_run: bool,
) -> None:
    """Remove the hooks from your agent.

    A settings file without changes since the install is restored byte for byte; from any other, only our entries are
    removed, with the rules that --allow-tools added. Also removes the MCP server and the skill, and stops the worker.
    Memories stay, unless --purge is given.

    \b
    Examples:
      claude-mem-lite uninstall
      claude-mem-lite uninstall --agent codex
      claude-mem-lite uninstall --scope project
      claude-mem-lite uninstall --all
      claude-mem-lite uninstall --all --purge
    """
    home = possible_home()
    named = [name for name in ("agent", "scope", "config_dir") if ctx.get_parameter_source(name) is _GIVEN]
    if everywhere + gone + bool(named) > 1 or (gone and purge):
        raise click.UsageError("--all, --gone and options that name a target, such as --agent, exclude each other", ctx)
    usual = chosen_target(agent, scope, config_dir)
    targets = _installed_targets(home, usual) if everywhere else [] if gone else [usual]
    others = [] if everywhere else hook_install.other_installs(home, usual.settings)
    if purge:
        _check_purge(home, others, [*targets, usual], yes or dry_run, ctx)
    if everywhere or gone or purge:
        targets += _gone_targets(home, targets)
    for one in targets:  # all of them first: what stops one is told before anything is taken out
        hook_install.plan_uninstall(home, one.settings)
        agent_extras.check_removal(home, one.tools)
    if not targets:
        click.echo("No folder that it was installed into is gone." if gone else "It was not installed anywhere.")
    if dry_run:
        _print_dry_run(home, targets, purge)
        return
    troubles = [trouble for one in targets if (trouble := _take_out(home, one)) is not None]
    if not gone and not others:
        _stop_worker(home)
        for path in guard_hooks.remove_all(home).changed:
            click.echo(f"{path}: the hook of your guards was taken out.")
        hook_install.remove_program(home)
    elif others:
        click.echo(f"Still installed in {', '.join(map(str, others))}; the worker stays for that.")
    if troubles:
        raise SettingsError(
            f"{troubles[0].message}, so the MCP server or the skill stays{'; nothing was deleted' if purge else ''}",
            "fix that and run this again to remove the rest",
        )
    if not gone and not others:
        _finish_data(home, purge)


def _installed_targets(home: Home, usual: Target) -> list[Target]:
    """Return every recorded target that exists, and the usual target if hooks of ours are in it without a record."""
    found = [one for one in hook_install.targets_installed(home) if one.settings.exists()]
    is_known = any(settings_files.real_path(one.settings) == settings_files.real_path(usual.settings) for one in found)
    is_used = not is_known and hook_install.plan_uninstall(home, usual.settings).outcome != "nothing"
    return [*found, usual] if is_used else found


def _gone_targets(home: Home, but: Sequence[Target]) -> list[Target]:
    """Return every recorded target that no longer exists; its server may still be registered."""
    known = {settings_files.real_path(one.settings) for one in but}
    found = [one for one in hook_install.targets_installed(home) if not one.settings.exists()]
    return [
        replace(one, tools=agent_extras.with_noted_server(home, one.tools))
        for one in found
        if settings_files.real_path(one.settings) not in known
    ]


def _take_out(home: Home, target: Target) -> SettingsError | None:
    """Remove all our entries from a target and print the result; return the reason if the server stays registered."""
    with guard_hooks.lifted(home, target.settings):
        sentences, trouble = _take_tools_out(home, target.tools)  # first: it may have made the folder of the settings
        try:
            outcome = hook_install.uninstall(home, target.settings)
            nothing = f"There were no claude-mem-lite hooks in {target.settings}."
            click.echo(nothing if outcome == "nothing" else f"{target.settings}: {OUTCOMES[outcome]}.")
        finally:
            for sentence in sentences:
                click.echo(sentence)
    _print_plugin(target)
    return trouble


def _print_dry_run(home: Home, targets: Sequence[Target], purge: bool) -> None:
    for one in targets:
        is_there = hook_install.plan_uninstall(home, one.settings).outcome != "nothing"
        path = one.settings
        click.echo(
            f"Would remove the hooks from {path}." if is_there else f"There are no claude-mem-lite hooks in {path}."
        )
        for sentence in agent_extras.preview_removal(home, one.tools):
            click.echo(sentence)
        _print_plugin(one)
    if purge and home.root.exists():
        click.echo(f"Would delete {home.root}.")
    elif purge:
        _print_missing(home)


def _take_tools_out(home: Home, tools: ExtraPaths) -> tuple[list[str], SettingsError | None]:
    """Return sentences about what was removed, and the reason why the rest was not; hooks are removed in any case."""
    sentences: list[str] = []
    try:
        for sentence in agent_extras.uninstall(home, tools):
            sentences.append(sentence)  # those before a failure count
    except SettingsError as error:
        return sentences, error
    return sentences, None


def _print_plugin(target: Target) -> None:
    """Print the commands that remove the plugin: only Claude Code can remove the plugin's hooks."""
    for name in plugin.enabled_in(target.settings) if target.agent == CLAUDE_CODE else ():
        click.echo(f"The plugin {name} is on as well; `claude plugin uninstall {name}` removes it.")


def _plugin_removals(targets: Sequence[Target]) -> list[str]:
    """Return the commands that remove the plugin, for each known settings file that enables the plugin."""
    users = {target_of(CLAUDE_CODE, "user", None, os.environ).settings: ""}
    users |= {one.settings: "" for one in targets if one.agent == CLAUDE_CODE and one.scope == "user"}
    here = {Path.cwd() / ".claude" / name: f" --scope {scope}" for name, scope in _PLUGIN_SCOPES.items()}
    found = [f"{name}{scope}" for path, scope in {**here, **users}.items() for name in plugin.enabled_in(path)]
    commands = [f"claude plugin uninstall {each}" for each in dict.fromkeys(found)]
    return [*commands, f"claude plugin marketplace remove {plugin.NAME}"] if commands else []


def _stop_worker(home: Home) -> None:
    from claude_mem_lite.client.client import Client
    from claude_mem_lite.client.worker_process import stop_worker

    if stop_worker(Client(home)):
        click.echo("Stopped the worker.")


def _check_purge(home: Home, others: Sequence[Path], targets: Sequence[Target], yes: bool, ctx: click.Context) -> None:
    if others:
        places = ", ".join(map(str, others))
        raise MemoryLiteError(
            f"this memory is installed in {places} too",
            "`claude-mem-lite uninstall --all --purge` takes it out of all of them, then deletes it",
        )
    if removals := _plugin_removals(targets):
        raise MemoryLiteError(
            "the Claude Code plugin is on, and its hooks would make the data folder again",
            f"run {', '.join(f'`{one}`' for one in removals)}, then this again",
        )
    if not home.root.exists():
        return
    if not purging.is_data_folder(home):
        raise MemoryLiteError(f"{home.root} does not look like a data folder of claude-mem-lite", "delete it by hand")
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("--purge needs --yes without a terminal to ask on", ctx)
    click.confirm(f"Delete {home.root} and everything remembered in it?", abort=True, err=True)


def _print_missing(home: Home) -> None:
    """Print a note if a missing disk is the reason why there is nothing to delete."""
    if cause := why_missing(home):
        click.echo(f"The memories were not deleted: {cause.message}.")


def _finish_data(home: Home, purge: bool) -> None:
    if purge:
        _print_missing(home)
        if removed := remove_left_folders():
            click.echo(f"Deleted {counted(removed, 'temporary folder')} of killed runs of `claude-mem-lite eval`.")
    if not home.root.exists() or not home.is_ours():
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
        click.echo(f"Deleted the files of claude-mem-lite in {home.root}. Other files stay: {named}.")
    else:
        click.echo(f"Deleted {home.root}.")
