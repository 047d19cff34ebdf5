"""Calls and names in Ruby. `X.new` counts as a call of the class; a bare word that is no local variable as a call."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling import shapes
from claude_mem_lite.code.calling.reading import Chains, Grammar, Reading, after, instance_of, looped, text_of
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = """
[(class) (module)] @class
[(method) (singleton_method)] @function
[(block) (do_block) (lambda)] @block
[(assignment) (operator_assignment)] @assignment
(call) @call
(super) @super
(identifier) @word
"""
_EACH = (
    "each",
    "map",
    "select",
    "reject",
    "filter",
    "each_with_index",
    "find",
    "detect",
    "flat_map",
    "each_with_object",
)
_MIXES_IN = ("include", "extend", "prepend")
_NOT_CALLED = (
    *("method_parameters", "block_parameters", "lambda_parameters", "optional_parameter", "keyword_parameter"),
    *("splat_parameter", "hash_splat_parameter", "block_parameter", "destructured_parameter", "left_assignment_list"),
    *("method", "singleton_method", "alias", "undef", "exception_variable", "rest_assignment"),
)


def _class(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("name")).rpartition("::")[2]
    scope = reading.enter(node, "class", name, node.child_by_field_name("body"))
    above = node.child_by_field_name("superclass")
    for base in above.named_children if above is not None else ():
        reading.note(scope.name, "", "base", "|".join(reading.chains(base)))


def _function(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("name"))
    scope = reading.enter(node, "function", name, node.child_by_field_name("body"))
    for word in shapes.words_in(node.child_by_field_name("parameters"), ("identifier",)):
        scope.origins[word] = (UNKNOWN,)
    scope.origins["self"] = (UNKNOWN,)
    if scope.owner:
        sign = "^" if node.type == "singleton_method" else "@"
        scope.origins["self"] = (sign + shapes.owner_sign(reading),)


def _block(reading: Reading, node: "Node") -> None:
    call = node.parent
    method = text_of(call.child_by_field_name("method")) if call is not None and call.type == "call" else ""
    holder = call.child_by_field_name("receiver") if call is not None and method in _EACH else None
    items = looped(reading.chains(holder)) if holder is not None else (UNKNOWN,)
    scope = reading.enter(node, "function", "", None)
    for position, word in enumerate(shapes.words_in(node.child_by_field_name("parameters"), ("identifier",))):
        scope.origins[word] = items if position == 0 else (UNKNOWN,)


def _assignment(reading: Reading, node: "Node") -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None:
        return
    chains = reading.chains(right)
    if left.type == "identifier":
        if reading.scope.kind == "function":
            reading.bind(text_of(left), chains, node)
        else:
            reading.note(reading.scope.name, text_of(left), "value", "|".join(chains))
    elif left.type in ("instance_variable", "class_variable") and reading.scope.owner:
        reading.note(reading.scope.owner, text_of(left).lstrip("@"), "value", "|".join(chains))
    elif left.type == "constant":
        reading.note(reading.scope.name, text_of(left), "value", "|".join(chains))
    elif left.type == "left_assignment_list":
        for word in shapes.words_in(left, ("identifier",)):
            reading.bind(word, (UNKNOWN,), node)


def _call(reading: Reading, node: "Node") -> None:
    method, holder = node.child_by_field_name("method"), node.child_by_field_name("receiver")
    name = text_of(method)
    if method is None:
        return
    if name in _MIXES_IN and holder is None and reading.scope.kind == "class":
        given = node.child_by_field_name("arguments")
        for mixed in given.named_children if given is not None else ():
            reading.note(reading.scope.name, "", "base", "|".join(reading.chains(mixed)))
    elif name == "new":
        for chain in _made_of(reading, holder):
            reading.call_chain(chain, method)
    elif holder is None:
        reading.call(name, (), method)
    else:
        reading.call(name, reading.chains(holder) or (UNKNOWN,), method)


def _super(reading: Reading, node: "Node") -> None:
    function = reading.scope.name
    if reading.scope.owner and function.startswith(f"{reading.scope.owner}."):
        reading.call(function.rpartition(".")[2], (f"!{shapes.owner_sign(reading)}",), node)


def _word(reading: Reading, node: "Node") -> None:
    """A word by itself: a local variable, or else a method of this object without arguments."""
    holder = node.parent
    if holder is None or holder.type in _NOT_CALLED or reading.local(text_of(node)) is not None:
        return
    for field in ("method", "name", "left"):
        named = holder.child_by_field_name(field)
        if named is not None and named.id == node.id:
            return
    if text_of(node) == "new" and reading.scope.owner:
        reading.call_chain(f"^{shapes.owner_sign(reading)}", node)
    else:
        reading.call(text_of(node), (), node)


def _made_of(reading: Reading, holder: "Node | None") -> Chains:
    """The class that `new` makes an instance of."""
    if holder is not None:
        return tuple(chain.replace("~", "") if "." not in chain else chain for chain in reading.chains(holder))
    return (f"^{shapes.owner_sign(reading)}",) if reading.scope.owner else ()


def _given(reading: Reading, node: "Node") -> Chains:
    name, holder = text_of(node.child_by_field_name("method")), node.child_by_field_name("receiver")
    if name == "new":
        return after(_made_of(reading, holder), "()")
    if holder is None:
        return (f"{name}()",)
    return after(reading.chains(holder), f".{name}")


def _self(reading: Reading, _node: "Node") -> Chains:
    known = reading.local("self")
    return known if known is not None else (f"^{shapes.owner_sign(reading)}",) if reading.scope.owner else (UNKNOWN,)


def _variable(reading: Reading, node: "Node") -> Chains:
    return (f"@{shapes.owner_sign(reading)}.{text_of(node).lstrip('@')}",) if reading.scope.owner else (UNKNOWN,)


def _scoped(reading: Reading, node: "Node") -> Chains:
    scope, name = node.child_by_field_name("scope"), text_of(node.child_by_field_name("name"))
    return after(reading.chains(scope), f".{name}") if scope is not None else (f"~{name}",)


GRAMMAR = Grammar(
    _QUERY,
    {
        "class": _class,
        "function": _function,
        "block": _block,
        "assignment": _assignment,
        "call": _call,
        "super": _super,
        "word": _word,
    },
    {
        "identifier": shapes.name,
        "constant": lambda _reading, node: (f"~{text_of(node)}",),
        "scope_resolution": _scoped,
        "self": _self,
        "instance_variable": _variable,
        "class_variable": _variable,
        "call": _given,
        "parenthesized_statements": shapes.inner,
        "conditional": shapes.either,
        "element_reference": shapes.item("object"),
        "nil": shapes.nothing,
        "string": instance_of("String"),
        "array": instance_of("Array"),
        "hash": instance_of("Hash"),
        "integer": instance_of("Integer"),
        "simple_symbol": instance_of("Symbol"),
    },
)
