"""The API of the call graph: symbols by name, their callers and callees, over a project's source files.

A request reads code for two seconds at most; while more is to be read the response has the progress, and the client
asks again.

Responses of the call graph API, from cached code. Imported on the first request."""

import posixpath
import sqlite3
import time
from collections.abc import Sequence
from typing import Annotated, Literal, NoReturn

from pydantic import Field

from claude_mem_lite.code.callgraph import graph
from claude_mem_lite.code.callgraph.graph import Edge
from claude_mem_lite.code.callgraph.lookup import Definition, Lookup
from claude_mem_lite.code.callgraph.resolve import Resolver
from claude_mem_lite.code.callgraph.source_scope import LANGUAGES, Walks, why_not_read, within
from claude_mem_lite.code.git.project_identity import find_place
from claude_mem_lite.config import is_excluded, project_settings
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.project_config import NAME
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running, place_of, require_settings
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.maintenance import give_back_memory

_MAX_SYMBOLS = 50
What = Literal["symbols", "callers", "callees"]


def code_response(db: sqlite3.Connection, root: str, what: What, name: str, limit: int) -> dict[str, object]:
    """Return the symbols of a name in a checkout, with their callers or callees; or the nearest names."""
    lookup = Lookup(db, root)
    found = graph.find_symbols(lookup, name)
    if not found:
        return {"symbols": [], "total": 0, "suggestions": graph.suggest(lookup, name)}
    resolver = Resolver(lookup)
    shown = found[: limit if what == "symbols" else min(limit, _MAX_SYMBOLS)]
    symbols = [{**_symbol(one), **_more(lookup, resolver, what, one, limit)} for one in shown]
    return {"symbols": symbols, "total": len(found), "suggestions": []}


def _more(lookup: Lookup, resolver: Resolver, what: What, symbol: Definition, limit: int) -> dict[str, object]:
    if what == "callers":
        callers = graph.callers(lookup, resolver, symbol)
        edges = [_edge(one) for one in callers.edges[:limit]]
        total = len(callers.edges)
        return {"callers": edges, "callers_total": total, "unclear": callers.unclear, "heirs": callers.heirs}
    if what == "callees":
        callees = graph.callees(lookup, resolver, symbol)
        return {
            "callees": [_edge(one) for one in callees.edges[:limit]],
            "callees_total": len(callees.edges),
            "foreign": dict(callees.foreign),
            "unclear": callees.unclear,
        }
    return {}


def _symbol(symbol: Definition) -> dict[str, object]:
    return {
        "file": symbol.file,
        "name": symbol.name,
        "kind": symbol.kind,
        "signature": symbol.signature,
        "line": symbol.first,
        "last_line": symbol.last,
    }


def _edge(edge: Edge) -> dict[str, object]:
    return {
        "file": edge.file,
        "name": edge.name,
        "kind": edge.definition.kind if edge.definition else "file",
        "signature": edge.definition.signature if edge.definition else "",
        "line": edge.definition.first if edge.definition else 0,
        "calls": list(edge.lines),
        "sure": edge.sure,
    }


READING_S = 2.0
_MANY_FILES = 20
_walks = Walks()
router = Router(prefix="/api")
Name = Annotated[str, Field(min_length=1, max_length=500)]
Limit = Annotated[int, Field(ge=1, le=1_000)]


@router.get("/code")
def code(
    loop: Running,
    what: Literal["symbols", "callers", "callees"],
    name: Name,
    cwd: str = "",
    project: str = "",
    limit: Limit = 50,
) -> dict[str, object]:
    """Return the symbols of a name with their callers or callees; or the progress of the reading, under `reading`."""

    cwd, _ = place_of(loop, cwd, project)
    root = _root(loop, cwd)
    name = within(root, cwd, name)
    sources = _walks.find_sources(root)
    paths = _permitted(loop, root, sources.paths)
    if not paths:
        _raise_without_code(root, by_git=sources.by_git)
    try:
        read = loop.looking.cache.read_calls(root, paths, time.monotonic() + READING_S)
        if read.done < read.total:
            _walks.keep(root, sources)
            return {"reading": {"done": read.done, "total": read.total}}
        _walks.forget()
        with loop.looking.cache.reading() as db:
            answer = code_response(db, root, what, name, limit)
    except (OSError, sqlite3.OperationalError) as error:
        raise MemoryLiteError(
            f"what code holds could not be kept: {error}", "make room on the disk if it is full"
        ) from error
    finally:
        loop.looking.cache.release()
    if read.fresh > _MANY_FILES:
        give_back_memory()
    why = why_not_read(root, cwd, name, sources, paths) if not answer["symbols"] else ""
    return {
        "root": root,
        "files": read.total,
        "by_git": sources.by_git,
        "too_large": len(read.too_large),
        "is_cut": sources.is_cut,
        "why": why,
        **answer,
    }


def _raise_without_code(root: str, *, by_git: bool) -> NoReturn:
    if by_git:
        raise MemoryLiteError(
            f"there is no code that can be read among the files that git tracks in {root}",
            f"a new file is seen after `git add`; the languages are {LANGUAGES}",
        )
    raise MemoryLiteError(f"there is no code that can be read in {root}", f"the languages are {LANGUAGES}")


def _root(loop: Loop, cwd: str) -> str:
    """Return the checkout around a folder, if its code may be read."""
    require_settings(loop, "no code is read")
    root = find_place(cwd).root
    if is_excluded(loop.config, cwd) or is_excluded(loop.config, root):
        raise MemoryLiteError(
            f"{cwd} is excluded by the configuration; its code is not read",
            f"take it out of `exclude` in {loop.home.config} or in its own {NAME} if that is not meant",
        )
    return root


def _permitted(loop: Loop, root: str, paths: Sequence[str]) -> Sequence[str]:
    """Return paths without those of excluded folders inside the checkout."""
    if not loop.config.exclude and not project_settings(root).exclude:
        return paths
    folders = {posixpath.dirname(path) for path in paths}
    excluded = {folder for folder in folders if is_excluded(loop.config, posixpath.join(root, folder))}
    return [path for path in paths if posixpath.dirname(path) not in excluded]
