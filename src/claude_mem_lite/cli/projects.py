"""The command `projects`: which there are, and what the user says about them when their marks do not."""

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.options import connect_to_find, connect_to_look, json_option
from claude_mem_lite.cli.output import Column, field, items, plain, print_json, print_table
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.responses import describe_change, whole
from claude_mem_lite.models import JsonObject

_MAX_FOLDERS = 3


@click.group(short_help="See your projects, and merge, rename, move or split them.", invoke_without_command=True)
@click.option("--changes", is_flag=True, help="List what was changed about projects, with the ids to undo it by.")
@json_option
@click.pass_context
def projects(ctx: click.Context, changes: bool, as_json: bool) -> None:
    """See your projects, and merge, rename, move or split them.

    Lists every project that holds sessions or memories, those last worked on first, with its folders and remotes. A
    project is known by its remotes, its folders and its first commit together: when you add or change a remote, move
    the folder of a repository or rewrite its history, it stays the same project. The commands below are for the rest,
    and each can be undone. A project is named by its name, its id, a folder or a remote of it.

    \b
    Examples:
      claude-mem-lite projects
      claude-mem-lite projects move ~/old/notes ~/notes
      claude-mem-lite projects undo
    """
    if ctx.invoked_subcommand is not None:
        return
    client = connect_to_look([], as_json=as_json)
    found = client.project_changes() if changes else client.projects()
    if as_json:
        print_json(list(found))
    elif not found:
        click.echo("Nothing was changed about projects." if changes else "There are no projects yet.")
    elif changes:
        for one in found:
            click.echo(
                f"{field(one, 'id')}  {plain(describe_change(one))}{' (undone)' if one.get('undone_at') else ''}"
            )
    else:
        _print(list(found))


@projects.command(short_help="Merge two projects.")
@click.argument("source", metavar="PROJECT", shell_complete=completion_values.projects)
@click.argument("into", metavar="INTO", shell_complete=completion_values.projects)
@json_option
def merge(source: str, into: str, as_json: bool) -> None:
    """Merge two projects.

    All sessions and memories of PROJECT belong to INTO afterwards, and its folders and remotes lead there.

    \b
    Examples:
      claude-mem-lite projects merge shop-old shop
    """
    _change("merge", {"source": _project(source), "into": _project(into)}, as_json)


@projects.command(short_help="Rename a project.")
@click.argument("project", metavar="PROJECT", shell_complete=completion_values.projects)
@click.argument("name", metavar="NAME")
@json_option
def rename(project: str, name: str, as_json: bool) -> None:
    """Rename a project.

    Its id stays; the name is what --project takes and lists show.

    \b
    Examples:
      claude-mem-lite projects rename shop webshop
    """
    _change("rename", {"project": _project(project), "name": name}, as_json)


@projects.command(short_help="Record that a folder moved.")
@click.argument("old", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new", metavar="NEW", type=click.Path(path_type=Path))
@json_option
def move(old: Path, new: Path, as_json: bool) -> None:
    """Record that a folder moved.

    The projects that were seen in OLD, or in folders below it, are found in NEW from now on, as part of the project
    that is known there already, if one is. A repository that was moved is recognised without this; a folder without
    one is not, nor are sessions that were imported from another machine. Moves nothing on the disk.

    \b
    Examples:
      claude-mem-lite projects move ~/old/notes ~/notes
      claude-mem-lite projects move /Users/me/webshop ~/code/shop
    """
    _change("move", {"old": _absolute(old), "new": _absolute(new)}, as_json)


@projects.command(short_help="Make a folder a project of its own.")
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--name", default="", metavar="NAME", help="What the new project is called; the name of its folder if not given."
)
@json_option
def split(folder: Path, name: str, as_json: bool) -> None:
    """Make a folder a project of its own.

    For two clones that are one project and should be two: apps that began as clones of one template, or a fork and its
    origin. All sessions and memories that were recorded in FOLDER, or in worktrees of the repository there, belong to
    the new project, and work in FOLDER goes there from now on. All else stays. FOLDER may be any folder inside the
    repository. Changes nothing on the disk.

    \b
    Examples:
      claude-mem-lite projects split ~/code/blog
      claude-mem-lite projects split . --name blog
    """
    _change("split", {"folder": _absolute(folder), "name": name}, as_json)


@projects.command(short_help="Undo a merge, a new name, a move or a split.")
@click.argument("change", metavar="[CHANGE]", required=False)
@json_option
def undo(change: str | None, as_json: bool) -> None:
    """Undo a merge, a new name, a move or a split.

    CHANGE is the id that the command told, or `claude-mem-lite projects --changes` lists; the last change if not given.
    What was stored since then stays where it was stored.

    \b
    Examples:
      claude-mem-lite projects undo
      claude-mem-lite projects undo k7f3a5mq2x
    """
    undone = connect_to_find().change_projects("undo", {"change": change or ""})
    if as_json:
        print_json(undone)
    else:
        click.echo(f"Undone: {plain(describe_change(undone))}.")


def _change(what: str, body: JsonObject, as_json: bool) -> None:
    change = connect_to_find().change_projects(what, body)
    if as_json:
        print_json(change)
    else:
        told = plain(describe_change(change))
        click.echo(f"{told}. `claude-mem-lite projects undo {field(change, 'id')}` undoes it.")
    if change.get("is_shared") is True:
        name = plain(field(change, "name") or field(change, "target"))
        click.echo(f"Another project is called {name} too: name them by their folders or ids.", err=True)


def _project(given: str) -> str:
    """A project as the worker knows it: what is written like a path is one."""
    is_path = given.startswith(("/", "~", ".")) or os.path.isdir(given)
    return _absolute(Path(given)) if is_path else given


def _absolute(path: Path) -> str:
    return os.path.realpath(path.expanduser())


def _print(found: list[JsonObject]) -> None:
    now = datetime.now(UTC)
    print_table(
        [
            Column("project"),
            Column("sessions"),
            Column("memories"),
            Column("last"),
            Column("folders and remotes", wide=True),
        ],
        [
            [
                plain(field(one, "name")),
                f"{whole(one, 'sessions'):,}",
                f"{whole(one, 'memories'):,}",
                ago(one.get("last_seen_at"), now),
                _where(one),
            ]
            for one in found
        ],
        always_titled=True,
    )


def _where(project: JsonObject) -> str:
    """Its remotes and its last folders; its id where neither is known."""
    folders = [plain(one) for one in items(project, "folders")]
    more = [f"and {len(folders) - _MAX_FOLDERS} more"] if len(folders) > _MAX_FOLDERS else []
    known = [*(plain(one) for one in items(project, "remotes")), *folders[:_MAX_FOLDERS], *more]
    return ", ".join(known) or plain(field(project, "id"))
