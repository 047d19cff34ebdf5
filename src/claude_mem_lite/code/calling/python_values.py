"""What expressions and variables of Python stand for, as chains."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling import shapes
from claude_mem_lite.code.calling.reading import Chains, Reading, after, instance_of, looped, text_of, type_of, typed
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_SAME_ITEMS = ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter")
_ONE_ITEM = ("next", "max", "min")
_LITERALS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "comparison_operator": "bool",
    "not_operator": "bool",
    "tuple": "tuple",
    "expression_list": "tuple",
    "dictionary": "dict",
    "dictionary_comprehension": "dict",
    "set": "set",
    "set_comprehension": "set",
}


def assignment(reading: Reading, node: "Node") -> None:
    left = node.child_by_field_name("left") or node.child_by_field_name("name")
    right = node.child_by_field_name("right") or node.child_by_field_name("value")
    type_text = type_of(node.child_by_field_name("type"))
    if left is None:
        return
    if type_text:
        _declare(reading, left, type_text, node)
    elif left.type in ("pattern_list", "tuple_pattern"):
        parts = right.named_children if right is not None and right.type in ("expression_list", "tuple") else []
        each = [reading.chains(part) for part in parts]
        whole = reading.chains(right)
        for position, target in enumerate(left.named_children):
            chains = each[position] if len(each) == left.named_child_count else after(whole, f"[{position}]")
            _set(reading, target, chains, node)
    else:
        _set(reading, left, reading.chains(right), node)
        if reading.scope.kind == "file" and right is not None and right.type == "subscript":
            reading.note("", text_of(left), "alias", type_of(right))


def _declare(reading: Reading, target: "Node", type_text: str, node: "Node") -> None:
    if target.type == "identifier" and reading.scope.kind == "function":
        reading.bind(text_of(target), typed(type_text), node, declared=True)
    elif target.type == "identifier":
        reading.note(reading.scope.name, text_of(target), "type", type_text)
    elif owner := _of_self(reading, target):
        reading.note(owner, text_of(target.child_by_field_name("attribute")), "type", type_text)


def _set(reading: Reading, target: "Node", chains: Chains, node: "Node") -> None:
    if target.type == "identifier":
        reading.bind(text_of(target), chains, node)
    elif target.type == "attribute" and (owner := _of_self(reading, target)):
        reading.note(owner, text_of(target.child_by_field_name("attribute")), "value", "|".join(chains))


def _of_self(reading: Reading, target: "Node") -> str:
    """The class whose attribute is set here; empty when it is something else's."""
    holder = reading.chains(target.child_by_field_name("object")) if target.type == "attribute" else ()
    is_own = len(holder) == 1 and holder[0][0] in "@^" and "." not in holder[0]
    return holder[0][1:].replace(":", ".") if is_own else ""


def loop(reading: Reading, node: "Node") -> None:
    found: dict[str, Chains] = {}
    set_items(reading, node, found)
    right = node.child_by_field_name("right")
    for name, chains in found.items():
        reading.bind(name, chains, right or node)


def set_items(reading: Reading, node: "Node", names: dict[str, Chains]) -> None:
    """What the names of a loop stand for, by what it goes over; `enumerate` and `zip` hand on what they are given."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    if left.type == "identifier":
        names[text_of(left)] = looped(reading.chains(right))
        return
    called = text_of(right.child_by_field_name("function")) if right.type == "call" else ""
    given = arguments(right.child_by_field_name("arguments")) if right.type == "call" else []
    each: list[Chains] = []
    if called == "enumerate" and given:
        each = [("{int}",), looped(reading.chains(given[0]))]
    elif called == "zip":
        each = [looped(reading.chains(one)) for one in given]
    whole = looped(reading.chains(right))
    for position, target in enumerate(left.named_children):
        chains = each[position] if position < len(each) else after(whole, f"[{position}]")
        if target.type == "identifier":
            names[text_of(target)] = chains
        else:
            names.update((text_of(one), (UNKNOWN,)) for one in target.named_children if one.type == "identifier")


def as_pattern(reading: Reading, node: "Node") -> None:
    """`with X() as y`, `except E as e`."""
    target = node.child_by_field_name("alias")
    value = node.named_children[0] if node.named_children else None
    if target is None or value is None or node.parent is None or not target.named_children:
        return
    chains = reading.chains(value)
    if node.parent.type == "except_clause":
        made = after(chains, "()") if value.type in ("identifier", "attribute") else (UNKNOWN,)
    else:
        made = after(chains, ".__enter__()")
    _set(reading, target.named_children[0], made, node)


def _given(reading: Reading, node: "Node") -> Chains:
    """What a call gives."""
    function = node.child_by_field_name("function")
    given = arguments(node.child_by_field_name("arguments"))
    name = text_of(function) if function is not None and function.type in ("identifier", "attribute") else ""
    if name == "super":
        return (f"!{reading.scope.owner.replace('.', ':')}",) if reading.scope.owner else (UNKNOWN,)
    if name in ("partial", "functools.partial") and given:
        return reading.chains(given[0])
    if name in ("cast", "typing.cast") and given:
        return typed(type_of(given[0]))
    if name in _ONE_ITEM and len(given) == 1:
        return looped(reading.chains(given[0]))
    if name in _SAME_ITEMS and given:
        return after(reading.chains(given[0]), "=")
    return after(reading.chains(function), "()")


def _subscript(reading: Reading, node: "Node") -> Chains:
    values = reading.chains(node.child_by_field_name("value"))
    item = node.child_by_field_name("subscript")
    return after(values, "=" if item is not None and item.type == "slice" else "[]")


def _either(reading: Reading, node: "Node") -> Chains:
    """`a or b`, `a if b else c`."""
    parts = node.named_children
    chosen = (parts[0], parts[2]) if node.type == "conditional_expression" and len(parts) == 3 else parts
    return tuple(chain for part in chosen for chain in reading.chains(part))


def arguments(node: "Node | None") -> list["Node"]:
    children = node.named_children if node is not None else []
    return [child for child in children if child.type not in ("keyword_argument", "comment")]


def _list(reading: Reading, node: "Node") -> Chains:
    """A list of what its first item is; of a comprehension, nobody looks."""
    items = [child for child in node.named_children if child.type not in ("comment", "list_splat")]
    return after(reading.chains(items[0]), "#") if items and node.type == "list" else ("{list}",)


EXPRESSIONS = {
    "list": _list,
    "list_comprehension": _list,
    "identifier": shapes.name,
    "attribute": shapes.member("object", "attribute"),
    "call": _given,
    "subscript": _subscript,
    "boolean_operator": _either,
    "conditional_expression": _either,
    "parenthesized_expression": shapes.inner,
    "await": shapes.inner,
    "named_expression": lambda reading, node: reading.chains(node.child_by_field_name("value")),
    "none": shapes.nothing,
    **{kind: instance_of(name) for kind, name in _LITERALS.items()},
}
