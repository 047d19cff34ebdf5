"""Responses of the call graph API, from cached code. Imported on the first request."""

import sqlite3
from typing import Literal

from claude_mem_lite.code.callgraph import graph
from claude_mem_lite.code.callgraph.graph import Edge
from claude_mem_lite.code.callgraph.lookup import Definition, Lookup
from claude_mem_lite.code.callgraph.resolve import Resolver

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
