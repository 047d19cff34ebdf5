"""API of the call graph: symbols by name, their callers and callees, over a project's source files.

A request reads code for two seconds at most. While files are unread the response has the progress, and the client asks
again."""

import posixpath
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal, NoReturn

from pydantic import Field

from claude_mem_lite.code.callgraph import graph
from claude_mem_lite.code.callgraph.graph import LANGUAGES, Edge, Walks, why_not_read, within
from claude_mem_lite.code.callgraph.lookup import Definition, Lookup
from claude_mem_lite.code.callgraph.resolve import Resolver
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.config import is_excluded, project_settings
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.project_config import NAME
from claude_mem_lite.responses.code import CodeEdge, CodeResponse, CodeSymbol, ReadingProgress
from claude_mem_lite.worker.api.request_project import RequestFolder
from claude_mem_lite.worker.api.routing import Router, Running, require_settings
from claude_mem_lite.worker.background import give_back_memory
from claude_mem_lite.worker.services import Services

_MAX_SYMBOLS = 50
What = Literal["symbols", "callers", "callees"]


def _symbols(lookup: Lookup, what: What, found: Sequence[Definition], limit: int) -> tuple[CodeSymbol, ...]:
    resolver = Resolver(lookup)
    shown = found[: limit if what == "symbols" else min(limit, _MAX_SYMBOLS)]
    return tuple(_symbol(lookup, resolver, what, symbol, limit) for symbol in shown)


def _symbol(lookup: Lookup, resolver: Resolver, what: What, symbol: Definition, limit: int) -> CodeSymbol:
    """Return a symbol with its callers or callees."""
    plain = CodeSymbol(symbol.file, symbol.name, symbol.kind, symbol.signature, symbol.first, symbol.last)
    if what == "callers":
        callers = graph.callers(lookup, resolver, symbol)
        return replace(
            plain,
            callers=_edges(callers.edges[:limit]),
            callers_total=len(callers.edges),
            unclear=callers.unclear,
            heirs=callers.heirs,
        )
    if what == "callees":
        callees = graph.callees(lookup, resolver, symbol)
        return replace(
            plain,
            callees=_edges(callees.edges[:limit]),
            callees_total=len(callees.edges),
            foreign=dict(callees.foreign),
            unclear=callees.unclear,
        )
    return plain


def _edges(edges: Sequence[Edge]) -> tuple[CodeEdge, ...]:
    return tuple(
        CodeEdge(
            file=edge.file,
            name=edge.name,
            kind=edge.definition.kind if edge.definition else "file",
            signature=edge.definition.signature if edge.definition else "",
            line=edge.definition.first if edge.definition else 0,
            calls=edge.lines,
            sure=edge.sure,
        )
        for edge in edges
    )


READING_S = 2.0
_MANY_FILES = 20
_walks = Walks()
router = Router(prefix="/api")
Name = Annotated[str, Field(min_length=1, max_length=500)]
Limit = Annotated[int, Field(ge=1, le=1_000)]


@router.get("/code")
def code(
    services: Running,
    what: What,
    name: Name,
    chosen_folder: RequestFolder,
    limit: Limit = 50,
) -> CodeResponse:
    """Return the symbols of a name with their callers or callees, or the progress of the reading."""
    cwd = chosen_folder.folder
    root = _root(services, cwd)
    name = within(root, cwd, name)
    sources = _walks.find_sources(root)
    paths = _permitted(services, root, sources.paths)
    if not paths:
        _raise_without_code(root, by_git=sources.by_git)
    try:
        read = services.scanner.cache.read_calls(root, paths, Deadline.after(READING_S))
        if read.done < read.total:
            _walks.keep(root, sources)
            return CodeResponse(ReadingProgress(read.done, read.total))
        _walks.forget()
        with services.scanner.cache.reading() as db:
            lookup = Lookup(db, root)
            found = graph.find_symbols(lookup, name)
            suggestions = tuple(graph.suggest(lookup, name)) if not found else ()
            symbols = _symbols(lookup, what, found, limit)
    except (OSError, sqlite3.OperationalError) as error:
        raise MemoryLiteError(
            f"the index of the code could not be stored: {error}", "make room on the disk if it is full"
        ) from error
    finally:
        services.scanner.cache.release()
    if read.fresh > _MANY_FILES:
        give_back_memory()
    return CodeResponse(
        root=root,
        files=read.total,
        by_git=sources.by_git,
        too_large=len(read.too_large),
        is_cut=sources.is_cut,
        why="" if symbols else why_not_read(root, cwd, name, sources, paths),
        symbols=symbols,
        total=len(found),
        suggestions=suggestions,
    )


def _raise_without_code(root: str, *, by_git: bool) -> NoReturn:
    if by_git:
        raise MemoryLiteError(
            f"there is no code that can be read among the files that git tracks in {root}",
            f"a new file is seen after `git add`; the languages are {LANGUAGES}",
        )
    raise MemoryLiteError(f"there is no code that can be read in {root}", f"the languages are {LANGUAGES}")


def _root(services: Services, cwd: str) -> str:
    """Return the checkout around a folder, if its code may be read."""
    require_settings(services, "no code is read")
    root = find_location(cwd).root
    if is_excluded(services.settings.config, cwd) or is_excluded(services.settings.config, root):
        raise MemoryLiteError(
            f"{cwd} is excluded by the configuration; its code is not read",
            f"take it out of `exclude` in {services.home.config} or in its own {NAME} if that is not meant",
        )
    return root


def _permitted(services: Services, root: str, paths: Sequence[str]) -> Sequence[str]:
    """Return paths without those of excluded folders inside the checkout."""
    if not services.settings.config.exclude and not project_settings(root).exclude:
        return paths
    folders = {posixpath.dirname(path) for path in paths}
    excluded = {folder for folder in folders if is_excluded(services.settings.config, posixpath.join(root, folder))}
    return [path for path in paths if posixpath.dirname(path) not in excluded]
