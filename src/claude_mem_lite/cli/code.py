"""The `code` group: where something is defined, who calls it, and what it calls."""

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import click

from claude_mem_lite.cli.groups import HelpfulGroup, show_help
from claude_mem_lite.cli.options import connect, cwd_option, folder, json_option, limit_option
from claude_mem_lite.cli.output import bold, counted, dim, field, items, plain, print_json, whole
from claude_mem_lite.cli.progress import progress
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import JsonObject

Decorated = TypeVar("Decorated", bound=Callable[..., object])

code = HelpfulGroup(
    name="code",
    callback=show_help,
    invoke_without_command=True,
    short_help="Find out who calls what in your code.",
    help="""Find out who calls what in your code.

    Over the source files of the project you are in: those that git tracks, or without git those below the folder.
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
    return click.argument("name", metavar="NAME")(cwd_option(limit_option(50)(json_option(command))))


@code.command(short_help="Show where something is defined.")
@_options
def symbols(name: str, cwd: str | None, limit: int, as_json: bool) -> None:
    """Show where something is defined.

    Functions, methods and classes of that name, each with its signature, file and line. The path of a file in the
    place of NAME lists all it defines. Reads only.

    --json prints an object with `symbols`, each with file, name, kind, signature, line and last_line; `total`, how many
    there are; `suggestions`, the nearest names when there is none; and `root`, `files`, `too_large` and `is_cut`: the
    folder, how many files were read or were not, and whether there are more than are read.

    \b
    Examples:
      claude-mem-lite code symbols renew
      claude-mem-lite code symbols Session.renew --json
      claude-mem-lite code symbols src/auth.py
    """
    _print(_ask("symbols", name, cwd, limit), name, as_json)


@code.command(short_help="Show what calls something.")
@_options
def callers(name: str, cwd: str | None, limit: int, as_json: bool) -> None:
    """Show what calls something.

    Each function that calls it, with the lines of the calls. Making an instance is a call of the class, and a decorator
    is called by what surrounds the function it decorates. A call on an object whose type the code does not tell is
    shown as possible, with every method of that name, when there are few. Reads only.

    --json prints an object with `symbols` as `code symbols` does, each with `callers` (file, name, kind, signature,
    line, the lines of the calls as `calls`, and `sure`), `callers_total`, and `unclear`: calls that may be of any of
    many.

    \b
    Examples:
      claude-mem-lite code callers renew
      claude-mem-lite code callers Session.renew --cwd ~/src/shop
      claude-mem-lite code callers src/auth.py::Session --json
    """
    _print(_ask("callers", name, cwd, limit), name, as_json, "callers", "nothing in the project calls it")


@code.command(short_help="Show what something calls.")
@_options
def callees(name: str, cwd: str | None, limit: int, as_json: bool) -> None:
    """Show what something calls.

    Each function, method and class of the project that is called in it, nested functions included; of a class, in all
    its methods. What is not defined in the project is left out. Reads only.

    --json prints an object with `symbols` as `code symbols` does, each with `callees` (as `callers` of `code callers`),
    `callees_total`, `foreign`: the names of what is called elsewhere, with how often, and `unclear`: calls that
    may be of any of many.

    \b
    Examples:
      claude-mem-lite code callees renew
      claude-mem-lite code callees Session
      claude-mem-lite code callees src/auth.py::Session.renew --json
    """
    _print(_ask("callees", name, cwd, limit), name, as_json, "callees", "it calls nothing that the project defines")


def _ask(what: str, name: str, cwd: str | None, limit: int) -> JsonObject:
    """The answer of the worker, which reads code a moment at a time until it has all."""
    if not name.strip():
        raise click.UsageError("the name is empty")
    client, where = connect(), folder(cwd)
    answer = client.code(what, name, where, limit=limit)
    reading = answer.get("reading")
    if not isinstance(reading, dict):
        return answer
    total = whole(reading, "total")
    if not sys.stderr.isatty():
        click.echo(f"Reading {counted(total, 'file')} for the first time.", err=True)
    with progress("Reading code", total, in_bytes=False) as advance:
        while isinstance(reading, dict):
            advance(whole(reading, "done"))
            answer = client.code(what, name, where, limit=limit)
            reading = answer.get("reading")
    return answer


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
        if unclear := whole(symbol, "unclear"):
            click.echo(dim(f"    {counted(unclear, 'call')} could not be told apart from others of the name"))
    _print_rest(answer, len(found))


def _found(answer: JsonObject, name: str) -> Sequence[JsonObject]:
    found = [one for one in items(answer, "symbols") if isinstance(one, dict)]
    if found:
        return found
    near = [plain(one) for one in items(answer, "suggestions")]
    asked = f"did you mean {', '.join(near[:-1])}{' or ' if near[1:] else ''}{near[-1]}?" if near else ""
    told = f"nothing in {field(answer, 'root')} is called {name!r}"
    raise NotFound(told, asked or "`claude-mem-lite code symbols FILE` lists what a file defines")


def _print_symbol(symbol: JsonObject) -> None:
    click.echo(f"{bold(field(symbol, 'name'))}  {dim(_place(symbol))}")
    click.echo(f"    {field(symbol, 'signature')}")


def _print_edges(symbol: JsonObject, key: str, none: str) -> None:
    edges = [one for one in items(symbol, key) if isinstance(one, dict)]
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


def _print_rest(answer: JsonObject, shown: int) -> None:
    if (rest := whole(answer, "total") - shown) > 0:
        click.echo(dim(f"… and {counted(rest, 'more symbol')} of that name; name a class or a file to see fewer"))
    if answer.get("is_cut") is True:
        click.echo(
            f"The project has more files than are read; {counted(whole(answer, 'files'), 'file')} were.", err=True
        )
    if left := whole(answer, "too_large"):
        click.echo(f"{counted(left, 'file')} over 1 MiB {'was' if left == 1 else 'were'} not read.", err=True)
