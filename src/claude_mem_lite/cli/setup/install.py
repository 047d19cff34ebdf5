"""Commands `install` and `hooks`. `install` asks on a terminal (`first_run.py`), then carries the answers out.
`uninstall` is in `uninstall.py`."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.cli.options import OneOf, chosen_home, yes_option
from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.cli.setup import first_run
from claude_mem_lite.cli.setup.first_run import Answers
from claude_mem_lite.cli.setup.model_options import chosen_model, model_options
from claude_mem_lite.cli.setup.model_settings import ModelChoice, dropped_settings, key_source, needs_key, write_choice
from claude_mem_lite.cli.setup.permission_question import check_allow_option, print_decision, print_rules
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import SettingsChanged, SettingsError
from claude_mem_lite.install import agent_extras, guard_hooks, hook_install, plugin, settings_files
from claude_mem_lite.install.hook_config import hook_groups, hook_settings
from claude_mem_lite.install.hook_install import Plan
from claude_mem_lite.install.interpreter import is_temporary
from claude_mem_lite.install.targets import AGENT_TEXTS, Scope, Target, install_command, settings_path, target_of
from claude_mem_lite.paths import Home

Decorated = TypeVar("Decorated", bound=Callable[..., object])
_allow_option = click.option(
    "--allow-tools/--no-allow-tools",
    default=None,
    help="Let Claude use the memory tools without asking each time; asked on a terminal if not given.",
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
@click.option(
    "--import/--no-import",
    "import_past",
    default=None,
    help="Import the earlier sessions of all agents; asked on a terminal if not given.",
)
@model_options
@yes_option
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
def install(
    agent: str,
    scope: Scope,
    config_dir: Path | None,
    allow_tools: bool | None,
    import_past: bool | None,
    provider: str | None,
    model: str,
    base_url: str,
    key_stdin: bool,
    yes: bool,
    dry_run: bool,
) -> None:
    """Let your agent use this memory.

    Adds hooks to the agent's settings (by default Claude Code's settings.json) and keeps all other settings, with a
    backup; registers the MCP server that gives the agent memories on request, and writes the skill that says when to
    ask; makes the data folder; tries one hook. Running it again leaves these parts as they are; after an
    upgrade it updates them. `uninstall` removes exactly these parts.

    On a terminal, shows what it will change and asks: whether to import your earlier sessions, whether Claude may use
    the memory tools without asking each time, and whether a model writes notes, with the cost of each. Nothing is
    changed before the last answer, and your present settings are the defaults. Options answer ahead. With --yes or
    without a terminal it asks nothing: nothing is imported, the permission of the memory tools stays as it is, and so
    does who writes the notes (at first rules, without a model).

    --provider chooses the model as the settings `provider`, `model` and `base_url` do (docs/models.md). A key is never
    an argument: --key-stdin reads one from the input and stores it for you alone.

    All agents share one memory. Install into each agent that you use.

    \b
    Examples:
      claude-mem-lite install
      claude-mem-lite install --dry-run
      claude-mem-lite install --yes
      claude-mem-lite install --allow-tools
      claude-mem-lite install --yes --import --provider rules
      claude-mem-lite install --agent codex
      claude-mem-lite install --scope project
    """
    home = chosen_home()
    target = chosen_target(agent, scope, config_dir)

    def planned(allow: bool | None) -> Plan:
        return hook_install.plan_install(home, target.settings, hook_groups(home, agent), agent, target.project, allow)

    check_allow_option(home, target, allow_tools)
    given = Answers(allow_tools, import_past, chosen_model(provider, model, base_url, key_stdin and not dry_run))
    plan = planned(allow_tools)
    if plan.changes:
        settings_files.check_writable(plan.path)
    agent_extras.check(home, target.tools)
    if dry_run:
        _print_dry_run(home, target, plan, given)
        return
    is_asked = not yes and not key_stdin and first_run.can_ask()
    answers = _asked(home, target, given, planned) if is_asked else given
    load_config(home.config, {})  # a broken file is told before anything is changed: nothing would be remembered
    _carry_out(home, target, answers, lambda: planned(answers.allow_tools))


def _asked(home: Home, target: Target, given: Answers, planned: Callable[[bool | None], Plan]) -> Answers:
    try:
        return first_run.ask(home, target, given, planned(given.allow_tools), planned(True))
    except KeyboardInterrupt:
        click.echo("Stopped. Nothing was changed.", err=True)
        raise


def _carry_out(home: Home, target: Target, answers: Answers, planned: Callable[[], Plan]) -> None:
    """Make all changes, each of which can be made again; after Ctrl-C, say which are finished."""
    parts = {"hooks": True, "model": answers.model is not None, "import": bool(answers.import_past)}
    unfinished = [part for part, is_wanted in parts.items() if is_wanted]
    try:
        plan = _install_hooks(home, target, planned)
        unfinished.remove("hooks")
        if answers.model is not None:
            _write_model(home, answers.model)
            unfinished.remove("model")
        if answers.import_past:
            from claude_mem_lite.cli.setup.past_sessions import import_past  # here: most installs import nothing

            import_past(target)
            unfinished.remove("import")
        _print_next(home, target, plan, answers)
    except KeyboardInterrupt:
        left = f"Not finished: {', '.join(unfinished)}. Run the same command again to complete it."
        click.echo(f"Stopped. {left if unfinished else 'All changes were made.'}", err=True)
        raise


def _install_hooks(home: Home, target: Target, planned: Callable[[], Plan]) -> Plan:
    is_new_folder = target.scope == "user" and not target.folder.exists()
    hook_install.prepare(home)
    if hook_install.stop_older_worker(home):
        click.echo("Stopped the worker of another version; the next hook starts the new one.")
    if is_temporary(Path(sys.prefix)):
        click.echo(f"This program runs from a cache ({sys.prefix}) and stops working when the cache is emptied.")
        click.echo("To keep it, run `uv tool install` or `pipx install`, then `claude-mem-lite install` again.")
    with guard_hooks.lifted(home, target.settings):
        return _apply(home, target, planned, is_new_folder=is_new_folder)


def _write_model(home: Home, choice: ModelChoice) -> None:
    dropped = dropped_settings(home, choice)
    changed = write_choice(home, choice)
    click.echo(f"Notes are written by {choice.spoken}, {'now' if changed else 'already'} in {home.config}.")
    if dropped:
        click.echo(f"Removed from it: {plain(', '.join(dropped))}.")
    if choice.key:
        click.echo(f"The key is in {home.api_key}, readable by you alone.")
    elif needs_key(choice) and not key_source(home, choice.provider, os.environ):
        click.echo(f"No key yet: write it into {home.api_key} (mode 600); until then rules write the notes.")


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
    print_rules(plan)
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


def _print_dry_run(home: Home, target: Target, plan: Plan, given: Answers) -> None:
    if target.scope == "user" and not target.folder.exists():
        click.echo(f"Would create the folder {target.folder}, which does not exist.")
    _print_planned(home, plan)
    for sentence in agent_extras.preview_install(home, target.tools):
        click.echo(sentence)
    if given.model is not None:
        click.echo(f"Would have notes written by {given.model.spoken}, in {home.config}.")
        if dropped := dropped_settings(home, given.model):
            click.echo(f"Would remove from it: {plain(', '.join(dropped))}.")
    if given.import_past:
        _print_import(home, target)
    _print_plugin(target)


def _print_import(home: Home, target: Target) -> None:
    from claude_mem_lite.cli.setup.past_sessions import past_sessions  # here: as above

    past = past_sessions(home, target, asks_worker=False)
    past.print_counts()
    if past.new:
        click.echo(f"Would import {past.amount}; turns that are stored already are not imported twice.")


def _print_planned(home: Home, plan: Plan) -> None:
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


def _print_next(home: Home, target: Target, plan: Plan, answers: Answers) -> None:
    tools, agent = target.tools, target.agent
    again = install_command(agent, target.settings, target.project)
    if target.scope == "project":
        click.echo("This is the file for you alone, because the hooks name paths of this machine: keep it out of git.")
        click.echo(f"So is the skill in {tools.skill.parent.parent}, which is of no use without them.")
    if plan.hooks_disabled:
        click.echo('Careful: the same file says "disableAllHooks", so nothing will run until that is gone.')
    _print_plugin(target)
    if home.off_switch.exists():
        click.echo("Memory is switched off; `claude-mem-lite on` turns it on.")
    if not answers.declined_tools:
        print_decision(home, target, answers.allow_tools)
    click.echo(f"Memories are kept in {home.root}.")
    if AGENT_TEXTS[agent].first:
        click.echo(AGENT_TEXTS[agent].first)
    click.echo(f"Next: start {AGENT_TEXTS[agent].program} as usual, work, then run `claude-mem-lite status`.")
    click.echo(f"`claude-mem-lite doctor` checks that everything works; to change an answer, {again}.")
    for sentence in () if answers.import_past else first_run.left_to_import(home, target):
        click.echo(sentence)
