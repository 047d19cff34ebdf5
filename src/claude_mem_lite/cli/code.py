"""Commands of the group `code`: definitions, callers and callees of a symbol."""

import sys
import time
from collections.abc import Callable
from typing import NoReturn, TypeVar

import click

from claude_mem_lite.cli.groups import HelpfulGroup, show_help
from claude_mem_lite.cli.options import connect, json_option, limit_option, place_options, where
from claude_mem_lite.cli.output import bold, dim, plain, print_json, progress
from claude_mem_lite.client.queries import Where
from claude_mem_lite.errors import NotFound
from claude_mem_lite.responses.code import CodeEdge, CodeResponse, CodeSymbol
from claude_mem_lite.text import counted

_LINE_EVERY_S = 10.0
_NO_CALLER = "no call of it was found; callbacks and calls by reflection are not followed"
Decorated = TypeVar("Decorated", bound=Callable[..., object])

code = HelpfulGroup(
    name="code",
    callback=show_help,
    invoke_without_command=True,
    short_help="Find definitions, callers and callees in your code.",
    help="""Find definitions, callers and callees in your code.

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


@code.command(short_help="Show where a function, method or class is defined.")
@_options
def symbols(name: str, cwd: str | None, project: str | None, limit: int, as_json: bool) -> None:
    """Show where a function, method or class is defined.

    Lists functions, methods and classes of a name, with signature, file and line. If NAME is the path of a file, lists
    everything that the file defines. A path starts at the top of the project, is absolute, or begins with ./ for a file
    below the current folder. Reads only.

    --json prints an object with `symbols`, each with file, name, kind, signature, line and last_line; `total`, the
    number of symbols; `suggestions`, the nearest names if none is found; `why`, the reason if a file has no symbols;
    and `root`, `files`, `by_git`, `too_large` and `is_cut`: the folder, the number of files read, whether git tracks
    them, the number of files too large to read, and whether files beyond the limit were not read.

    \b
    Examples:
      claude-mem-lite code symbols renew
      claude-mem-lite code symbols Session.renew --json
      claude-mem-lite code symbols src/auth.py
    """
    _print(_ask("symbols", name, where(cwd, project), limit), name, as_json)


@code.command(short_help="Show the callers of a function, method or class.")
@_options
def callers(name: str, cwd: str | None, project: str | None, limit: int, as_json: bool) -> None:
    """Show the callers of a function, method or class.

    Lists each calling function with the lines of the calls. Making an instance counts as a call of the class and of its
    constructor. A decorator is called by the code around the decorated function. A call on an object of unknown type is
    shown as possible for every method of the name, if at most five methods have the name. If lists, texts or files have
    a method of the name too (`get`, `append`, `close`), possible calls are shown up to five, and only counted beyond.
    Functions passed as values and calls by reflection are not followed. Reads only.

    --json prints an object with `symbols` as `code symbols` does, each with `callers` (file, name, kind, signature,
    line, the lines of the calls as `calls`, and `sure`), `callers_total`, `unclear`: the number of calls of the name on
    objects of unknown type, and `heirs`: the number of direct subclasses.

    \b
    Examples:
      claude-mem-lite code callers renew
      claude-mem-lite code callers Session.renew --cwd ~/src/shop
      claude-mem-lite code callers src/auth.py::Session --json
    """
    _print(_ask("callers", name, where(cwd, project), limit), name, as_json, "callers", _NO_CALLER)


@code.command(short_help="Show the functions that a function or class calls.")
@_options
def callees(name: str, cwd: str | None, project: str | None, limit: int, as_json: bool) -> None:
    """Show the functions that a function or class calls.

    Lists each function, method and class of the project that is called, nested functions included; for a class, by all
    its methods. Names defined outside the project are left out. Calls on objects of unknown type are only counted if
    many methods have the name, or if lists, texts or files have a method of the name. Reads only.

    --json prints an object with `symbols` as `code symbols` does, each with `callees` (as `callers` of `code callers`),
    `callees_total`, `foreign`: called names from outside the project with the number of calls, and `unclear`: the
    number of omitted calls on objects of unknown type.

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


def _ask(what: str, name: str, place: Where, limit: int) -> CodeResponse:
    """Ask the worker again until all code is read, and return its response."""
    if not name.strip():
        raise click.UsageError("the name is empty")
    client = connect()
    response = client.code(what, name, place, limit=limit)
    reading = response.reading
    if reading is None:
        return response
    lines = None if sys.stderr.isatty() else ProgressLines(reading.total, time.monotonic)
    with progress("Reading code", reading.total, in_bytes=False) as advance:
        while reading is not None:
            advance(reading.done)
            if lines:
                lines.advance(reading.done)
            response = client.code(what, name, place, limit=limit)
            reading = response.reading
    return response


class ProgressLines:
    """Progress of the reading without a terminal: a line at first, and a line every 10 seconds."""

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


def _print(response: CodeResponse, name: str, as_json: bool, direction: str = "", none: str = "") -> None:
    """Print the symbols, each with its callers or callees; raise NotFound without symbols."""
    if as_json:
        print_json(response.raw)
    if not response.symbols:
        _raise_not_found(response, name)
    if as_json:
        return
    for symbol in response.symbols:
        click.echo(f"{bold(plain(symbol.name))}  {dim(_location(symbol))}")
        click.echo(f"    {plain(symbol.signature)}")
        if direction:
            _print_edges(symbol, direction, none)
        _print_doubts(symbol, direction)
    if (rest := response.total - len(response.symbols)) > 0:
        click.echo(dim(f"… and {counted(rest, 'more symbol')} of that name; name a class or a file to see fewer"))
    _print_left_out(response)


def _raise_not_found(response: CodeResponse, name: str) -> NoReturn:
    _print_left_out(response)
    if response.why:
        raise NotFound(plain(response.why))
    near = [plain(suggestion) for suggestion in response.suggestions]
    question = f"did you mean {', '.join(near[:-1])}{' or ' if near[1:] else ''}{near[-1]}?" if near else ""
    message = f"nothing in {plain(response.root)} is called {name!r}"
    if response.by_git:
        message += f" among the {counted(response.files, 'source file')} that git tracks"
        question = f"{question} A" if question else "a"
        raise NotFound(message, f"{question} new file is seen after `git add`")
    raise NotFound(message, question or "`claude-mem-lite code symbols FILE` lists what a file defines")


def _print_edges(symbol: CodeSymbol, direction: str, none: str) -> None:
    is_callers = direction == "callers"
    edges = (symbol.callers if is_callers else symbol.callees) or ()
    if not edges:
        click.echo(f"  {none}")
        return
    click.echo("  called by" if is_callers else "  calls")
    names = [plain(edge.name) or "(top level)" for edge in edges]
    widest = max(map(len, names))
    for name, edge in zip(names, edges, strict=True):
        location = _calls(edge) if is_callers else _location(edge)
        click.echo(f"    {name.ljust(widest)}  {dim(location)}{'' if edge.sure else '  possible'}")
    total = symbol.callers_total if is_callers else symbol.callees_total
    if (rest := total - len(edges)) > 0:
        click.echo(dim(f"    … and {rest} more; --limit shows them"))


def _location(symbol: CodeSymbol | CodeEdge) -> str:
    return f"{plain(symbol.file)}:{symbol.line}"


def _calls(edge: CodeEdge) -> str:
    return f"{plain(edge.file)}:{', '.join(map(str, edge.calls))}"


def _print_doubts(symbol: CodeSymbol, direction: str) -> None:
    """Print the numbers of subclasses and of calls that are left out."""
    if heirs := symbol.heirs:
        click.echo(f"  {counted(heirs, 'class', 'classes')} {'names' if heirs == 1 else 'name'} it as base")
    if unclear := symbol.unclear:
        whose = "of this name" if direction == "callers" else "in it"
        are = "is on an object" if unclear == 1 else "are on objects"
        click.echo(dim(f"    {counted(unclear, 'call')} {whose} {are} whose type the code does not tell"))


def _print_left_out(response: CodeResponse) -> None:
    """Print the number of files that were not read, on stderr."""
    if response.is_cut:
        click.echo(f"The project has more files than are read; {counted(response.files, 'file')} were.", err=True)
    if left := response.too_large:
        click.echo(f"{counted(left, 'file')} over 1 MiB {'was' if left == 1 else 'were'} not read.", err=True)
