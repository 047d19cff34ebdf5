"""What values have under a name: methods and attributes of classes and those above them, what modules hold."""

from claude_mem_lite.codebase import types
from claude_mem_lite.codebase.lookup import Definition, Lookup, family
from claude_mem_lite.codebase.meanings import (
    FEW,
    FOREIGN,
    SCATTERED,
    Means,
    Value,
    Values,
    as_value,
    beyond,
    is_named,
    joined,
)
from claude_mem_lite.codebase.modules import find_module

_MOST_ABOVE = 24


class Members:
    """The members of the classes and modules of one checkout."""

    def __init__(self, lookup: Lookup, means: Means) -> None:
        self._lookup = lookup
        self._means = means
        self._lines: dict[tuple[str, str], tuple[list[tuple[str, str]], bool]] = {}

    def member(self, value: Value, name: str, *, only_own: bool = False) -> Values:
        """What a value has under a name; with `only_own`, nothing that is not certain to be its own."""
        if value.kind == "module":
            return self._means.of_module(value.file, name)
        if value.kind == "space":
            return self._of_space(value, name)
        if value.kind == "type":
            text = types.member(value.name, name)
            return Values((Value("type", value.file, text, value.of) if text else FOREIGN,))
        if value.kind not in ("class", "instance", "super"):
            return beyond(value)
        classes, knows_all = self._line_of(value.file, value.name)
        for file, owner in classes[1:] if value.kind == "super" else classes:
            definition = self._own(file, owner, name)
            if definition is not None:
                found = as_value(definition)
                return Values((Value(found.kind, found.file, found.name, (value.file, value.name)),))
            rows = self._lookup.names(file, owner, name)
            rows = [row for row in rows if row.kind == "type"] or [row for row in rows if row.kind != "returns"]
            if rows:
                return joined(self._means.stated(file, owner, row) for row in rows)
        if only_own:
            return Values()
        return self._of_subclasses(value, name) if knows_all else Values((FOREIGN,))

    def class_at(self, file: str, name: str) -> tuple[str, str]:
        """File and name of a class that is named in a file, which may only add to one that is defined elsewhere."""
        if family(file) not in SCATTERED or self._lookup.is_class(file, name):
            return file, name
        for one in self._lookup.defined(name.rpartition(".")[2]):
            if one.kind == "class" and is_named(one, name) and family(one.file) == family(file):
                return one.key
        return file, name

    def classes_above(self, file: str, name: str) -> list[tuple[str, str]]:
        """The classes a class inherits from, nearest first, as file and name."""
        return self._line_of(file, name)[0][1:]

    def _own(self, file: str, owner: str, name: str) -> Definition | None:
        """What a class itself defines under a name."""
        found = self._lookup.definition(file, f"{owner}.{name}")
        if found is not None or family(file) not in SCATTERED:
            return found
        folder = file.rpartition("/")[0]
        for one in self._lookup.defined(name):
            is_same_package = family(file) != "go" or one.file.rpartition("/")[0] == folder
            if is_same_package and family(one.file) == family(file) and is_named(one, f"{owner}.{name}"):
                return one
        return None

    def _of_space(self, space: Value, name: str) -> Values:
        """What a name that qualifies others has, wherever in the project; in Rust a file may be one."""
        whole, language = f"{space.name}.{name}", family(space.file)
        found = [one for one in self._lookup.defined(name) if is_named(one, whole) and family(one.file) == language]
        if found:
            return Values(tuple(map(as_value, found[:FEW])), is_all=len(found) == 1)
        if language == "rust":
            files = find_module(self._lookup, space.file, space.name.replace(".", "::"))
            inside = joined(self._means.in_scope(path, "", name) for path in files)
            if inside.known:
                return inside
        return Values((Value("space", space.file, whole),))

    def _of_subclasses(self, value: Value, name: str) -> Values:
        """What classes below a class have, for one that leaves a method to them."""
        below = self._lookup.subclasses(value.name.rpartition(".")[2])
        found = [self._own(file, owner, name) for file, owner in below]
        return Values(tuple(as_value(one) for one in found if one is not None), is_all=False)

    def _line_of(self, file: str, name: str) -> tuple[list[tuple[str, str]], bool]:
        """A class and those above it, nearest first, and whether all of them are known."""
        if (file, name) not in self._lines:
            self._lines[file, name] = ([(file, name)], False)  # until it is known: a class may be said to be its base
            self._lines[file, name] = self._find_line(file, name)
        return self._lines[file, name]

    def _find_line(self, file: str, name: str) -> tuple[list[tuple[str, str]], bool]:
        line, knows_all, waiting = [(file, name)], True, [(file, name)]
        while waiting and len(line) < _MOST_ABOVE:
            at_file, at_name = waiting.pop(0)
            for row in self._lookup.names(at_file, at_name, ""):
                if row.kind != "base":
                    continue
                bases = self._means.chain(at_file, at_name.rpartition(".")[0], row.target)
                above = [(one.file, one.name) for one in bases.known if one.kind == "class"]
                knows_all = knows_all and bool(above)
                new = [one for one in above if one not in line]
                line += new
                waiting += new
        return line, knows_all
