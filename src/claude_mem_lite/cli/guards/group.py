"""Command `guards`: guards of the user's rules, their replay, their ledger, and the user's changes."""

from collections.abc import Mapping, Sequence

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.groups import HelpfulGroup
from claude_mem_lite.cli.guards.output import print_detail, print_guards, print_trial
from claude_mem_lite.cli.options import (
    OneOf,
    all_projects_option,
    chosen_home,
    connect,
    connect_to_find,
    connect_to_read,
    folder,
    json_option,
    limit_option,
    refuse_agent,
)
from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.client.queries import Where
from claude_mem_lite.guard_modes import MODES
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.guards import GuardChange, ShownGuard
from claude_mem_lite.text import one_line, within

_NOTHING: JsonObject = {"guards": []}
_EFFECTS = {
    "auto": "asks you, or reminds the agent where nobody can answer,",
    "remind": "reminds the agent",
    "ask": "asks you",
    "deny": "refuses",
}
_MAX_WORDS = 200
mode_option = click.option(
    "--mode",
    type=OneOf(MODES),
    help="remind the agent, ask you, or deny the call; auto asks you, and reminds where nobody can answer.",
)
id_argument = click.argument("id_", metavar="ID", shell_complete=completion_values.guards)
every_option = click.option("--all", "every", is_flag=True, help="Also dismissed guards, and removed ones of a memory.")


@click.group(
    cls=HelpfulGroup, short_help="Hold tool calls against your rules before they run.", invoke_without_command=True
)
@all_projects_option
@every_option
@json_option
@click.pass_context
def guards(ctx: click.Context, all_projects: bool, every: bool, as_json: bool) -> None:
    """Hold tool calls against your rules before they run.

    Rules of yours that name a command, flag, path, import or branch are proposed as guards, and run over your earlier
    sessions: `guards show ID` lists every call on which one would have fired. Nothing is enforced before you accept it.
    A guard that fires reminds the agent, asks you, or refuses the call. Only calls that really run the command count: a
    mention in an echo, a message or a path does not.

    Without a command, lists the guards of the current folder's project: status, mode, rule, and how often each fired
    and was followed.

    \b
    Examples:
      claude-mem-lite guards
      claude-mem-lite guards show k3v9x2ab4d
      claude-mem-lite guards try k3v9x2ab4d 'sudo npm ci'
      claude-mem-lite guards accept k3v9x2ab4d --mode ask
      claude-mem-lite guards add "use pnpm, not npm"
    """
    if ctx.invoked_subcommand is None:
        _list(all_projects, every, as_json)


@guards.command("list", short_help="List guards; the same as `guards` alone.")
@all_projects_option
@every_option
@json_option
def list_(all_projects: bool, every: bool, as_json: bool) -> None:
    """List guards; the same as `guards` alone.

    Lists guards in force, paused guards, proposals, and doubtful proposals. Reads only.

    \b
    Example:
      claude-mem-lite guards list --all-projects
    """
    _list(all_projects, every, as_json)


def _list(all_projects: bool, every: bool, as_json: bool) -> None:
    client = connect_to_read(_NOTHING, as_json=as_json)
    found = client.guards(Where(folder(), all_projects=all_projects), every=every)
    if as_json:
        print_json(found.raw)
        return
    names = client.project_names() if all_projects else {}
    print_guards(found.guards, names, _hindrances(found.guards))


def _hindrances(guards: Sequence[ShownGuard]) -> Mapping[str, str]:
    """Return why guards that were accepted do not hold, by id."""
    if not any(guard.status == "active" for guard in guards):
        return {}
    from claude_mem_lite.install.guard_change import hindrances  # here: it takes longer to load than a list

    return hindrances(chosen_home(), guards)


