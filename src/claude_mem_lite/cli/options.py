"""Options and argument types that several commands share."""

import difflib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from claude_mem_lite.client import Client, Where
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import KINDS, SCOPES, written_scope
from claude_mem_lite.paths import find_home
from claude_mem_lite.worker_start import ensure_worker

Decorated = TypeVar("Decorated", bound=Callable[..., object])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
cwd_option = click.option(
    "--cwd",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="The folder whose project is meant; the current one if not given.",
)
all_projects_option = click.option("--all-projects", is_flag=True, help="Over every project.")


def limit_option(default: int) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--limit",
        metavar="N",
        type=click.IntRange(1, 1000),
        default=default,
        help=f"At most that many; {default} if not given.",
    )


def kind(written: str) -> str:
    """A kind of memory on the command line, in any case and with `-` for `_`."""
    meant = written.strip().lower().replace("-", "_")
    if meant in KINDS:
        return meant
    near = difflib.get_close_matches(meant, KINDS, n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the kinds are {', '.join(KINDS)}"
    raise click.BadParameter(f"there is no kind {written!r}, {hint}")


def scope(written: str) -> str:
    """Where a memory holds, as said on the command line."""
    meant = written_scope(written)
    if meant is None:
        raise click.BadParameter(f"{written!r} is no scope; use {SCOPES}")
    return meant


def where(cwd: str | None, all_projects: bool) -> Where:
    """The folder or all projects; naming both is a mistake."""
    if cwd is not None and all_projects:
        raise click.UsageError("--cwd and --all-projects exclude each other")
    return Where("" if all_projects else folder(cwd), all_projects)


def folder(cwd: str | None = None) -> str:
    """The folder that is meant: the one given, else the current one."""
    try:
        return cwd or str(Path.cwd())
    except FileNotFoundError:
        raise MemoryLiteError("the current folder no longer exists", "change to another one, or use --cwd") from None


def connect() -> Client:
    """A client with a worker behind it, started if need be."""
    return ensure_worker(find_home())


def memory_id(given: str) -> str:
    """An id as typed or pasted; context and search show it with a leading `#`."""
    cleaned = given.strip().removeprefix("#")
    if not cleaned or os.sep in cleaned:
        raise click.UsageError(f"{given!r} is no id")
    return cleaned
