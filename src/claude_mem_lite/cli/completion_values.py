"""What a shell may complete: kinds, scopes, backups, and ids as far as a worker that runs already tells them at once.

Commands name these for their parameters. They never start a worker, never fail and never print."""

import os
import time
from typing import TYPE_CHECKING

import click

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import KINDS
from claude_mem_lite.scopes import SCOPE_FORMS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_MAX_IDS = 50
_WITHIN_S = 0.5
_MAX_TITLE_LENGTH = 70


def kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    meant = incomplete.lower().replace("-", "_")
    return [kind for kind in KINDS if kind.startswith(meant)]


def scopes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    return [form for form in SCOPE_FORMS if form.startswith(incomplete)]


def backups(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":  # noqa: ARG001
    """The names of the backups, the newest first; else files, since any memory.db can be restored."""
    from click.shell_completion import CompletionItem

    from claude_mem_lite.paths import find_home

    try:
        names = sorted((path.name for path in find_home().backups.glob("memory-*.db")), reverse=True)
    except OSError:
        names = []
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def projects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The names of the projects that hold something, those last worked on first."""
    from claude_mem_lite.cli.output import field
    from claude_mem_lite.client.client import Client
    from claude_mem_lite.paths import find_home

    try:
        found = Client(find_home(), until=time.monotonic() + _WITHIN_S).projects()
    except (MemoryLiteError, OSError):
        return []
    names = dict.fromkeys(field(one, "name") for one in found)
    return [name for name in names if name.startswith(incomplete)]


def ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":  # noqa: ARG001
    """The newest memories of the current folder's project, with their titles where the shell shows them."""
    from click.shell_completion import CompletionItem

    from claude_mem_lite.cli.output import field
    from claude_mem_lite.client.client import Client
    from claude_mem_lite.client.responses import Where
    from claude_mem_lite.paths import find_home

    marked = "#" if incomplete.startswith("#") else ""
    wanted = incomplete.removeprefix("#")
    try:
        client = Client(find_home(), until=time.monotonic() + _WITHIN_S)
        found = client.memories(Where(os.getcwd()), limit=_MAX_IDS)
    except (MemoryLiteError, OSError):
        return []
    known = ((field(one, "id"), " ".join(field(one, "title").split())) for one in found)
    return [
        CompletionItem(marked + id_, help=title[:_MAX_TITLE_LENGTH]) for id_, title in known if id_.startswith(wanted)
    ]


def lessons(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":  # noqa: ARG001
    """Return the lessons of the current folder's project, the unsure ones first, with what they say."""
    from click.shell_completion import CompletionItem

    from claude_mem_lite.cli.output import field
    from claude_mem_lite.client.client import Client
    from claude_mem_lite.client.responses import Where, objects
    from claude_mem_lite.paths import find_home

    try:
        found = Client(find_home(), until=time.monotonic() + _WITHIN_S).lessons(Where(os.getcwd()), limit=_MAX_IDS)
    except (MemoryLiteError, OSError):
        return []
    known = [(field(one, "id"), field(one, "sentence")) for one in objects(found, "unsure")]
    known += [(field(one, "id"), field(one, "title")) for one in objects(found, "learned")]
    return [CompletionItem(id_, help=said[:_MAX_TITLE_LENGTH]) for id_, said in known if id_.startswith(incomplete)]
