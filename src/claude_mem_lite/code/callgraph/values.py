"""Meanings of names and paths, and the result of resolving a call. For `resolve.py` and `graph.py`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from claude_mem_lite.code.callgraph.lookup import Definition

MAX_POSSIBLE = 5
"""So many possible definitions are named; a longer list would help nobody."""


@dataclass(frozen=True, slots=True)
class Value:
    """A meaning of a path; `foreign` is not the project's, `super` stands for the bases of a class."""

    kind: Literal["class", "instance", "super", "function", "module", "foreign", "unknown"]
    file: str = ""
    name: str = ""


Values = tuple[Value, ...]
FOREIGN: Values = (Value("foreign"),)
UNKNOWN: Values = (Value("unknown"),)


@dataclass(frozen=True, slots=True)
class Reached:
    """The definitions that a call reaches."""

    definitions: tuple[Definition, ...] = ()
    sure: bool = True
    is_foreign: bool = False
    """The callee is not the project's."""
    is_open: bool = False
    """The callee may be one of so many that none is named."""
    is_exact: bool = False
    """The call names the class of the method: it reaches no method that overrides that one."""


def few(found: list[Definition]) -> Values:
    """Return definitions as values: one is sure, a class that several files add to is one, many are none."""
    if len({one.name for one in found}) == 1 and all(one.kind == "class" for one in found):
        return (as_value(found[0]),)
    values = tuple(as_value(one) for one in found)
    return values if len(values) < 2 else values + UNKNOWN if len(values) <= MAX_POSSIBLE else ()


def as_value(definition: Definition) -> Value:
    """Return a definition as a value."""
    return Value("class" if definition.kind == "class" else "function", definition.file, definition.name)


def as_modules(paths: list[str], otherwise: Values = FOREIGN) -> Values:
    """Return the modules of files; foreign when there are none."""
    return tuple(Value("module", path) for path in paths) or otherwise


def unique(values: Iterable[Value]) -> Values:
    """Return values without repetitions, in order."""
    return tuple(dict.fromkeys(values))
