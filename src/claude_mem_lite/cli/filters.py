"""Options that filter memories, the same for `search` and `list`."""

import functools
import os
from collections.abc import Callable, Sequence

import click

from claude_mem_lite.cli import completion_values, times
from claude_mem_lite.cli.options import all_projects_option, folder, kind, place_options, scope, where
from claude_mem_lite.client.queries import Wanted
from claude_mem_lite.models import ORIGINS, STATUSES
from claude_mem_lite.scopes import SCOPES

_ANY = "any"


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add all filter options to a command; the command gets two arguments, `place` and `wanted`."""

    @functools.wraps(command)
    def run(
        *arguments: object,
        cwd: str | None,
        project: str | None,
        all_projects: bool,
        kinds: Sequence[str],
        scope: str | None,
        file: str | None,
        branch: str | None,
        since: str | None,
        until: str | None,
        statuses: Sequence[str],
        origins: Sequence[str],
        **others: object,
    ) -> None:
        place = where(cwd, project, all_projects)
        named = file_of_project(file, place.cwd or folder()) if file is not None else None
        every = STATUSES if _ANY in statuses else tuple(statuses)
        wanted = Wanted(kinds, scope, named, branch, since, until, every, origins)
        command(*arguments, place=place, wanted=wanted, **others)

    options = (
        place_options,
        all_projects_option,
        click.option(
            "--kind",
            "kinds",
            metavar="K",
            type=kind,
            multiple=True,
            shell_complete=completion_values.kinds,
            help="Only this kind; may be repeated.",
        ),
        click.option(
            "--scope",
            metavar="S",
            type=scope,
            shell_complete=completion_values.scopes,
            help=f"Only what holds there: {SCOPES}.",
        ),
        click.option("--file", metavar="F", help="Only about this file: its path, or the end of it."),
        click.option("--branch", metavar="B", help="Only from work on this branch."),
        click.option(
            "--since", metavar="D", type=times.since, help="Not older than: 2026-03-01, 12h, '3 days ago', monday."
        ),
        click.option("--until", metavar="D", type=times.until, help="Not newer than, written like --since."),
        click.option(
            "--status",
            "statuses",
            metavar="S",
            type=click.Choice([*STATUSES, _ANY], case_sensitive=False),
            multiple=True,
            help=f"{', '.join(STATUSES)} or any; may be repeated; only active ones if not given.",
        ),
        click.option(
            "--origin",
            "origins",
            metavar="O",
            type=click.Choice(ORIGINS, case_sensitive=False),
            multiple=True,
            help=f"Only of this origin: {', '.join(ORIGINS)}; may be repeated.",
        ),
    )
    for option in reversed(options):
        run = option(run)
    return run


def file_of_project(written: str, cwd: str) -> str:
    """Return a path relative to the root of the project, as memories store paths, if the path names a file of the
    project.

    Any other text stays: people type the end of a path, or the path of a deleted file.
    """
    path = os.path.expanduser(written.strip())
    if not path:
        raise click.UsageError("--file needs a path, or the end of one")
    there = os.path.normpath(os.path.join(cwd, path))
    if not path.startswith(("/", "./", "../")) and not os.path.lexists(there):
        return os.path.normpath(path)
    from claude_mem_lite.code.git.project_identity import (
        find_location,  # with all that redacts: not for a search without --file
    )

    root = find_location(cwd).root
    real = os.path.join(os.path.realpath(os.path.dirname(there)), os.path.basename(there))
    for candidate in (there, real):
        if root and candidate.startswith(root.rstrip("/") + "/"):
            return os.path.relpath(candidate, root)
    return there
