"""The `code` group: where something is defined, who calls it, and what it calls."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import click

from claude_mem_lite.cli.groups import HelpfulGroup, show_help
from claude_mem_lite.cli.options import connect, json_option, limit_option, place_options, where
from claude_mem_lite.cli.output import bold, dim, field, items, plain, print_json, progress
from claude_mem_lite.client.responses import Where, objects, whole
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import JsonObject
from claude_mem_lite.text import counted

_LINE_EVERY_S = 10.0
_NO_CALLER = "no call of it was found; callbacks and calls by reflection are not followed"
Decorated = TypeVar("Decorated", bound=Callable[..., object])

code = HelpfulGroup(
    name="code",
    callback=show_help,
    invoke_without_command=True,
    short_help="Find out who calls what in your code.",
    help="""Find out who calls what in your code.

    Over the source files of the project you are in: those that git tracks, so a new file is seen after `git add`; or
    those below the folder, without git and while it tracks nothing. Files over 1 MiB are not read, nor is a home
    folder as a whole.
    Python, JavaScript, TypeScript, Go, Rust, Java, C, C++ and Ruby are read. The first look reads all of them, every
    later one only what changed.

    NAME is the name of a function, method or class, case and all: `renew`, `Session.renew`, or with its file
    `src/auth.py::Session.renew`. Several symbols of one name are shown one after the other.

    \b
    Examples:
      claude-mem-lite code symbols Session.renew
      claude-mem-lite code callers renew
      claude-mem-lite code callees src/auth.py::Session.renew
    """,
)


def _options(command: Decorated) -> Decorated:
    return click.argument("name", metavar="NAME")(place_options(limit_option(50)(json_option(command))))


@code.command(short_help="Show where something is defined.")
@_options
def symbols(name: str, cwd: str | None, project: str | None, limit: int, as_json: bool) -> None:
    """Show where something is defined.

    Functions, methods and classes of that name, each with its signature, file and line. The path of a file in the
    place of NAME lists all it defines; it starts at the top of the project, is absolute, or begins with ./ for one
    below the folder you are in. Reads only.

    --json prints an object with `symbols`, each with file, name, kind, signature, line and last_line; `total`, how many
    there are; `suggestions`, the nearest names when there is none; `why`, what is known of a file of which nothing is
    shown; and `root`, `files`, `by_git`, `too_large` and `is_cut`: the folder, how many files were looked at, whether
    they are those that git tracks, how many of them were too large, and whether there are more than are read.

    \b
    Examples:
      claude-mem-lite code symbols renew
      claude-mem-lite code symbols Session.renew --json
      claude-mem-lite code symbols src/auth.py
    """
    _print(_ask("symbols", name, where(cwd, project), limit), name, as_json)


@code.command(short_help="Show what calls something.")
@_options
def callers(name: str, cwd: str | None, project: str | None, limit: int, as_json: bool) -> None:
    """Show what calls something.

    Each function that calls it, with the lines of the calls. Making an instance is a call of the class and of its
    constructor, and a decorator is called by what surrounds the function it decorates. A call on an object whose type
    the code does not tell is shown as possible for every method of that name, when there are at most five of them. Of
    a name that lists, texts, files and the like have too (`get`, `append`, `close`), such calls are shown when there
    are at most five, and counted otherwise. What hands a function on to be called later, and calls by reflection, are
    not followed. Reads only.

    --json prints an object with `symbols` as `code symbols` does, each with `callers` (file, name, kind, signature,
    line, the lines of the calls as `calls`, and `sure`), `callers_total`, `unclear`: calls of that name on objects of
    unknown type, and `heirs`: how many classes name a class as their base.

    \b
    Examples:
      claude-mem-lite code callers renew
      claude-mem-lite code callers Session.renew --cwd ~/src/shop
      claude-mem-lite code callers src/auth.py::Session --json
    """
    _print(_ask("callers", name, where(cwd, project), limit), name, as_json, "callers", _NO_CALLER)


@code.command(short_help="Show what something calls.")
@_options
def callees(name: str, cwd: str | None, project: str | None, limit: int, as_json: bool) -> None:
    """Show what something calls.

    Each function, method and class of the project that is called in it, nested functions included; of a class, in all
    its methods. What is not defined in the project is left out, and so are calls on objects of unknown type when many
    methods have the name, or lists, texts, files and the like have it too: those are counted. Reads only.

    --json prints an object with `symbols` as `code symbols` does, each with `callees` (as `callers` of `code callers`),
    `callees_total`, `foreign`: the names of what is called elsewhere, with how often, and `unclear`: how many calls on
    objects of unknown type are left out.

    \b
    Examples:
      claude-mem-lite code callees renew
      claude-mem-lite code callees Session
      claude-mem-lite code callees src/auth.py::Session.renew --json
    """
    _print(
        _ask("callees", name, where(cwd, project), limit),
        name,
        as_json,
        "callees",
        "no call of anything that the project defines was found in it",
    )


def _ask(what: str, name: str, place: Where, limit: int) -> JsonObject:
    """The answer of the worker, which reads code a moment at a time until it has all."""
    if not name.strip():
        raise click.UsageError("the name is empty")
    client = connect()
    answer = client.code(what, name, place, limit=limit)
    reading = answer.get("reading")
    if not isinstance(reading, dict):
        return answer
    total = whole(reading, "total")
    lines = None if sys.stderr.isatty() else ProgressLines(total, time.monotonic)
    with progress("Reading code", total, in_bytes=False) as advance:
        while isinstance(reading, dict):
            advance(whole(reading, "done"))
            if lines:
                lines.advance(whole(reading, "done"))
            answer = client.code(what, name, place, limit=limit)
            reading = answer.get("reading")
    return answer


class ProgressLines:
    """How far the reading is for those without a terminal: a line at first, and one every 10 seconds."""

    def __init__(self, total: int, now: Callable[[], float]) -> None:
        self._total = total
        self._now = now
        self._next = now() + _LINE_EVERY_S
        click.echo(f"Reading {counted(total, 'file')} for the first time.", err=True)
        click.echo("Ctrl-C is safe: the next call goes on where this one stopped.", err=True)

    def advance(self, done: int) -> None:
        if self._now() >= self._next:
            self._next = self._now() + _LINE_EVERY_S
            click.echo(f"{done} of {counted(self._total, 'file')} read.", err=True)


def _print(answer: JsonObject, name: str, as_json: bool, key: str = "", none: str = "") -> None:
    """The symbols of an answer, each with what stands under `key`; NotFound when there are none."""
    if as_json:
        print_json(answer)
    found = _found(answer, name)
    if as_json:
        return
    for symbol in found:
        _print_symbol(symbol)
        if key:
            _print_edges(symbol, key, none)
        _print_doubts(symbol, key)
    if (rest := whole(answer, "total") - len(found)) > 0:
        click.echo(dim(f"… and {counted(rest, 'more symbol')} of that name; name a class or a file to see fewer"))
    _print_left_out(answer)


def _found(answer: JsonObject, name: str) -> Sequence[JsonObject]:
    found = objects(answer, "symbols")
    if found:
        return found
    _print_left_out(answer)
    if why := field(answer, "why"):
        raise NotFound(why)
    near = [plain(one) for one in items(answer, "suggestions")]
    asked = f"did you mean {', '.join(near[:-1])}{' or ' if near[1:] else ''}{near[-1]}?" if near else ""
    told = f"nothing in {field(answer, 'root')} is called {name!r}"
    if answer.get("by_git") is True:
        told += f" among the {counted(whole(answer, 'files'), 'source file')} that git tracks"
        asked = f"{asked} A" if asked else "a"
        raise NotFound(told, f"{asked} new file is seen after `git add`")
    raise NotFound(told, asked or "`claude-mem-lite code symbols FILE` lists what a file defines")


def _print_symbol(symbol: JsonObject) -> None:
    click.echo(f"{bold(field(symbol, 'name'))}  {dim(_place(symbol))}")
    click.echo(f"    {field(symbol, 'signature')}")


def _print_edges(symbol: JsonObject, key: str, none: str) -> None:
    edges = objects(symbol, key)
    if not edges:
        click.echo(f"  {none}")
        return
    click.echo("  called by" if key == "callers" else "  calls")
    shown = [(field(edge, "name") or "(top level)", edge) for edge in edges]
    widest = max(len(name) for name, _ in shown)
    for name, edge in shown:
        where = _calls(edge) if key == "callers" else _place(edge)
        click.echo(f"    {name.ljust(widest)}  {dim(where)}{'' if edge.get('sure') is True else '  possible'}")
    if (rest := whole(symbol, f"{key}_total") - len(edges)) > 0:
        click.echo(dim(f"    … and {rest} more; --limit shows them"))


def _place(record: JsonObject) -> str:
    return f"{field(record, 'file')}:{field(record, 'line')}"


def _calls(edge: JsonObject) -> str:
    return f"{field(edge, 'file')}:{', '.join(plain(line) for line in items(edge, 'calls'))}"


def _print_doubts(symbol: JsonObject, key: str) -> None:
    """What is known of a symbol beyond the calls that are shown."""
    if heirs := whole(symbol, "heirs"):
        click.echo(f"  {counted(heirs, 'class', 'classes')} {'names' if heirs == 1 else 'name'} it as base")
    if unclear := whole(symbol, "unclear"):
        whose = "of this name" if key == "callers" else "in it"
        are = "is on an object" if unclear == 1 else "are on objects"
        click.echo(dim(f"    {counted(unclear, 'call')} {whose} {are} whose type the code does not tell"))


def _print_left_out(answer: JsonObject) -> None:
    """Which files were not read, on stderr."""
    if answer.get("is_cut") is True:
        click.echo(
            f"The project has more files than are read; {counted(whole(answer, 'files'), 'file')} were.", err=True
        )
    if left := whole(answer, "too_large"):
        click.echo(f"{counted(left, 'file')} over 1 MiB {'was' if left == 1 else 'were'} not read.", err=True)
