"""From a call to the definitions it reaches: names by scopes and imports, members by what is known of their holder.

Nothing is run and nothing is inferred beyond declared types, made instances and assignments; what stays unknown is said
to be so."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from claude_mem_lite.code.calling.values import CALLED_ITSELF, UNKNOWN, Call, steps
from claude_mem_lite.codebase import types
from claude_mem_lite.codebase.builtin_names import COMMON_METHODS
from claude_mem_lite.codebase.lookup import Definition, Lookup, family
from claude_mem_lite.codebase.meanings import (
    CONSTRUCTORS,
    FEW,
    NOTHING,
    Value,
    ValueKind,
    Values,
    beyond,
    joined,
)
from claude_mem_lite.codebase.members import Members
from claude_mem_lite.codebase.scoping import Scoping
from claude_mem_lite.codebase.typed import Typing

_DEEPEST = 40
_SIGNS: dict[str, ValueKind] = {"@": "instance", "^": "class", "!": "super"}


@dataclass(frozen=True, slots=True)
class Reached:
    """The definitions a call reaches."""

    definitions: tuple[Definition, ...] = ()
    sure: bool = True
    is_foreign: bool = False
    """It reaches something that is not the project's."""
    is_open: bool = False
    """It may reach one of so many that none is named."""
    is_exact: bool = False
    """It names the class whose method it reaches: no method that overrides that one."""