@guards.command(short_help="Show one guard: rule, replay, ledger, examples.")
@id_argument
@limit_option(50)
@json_option
def show(id_: str, limit: int, as_json: bool) -> None:
    """Show one guard: rule, replay, ledger, examples.

    Lists each past call on which the guard would have fired, by session, and each firing with its outcome. Reads only.

    \b
    Example:
      claude-mem-lite guards show k3v9x2ab4d
    """
    found = connect_to_find().guard(id_, limit=limit)
    if as_json:
        print_json(found.raw)
        return
    print_detail(found, _hindrances([found.guard]).get(found.guard.id, ""))


@guards.command("try", short_help="Say whether a guard would fire on a call.")
@id_argument
@click.argument("given", metavar="COMMAND")
@click.option("--tool", help="The tool that makes the call: Bash, Edit, Write; by the rule if not given.")
@click.option("--branch", help="The branch that is checked out; the current one if not given.")
@json_option
def try_(id_: str, given: str, tool: str | None, branch: str | None, as_json: bool) -> None:
    """Say whether a guard would fire on a call.

    COMMAND is a command line, a file for a guard of paths, or a line of source for a guard of imports. Nothing is run.
    Prints the parts into which the line was parsed. Reads only.

    \b
    Examples:
      claude-mem-lite guards try k3v9x2ab4d 'npm ci'
      claude-mem-lite guards try k3v9x2ab4d 'echo "npm ci"'
    """
    found = connect_to_find().try_guard(id_, given, tool=tool or "", cwd=folder(), branch=branch or "")
    if as_json:
        print_json(found.raw)
        return
    print_trial(found)


@guards.command(short_help="Add a guard in your words, and put it in force.")
@click.argument("words", metavar="[SENTENCE]", nargs=-1)
@click.option("--command", "commands", metavar="WORDS", multiple=True, help="A program, or one with its sub-command.")
@click.option("--flag", "flags", metavar="FLAG", multiple=True, help="Only with this option, such as --force.")
@click.option("--argument", "arguments", metavar="WORD", multiple=True, help="Only with this argument; * fits any.")
@click.option("--branch", "branches", metavar="NAME", multiple=True, help="Only commits and pushes to this branch.")
@click.option("--path", "paths", metavar="PATTERN", multiple=True, help="Files that are written, as in .gitignore.")
@click.option("--import", "imports", metavar="MODULE", multiple=True, help="A module that must not be imported.")
@click.option("--except", "excepts", metavar="WORDS", multiple=True, help="Commands or paths to leave alone.")
@click.option("--reason", metavar="TEXT", help="Why, in a sentence; the agent reads it.")
@click.option("--instead", metavar="TEXT", help="What to do instead; the agent reads it.")
@mode_option
@json_option
def add(
    words: Sequence[str],
    commands: Sequence[str],
    flags: Sequence[str],
    arguments: Sequence[str],
    branches: Sequence[str],
    paths: Sequence[str],
    imports: Sequence[str],
    excepts: Sequence[str],
    reason: str | None,
    instead: str | None,
    mode: str | None,
    as_json: bool,
) -> None:
    """Add a guard in your words, and put it in force.

    SENTENCE is a rule that names what to match; else give its parts with options and a reason. The guard holds in the
    current folder's project.

    \b
    Examples:
      claude-mem-lite guards add "use pnpm, not npm"
      claude-mem-lite guards add --command 'git push' --flag --force --reason "history is shared" --mode deny
      claude-mem-lite guards add --path vendor/ --reason "vendored code is generated" --instead "change vendor.toml"
    """
    refuse_agent("guards add")
    rule = {
        "commands": commands,
        "flags": flags,
        "arguments": arguments,
        "branches": branches,
        "paths": paths,
        "imports": imports,
        "excepts": excepts,
    }
    has_parts = any(rule.values())
    sentence = " ".join(words).strip()
    if bool(sentence) == has_parts:
        raise click.UsageError("give a SENTENCE, or the parts of a rule with --command, --path or --import")
    if has_parts and not reason:
        raise click.UsageError("give --reason TEXT: the agent reads it when the guard fires")
    changed = connect().add_guard(
        Where(folder()),
        sentence=sentence,
        rule=rule,
        reason=reason or "",
        instead=instead or "",
        mode=mode,
    )
    _print_change(changed, "In force", as_json)


