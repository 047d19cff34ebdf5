"""Resolution of calls to definitions by name: scopes from the inside out, the file, imports, then the names visible by
the rules of the language.

A path is followed through declared types, created instances and base classes. Nothing more is inferred: a call on an
object of unknown type may reach any method of the name."""

from collections.abc import Callable

from claude_mem_lite.code.callgraph.lookup import (
    BUILTINS,
    COMMON_METHODS,
    FOREIGN,
    MAX_POSSIBLE,
    UNKNOWN,
    Definition,
    Lookup,
    ResolvedCall,
    Value,
    Values,
    as_modules,
    as_value,
    family,
    few,
    unique,
)
from claude_mem_lite.code.callgraph.modules import find_module, siblings, submodule
from claude_mem_lite.code.syntax.call_paths import UNKNOWN as UNKNOWN_PATH
from claude_mem_lite.code.syntax.references import RETURNS, CallSite, Name

CONSTRUCTORS = ("__init__", "__new__", "constructor", "initialize")
"""Methods called when an instance is created; in Java and C++, constructors have the name of the class instead."""
_SEES_OWN_CLASS = ("java", "cpp", "ruby")  # a plain name may be a member of the class around
_SEES_FOLDER = ("go", "java")  # the files of a folder share their names without an import
_SEES_PROJECT = ("java", "cpp", "ruby", "rust")  # a name may come from anywhere, on paths not followed
_SCATTERED = ("go", "cpp", "rust", "ruby")  # the methods of a class may be in other files
_MAX_DEPTH = 40
_MAX_BASES = 24


