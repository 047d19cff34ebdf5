"""Calls and names in Java. `new` counts as a call of the class."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling import shapes
from claude_mem_lite.code.calling.reading import Chains, Grammar, Reading, after, instance_of, looped, text_of, typed
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = """
[(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)] @class
[(method_declaration) (constructor_declaration) (compact_constructor_declaration)] @function
(lambda_expression) @lambda
[(field_declaration) (local_variable_declaration)] @variable
(enhanced_for_statement) @loop
(resource) @resource
(assignment_expression) @assignment
(import_declaration) @import
(method_invocation) @call
(object_creation_expression) @new
(explicit_constructor_invocation) @constructor
"""
_BASES = ("superclass", "interfaces", "extends_interfaces")


def _class(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("name"))
    scope = reading.enter(node, "class", name, node.child_by_field_name("body"))
    above = [node.child_by_field_name(field) for field in _BASES]
    above += [child for child in node.named_children if child.type == "extends_interfaces"]
    for clause in above:
        for base in _types(clause):
            reading.note(scope.name, "", "base", base)
    for parameter in _children(node.child_by_field_name("parameters")):  # of a record
        type_text = shapes.plain_type(parameter.child_by_field_name("type"))
        reading.note(scope.name, text_of(parameter.child_by_field_name("name")), "type", type_text)


def _types(clause: "Node | None") -> list[str]:
    if clause is None:
        return []
    found = [child for child in clause.named_children if child.type != "type_list"]
    found += [one for child in clause.named_children if child.type == "type_list" for one in child.named_children]
    return [shapes.plain_type(one).partition("[")[0] for one in found]


def _function(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("name"))
    scope = reading.enter(node, "function", name, node.child_by_field_name("body"))
    reading.note(scope.name, "", "returns", shapes.plain_type(node.child_by_field_name("type")))
    for parameter in _children(node.child_by_field_name("parameters")):
        name = text_of(parameter.child_by_field_name("name"))
        scope.origins[name] = typed(shapes.plain_type(parameter.child_by_field_name("type")))


def _lambda(reading: Reading, node: "Node") -> None:
    scope = reading.enter(node, "function", "", None)
    for word in shapes.words_in(node.child_by_field_name("parameters"), ("identifier",)):
        scope.origins[word] = (UNKNOWN,)


def _variable(reading: Reading, node: "Node") -> None:
    type_text = shapes.plain_type(node.child_by_field_name("type"))
    for declared in node.children_by_field_name("declarator"):
        name, value = text_of(declared.child_by_field_name("name")), declared.child_by_field_name("value")
        if type_text == "var":
            reading.bind(name, reading.chains(value), node)
        elif reading.scope.kind == "class":
            reading.note(reading.scope.name, name, "type", type_text)
        else:
            reading.bind(name, typed(type_text), node, declared=True)


def _loop(reading: Reading, node: "Node") -> None:
    type_text = shapes.plain_type(node.child_by_field_name("type"))
    value = node.child_by_field_name("value")
    chains = looped(reading.chains(value)) if type_text == "var" else typed(type_text)
    reading.bind(text_of(node.child_by_field_name("name")), chains, value or node)


def _resource(reading: Reading, node: "Node") -> None:
    type_text = shapes.plain_type(node.child_by_field_name("type"))
    chains = reading.chains(node.child_by_field_name("value")) if type_text == "var" else typed(type_text)
    if name := text_of(node.child_by_field_name("name")):
        reading.bind(name, chains, node)


def _import(reading: Reading, node: "Node") -> None:
    path = text_of(node.named_children[0]) if node.named_children else ""
    if any(child.type == "asterisk" for child in node.named_children):
        reading.note("", "*", "import", "*", path)
    else:
        module, _, name = path.rpartition(".")
        reading.note("", name, "import", name, module)


def _call(reading: Reading, node: "Node") -> None:
    name, holder = node.child_by_field_name("name"), node.child_by_field_name("object")
    if name is None:
        return
    chains = reading.chains(holder) if holder is not None else ()
    if holder is None:
        reading.call(text_of(name), (), name)
    else:
        reading.call(text_of(name), chains or (UNKNOWN,), name)


def _new(reading: Reading, node: "Node") -> None:
    made = shapes.plain_type(node.child_by_field_name("type")).partition("[")[0]
    holder, _, name = made.rpartition(".")
    reading.call(name, (f"~{holder}",) if holder else (), node)


def _constructor(reading: Reading, node: "Node") -> None:
    """`this(…)` and `super(…)`: a constructor has the name of its class."""
    which = text_of(node.child_by_field_name("constructor"))
    owner = reading.scope.owner
    if which == "this" and owner:
        reading.call(owner.rpartition(".")[2], (f"@{shapes.owner_sign(reading)}",), node)
    bases = [name for name in reading.names if name.scope == owner and name.kind == "base"]
    if which == "super" and bases:
        reading.call(bases[0].target.rpartition(".")[2], (f"!{shapes.owner_sign(reading)}",), node)


def _given(reading: Reading, node: "Node") -> Chains:
    holder, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("name"))
    if holder is None:
        return (f"{name}()",)
    return after(reading.chains(holder), f".{name}()")


def _name(reading: Reading, node: "Node") -> Chains:
    name = text_of(node)
    known = reading.local(name)
    return known if known is not None else (f"~{name}",) if name[:1].isupper() else (name,)


def _children(node: "Node | None") -> list["Node"]:
    return node.named_children if node is not None else []


GRAMMAR = Grammar(
    _QUERY,
    {
        "class": _class,
        "function": _function,
        "lambda": _lambda,
        "variable": _variable,
        "loop": _loop,
        "resource": _resource,
        "assignment": shapes.assignment,
        "import": _import,
        "call": _call,
        "new": _new,
        "constructor": _constructor,
    },
    {
        "identifier": _name,
        "this": shapes.own("@"),
        "super": shapes.own("!"),
        "field_access": shapes.member("object", "field"),
        "array_access": shapes.item("array"),
        "method_invocation": _given,
        "object_creation_expression": shapes.made,
        "cast_expression": shapes.made,
        "parenthesized_expression": shapes.inner,
        "ternary_expression": shapes.either,
        "null_literal": shapes.nothing,
        "string_literal": instance_of("String"),
        "decimal_integer_literal": instance_of("int"),
    },
)