@guards.command(short_help="Put a proposed guard in force.")
@id_argument
@mode_option
@json_option
def accept(id_: str, mode: str | None, as_json: bool) -> None:
    """Put a proposed guard in force.

    Also changes the mode of a guard that is in force, at once. The first guard puts the hook that checks calls into the
    settings of the project's folders; the agent reads them when its next session starts.

    \b
    Examples:
      claude-mem-lite guards accept k3v9x2ab4d
      claude-mem-lite guards accept k3v9x2ab4d --mode deny
    """
    _change(id_, "accept", "In force", as_json, mode)


@guards.command(short_help="Drop a proposed guard for good.")
@id_argument
@json_option
def dismiss(id_: str, as_json: bool) -> None:
    """Drop a proposed guard for good.

    The rule stays a memory; it is not proposed as a guard again.

    \b
    Example:
      claude-mem-lite guards dismiss p5n8d3rw6t
    """
    _change(id_, "dismiss", "Dismissed", as_json)


@guards.command(short_help="Let calls pass until `guards resume`.")
@id_argument
@json_option
def pause(id_: str, as_json: bool) -> None:
    """Let calls pass until `guards resume`.

    Holds at once, also in running sessions. The guard keeps its ledger.

    \b
    Example:
      claude-mem-lite guards pause k3v9x2ab4d
    """
    _change(id_, "pause", "Paused", as_json)


@guards.command(short_help="Put a paused guard in force again.")
@id_argument
@mode_option
@json_option
def resume(id_: str, mode: str | None, as_json: bool) -> None:
    """Put a paused guard in force again.

    Calls that you let run before the pause do not count towards the next one.

    \b
    Example:
      claude-mem-lite guards resume k3v9x2ab4d
    """
    _change(id_, "resume", "In force", as_json, mode)


@guards.command(short_help="Remove a guard, and its hook with the last one.")
@id_argument
@json_option
def remove(id_: str, as_json: bool) -> None:
    """Remove a guard, and its hook with the last one.

    The rule that it was made from stays a memory. With the last guard of a project, the hook leaves the settings of the
    project's folders.

    \b
    Example:
      claude-mem-lite guards remove k3v9x2ab4d
    """
    _change(id_, "remove", "Removed", as_json)


@guards.command("false", short_help="Say that the last firing of a guard was wrong.")
@id_argument
@json_option
def false_(id_: str, as_json: bool) -> None:
    """Say that the last firing of a guard was wrong.

    The ledger counts the firing as false, not as a violation. The guard fires on such calls again: to leave some alone,
    remove it and add it anew with `guards add --except`.

    \b
    Example:
      claude-mem-lite guards false k3v9x2ab4d
    """
    _change(id_, "false", "Counted as a false firing", as_json)


def _change(id_: str, change: str, done: str, as_json: bool, mode: str | None = None) -> None:
    refuse_agent(f"guards {change}")
    _print_change(connect().change_guard(id_, change, mode=mode, cwd=folder()), done, as_json)


def _print_change(changed: GuardChange, done: str, as_json: bool) -> None:
    """Print a changed guard, after the hook has followed the change."""
    from claude_mem_lite.install.guard_change import follow  # here: it takes longer to load than a list

    followed = follow(chosen_home(), changed)
    if as_json:
        print_json(changed.raw)
    else:
        is_held = followed.trouble is None or changed.guard.status != "active"
        _print_changed(changed.guard, done if is_held else "Stored")
        for line in followed.lines:
            click.echo(line)
    if followed.trouble is not None:
        raise followed.trouble


def _print_changed(guard: ShownGuard, done: str) -> None:
    words = within(one_line(plain(guard.words)), _MAX_WORDS)
    does = _EFFECTS.get(guard.mode, "fires") if guard.status == "active" else "fires"
    click.echo(f"{done}: {does} when a call {words} ({plain(guard.id)})")
    if guard.status == "paused":
        click.echo(f"`claude-mem-lite guards resume {plain(guard.id)}` puts it in force again.")
