"""What a name means at a place in code: scopes from the inside out, imports, and as far beyond as a language looks."""

from claude_mem_lite.code.calling.values import Name
from claude_mem_lite.codebase.builtin_names import BUILTINS
from claude_mem_lite.codebase.lookup import Lookup, family
from claude_mem_lite.codebase.meanings import (
    FEW,
    FOREIGN,
    NOTHING,
    SCATTERED,
    SEES_FOLDER,
    SEES_OWN_CLASS,
    SEES_PROJECT,
    Means,
    Value,
    Values,
    as_modules,
    as_value,
    joined,
)
from claude_mem_lite.codebase.modules import find_module, siblings, submodule


class Scoping:
    """The names of one checkout."""

    def __init__(self, lookup: Lookup, means: Means) -> None:
        self._lookup = lookup
        self._means = means

    def name(self, file: str, within: str, name: str) -> Values:
        """What a name means within a symbol."""
        scope, is_here = within, True
        while True:
            owner = self._means.class_at(file, scope) if scope else ("", "")
            is_class = bool(scope) and self._lookup.is_class(*owner)
            found = self._in_own_class(owner, name) if is_class else Values()
            if not found.known and (is_here or not is_class):
                found = self.in_scope(file, scope, name)
            if found.known:
                return found
            if not scope:
                return self._beyond_file(file, name)
            scope, is_here = scope.rpartition(".")[0], False

    def _in_own_class(self, owner: tuple[str, str], name: str) -> Values:
        is_constructor = name == owner[1].rpartition(".")[2]
        if family(owner[0]) not in SEES_OWN_CLASS or is_constructor:
            return Values()
        return self._means.member(Value("class", *owner), name, only_own=True)

    def in_scope(self, file: str, scope: str, name: str) -> Values:
        """What one scope has under a name."""
        return self._means.once(("name", file, scope, name), lambda: self._look_in_scope(file, scope, name))

    def _look_in_scope(self, file: str, scope: str, name: str) -> Values:
        qualified = f"{scope}.{name}" if scope else name
        definition = self._lookup.definition(file, qualified)
        here = Values((as_value(definition),)) if definition is not None else Values()
        rows = self._lookup.names(file, scope, name)
        stated = [self.stated(file, scope, row) for row in rows if row.kind != "value" or not here.known]
        if here.known or stated:
            return joined([here, *stated])
        # An object of JavaScript, a module of Rust: no symbol, but what is in it is qualified by its name.
        is_space = family(file) != "python" and self._lookup.has_members(file, qualified)
        return Values((Value("class", file, qualified),)) if is_space else Values()

    def stated(self, file: str, scope: str, row: Name) -> Values:
        """What is said of a name that is no definition."""
        if row.kind == "import":
            return self._imported(file, row)
        if row.kind == "type":
            return self._means.typed(file, scope, row.target)
        if row.kind == "alias":
            return Values((Value("type", file, row.target, ("alias", scope)),))
        return self._means.chain(file, scope, row.target)

    def _imported(self, file: str, row: Name) -> Values:
        modules = find_module(self._lookup, file, row.module)
        if not row.target:
            return as_modules(modules)
        found = joined(self.of_module(path, row.target) for path in modules)
        if found.known:
            return found
        inner = f"{row.module}.{row.target}"
        return as_modules(find_module(self._lookup, file, inner) if family(file) == "python" else ())

    def of_module(self, file: str, name: str) -> Values:
        """What a module has under a name: its own, what it imports, or a module inside it."""
        found = self.in_scope(file, "", name)
        if found.known:
            return found
        if inner := submodule(self._lookup, file, name):
            return as_modules(inner[:1])
        return self._by_star(file, name)

    def _by_star(self, file: str, name: str) -> Values:
        """What comes by `from m import *` and the like."""
        return self._means.once(("star", file, name), lambda: self._look_by_star(file, name))

    def _look_by_star(self, file: str, name: str) -> Values:
        rows = self._lookup.names(file, "", "*")
        modules = {path for row in rows for path in find_module(self._lookup, file, row.module)} - {file}
        return joined(self.of_module(path, name) for path in sorted(modules))

    def _beyond_file(self, file: str, name: str) -> Values:
        language = family(file)
        found = self._by_star(file, name)
        if not found.known and language in SEES_FOLDER:
            found = joined(self.in_scope(path, "", name) for path in siblings(self._lookup, file))
        if not found.known and language in SEES_PROJECT:
            found = self._anywhere(language, name)
        if found.known:
            return found
        return Values((FOREIGN,)) if name in BUILTINS else NOTHING

    def _anywhere(self, language: str, name: str) -> Values:
        found = [one for one in self._lookup.defined(name) if family(one.file) == language and one.kind != "method"]
        classes = {one.name for one in found if one.kind == "class"}
        if len(classes) == 1 and all(one.kind == "class" for one in found) and language in SCATTERED:
            return Values((as_value(found[0]),))  # one that several files add to
        return Values(tuple(map(as_value, found)), is_all=len(found) == 1) if len(found) <= FEW else Values()
