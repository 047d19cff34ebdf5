"""Meanings of names and paths, and the result of resolving a call. For `resolve.py` and `graph.py`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from claude_mem_lite.code.callgraph.lookup import Definition

MAX_POSSIBLE = 5
"""Limit of listed possible definitions; a longer list would help nobody."""


@dataclass(frozen=True, slots=True)
class Value:
    """Meaning of a path; `foreign` is outside the project, `super` stands for the bases of a class."""

    kind: Literal["class", "instance", "super", "function", "module", "foreign", "unknown"]
    file: str = ""
    name: str = ""


Values = tuple[Value, ...]
FOREIGN: Values = (Value("foreign"),)
UNKNOWN: Values = (Value("unknown"),)


@dataclass(frozen=True, slots=True)
class ResolvedCall:
    """Definitions reached by a call."""

    definitions: tuple[Definition, ...] = ()
    sure: bool = True
    is_foreign: bool = False
    """True if the callee is outside the project."""
    is_open: bool = False
    """True if the callee has too many candidates to list."""
    is_exact: bool = False
    """True if the call names the class of the method, and so reaches no overriding method."""


def few(found: list[Definition]) -> Values:
    """Return definitions as values: a single definition is sure, a class extended in several files is a single value,
    many are none."""
    if len({definition.name for definition in found}) == 1 and all(definition.kind == "class" for definition in found):
        return (as_value(found[0]),)
    values = tuple(as_value(definition) for definition in found)
    return values if len(values) < 2 else values + UNKNOWN if len(values) <= MAX_POSSIBLE else ()


def as_value(definition: Definition) -> Value:
    """Return a definition as a value."""
    return Value("class" if definition.kind == "class" else "function", definition.file, definition.name)


def as_modules(paths: list[str], otherwise: Values = FOREIGN) -> Values:
    """Return the modules of files; foreign if there are none."""
    return tuple(Value("module", path) for path in paths) or otherwise


def unique(values: Iterable[Value]) -> Values:
    """Return values without repetitions, in order."""
    return tuple(dict.fromkeys(values))
