"""What expressions and types look like in more than one language."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from claude_mem_lite.code.calling.reading import Chains, Reading, after, text_of, type_of, typed
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

Expression = Callable[[Reading, "Node"], Chains]
# Words of types that say nothing about what a value is: how it is held, and whether it may change.
_HOLDING = re.compile(
    r"&'?\w*\s|'\w+\b|[&*]|\b(?:mut|const|dyn|impl|struct|class|enum|final|readonly|typename|in|out)\s"
)
_ENDING_BRACKETS = re.compile(r"^([\w.$]+(?:\[.*\])?)(?:\[\])+$")


def member(holder: str, name: str) -> Expression:
    """`a.b`, by the fields of the node."""

    def chains(reading: Reading, node: "Node") -> Chains:
        return after(reading.chains(node.child_by_field_name(holder)), "." + text_of(node.child_by_field_name(name)))

    return chains


def given(called: str) -> Expression:
    """What a call gives, by the field of what is called."""
    return lambda reading, node: after(reading.chains(node.child_by_field_name(called)), "()")


def item(holder: str) -> Expression:
    return lambda reading, node: after(reading.chains(node.child_by_field_name(holder)), "[]")


def inner(reading: Reading, node: "Node") -> Chains:
    """Brackets and the like: what stands inside counts."""
    return reading.chains(node.named_children[0]) if node.named_children else (UNKNOWN,)


def either(reading: Reading, node: "Node") -> Chains:
    fields = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
    return tuple(chain for field in fields for chain in reading.chains(field))


def name(reading: Reading, node: "Node") -> Chains:
    return reading.named(text_of(node))


def nothing(_reading: Reading, _node: "Node") -> Chains:
    return ()


def made(_reading: Reading, node: "Node") -> Chains:
    """`new T()`, `(T) x`: of the type that stands there."""
    return typed(plain_type(node.child_by_field_name("type")))


def assignment(reading: Reading, node: "Node") -> None:
    """`a = b` tells what `a` is, where its declaration did not."""
    left = node.child_by_field_name("left")
    if left is not None and left.type == "identifier" and reading.local(text_of(left)) == (UNKNOWN,):
        reading.bind(text_of(left), reading.chains(node.child_by_field_name("right")), node)


def own(sign: str) -> Expression:
    """`this`, `super`: by the class around."""

    def chains(reading: Reading, _node: "Node") -> Chains:
        return (sign + owner_sign(reading),) if reading.scope.owner else (UNKNOWN,)

    return chains


def owner_sign(reading: Reading) -> str:
    return reading.scope.owner.replace(".", ":")


def plain_type(node: "Node | None") -> str:
    """A type in the way Python writes it, whatever the language: `std::vector<Foo>&` is std.vector[Foo]."""
    return plain_text(type_of(node))


def plain_text(text: str) -> str:
    if "=>" in text or "->" in text or "(" in text:  # of a function
        return ""
    text = text.lstrip(": ?").replace("<>", "").replace("::", ".").replace("<", "[").replace(">", "]")
    text = _HOLDING.sub("", f"{text} ").strip()
    if text.startswith("map[") and "]" in text:  # Go
        key, _, value = text[4:].partition("]")
        return f"dict[{key}, {plain_text(value)}]"
    if text.startswith("["):  # Go's and Rust's lists
        element = text.partition("]")[2] or text[1:-1].partition(";")[0]
        return f"list[{plain_text(element)}]"
    if ending := _ENDING_BRACKETS.match(text):  # Java's and TypeScript's
        return f"list[{ending[1]}]"
    return text.removeprefix("...")


def words_in(node: "Node | None", kinds: tuple[str, ...]) -> list[str]:
    """The names in a pattern, whatever its form, in order."""
    words, waiting = [], [node] if node is not None else []
    while waiting:
        one = waiting.pop()
        if one.type in kinds:
            words.append(text_of(one))
        else:
            waiting += reversed(one.named_children)
    return words
