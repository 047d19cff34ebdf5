"""The `projects` command: list projects, and merge, rename, move or split them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.options import absolute_path, connect_to_find, connect_to_read, json_option, project_for_worker
from claude_mem_lite.cli.output import Column, plain, print_json, print_table
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.client import Client
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.project import ListedProject

_MAX_FOLDERS = 3


@click.group(short_help="See your projects, and merge, rename, move or split them.", invoke_without_command=True)
@click.option("--changes", is_flag=True, help="List the changes of projects, with the ids for undo.")
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
    client = connect_to_read([], as_json=as_json)
    if changes:
        _print_changes(client, as_json=as_json)
    else:
        _print_projects(client, as_json=as_json)


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
    _change("merge", {"source": project_for_worker(source), "into": project_for_worker(into)}, as_json)


@projects.command(short_help="Rename a project.")
@click.argument("project", metavar="PROJECT", shell_complete=completion_values.projects)
@click.argument("name", metavar="NAME")
@json_option
def rename(project: str, name: str, as_json: bool) -> None:
    """Rename a project.

    The id stays. --project and lists use the name.

    \b
    Examples:
      claude-mem-lite projects rename shop webshop
    """
    _change("rename", {"project": project_for_worker(project), "name": name}, as_json)


@projects.command(short_help="Record that a folder moved.")
@click.argument("old", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new", metavar="NEW", type=click.Path(path_type=Path))
@json_option
def move(old: Path, new: Path, as_json: bool) -> None:
    """Record that a folder moved.

    Projects that were seen in OLD, or in folders below OLD, are found in NEW from now on. If NEW already belongs to a
    project, they become part of that project. A moved repository is recognised without this command; a folder without a
    repository is not, nor are sessions imported from another machine. Moves nothing on the disk.

    \b
    Examples:
      claude-mem-lite projects move ~/old/notes ~/notes
      claude-mem-lite projects move /Users/me/webshop ~/code/shop
    """
    _change("move", {"old": absolute_path(old), "new": absolute_path(new)}, as_json)


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
    _change("split", {"folder": absolute_path(folder), "name": name}, as_json)


@projects.command(short_help="Undo a merge, a new name, a move or a split.")
@click.argument("change", metavar="[CHANGE]", required=False)
@json_option
def undo(change: str | None, as_json: bool) -> None:
    """Undo a merge, a new name, a move or a split.

    CHANGE is the id that the command printed, and that `claude-mem-lite projects --changes` lists; without CHANGE, the
    last change. Memories stored since then stay in their project.

    \b
    Examples:
      claude-mem-lite projects undo
      claude-mem-lite projects undo k7f3a5mq2x
    """
    undone = connect_to_find().change_projects("undo", {"change": change or ""})
    if as_json:
        print_json(undone.raw)
    else:
        click.echo(f"Undone: {plain(undone.sentence())}.")


def _change(what: Literal["merge", "rename", "move", "split"], body: JsonObject, as_json: bool) -> None:
    change = connect_to_find().change_projects(what, body)
    if as_json:
        print_json(change.raw)
    else:
        click.echo(f"{plain(change.sentence())}. `claude-mem-lite projects undo {plain(change.id)}` undoes it.")
    if change.is_shared:
        name = plain(change.name or change.target)
        click.echo(f"Another project is called {name} too: name them by their folders or ids.", err=True)


def _print_changes(client: Client, *, as_json: bool) -> None:
    changes = client.project_changes()
    if as_json:
        print_json([change.raw for change in changes])
    elif not changes:
        click.echo("Nothing was changed about projects.")
    for change in () if as_json else changes:
        click.echo(f"{plain(change.id)}  {plain(change.sentence())}{' (undone)' if change.undone_at else ''}")


def _print_projects(client: Client, *, as_json: bool) -> None:
    found = client.projects()
    if as_json:
        print_json([project.raw for project in found])
        return
    if not found:
        click.echo("There are no projects yet.")
        return
    now = datetime.now(UTC)
    titles = ("project", "sessions", "memories", "last")
    print_table(
        [*map(Column, titles), Column("folders and remotes", wide=True)],
        [
            [
                project.name,
                f"{project.sessions:,}",
                f"{project.memories:,}",
                ago(project.last_seen_at, now),
                _where(project),
            ]
            for project in found
        ],
        always_titled=True,
    )


def _where(project: ListedProject) -> str:
    """Return remotes and last folders of a project; its id if neither is known."""
    folders = project.folders
    more = [f"and {len(folders) - _MAX_FOLDERS} more"] if len(folders) > _MAX_FOLDERS else []
    return plain(", ".join([*project.remotes, *folders[:_MAX_FOLDERS], *more]) or project.id)