class Resolver:
    """Resolves the calls of one checkout; for one request, because it remembers what it found."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._scoping = Scoping(lookup, self)
        self._members = Members(lookup, self)
        self._typing = Typing(lookup, self)
        self._found: dict[tuple[str, ...], Values] = {}
        self._depth = 0
        self.stated = self._scoping.stated
        self.in_scope = self._scoping.in_scope
        self.of_module = self._scoping.of_module
        self.member = self._members.member
        self.typed = self._typing.typed
        self.class_at = self._members.class_at
        self.classes_above = self._members.classes_above

    def reach(self, file: str, call: Call) -> Reached:
        """What a call in a file reaches; what nests too deeply to be followed may be anything."""
        try:
            return self._reach(file, call)
        except RecursionError:
            return Reached(is_open=True)

    def _reach(self, file: str, call: Call) -> Reached:
        is_plain = not call.receiver or call.receiver.startswith(CALLED_ITSELF)
        is_exact = False
        if not call.receiver:
            found = self._scoping.name(file, call.within, call.name)
        elif is_plain:
            found = self.chain(file, call.within, call.receiver.removeprefix(CALLED_ITSELF))
        else:
            held = self.chain(file, call.within, call.receiver)
            is_exact = bool(held.known) and all(_is_named_class(one, call.receiver) for one in held.known)
            found = joined((self._step(value, f".{call.name}") for value in held.known), held.is_all)
        definitions = self._called(found.known)
        if definitions:
            return Reached(definitions, sure=found.is_all, is_exact=is_exact)
        return Reached(is_foreign=True) if found.is_all or is_plain else self._guess(file, call.name)

    def overridden(self, symbol: Definition) -> set[tuple[str, str]]:
        """The methods of classes above that a method stands for, as file and name."""
        owner, _, name = symbol.name.rpartition(".")
        if symbol.kind != "method" or name in CONSTRUCTORS:
            return set()  # calling these on a class above is no call of those below
        try:
            above = self.member(Value("super", *self.class_at(symbol.file, owner)), name)
        except RecursionError:
            return set()
        return {(one.file, one.name) for one in above.known if one.kind == "function"} - {symbol.key}

    def _guess(self, file: str, name: str) -> Reached:
        """Every method of a name, when there are few and it is none that builtin things have too."""
        possible = [
            one for one in self._lookup.defined(name) if one.kind == "method" and family(one.file) == family(file)
        ]
        if not possible or name in COMMON_METHODS or len(possible) > FEW:
            return Reached(is_foreign=not possible, is_open=bool(possible))
        return Reached(tuple(possible), sure=False)

    def _called(self, values: Iterable[Value]) -> tuple[Definition, ...]:
        """The definitions that run when values are called."""
        found: dict[tuple[str, str], Definition] = {}
        for value in values:
            targets: tuple[Value, ...] = (value,)
            if value.kind in ("instance", "module"):  # a module of JavaScript may be what it exports by default
                targets = self.member(value, "__call__" if value.kind == "instance" else "default").known
            for target in targets:
                definition = self._lookup.definition(target.file, target.name)
                if definition is not None and target.kind in ("class", "function"):
                    found[definition.key] = definition
        return tuple(found.values())

    # Chains.

    def chain(self, file: str, within: str, chain: str) -> Values:
        """What a chain stands for at a place."""
        parts = types.split(chain, "|")
        return self.once(
            ("chain", file, within, chain), lambda: joined(self._alternative(file, within, part) for part in parts)
        )

    def once(self, key: tuple[str, ...], find: Callable[[], Values]) -> Values:
        """What is found for a key, looked for once; nothing while it is looked for: names may stand for each other."""
        if key in self._found:
            return self._found[key]
        self._found[key] = NOTHING
        self._depth += 1
        try:
            if self._depth <= _DEEPEST:
                self._found[key] = find()
        finally:
            self._depth -= 1
        return self._found[key]

    def _alternative(self, file: str, within: str, chain: str) -> Values:
        first, *rest = steps(chain)
        if rest[-1:] in (["="], ["#"]):
            return Values((Value("type", file, "list", ("", within)),))
        values = self.first(file, within, first)
        for step in rest:
            values = joined((self._step(value, step) for value in values.known), values.is_all)
        return values

    def first(self, file: str, within: str, first: str) -> Values:
        """What the first step of a chain stands for at a place."""
        if first == UNKNOWN:
            return NOTHING
        if first[0] == "{":
            return self.typed(file, within, first[1:-1])
        if first[0] in _SIGNS:
            return Values((Value(_SIGNS[first[0]], *self.class_at(file, first[1:].replace(":", "."))),))
        name = first.removeprefix("~")
        found = self._scoping.name(file, within, name)
        return Values((Value("space", file, name),)) if name != first and not found.known else found

    def _step(self, value: Value, step: str) -> Values:
        if value.kind == "function" and step != "()":
            held = self._returned(value)  # a property
            return joined((self._step(one, step) for one in held.known), held.is_all)
        if step[0] == ".":
            return self.member(value, step[1:])
        return self._given(value) if step == "()" else self._item(value, step)

    def _given(self, value: Value) -> Values:
        """What calling a value gives."""
        if value.kind == "class":
            return Values((Value("instance", value.file, value.name),))
        if value.kind == "function":
            return self._returned(value)
        if value.kind == "instance":
            return self._returned_by(value, "__call__")
        given = types.given_by(value.name) if value.kind == "type" else ""
        return self.typed(value.file, value.of[1], given) if given else beyond(value)

    def _returned_by(self, value: Value, method: str) -> Values:
        found = self.member(value, method)
        return joined((self._returned(one) for one in found.known if one.kind == "function"), found.is_all)

    def _returned(self, function: Value) -> Values:
        declared = [one for one in self._lookup.names(function.file, function.name, "") if one.kind == "returns"]
        own = Values((Value("instance", *function.of),)) if function.of[1] else NOTHING
        if not declared:
            return own if function.name.endswith(".__enter__") else NOTHING
        text = declared[-1].target
        return (
            own
            if types.alternatives(text) == ["Self"] and own.known
            else self.typed(function.file, function.name, text)
        )

    def _item(self, value: Value, step: str) -> Values:
        """An item of a value, or what a loop over it gives."""
        if value.kind == "type":
            text = types.item(value.name, step)
            return self.typed(value.file, value.of[1], text) if text else NOTHING
        if value.kind == "class":  # what stands in the brackets are its parameters
            return Values((value,))
        if value.kind != "instance":
            return beyond(value)
        if step == "*":
            given = self._returned_by(value, "__iter__")
            return joined((self._item(one, step) for one in given.known), given.is_all)
        fields = self._lookup.fields(value.file, value.name) if step != "[]" else []  # of a named tuple
        at = int(step[1:-1]) if step[1:-1] else len(fields)
        if at < len(fields):
            return self.typed(value.file, value.name, fields[at].target)
        return self._returned_by(value, "__getitem__")


def _is_named_class(value: Value, receiver: str) -> bool:
    """Whether a receiver is a class by its name, or those above one: `Base.step(self)`, `super().step()`."""
    named = re.split(r"[.~]", receiver)[-1]
    return value.kind == "super" or (value.kind == "class" and value.name.rpartition(".")[2] == named)
