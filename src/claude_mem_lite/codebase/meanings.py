"""What names and chains in code stand for, as values, and what languages have in common there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from claude_mem_lite.code.calling.values import Name
from claude_mem_lite.codebase.lookup import Definition

FEW = 5
"""So many possible things are named; more would tell nobody anything."""
SEES_OWN_CLASS = ("java", "cpp", "ruby")
"""Languages in which a plain name may be a member of the class it stands in."""
SEES_FOLDER = ("go", "java")
"""Languages in which the files of a folder know each other's names without an import."""
SEES_PROJECT = ("java", "cpp", "ruby", "rust")
"""Languages in which a name may come from anywhere in the project, by ways that are not followed here."""
SCATTERED = ("go", "cpp", "rust", "ruby")
"""Languages in which the methods of a class need not stand in the file that defines it."""
CONSTRUCTORS = ("__init__", "__new__", "constructor", "initialize")
"""Methods that making an instance calls; in Java and C++ they are called like their class instead."""
ValueKind = Literal["class", "instance", "super", "function", "module", "space", "type", "foreign"]


@dataclass(frozen=True, slots=True)
class Value:
    """Something a chain stands for: a class, an instance of it, what its base classes have, a function, a module, a
    name that qualifies others (space), a type that is not ours, or anything else that is not ours."""

    kind: ValueKind
    file: str = ""
    name: str = ""
    """The qualified name; of a type, what it says."""
    of: tuple[str, str] = ("", "")
    """Of a method, file and name of the class it was looked up on; of a type, whether it is an alias, and its scope."""


@dataclass(frozen=True, slots=True)
class Values:
    """What something may stand for, and whether that is all."""

    known: tuple[Value, ...] = ()
    is_all: bool = True


FOREIGN = Value("foreign")
NOTHING = Values(is_all=False)


class Means(Protocol):
    """Whoever tells what things mean; names, members and chains need each other for it."""

    def chain(self, file: str, within: str, chain: str) -> Values: ...
    def first(self, file: str, within: str, first: str) -> Values: ...
    def typed(self, file: str, within: str, text: str) -> Values: ...
    def once(self, key: tuple[str, ...], find: Callable[[], Values]) -> Values: ...
    def stated(self, file: str, scope: str, row: Name) -> Values: ...
    def in_scope(self, file: str, scope: str, name: str) -> Values: ...
    def of_module(self, file: str, name: str) -> Values: ...
    def member(self, value: Value, name: str, *, only_own: bool = False) -> Values: ...
    def class_at(self, file: str, name: str) -> tuple[str, str]: ...


def joined(parts: Iterable[Values], is_all: bool = True) -> Values:
    """All that several may stand for."""
    known: dict[Value, None] = {}
    for part in parts:
        known.update(dict.fromkeys(part.known))
        is_all = is_all and part.is_all
    return Values(tuple(known), is_all)


def as_value(definition: Definition) -> Value:
    return Value("class" if definition.kind == "class" else "function", definition.file, definition.name)


def as_modules(paths: Iterable[str]) -> Values:
    """Modules by their files; something that is not ours when there are none."""
    return Values(tuple(Value("module", path) for path in paths) or (FOREIGN,))


def beyond(value: Value) -> Values:
    """What comes of something that is not ours is not ours either; of anything else nobody can tell."""
    return Values((FOREIGN,)) if value.kind in ("foreign", "type", "module", "space") else NOTHING


def is_named(definition: Definition, name: str) -> bool:
    """Whether a symbol has this name, or one that ends with it."""
    return definition.name == name or definition.name.endswith(f".{name}")
