"""Calls and names in C and C++. `new T`, and a variable of type T that is made with arguments, count as calls of T."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling import shapes
from claude_mem_lite.code.calling.reading import Chains, Grammar, Reading, after, instance_of, looped, text_of, typed
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_C_QUERY = """
(function_definition) @function
(struct_specifier body: (_)) @class
(field_declaration) @field
(declaration) @variable
(assignment_expression) @assignment
(call_expression) @call
"""
_CPP_QUERY = f"""
{_C_QUERY}
(class_specifier body: (_)) @class
(namespace_definition) @namespace
(lambda_expression) @lambda
(for_range_loop) @loop
(new_expression) @new
"""
_MAKERS = ("make_unique", "make_shared", "static_cast", "dynamic_cast", "reinterpret_cast", "const_cast")
_UNTOLD = ("auto", "")


def _function(reading: Reading, node: "Node") -> None:
    declarator = node.child_by_field_name("declarator")
    scope = reading.enter(node, "function", _declared(declarator), node.child_by_field_name("body"))
    if not scope.owner and "." in scope.name:  # defined outside of its class
        scope.owner = scope.name.rpartition(".")[0]
    reading.note(scope.name, "", "returns", shapes.plain_type(node.child_by_field_name("type")))
    _parameters(reading, declarator)


def _parameters(reading: Reading, declarator: "Node | None") -> None:
    while declarator is not None and declarator.child_by_field_name("parameters") is None:
        declarator = _within(declarator)
    parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
    for parameter in parameters.named_children if parameters is not None else ():
        name = _declared(parameter.child_by_field_name("declarator"))
        reading.scope.origins[name] = typed(shapes.plain_type(parameter.child_by_field_name("type")))


def _declared(declarator: "Node | None") -> str:
    """The simple name in a declarator: `*n::A::k(int a)` declares k."""
    for _ in range(20):
        if declarator is None:
            return ""
        if declarator.type in ("qualified_identifier", "template_function"):
            declarator = declarator.child_by_field_name("name")
        elif (inner := _within(declarator)) is not None:
            declarator = inner
        else:
            break
    return text_of(declarator)


def _within(declarator: "Node") -> "Node | None":
    inner = declarator.child_by_field_name("declarator")
    if inner is None and declarator.type in ("reference_declarator", "parenthesized_declarator"):
        inner = declarator.named_children[0] if declarator.named_children else None
    return inner


def _class(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("name")).partition("<")[0].rpartition("::")[2]
    above = node.parent
    if not name and above is not None and above.type == "type_definition":
        name = text_of(above.child_by_field_name("declarator"))
    scope = reading.enter(node, "class", name, node.child_by_field_name("body"))
    for clause in node.named_children:
        bases = clause.named_children if clause.type == "base_class_clause" else ()
        for base in bases:
            if base.type != "access_specifier":
                reading.note(scope.name, "", "base", "~" + shapes.plain_type(base).partition("[")[0])


def _namespace(reading: Reading, node: "Node") -> None:
    around = reading.scope.name
    name = text_of(node.child_by_field_name("name")).replace("::", ".")
    scope = reading.enter(node, "class", "", node.child_by_field_name("body"))
    scope.name = ".".join(part for part in (around, name) if part)


def _lambda(reading: Reading, node: "Node") -> None:
    reading.enter(node, "function", "", node.child_by_field_name("body"))
    _parameters(reading, node.child_by_field_name("declarator"))


def _field(reading: Reading, node: "Node") -> None:
    declarator = node.child_by_field_name("declarator")
    type_text = shapes.plain_type(node.child_by_field_name("type"))
    if declarator is not None and reading.scope.owner:
        kind = "function_declarator" in _shapes(declarator)
        scope = f"{reading.scope.owner}.{_declared(declarator)}" if kind else reading.scope.owner
        reading.note(scope, "" if kind else _declared(declarator), "returns" if kind else "type", type_text)


def _shapes(declarator: "Node | None") -> list[str]:
    found: list[str] = []
    while declarator is not None and len(found) < 20:
        found.append(declarator.type)
        declarator = _within(declarator)
    return found


def _variable(reading: Reading, node: "Node") -> None:
    kind = node.child_by_field_name("type")
    type_text = shapes.plain_type(kind)
    for declarator in node.children_by_field_name("declarator"):
        if "function_declarator" in _shapes(declarator):
            if reading.scope.kind == "file":  # a prototype tells what is returned
                reading.note(_declared(declarator), "", "returns", type_text)
            continue
        value = declarator.child_by_field_name("value")
        chains = typed(type_text) if type_text not in _UNTOLD else reading.chains(value)
        reading.bind(_declared(declarator), chains, node, declared=type_text not in _UNTOLD)
        is_made = value is not None and value.type in ("argument_list", "initializer_list")
        if is_made and kind is not None and kind.type in ("type_identifier", "qualified_identifier", "template_type"):
            _call_type(reading, type_text, kind)


def _call_type(reading: Reading, type_text: str, at: "Node") -> None:
    holder, _, name = type_text.partition("[")[0].rpartition(".")
    reading.call(name, (f"~{holder}",) if holder else (), at)


def _loop(reading: Reading, node: "Node") -> None:
    right = node.child_by_field_name("right")
    type_text = shapes.plain_type(node.child_by_field_name("type"))
    chains = looped(reading.chains(right)) if type_text in _UNTOLD else typed(type_text)
    reading.bind(_declared(node.child_by_field_name("declarator")), chains, right or node)


def _call(reading: Reading, node: "Node") -> None:
    _called(reading, node.child_by_field_name("function"))


def _called(reading: Reading, function: "Node | None") -> None:
    if function is None:
        return
    if function.type == "template_function":
        _called(reading, function.child_by_field_name("name"))
    elif function.type == "identifier":
        reading.call_plain(text_of(function), function)
    elif function.type == "field_expression":
        name = function.child_by_field_name("field")
        if name is not None:
            holder = reading.chains(function.child_by_field_name("argument"))
            reading.call(text_of(name).partition("<")[0], holder or (UNKNOWN,), name)
    elif function.type == "qualified_identifier":
        _call_type(reading, shapes.plain_text(text_of(function)), function)


def _new(reading: Reading, node: "Node") -> None:
    _call_type(reading, shapes.plain_type(node.child_by_field_name("type")), node)


def _given(reading: Reading, node: "Node") -> Chains:
    function = node.child_by_field_name("function")
    template = (
        function.child_by_field_name("name")
        if function is not None and function.type == "qualified_identifier"
        else function
    )
    if template is not None and template.type == "template_function":
        name = text_of(template.child_by_field_name("name"))
        of = shapes.plain_type(template.child_by_field_name("arguments")).strip("[]")
        if name in _MAKERS:
            return typed(of)
        return (f"{name}()",)
    return after(reading.chains(function), "()")


def _qualified(_reading: Reading, node: "Node") -> Chains:
    text = shapes.plain_text(text_of(node))
    return (f"~{text}",) if text and "[" not in text else (UNKNOWN,)


_ON = {
    "function": _function,
    "class": _class,
    "namespace": _namespace,
    "lambda": _lambda,
    "field": _field,
    "variable": _variable,
    "assignment": shapes.assignment,
    "loop": _loop,
    "call": _call,
    "new": _new,
}
_EXPRESSIONS = {
    "identifier": shapes.name,
    "this": shapes.own("@"),
    "field_expression": shapes.member("argument", "field"),
    "qualified_identifier": _qualified,
    "subscript_expression": shapes.item("argument"),
    "call_expression": _given,
    "new_expression": shapes.made,
    "compound_literal_expression": shapes.made,
    "cast_expression": shapes.made,
    "pointer_expression": shapes.inner,
    "parenthesized_expression": shapes.inner,
    "conditional_expression": shapes.either,
    "string_literal": instance_of("string"),
    "number_literal": instance_of("int"),
    "null": shapes.nothing,
}
C = Grammar(_C_QUERY, _ON, _EXPRESSIONS)
CPP = Grammar(_CPP_QUERY, _ON, _EXPRESSIONS)