class Resolver:
    """Resolver for the calls of one checkout, for one request: results are memoised."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._found: dict[tuple[str, ...], Values] = {}
        self._lines: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._depth = 0

    def reach(self, file: str, call: CallSite) -> ResolvedCall:
        """Return the definitions reached by a call in a file."""
        path = f"{call.receiver}.{call.name}" if call.receiver else call.name
        found = self._evaluate(file, call.within, path)
        if definitions := self._called(found):
            return ResolvedCall(definitions, sure=UNKNOWN[0] not in found, is_exact=self._names_class(file, call))
        if call.receiver and UNKNOWN[0] in found:
            return self._guess(file, call.name)
        return ResolvedCall(is_foreign=True)

    def _names_class(self, file: str, call: CallSite) -> bool:
        """Return True if a call names the class of the method: `A.step(self)`, `super().step()`."""
        if call.receiver in ("", "self"):
            return False
        return all(value.kind in ("class", "super") for value in self._evaluate(file, call.within, call.receiver))

    def overridden(self, symbol: Definition) -> set[tuple[str, str]]:
        """Return the methods of base classes overridden by a method, as (file, name)."""
        owner, _, name = symbol.name.rpartition(".")
        if symbol.kind != "method" or name in CONSTRUCTORS:
            return set()  # calling a base class's constructor is no call of a subclass's
        above = self._member(Value("super", *self.class_at(symbol.file, owner)), name)
        return {(value.file, value.name) for value in above if value.kind == "function"} - {symbol.key}

    def inherits(self, file: str, name: str, member: Definition) -> bool:
        """Return True if a class has a method of its own or from the nearest base."""
        return Value("function", *member.key) in self._member(
            Value("class", file, name), member.name.rpartition(".")[2]
        )

    def class_at(self, file: str, name: str) -> tuple[str, str]:
        """Return file and name of a class named in a file. The file may only extend a class defined in another file."""
        if family(file) not in _SCATTERED or self._lookup.is_class(file, name):
            return file, name
        found = [definition for definition in self._anywhere(file, name) if definition.kind == "class"]
        return found[0].key if found else (file, name)

    def bases(self, file: str, name: str) -> list[tuple[str, str]]:
        """Return all base classes of a class, nearest first, as (file, name)."""
        if (file, name) not in self._lines:
            self._lines[file, name] = []  # ends the recursion for a class declared as its own base
            self._lines[file, name] = self._find_bases(file, name)
        return self._lines[file, name]

    def _find_bases(self, file: str, name: str) -> list[tuple[str, str]]:
        line, waiting = [(file, name)], [(file, name)]
        while waiting and len(line) < _MAX_BASES:
            at_file, at_name = waiting.pop(0)
            for row in self._lookup.names(at_file, at_name, ""):
                found = self._evaluate(at_file, at_name.rpartition(".")[0], row.target)
                classes = [(value.file, value.name) for value in found if value.kind == "class"]
                new = [base for base in classes if base not in line]
                line += new
                waiting += new
        return line[1:]

    def _guess(self, file: str, name: str) -> ResolvedCall:
        """Return every method of a name, if the methods are few and no builtin type has the name."""
        methods = (definition for definition in self._lookup.defined(name) if definition.kind == "method")
        possible = [method for method in methods if family(method.file) == family(file)]
        if not possible or name in COMMON_METHODS or len(possible) > MAX_POSSIBLE:
            return ResolvedCall(is_foreign=not possible, is_open=bool(possible))
        return ResolvedCall(tuple(possible), sure=False)

    def _called(self, values: Values) -> tuple[Definition, ...]:
        """Return the definitions run by a call of values."""
        found: dict[tuple[str, str], Definition] = {}
        for value in values:
            # A module of JavaScript may stand for its default export.
            for target in self._member(value, "default") if value.kind == "module" else (value,):
                definition = self._lookup.definition(target.file, target.name)
                if definition is not None and target.kind in ("class", "function"):
                    found[definition.key] = definition
        return tuple(found.values())

    # Paths.

    def _evaluate(self, file: str, within: str, path: str) -> Values:
        """Return the meanings of a path within a symbol."""
        return self._once(("path", file, within, path), lambda: self._follow(file, within, path), UNKNOWN)

    def _once(self, key: tuple[str, ...], find: Callable[[], Values], otherwise: Values) -> Values:
        """Return the values of a key, computed once; `otherwise` during the computation, and beyond a depth."""
        if key not in self._found:
            self._found[key] = otherwise
            self._depth += 1
            if self._depth < _MAX_DEPTH:
                self._found[key] = find()
            self._depth -= 1
        return self._found[key]

    def _follow(self, file: str, within: str, path: str) -> Values:
        first, *steps = path.replace("()", ".()").split(".")
        if first in ("self", "super"):
            owner = self._owner(file, within)
            values: Values = (Value("class" if first == "self" else "super", *owner),) if owner else UNKNOWN
        else:
            values = self._name(file, within, first) if first != UNKNOWN_PATH else UNKNOWN
        qualified = first
        for step in steps:
            qualified = f"{qualified}.{step}"
            if values == UNKNOWN:
                values = self._qualified(file, qualified)
            else:
                values = unique(result for value in values for result in self._step(value, step))
        return values

    def _owner(self, file: str, within: str) -> tuple[str, str] | None:
        """Return the class around a symbol, as (file, name)."""
        while within:
            definition, outer = self._lookup.definition(file, within), within.rpartition(".")[0]
            if definition is not None and definition.kind != "function":
                return self.class_at(file, outer if definition.kind == "method" else within)
            within = outer
        return None

    def _step(self, value: Value, step: str) -> Values:
        return self._result(value) if step == "()" else self._member(value, step)

    def _result(self, value: Value) -> Values:
        """Return the result of calling a value."""
        if value.kind == "class":
            return (Value("instance", value.file, value.name),)
        if value.kind == "function":
            return self._stated(value.file, value.name, RETURNS) or UNKNOWN
        return FOREIGN if value.kind in ("foreign", "module") else UNKNOWN

    def _member(self, value: Value, name: str) -> Values:
        """Return the meanings of a member of a value."""
        if value.kind == "module":
            return self._of_module(value.file, name) or FOREIGN
        if value.kind == "function":  # a property
            return unique(member for held in self._result(value) for member in self._member(held, name))
        if value.kind in ("foreign", "unknown"):
            return (value,)
        return self._of_class(value, name) or UNKNOWN

    def _of_class(self, value: Value, name: str) -> Values:
        own = [(value.file, value.name)] if value.kind != "super" else []
        for file, owner in (*own, *self.bases(value.file, value.name)):
            definition = self._own_member(file, owner, name)
            if definition is not None:
                return (as_value(definition),)
            if found := self._stated(file, owner, name):
                return found
        return ()

    def _own_member(self, file: str, owner: str, name: str) -> Definition | None:
        found = self._lookup.definition(file, f"{owner}.{name}")
        if found is not None or family(file) not in _SCATTERED:
            return found
        folder = file.rpartition("/")[0]
        members = self._anywhere(file, f"{owner}.{name}")
        return next(
            (member for member in members if family(file) != "go" or member.file.startswith(f"{folder}/")), None
        )

    # Names.

    def _name(self, file: str, within: str, name: str) -> Values:
        """Return the meanings of a name within a symbol."""
        scope = within
        while scope:
            is_class = self._lookup.is_class(*self.class_at(file, scope))
            if not is_class or scope == within:
                if found := self._in_scope(file, scope, name):
                    return found
            elif found := self._in_own_class(file, scope, name):
                return found
            scope = scope.rpartition(".")[0]
        return self._in_scope(file, "", name) or self._beyond_file(file, name)

    def _in_own_class(self, file: str, owner: str, name: str) -> Values:
        if family(file) not in _SEES_OWN_CLASS or name == owner.rpartition(".")[2]:
            return ()
        return self._of_class(Value("class", *self.class_at(file, owner)), name)

    def _in_scope(self, file: str, scope: str, name: str) -> Values:
        qualified = f"{scope}.{name}" if scope else name
        definition = self._lookup.definition(file, qualified)
        if definition is not None:
            return (as_value(definition),)
        found = self._stated(file, scope, name)
        if not found and family(file) != "python" and self._lookup.has_members(file, qualified):
            return (Value("class", file, qualified),)  # an object of JavaScript, a module of Rust
        return found

    def _stated(self, file: str, scope: str, name: str) -> Values:
        """Return the meanings of a name other than a definition; none if the scope does not know the name."""
        rows = self._lookup.names(file, scope, name)
        return unique(value for row in rows for value in self._meaning(file, row))

    def _meaning(self, file: str, row: Name) -> Values:
        if row.kind != "import":
            return self._evaluate(file, row.origin, row.target)
        modules = find_module(self._lookup, file, row.origin)
        if not row.target:
            return as_modules(modules)
        found = unique(value for path in modules for value in self._of_module(path, row.target))
        if found:
            return found
        return as_modules(
            find_module(self._lookup, file, f"{row.origin}.{row.target}") if family(file) == "python" else []
        )

    def _of_module(self, file: str, name: str) -> Values:
        return self._once(("module", file, name), lambda: self._find_in_module(file, name), ())

    def _find_in_module(self, file: str, name: str) -> Values:
        found = self._in_scope(file, "", name) or as_modules(submodule(self._lookup, file, name)[:1], ())
        return found or self._by_star(file, name)

    def _by_star(self, file: str, name: str) -> Values:
        """Return the meanings of a name from `from m import *` and similar imports."""
        rows = self._lookup.names(file, "", "*")
        modules = {path for row in rows for path in find_module(self._lookup, file, row.origin)} - {file}
        return unique(value for path in sorted(modules) for value in self._of_module(path, name))

    def _beyond_file(self, file: str, name: str) -> Values:
        language = family(file)
        found = self._by_star(file, name)
        if not found and language in _SEES_FOLDER:
            found = unique(value for path in siblings(self._lookup, file) for value in self._in_scope(path, "", name))
        if not found and language in _SEES_PROJECT:
            known = (definition for definition in self._lookup.defined(name) if definition.kind != "method")
            found = few([definition for definition in known if family(definition.file) == language])
        if not found and language == "rust":
            found = as_modules(find_module(self._lookup, file, name), ())
        return found or (FOREIGN if name in BUILTINS else UNKNOWN)

    def _qualified(self, file: str, path: str) -> Values:
        """Return the definitions of a qualified name anywhere: `geo::Circle`, where namespaces are no symbols."""
        return (few(self._anywhere(file, path)) if family(file) in _SEES_PROJECT else ()) or UNKNOWN

    def _anywhere(self, file: str, name: str) -> list[Definition]:
        named = self._lookup.defined(name.rpartition(".")[2])
        found = (definition for definition in named if f".{definition.name}".endswith(f".{name}"))
        return [definition for definition in found if family(definition.file) == family(file)]
