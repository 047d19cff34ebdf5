"""Calls and names in JavaScript and TypeScript.

An element of JSX counts as a call of its component, `new` as a call of the class."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling import shapes
from claude_mem_lite.code.calling.javascript_modules import (
    FUNCTIONS,
    WORDS,
    export_statement,
    exported,
    import_by,
    import_statement,
    required,
)
from claude_mem_lite.code.calling.reading import Chains, Grammar, Reading, after, instance_of, looped, text_of, typed
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_SHARED_QUERY = """
[(function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
 (method_definition)] @function
[(class_declaration) (class)] @class
(variable_declarator) @variable
(assignment_expression) @assignment
(for_in_statement) @loop
(import_statement) @import
(export_statement) @export
(call_expression) @call
(new_expression) @new
(decorator) @decorator
"""
_ELEMENTS = "[(jsx_self_closing_element) (jsx_opening_element)] @element"
_TYPED = "[(abstract_class_declaration) (interface_declaration)] @class (public_field_definition) @field"


def _function(reading: Reading, node: "Node") -> None:
    in_class = reading.scope.kind == "class"
    scope = reading.enter(node, "function", _own_name(node), node.child_by_field_name("body"))
    if not scope.owner and "." in scope.name:  # a method of an object, or of what a function makes
        scope.owner = scope.name.rpartition(".")[0]
    reading.note(scope.name, "", "returns", shapes.plain_type(node.child_by_field_name("return_type")))
    single = node.child_by_field_name("parameter")
    parameters = node.child_by_field_name("parameters")
    for parameter in parameters.named_children if parameters else [single] if single else []:
        pattern = parameter.child_by_field_name("pattern") or parameter.child_by_field_name("left") or parameter
        type_text = shapes.plain_type(parameter.child_by_field_name("type"))
        for word in shapes.words_in(pattern, WORDS):
            scope.origins[word] = typed(type_text if pattern.type == "identifier" else "")
        if in_class and any(child.type == "accessibility_modifier" for child in parameter.named_children):
            reading.note(scope.owner, text_of(pattern), "type", type_text)


def _own_name(node: "Node") -> str:
    """The name a function has by itself or by what it is given to."""
    holder = node.parent
    named = node.child_by_field_name("name")
    if named is None and holder is not None:
        fields = ("name", "key", "property", "left")
        named = next((found for field in fields if (found := holder.child_by_field_name(field)) is not None), None)
    if named is not None and named.type == "member_expression":
        named = named.child_by_field_name("property")
    if named is None and holder is not None and holder.type == "export_statement":
        return "default"
    return text_of(named).strip("\"'")


def _class(reading: Reading, node: "Node") -> None:
    scope = reading.enter(node, "class", _own_name(node), node.child_by_field_name("body"))
    for child in node.named_children:
        clauses = child.named_children if child.type == "class_heritage" else ()
        for clause in clauses:
            bases = clause.named_children if clause.type.endswith("_clause") else [clause]
            for base in bases:
                if base.type != "type_arguments":
                    reading.note(scope.name, "", "base", _base(reading, base))


def _base(reading: Reading, node: "Node") -> str:
    return text_of(node).partition("<")[0] if "type" in node.type else "|".join(reading.chains(node))


def _variable(reading: Reading, node: "Node") -> None:
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    type_text = shapes.plain_type(node.child_by_field_name("type"))
    if target is None or (value is not None and value.type in FUNCTIONS):
        return
    if value is not None and value.type == "object" and reading.scope.kind != "function":
        return  # what it holds are symbols
    module, members = required(value)
    if module:
        import_by(reading, target, module, members)
    elif target.type == "identifier":
        chains = typed(type_text) if type_text else reading.chains(value) if value else (UNKNOWN,)
        reading.bind(text_of(target), chains, node, declared=bool(type_text))
    elif target.type == "object_pattern":
        _take_apart(reading, target, reading.chains(value), node)
    else:
        for word in shapes.words_in(target, WORDS):
            reading.bind(word, (UNKNOWN,), node)


def _take_apart(reading: Reading, target: "Node", chains: Chains, node: "Node") -> None:
    for entry in target.named_children:
        key = text_of(entry.child_by_field_name("key") or entry)
        words = shapes.words_in(entry.child_by_field_name("value") or entry, WORDS)
        if len(words) == 1:
            reading.bind(words[0], after(chains, f".{key}"), node)


def _assignment(reading: Reading, node: "Node") -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    if left.type == "identifier":
        if right.type not in FUNCTIONS:
            reading.bind(text_of(left), reading.chains(right), node)
        return
    if left.type != "member_expression" or exported(reading, left, right) or right.type in FUNCTIONS:
        return
    if text_of(left.child_by_field_name("object")) == "this" and reading.scope.owner:
        name = text_of(left.child_by_field_name("property"))
        reading.note(reading.scope.owner, name, "value", "|".join(reading.chains(right)))


def _field(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("property") or node.child_by_field_name("name"))
    value = node.child_by_field_name("value")
    if type_text := shapes.plain_type(node.child_by_field_name("type")):
        reading.note(reading.scope.owner, name, "type", type_text)
    elif value is not None and value.type not in FUNCTIONS:
        reading.note(reading.scope.owner, name, "value", "|".join(reading.chains(value)))


def _loop(reading: Reading, node: "Node") -> None:
    right = node.child_by_field_name("right")
    words = shapes.words_in(node.child_by_field_name("left"), WORDS)
    for word in words:
        reading.bind(word, looped(reading.chains(right)) if len(words) == 1 else (UNKNOWN,), right or node)


def _call(reading: Reading, node: "Node") -> None:
    _called(reading, node.child_by_field_name("function"))


def _new(reading: Reading, node: "Node") -> None:
    _called(reading, node.child_by_field_name("constructor"))


def _element(reading: Reading, node: "Node") -> None:
    name = node.child_by_field_name("name")
    if name is not None and text_of(name)[:1].isupper():
        _called(reading, name)


def _decorator(reading: Reading, node: "Node") -> None:
    if node.named_children and node.named_children[0].type != "call_expression":
        _called(reading, node.named_children[0])


def _called(reading: Reading, function: "Node | None") -> None:
    if function is None:
        return
    if function.type == "identifier" and text_of(function) != "require":
        reading.call_plain(text_of(function), function)
    elif function.type == "member_expression":
        name = function.child_by_field_name("property")
        holder = reading.chains(function.child_by_field_name("object"))
        if name is not None:
            reading.call(text_of(name), holder or (UNKNOWN,), name)
    elif function.type == "super" and reading.scope.owner:
        reading.call("constructor", (f"!{shapes.owner_sign(reading)}",), function)
    elif function.type in ("parenthesized_expression", "await_expression", "non_null_expression"):
        _called(reading, function.named_children[0] if function.named_children else None)


def _as(reading: Reading, node: "Node") -> Chains:
    """`x as T`."""
    return (
        typed(shapes.plain_type(node.named_children[-1])) if node.named_child_count > 1 else shapes.inner(reading, node)
    )


_EXPRESSIONS = {
    "identifier": shapes.name,
    "this": shapes.own("@"),
    "super": shapes.own("!"),
    "member_expression": shapes.member("object", "property"),
    "subscript_expression": shapes.item("object"),
    "call_expression": shapes.given("function"),
    "new_expression": shapes.given("constructor"),
    "parenthesized_expression": shapes.inner,
    "await_expression": shapes.inner,
    "non_null_expression": shapes.inner,
    "as_expression": _as,
    "satisfies_expression": shapes.inner,
    "ternary_expression": shapes.either,
    "null": shapes.nothing,
    "undefined": shapes.nothing,
    "string": instance_of("String"),
    "template_string": instance_of("String"),
    "number": instance_of("Number"),
    "array": instance_of("Array"),
    "regex": instance_of("RegExp"),
}
_ON = {
    "function": _function,
    "class": _class,
    "variable": _variable,
    "assignment": _assignment,
    "field": _field,
    "loop": _loop,
    "import": import_statement,
    "export": export_statement,
    "call": _call,
    "new": _new,
    "element": _element,
    "decorator": _decorator,
}
JAVASCRIPT = Grammar(f"{_SHARED_QUERY} {_ELEMENTS} (field_definition) @field", _ON, _EXPRESSIONS)
TYPESCRIPT = Grammar(f"{_SHARED_QUERY} {_TYPED}", _ON, _EXPRESSIONS)
TSX = Grammar(f"{_SHARED_QUERY} {_TYPED} {_ELEMENTS}", _ON, _EXPRESSIONS)
