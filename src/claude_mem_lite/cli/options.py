"""Options and argument types that several commands share.

Detection of commands that an agent runs in its shell: they speak for the agent and not for the user.

A mark in the environment keeps an agent from passing for the user by accident or on the word of a page; it cannot stop
a program that removes the mark."""

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import click

from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.output import print_json
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Asker, Where
from claude_mem_lite.client.worker_process import ensure_worker
from claude_mem_lite.errors import MemoryLiteError, unreadable
from claude_mem_lite.models import KINDS, JsonValue
from claude_mem_lite.paths import HOME_VARIABLE, Home, find_home
from claude_mem_lite.scopes import LANGUAGES, SCOPES, written_scope

Decorated = TypeVar("Decorated", bound=Callable[..., object])
_NOTHING = "nothing is stored here yet"
_INSTALL = "run `claude-mem-lite install`"

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
also_paused_option = click.option(
    "--also-paused",
    is_flag=True,
    help="Also what was done while memory was off, or in a folder while it was excluded.",
)
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
folder_type = click.Path(file_okay=False, resolve_path=True)
"""A folder that may be gone, or be on another machine: what is stored of its project is still there."""
cwd_option = click.option(
    "--cwd",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="The folder that is meant; the current one if not given.",
)


def _named(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    if given is not None and not given.strip():
        raise click.UsageError(
            "--project needs a name, an id, a folder or a remote; leave it out for the current folder"
        )
    return given


project_option = click.option(
    "--project",
    metavar="NAME",
    callback=_named,
    shell_complete=completion_values.projects,
    help="The project that is meant: its name, its id, or a folder or remote of it.",
)


def place_options(command: Decorated) -> Decorated:
    """Add --cwd and --project, two ways to choose a project, to a command."""
    folder_option = click.option(
        "--cwd",
        metavar="DIR",
        type=folder_type,
        help="The folder whose project is meant; the current one if not given.",
    )
    return folder_option(project_option(command))


all_projects_option = click.option("--all-projects", is_flag=True, help="Over every project.")


class OneOf(click.Choice):  # type: ignore[type-arg]  # it takes none in earlier versions of click
    """Choice of a few words; the error for another word names the nearest."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            near = difflib.get_close_matches(str(value), list(self.choices), n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.fail(f"{value!r} is not one of {', '.join(self.choices)}{hint}", param, ctx)
        return str(super().convert(value, param, ctx))


class WholeNumber(click.IntRange):
    """Whole number from `min` to `max`; one error for all other values."""

    def convert(self, value: int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is not a whole number from {self.min} to {self.max}", param, ctx)


def limit_option(default: int) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--limit",
        metavar="N",
        type=WholeNumber(1, 1000),
        default=default,
        help=f"At most that many; {default} if not given.",
    )


def folders_option(help_text: str) -> Callable[[Decorated], Decorated]:
    """Add --project NAME=FOLDER to an import: the folder on this machine of a project of another machine."""
    return click.option(
        "--project", "chosen", metavar="NAME=FOLDER", multiple=True, callback=_folders_by_name, help=help_text
    )


def _folders_by_name(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> Mapping[str, str]:
    chosen: dict[str, str] = {}
    for one in given:
        name, equals, folder = one.rpartition("=")
        if not equals or not name.strip() or not folder.strip():
            raise click.BadParameter(f"{one!r} is not of the form NAME=FOLDER, as in shop=~/code/shop")
        path = os.path.realpath(os.path.expanduser(folder.strip()))
        if not os.path.isdir(path):
            raise click.BadParameter(f"{folder} is no folder")
        chosen[name.strip()] = path
    return chosen


def as_kind(written: str) -> str:
    """Return a word in the form of kinds: lower case, with `_` for `-`."""
    return written.strip().lower().replace("-", "_")


def kind(written: str) -> str:
    """Return the kind of memory that a user typed, in any case and with `-` for `_`."""
    meant = as_kind(written)
    if meant in KINDS:
        return meant
    if meant in ("lesson", "lessons"):
        raise click.BadParameter(f"{written!r} is no kind; `claude-mem-lite lessons` lists lessons of all kinds")
    near = difflib.get_close_matches(meant, KINDS, n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the kinds are {', '.join(KINDS)}"
    raise click.BadParameter(f"there is no kind {written!r}, {hint}")


def scope(written: str) -> str:
    """Return the scope that a user typed."""
    meant = written_scope(written)
    if meant is None:
        raise click.BadParameter(f"{written!r} is no scope; use {SCOPES}")
    return meant


def doubt_language(scope: str | None) -> str:
    """Return a warning for a language that no project is detected to be written in; '' for a known language or another
    scope."""
    kind, _, name = (scope or "").partition(":")
    if kind != "language" or name in LANGUAGES:
        return ""
    near = difflib.get_close_matches(name, LANGUAGES, n=1, cutoff=0.5)
    hint = f"did you mean language:{near[0]}?" if near else f"the languages are {', '.join(LANGUAGES)}."
    return f"No project is known to be in {name!r}, so it is found by search alone; {hint}"


def require_there(path: str | Path) -> None:
    """Refuse a path that does not exist; the reader of the path reports other problems."""
    try:
        os.stat(path)
    except PermissionError as error:
        raise unreadable(path, error) from None
    except OSError:
        raise click.UsageError(f"{os.fspath(path)!r} does not exist") from None


def require_named(also_paused: bool, named: object) -> None:
    """Refuse --also-paused without a path: text that the user kept out of memory is imported by name only."""
    if also_paused and not named:
        raise click.UsageError("--also-paused needs a path: name the files to import although memory was off")


def where(cwd: str | None, project: str | None, all_projects: bool = False) -> Where:
    """Return the chosen folder, project or all projects; refuse two choices. A folder that is gone, or is on another
    machine, stands for its former project."""
    given = [
        option
        for option, is_given in (("--cwd", cwd), ("--project", project), ("--all-projects", all_projects))
        if is_given
    ]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other")
    if cwd is not None and not os.path.isdir(cwd):
        return Where("", project=cwd)
    if project:
        return Where("", project=project)
    return Where("" if all_projects else folder(cwd), all_projects)


def folder(cwd: str | None = None) -> str:
    """Return the given folder, else the current folder."""
    try:
        return cwd or str(Path.cwd())
    except FileNotFoundError:
        raise MemoryLiteError("the current folder no longer exists", "change to another one, or use --cwd") from None


def chosen_home() -> Home:
    """Return the data folder of a command; raise MemoryLiteError if the chosen path cannot be a data folder."""
    home = possible_home()
    if os.path.islink(home.root):
        _refuse_missing(home)  # a link that leads nowhere: no folder can be made there either
    return home


def possible_home() -> Home:
    """Return the data folder of a command that works without a data folder; its disk may be missing."""
    home = absolute_home()
    if os.path.exists(home.root) and not os.path.isdir(home.root):
        raise MemoryLiteError(f"{home.root} is a file, not a folder", f"set {HOME_VARIABLE} to another place")
    return home


def absolute_home() -> Home:
    """Return the data folder as an absolute path, without further checks. Hooks resolve a relative path against their
    working folder, but a user gets an error."""
    chosen = os.environ.get(HOME_VARIABLE, "")
    if chosen and not os.path.isabs(chosen):
        raise MemoryLiteError(
            f"{HOME_VARIABLE} is {chosen!r}, which is another folder wherever you are", "set it to an absolute path"
        )
    return find_home()


def project_for_worker(given: str) -> str:
    """Return a project that the user named in the form that the worker expects: a path is made absolute."""
    is_path = given.startswith(("/", "~", ".")) or os.path.isdir(given)
    return absolute_path(Path(given)) if is_path else given


def absolute_path(path: Path) -> str:
    """Return a path without links, with the user's folder in place of `~`."""
    return os.path.realpath(path.expanduser())


def connect() -> Client:
    """Return a client of a running worker; start a worker if necessary."""
    agent = asking_agent("")
    return replace(ensure_worker(chosen_home()), agent_session=agent.session if agent else None)


def connect_to_read(nothing: JsonValue, *, as_json: bool, aside: bool = False, why: str = "") -> Client:
    """Return a client for a command that only reads. Without a data folder, create none: print `nothing` for programs
    or `why` for people, and exit with 0. With `aside`, stdout holds the answer alone, so `why` goes to stderr. Raise
    MemoryLiteError if the disk of the data folder is missing."""
    if not is_anything_stored():
        _refuse_missing(absolute_home())
        if as_json:
            print_json(nothing)
        else:
            click.echo(why or f"{_NOTHING[0].upper()}{_NOTHING[1:]}; {_INSTALL}.", err=aside)
        raise click.exceptions.Exit(0)
    return connect()


def connect_to_find(next_step: str = _INSTALL) -> Client:
    """Return a client for a command that needs stored data; raise MemoryLiteError without a data folder."""
    if not is_anything_stored():
        _refuse_missing(absolute_home())
        raise MemoryLiteError(_NOTHING, next_step)
    return connect()


def _refuse_missing(home: Home) -> None:
    """MemoryLiteError where a data folder was, and its disk is missing."""
    from claude_mem_lite.install.targets import why_missing  # here: it takes longer to load than most commands

    if cause := why_missing(home):
        raise cause


def is_anything_stored() -> bool:
    return chosen_home().root.exists()


def memory_id(given: str) -> str:
    """Return a typed or pasted id without the leading `#` of contexts and search results."""
    cleaned = given.strip().removeprefix("#")
    if not cleaned or os.sep in cleaned:
        raise click.UsageError(f"{given!r} is no id")
    return cleaned


# Variables that Claude Code 2.1.325, Codex CLI 0.166 and Gemini CLI 0.61 set in the shells of their agents.
_MARKS = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_THREAD_ID", "GEMINI_CLI")


def asking_agent(cwd: str) -> Asker | None:
    """Return the agent that runs this command in a folder; None for a person or a script."""
    if not any(os.environ.get(mark) for mark in _MARKS):
        return None
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    return Asker(cwd, session, session)


def refuse_agent(command: str) -> None:
    """Raise MemoryLiteError if an agent runs a command that only the user may run."""
    if asking_agent("") is not None:
        raise MemoryLiteError(
            f"`claude-mem-lite {command}` speaks for the user, and this shell is an agent's, so nothing was changed",
            "ask the user to run it in a terminal of their own; `claude-mem-lite remember` stores an agent's note",
        )
