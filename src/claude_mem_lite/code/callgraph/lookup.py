"""Queries of code.db about one checkout: definitions, calls and names, by name. Read only. Values are the meanings of
names and paths, and the result of resolving a call."""

import builtins
import sqlite3
from collections.abc import Iterable
from functools import cached_property
from typing import Literal, cast

from claude_mem_lite.code.freshness.cache_tables import batches, marks
from claude_mem_lite.code.syntax.changes import SymbolKind
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.code.syntax.references import CallSite, Name, NameKind
from claude_mem_lite.values import frozen

MAX_POSSIBLE = 5
"""Limit of listed possible definitions; a longer list would help nobody."""


@frozen
class Definition:
    """Symbol with the location of its definition."""

    file: str
    name: str
    kind: SymbolKind
    signature: str
    first: int
    last: int

    @property
    def key(self) -> tuple[str, str]:
        return self.file, self.name


class Lookup:
    """Cached code of a checkout, for one request: every answer is memoised."""

    def __init__(self, db: sqlite3.Connection, root: str) -> None:
        self._db = db
        self.root = root
        self._checkout = next((row[0] for row in db.execute("select id from checkouts where root = ?", (root,))), None)
        self._simple: dict[str, list[Definition]] = {}
        self._names: dict[tuple[str, str, str], list[Name]] = {}
        self._stems: dict[str, list[str]] = {}

    @cached_property
    def files(self) -> dict[str, int]:
        """Files with cached calls, with their ids."""
        rows = self._db.execute("select path, id from files where checkout = ? and has_calls", (self._checkout,))
        return {row["path"]: row["id"] for row in rows}

    @cached_property
    def by_folder(self) -> dict[str, list[str]]:
        """Files with cached calls, by folder."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(path.rpartition("/")[0], []).append(path)
        return found

    @cached_property
    def _paths(self) -> dict[int, str]:
        return {number: path for path, number in self.files.items()}

    def defined(self, simple: str) -> list[Definition]:
        """Return every symbol of a simple name, in file order."""
        if simple not in self._simple:
            rows = self._db.execute("select * from symbols where simple = ?", (simple,))
            self._simple[simple] = self._definitions(rows)
        return self._simple[simple]

    def definition(self, file: str, name: str) -> Definition | None:
        """Return the symbol of a qualified name in a file."""
        found = self.defined(name.rpartition(".")[2])
        return next((definition for definition in found if definition.file == file and definition.name == name), None)

    def is_class(self, file: str, name: str) -> bool:
        definition = self.definition(file, name)
        return definition is not None and definition.kind == "class"

    def of_file(self, file: str) -> list[Definition]:
        """Return the symbols of a file."""
        return self._definitions(self._db.execute("select * from symbols where file = ?", (self.files.get(file),)))

    def has_members(self, file: str, name: str) -> bool:
        """Return True if a file defines members of a name."""
        found = self._db.execute(
            "select 1 from symbols where file = ? and name >= ? and name < ? limit 1",
            (self.files.get(file), f"{name}.", f"{name}/"),
        )
        return found.fetchone() is not None

    def simple_names(self) -> list[str]:
        """Return the simple names of all symbols."""
        rows = self._db.execute(
            "select distinct simple from symbols join files on files.id = file where checkout = ? and has_calls",
            (self._checkout,),
        )
        return [row[0] for row in rows]

    def names(self, file: str, scope: str, name: str) -> list[Name]:
        """Return the entries of a name in a scope of a file."""
        key = (file, scope, name)
        if key not in self._names:
            rows = self._db.execute(
                "select * from names where file = ? and scope = ? and name = ?", (self.files.get(file), scope, name)
            )
            self._names[key] = [_name(row) for row in rows]
        return self._names[key]

    def other_names(self, simple: str) -> set[str]:
        """Return a name together with all aliases by import or assignment, anywhere."""
        known, new = {simple}, {simple}
        while new:
            rows = self._db.execute(f"select file, name from names where leaf in ({marks(new)})", tuple(new))
            new = {row["name"] for row in rows if row["file"] in self._paths} - known
            known |= new
        return known - {"*"}

    def subclasses(self, simple: str) -> list[tuple[str, str]]:
        """Return the direct subclasses of classes with a simple name, as (file, name)."""
        return self._by_base.get(simple, [])

    @cached_property
    def _by_base(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for row in self._db.execute("select file, scope, leaf from names where kind = 'base'"):
            if row["file"] in self._paths:
                found.setdefault(row["leaf"], []).append((self._paths[row["file"]], row["scope"]))
        return found

    def calls_of(self, names: Iterable[str]) -> list[tuple[str, CallSite]]:
        """Return the calls of names, each with its file."""
        found: list[sqlite3.Row] = []
        for batch in batches(sorted(names)):
            found += self._db.execute(f"select * from calls where name in ({marks(batch)}) order by rowid", batch)
        return [(self._paths[row["file"]], _call(row)) for row in found if row["file"] in self._paths]

    def calls_in(self, file: str, name: str) -> list[CallSite]:
        """Return the calls within a symbol."""
        rows = self._db.execute(
            "select * from calls where file = ? and (within = ? or within >= ? and within < ?) order by line",
            (self.files.get(file), name, f"{name}.", f"{name}/"),  # a slash follows the dot in the character order
        )
        return [_call(row) for row in rows]

    def with_stem(self, stem: str) -> list[str]:
        """Return the files of modules with a name."""
        if stem not in self._stems:
            rows = self._db.execute(
                "select path from files where checkout = ? and stem = ? and has_calls order by path",
                (self._checkout, stem),
            )
            self._stems[stem] = [row["path"] for row in rows]
        return self._stems[stem]

    def _definitions(self, rows: Iterable[sqlite3.Row]) -> list[Definition]:
        return sorted(
            (
                Definition(
                    self._paths[row["file"]],
                    row["name"],
                    cast(SymbolKind, row["kind"]),
                    row["signature"],
                    row["first"],
                    row["last"],
                )
                for row in rows
                if row["file"] in self._paths
            ),
            key=lambda definition: (definition.file, definition.first),
        )


def family(path: str) -> str:
    """Return the group of languages with shared functions, named after a member of the group."""
    language = language_of(path)
    return {"typescript": "javascript", "tsx": "javascript", "c": "cpp"}.get(language, language)


def _name(row: sqlite3.Row) -> Name:
    return Name(row["scope"], row["name"], cast(NameKind, row["kind"]), row["target"], row["origin"])


def _call(row: sqlite3.Row) -> CallSite:
    return CallSite(row["name"], row["receiver"], row["line"], row["within"])


@frozen
class Value:
    """Meaning of a path; `foreign` is outside the project, `super` stands for the bases of a class."""

    kind: Literal["class", "instance", "super", "function", "module", "foreign", "unknown"]
    file: str = ""
    name: str = ""


Values = tuple[Value, ...]
FOREIGN: Values = (Value("foreign"),)
UNKNOWN: Values = (Value("unknown"),)


@frozen
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


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS = frozenset(dir(builtins)) | _words(
    """
    console document window process module exports globalThis Object Array String Number Boolean Promise Map Set Date
    JSON Math Symbol RegExp Error Buffer fetch setTimeout setInterval parseInt parseFloat
    make new append len cap copy close panic recover delete print println error string int
    System String Integer Long Double Boolean Math Objects Arrays List Optional Collections Stream
    std Vec Box Some None Ok Err Option Result
    Kernel File Dir Hash Array String Integer Time puts require raise
    """
)
# Common methods of lists, strings, dicts and files: only a known receiver type makes such a call the project's own.
COMMON_METHODS = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("__")
) | _words(
    """
    read readline readlines write writelines close open seek tell flush fileno isatty
    acquire release start run wait set is_set put get_nowait result done submit
    map filter reduce forEach push shift unshift slice splice concat includes indexOf then catch finally has toString
    trim substring charAt charCodeAt match test exec call apply bind on off emit next
    size isEmpty contains containsKey equals hashCode getClass put stream collect iterator hasNext length
    iter into unwrap expect clone to_string as_str as_ref is_some is_none is_ok is_err push_str len
    each select reject inject to_s to_i to_a to_h nil empty first last merge
    begin end push_back emplace_back c_str data at front back insert erase find
    """
)
