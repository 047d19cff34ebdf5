"""Values for shell completion: kinds, scopes, backups, and ids if a running worker answers at once.

Commands name these functions for their parameters. The functions never start a worker, never fail and never print."""

import os
from typing import TYPE_CHECKING

import click

from claude_mem_lite.deadline import Deadline
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
    """Return the names of the backups, newest first; else files, since any memory.db can be restored."""
    from click.shell_completion import CompletionItem

    from claude_mem_lite.paths import find_home

    try:
        names = sorted((path.name for path in find_home().backups.glob("memory-*.db")), reverse=True)
    except OSError:
        names = []
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def projects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Return the names of the projects that hold something, by last work."""
    from claude_mem_lite.cli.output import plain
    from claude_mem_lite.client.client import Client
    from claude_mem_lite.paths import find_home

    try:
        found = Client(find_home(), deadline=Deadline.after(_WITHIN_S)).projects()
    except (MemoryLiteError, OSError):
        return []
    names = dict.fromkeys(plain(project.name) for project in found)
    return [name for name in names if name.startswith(incomplete)]


def ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":  # noqa: ARG001
    """Return ids of the newest memories of the current folder's project, with titles if the shell shows titles."""
    from click.shell_completion import CompletionItem

    from claude_mem_lite.cli.output import plain
    from claude_mem_lite.client.client import Client
    from claude_mem_lite.client.queries import Where
    from claude_mem_lite.paths import find_home

    marked = "#" if incomplete.startswith("#") else ""
    wanted = incomplete.removeprefix("#")
    try:
        client = Client(find_home(), deadline=Deadline.after(_WITHIN_S))
        found = client.memories(Where(os.getcwd()), limit=_MAX_IDS)
    except (MemoryLiteError, OSError):
        return []
    known = ((plain(memory.id), " ".join(plain(memory.title).split())) for memory in found)
    return [
        CompletionItem(marked + id_, help=title[:_MAX_TITLE_LENGTH]) for id_, title in known if id_.startswith(wanted)
    ]


def guards(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":  # noqa: ARG001
    """Return the guards of the current folder's project with their rules."""
    from click.shell_completion import CompletionItem

    from claude_mem_lite.cli.output import plain
    from claude_mem_lite.client.client import Client
    from claude_mem_lite.client.queries import Where
    from claude_mem_lite.paths import find_home

    try:
        found = Client(find_home(), deadline=Deadline.after(_WITHIN_S)).guards(Where(os.getcwd())).guards
    except (MemoryLiteError, OSError):
        return []
    known = ((plain(guard.id), " ".join(plain(guard.words).split())) for guard in found)
    return [CompletionItem(id_, help=words[:_MAX_TITLE_LENGTH]) for id_, words in known if id_.startswith(incomplete)]


def lessons(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":  # noqa: ARG001
    """Return the lessons of the current folder's project with their text, first unsure lessons."""
    from click.shell_completion import CompletionItem

    from claude_mem_lite.cli.output import plain
    from claude_mem_lite.client.client import Client
    from claude_mem_lite.client.queries import Where
    from claude_mem_lite.paths import find_home

    try:
        found = Client(find_home(), deadline=Deadline.after(_WITHIN_S)).lessons(Where(os.getcwd()), limit=_MAX_IDS)
    except (MemoryLiteError, OSError):
        return []
    known = [(plain(candidate.id), plain(candidate.sentence)) for candidate in found.unsure]
    known += [(plain(memory.id), plain(memory.title)) for memory in found.learned]
    return [CompletionItem(id_, help=said[:_MAX_TITLE_LENGTH]) for id_, said in known if id_.startswith(incomplete)]
