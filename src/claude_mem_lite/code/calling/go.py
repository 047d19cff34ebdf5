"""Calls and names in Go. A composite literal counts as a call of its type, for that is how one is made."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling import shapes
from claude_mem_lite.code.calling.reading import Chains, Grammar, Reading, after, instance_of, text_of, typed
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = """
[(function_declaration) (method_declaration) (func_literal)] @function
(type_spec) @type
(short_var_declaration) @short
(assignment_statement) @short
(var_spec) @variable
(range_clause) @loop
(import_spec) @import
(call_expression) @call
(composite_literal) @make
"""
_WITH_OK = ("index_expression", "type_assertion_expression", "unary_expression")
_PARAMETERS = ("parameter_declaration", "variadic_parameter_declaration")


def _function(reading: Reading, node: "Node") -> None:
    scope = reading.enter(node, "function", text_of(node.child_by_field_name("name")), node.child_by_field_name("body"))
    for field in ("receiver", "parameters"):
        for names, type_text in _listed(node.child_by_field_name(field)):
            for name in names:
                scope.origins[name] = typed(type_text)
    result = node.child_by_field_name("result")
    if result is None or node.type == "func_literal":
        return
    if result.type != "parameter_list":
        reading.note(scope.name, "", "returns", shapes.plain_type(result))
    elif types := [text or "?" for names, text in _listed(result) for _ in names or [""]]:
        reading.note(scope.name, "", "returns", types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]")


def _listed(parameters: "Node | None") -> list[tuple[list[str], str]]:
    """The names and the type of each declaration in a list of parameters."""
    return [
        (
            [text_of(name) for name in one.children_by_field_name("name")],
            shapes.plain_type(one.child_by_field_name("type")),
        )
        for one in (parameters.named_children if parameters else ())
        if one.type in _PARAMETERS
    ]


def _type(reading: Reading, node: "Node") -> None:
    name, shape = text_of(node.child_by_field_name("name")), node.child_by_field_name("type")
    if shape is not None and shape.type not in ("struct_type", "interface_type"):
        reading.note("", name, "alias", shapes.plain_type(shape))
    fields = shape.named_children[0].named_children if shape is not None and shape.type == "struct_type" else ()
    for field in fields:
        type_text = shapes.plain_type(field.child_by_field_name("type"))
        names = [text_of(one) for one in field.children_by_field_name("name")]
        for one in names:
            reading.note(name, one, "type", type_text)
        if not names and field.type == "field_declaration":  # embedded: what it has, this has
            reading.note(name, "", "base", type_text)
            reading.note(name, type_text.rpartition(".")[2], "type", type_text)


def _short(reading: Reading, node: "Node") -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and right is not None:
        _set(reading, left.named_children, right.named_children, node)


def _variable(reading: Reading, node: "Node") -> None:
    names = node.children_by_field_name("name")
    type_text = shapes.plain_type(node.child_by_field_name("type"))
    value = node.child_by_field_name("value")
    if type_text:
        for name in names:
            reading.bind(text_of(name), typed(type_text), node, declared=True)
    elif value is not None:
        _set(reading, names, value.named_children, node)


def _set(reading: Reading, targets: list["Node"], values: list["Node"], node: "Node") -> None:
    each = [reading.chains(value) for value in values]
    for position, target in enumerate(targets):
        if target.type != "identifier" or text_of(target) == "_":
            continue
        if len(each) == len(targets):
            reading.bind(text_of(target), each[position], node)
        elif values and values[0].type in _WITH_OK:
            reading.bind(text_of(target), each[0] if position == 0 else (UNKNOWN,), node)
        else:
            reading.bind(text_of(target), after(each[0], f"[{position}]") if each else (UNKNOWN,), node)


def _loop(reading: Reading, node: "Node") -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    names = [text_of(one) for one in left.named_children] if left is not None else []
    for position, name in enumerate(names):
        chains = after(reading.chains(right), "[]") if position == 1 else (UNKNOWN,)
        reading.bind(name, chains, right or node)


def _import(reading: Reading, node: "Node") -> None:
    module = text_of(node.child_by_field_name("path")).strip('"`')
    parts = [part for part in module.split("/") if not (part[:1] == "v" and part[1:].isdigit())]
    name = text_of(node.child_by_field_name("name")) or (parts[-1] if parts else "")
    reading.note("", "*" if name == "." else name, "import", "*" if name == "." else "", module)


def _call(reading: Reading, node: "Node") -> None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "generic_type":
        function = function.child_by_field_name("type")
    _called(reading, function)


def _make(reading: Reading, node: "Node") -> None:
    made = node.child_by_field_name("type")
    if made is None:
        return
    made = made.child_by_field_name("type") if made.type == "generic_type" else made
    if made is not None and made.type == "type_identifier":
        reading.call(text_of(made), (), made)
    elif made is not None and made.type == "qualified_type":
        holder = text_of(made.child_by_field_name("package"))
        reading.call(text_of(made.child_by_field_name("name")), (holder,), made)


def _called(reading: Reading, function: "Node | None") -> None:
    if function is None:
        return
    if function.type == "identifier":
        reading.call_plain(text_of(function), function)
    elif function.type == "selector_expression":
        name = function.child_by_field_name("field")
        holder = reading.chains(function.child_by_field_name("operand"))
        if name is not None:
            reading.call(text_of(name), holder or (UNKNOWN,), name)
    elif function.type in ("parenthesized_expression", "index_expression", "type_instantiation_expression"):
        _called(reading, function.named_children[0] if function.named_children else None)


def _given(reading: Reading, node: "Node") -> Chains:
    function = node.child_by_field_name("function")
    given = node.child_by_field_name("arguments")
    if text_of(function) in ("new", "make") and given is not None and given.named_children:
        return typed(shapes.plain_type(given.named_children[0]))
    return after(reading.chains(function), "()")


def _typed(_reading: Reading, node: "Node") -> Chains:
    return typed(shapes.plain_type(node.child_by_field_name("type")))


GRAMMAR = Grammar(
    _QUERY,
    {
        "function": _function,
        "type": _type,
        "short": _short,
        "variable": _variable,
        "loop": _loop,
        "import": _import,
        "call": _call,
        "make": _make,
    },
    {
        "identifier": shapes.name,
        "selector_expression": shapes.member("operand", "field"),
        "index_expression": shapes.item("operand"),
        "slice_expression": lambda reading, node: reading.chains(node.child_by_field_name("operand")),
        "call_expression": _given,
        "composite_literal": _typed,
        "type_assertion_expression": _typed,
        "type_conversion_expression": _typed,
        "unary_expression": lambda reading, node: reading.chains(node.child_by_field_name("operand")),
        "parenthesized_expression": shapes.inner,
        "nil": shapes.nothing,
        "interpreted_string_literal": instance_of("string"),
        "raw_string_literal": instance_of("string"),
        "int_literal": instance_of("int"),
    },
)
