"""Responses of the call graph API: symbols, their callers and callees."""

from collections.abc import Collection, Mapping
from dataclasses import field

from claude_mem_lite.responses.encoding import Response, response


@response
class CodeEdge(Response):
    """Symbol or file at the other end of calls."""

    file: str
    name: str
    """The empty name stands for the top level of the file."""
    kind: str
    signature: str
    line: int
    calls: tuple[int, ...]
    """Lines of the calls."""
    sure: bool


@response
class CodeSymbol(Response):
    """Function, method or class, with its callers or its callees if the request asks for them."""

    file: str
    name: str
    kind: str
    signature: str
    line: int
    last_line: int
    callers: tuple[CodeEdge, ...] | None = None
    callers_total: int = 0
    callees: tuple[CodeEdge, ...] | None = None
    callees_total: int = 0
    foreign: Mapping[str, int] = field(default_factory=dict)
    """Names that are called and defined outside the project, with the number of calls."""
    unclear: int = 0
    """Calls on objects of unknown type that are left out."""
    heirs: int = 0
    """Classes that name the symbol as their base."""

    def omitted_fields(self) -> Collection[str]:
        without_callers = () if self.callers is not None else ("callers", "callers_total", "heirs")
        without_callees = () if self.callees is not None else ("callees", "callees_total", "foreign")
        without_edges = ("unclear",) if self.callers is None and self.callees is None else ()
        return (*without_callers, *without_callees, *without_edges)


@response
class ReadingProgress(Response):
    """Number of source files read by the worker so far."""

    done: int
    total: int


@response
class CodeResponse(Response):
    """Symbols of a name in one checkout, or the progress of the reading."""

    reading: ReadingProgress | None = None
    """None when all files are read; otherwise the only field."""
    root: str = ""
    files: int = 0
    by_git: bool = False
    """The files are those that git tracks."""
    too_large: int = 0
    is_cut: bool = False
    """The project has more files than the worker reads."""
    why: str = ""
    """Reason why a file has no symbols."""
    symbols: tuple[CodeSymbol, ...] = ()
    total: int = 0
    suggestions: tuple[str, ...] = ()
    """Nearest names when no symbol has the name."""

    def omitted_fields(self) -> Collection[str]:
        if self.reading is None:
            return ("reading",)
        return ("root", "files", "by_git", "too_large", "is_cut", "why", "symbols", "total", "suggestions")
