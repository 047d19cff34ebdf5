"""What a type that is written at a place in code means there: classes of the project, or types that are not ours."""

from dataclasses import dataclass

from claude_mem_lite.code.calling.values import UNKNOWN
from claude_mem_lite.codebase import types
from claude_mem_lite.codebase.lookup import Lookup, family
from claude_mem_lite.codebase.meanings import FOREIGN, NOTHING, SEES_PROJECT, Means, Value, Values, joined

_ANYTHING = (UNKNOWN, "Any", "typing.Any", "object", "any", "unknown", "Object", "interface", "auto")


@dataclass(frozen=True, slots=True)
class _Written:
    """A type and the place where it is written."""

    file: str
    within: str
    text: str
    is_class: bool = False
    """Meant are the classes themselves, not instances of them."""


class Typing:
    """The types of one checkout."""

    def __init__(self, lookup: Lookup, means: Means) -> None:
        self._lookup = lookup
        self._means = means

    def typed(self, file: str, within: str, text: str) -> Values:
        """Instances of a type as it is written at a place."""
        return self._means.once(("typed", file, within, text), lambda: self._look_at(_Written(file, within, text)))

    def _look_at(self, asked: "_Written") -> Values:
        """All that a type may mean; aliases are followed one after the other, each once: they may mean each other."""
        found, waiting, seen = [], [asked], {asked}
        while waiting:
            one = waiting.pop()
            for text in types.alternatives(one.text):
                meant, more = self._one_type(one, text)
                found.append(meant)
                waiting += [each for each in more if each not in seen]
                seen.update(more)
        whole = joined(found)
        return whole if whole.known or len(seen) == 1 else NOTHING

    def _one_type(self, asked: "_Written", text: str) -> tuple[Values, list["_Written"]]:
        """What one alternative means, and the types that have to be looked at for the rest of it."""
        if of_class := types.of_class(text):
            return Values(), [] if asked.is_class else [_Written(asked.file, asked.within, of_class, is_class=True)]
        meant, aliases = self._named(asked.file, asked.within, text)
        if asked.is_class:
            instances = [one for one in meant.known if one.kind == "instance"]
            meant = Values(tuple(Value("class", one.file, one.name) for one in instances))
        return meant, [_Written(one.file, "", one.name, asked.is_class) for one in aliases]

    def _named(self, file: str, within: str, text: str) -> tuple[Values, list[Value]]:
        """What a type's name means, and the aliases among that."""
        head = types.parse(text)[0]
        if self._is_variable(file, head):
            return NOTHING, []
        if head in ("Self", "self", "this"):
            owner = self._owner(file, within)
            return Values((Value("instance", file, owner),)) if owner else NOTHING, []
        if not head.replace(".", "_").replace("$", "_").isidentifier():
            return Values((FOREIGN,)), []
        first, *rest = head.split(".")
        named = self._means.first(file, within, first if family(file) not in SEES_PROJECT else f"~{first}")
        for part in rest:
            named = joined((self._means.member(value, part) for value in named.known), named.is_all)
        classes = [Value("instance", one.file, one.name) for one in named.known if one.kind == "class"]
        aliases = [one for one in named.known if one.kind == "type" and one.of[0] == "alias"]
        if classes or aliases:
            return Values(tuple(classes), named.is_all), aliases
        return Values((Value("type", file, text, ("", within)),)), []

    def _is_variable(self, file: str, head: str) -> bool:
        """Whether a type says nothing, or is one that somebody else chooses."""
        rows = self._lookup.names(file, "", head)
        is_letter = len(head) == 1 and head.isupper()
        return head in _ANYTHING or is_letter or any("TypeVar()" in row.target for row in rows)

    def _owner(self, file: str, within: str) -> str:
        """The class that a place is in."""
        while within and not self._lookup.is_class(file, within):
            within = within.rpartition(".")[0]
        return within
