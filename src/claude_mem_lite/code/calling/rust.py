"""Calls and names in Rust.

A struct expression counts as a call of its type. Calls inside macros are found by their look."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling import shapes
from claude_mem_lite.code.calling.reading import Chains, Grammar, Reading, after, instance_of, looped, text_of, typed
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = """
[(impl_item) (trait_item)] @class
(struct_item) @struct
(function_item) @function
(closure_expression) @closure
(let_declaration) @let
(let_condition) @let
(for_expression) @loop
(use_declaration) @use
(mod_item) @module
(call_expression) @call
(struct_expression) @make
(macro_invocation) @macro
"""
_LEADS = ("crate", "self", "super")


def _class(reading: Reading, node: "Node") -> None:
    """An `impl` stands for the type it belongs to, a trait for itself."""
    named = node.child_by_field_name("type") or node.child_by_field_name("name")
    name = shapes.plain_type(named).partition("[")[0].rpartition(".")[2]
    around = reading.scope.name
    scope = reading.enter(node, "class", "", node.child_by_field_name("body"))
    scope.owner = scope.name = f"{around}.{name}" if around else name
    if trait := shapes.plain_type(node.child_by_field_name("trait")).partition("[")[0]:
        reading.note(scope.owner, "", "base", f"~{trait}")


def _struct(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("name"))
    body = node.child_by_field_name("body")
    scope = f"{reading.scope.name}.{name}" if reading.scope.name else name
    for field in body.named_children if body is not None else ():
        type_text = shapes.plain_type(field.child_by_field_name("type"))
        reading.note(scope, text_of(field.child_by_field_name("name")), "type", type_text)


def _function(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("name"))
    scope = reading.enter(node, "function", name, node.child_by_field_name("body"))
    reading.note(scope.name, "", "returns", shapes.plain_type(node.child_by_field_name("return_type")))
    _parameters(reading, node)


def _closure(reading: Reading, node: "Node") -> None:
    reading.enter(node, "function", "", node.child_by_field_name("body"))
    _parameters(reading, node)


def _parameters(reading: Reading, node: "Node") -> None:
    parameters = node.child_by_field_name("parameters")
    for parameter in parameters.named_children if parameters is not None else ():
        pattern = parameter.child_by_field_name("pattern") or parameter
        type_text = shapes.plain_type(parameter.child_by_field_name("type"))
        for word in shapes.words_in(pattern, ("identifier",)):
            reading.scope.origins[word] = typed(type_text if pattern.type == "identifier" else "")


def _let(reading: Reading, node: "Node") -> None:
    pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    type_text = shapes.plain_type(node.child_by_field_name("type"))
    chains = typed(type_text) if type_text else reading.chains(value)
    words = shapes.words_in(pattern, ("identifier",))
    is_some = pattern is not None and pattern.type == "tuple_struct_pattern" and words[:1] in (["Some"], ["Ok"])
    words = words[1:] if is_some else words
    for word in words:
        reading.bind(word, chains if len(words) == 1 else (UNKNOWN,), node, declared=bool(type_text))


def _loop(reading: Reading, node: "Node") -> None:
    value = node.child_by_field_name("value")
    words = shapes.words_in(node.child_by_field_name("pattern"), ("identifier",))
    for word in words:
        reading.bind(word, looped(reading.chains(value)) if len(words) == 1 else (UNKNOWN,), value or node)


def _use(reading: Reading, node: "Node") -> None:
    _used(reading, node.child_by_field_name("argument"), "")


def _used(reading: Reading, node: "Node | None", before: str) -> None:
    if node is None:
        return
    if node.type == "use_list":
        for entry in node.named_children:
            _used(reading, entry, before)
    elif node.type == "scoped_use_list":
        path = text_of(node.child_by_field_name("path"))
        _used(reading, node.child_by_field_name("list"), f"{before}{path}::" if path else before)
    elif node.type == "use_wildcard":
        reading.note(reading.scope.name, "*", "import", "*", before + text_of(node).removesuffix("::*"))
    else:
        path = before + text_of(node.child_by_field_name("path") if node.type == "use_as_clause" else node)
        module, _, name = path.rpartition("::")
        alias = text_of(node.child_by_field_name("alias"))
        if name == "self":
            module, _, name = module.rpartition("::")
        reading.note(reading.scope.name, alias or name, "import", name, module or name)


def _module(reading: Reading, node: "Node") -> None:
    """A module in its own file is a name for that; one that is written here qualifies what is in it."""
    name, body = text_of(node.child_by_field_name("name")), node.child_by_field_name("body")
    if body is None:
        reading.note(reading.scope.name, name, "import", "", name)
        return
    around = reading.scope.name
    scope = reading.enter(node, "class", "", body)
    scope.name = f"{around}.{name}" if around else name


def _call(reading: Reading, node: "Node") -> None:
    _called(reading, node.child_by_field_name("function"))


def _called(reading: Reading, function: "Node | None") -> None:
    if function is None:
        return
    if function.type == "generic_function":
        _called(reading, function.child_by_field_name("function"))
    elif function.type == "identifier":
        reading.call_plain(text_of(function), function)
    elif function.type == "field_expression":
        name = function.child_by_field_name("field")
        if name is not None:
            reading.call(text_of(name), reading.chains(function.child_by_field_name("value")) or (UNKNOWN,), name)
    elif function.type == "scoped_identifier":
        name = function.child_by_field_name("name")
        if name is not None:
            reading.call(text_of(name), _path(reading, text_of(function.child_by_field_name("path"))), name)


def _path(reading: Reading, path: str) -> Chains:
    """`crate::a::B` as a chain; what leads to the own module or crate says nothing."""
    parts = [part.partition("<")[0] for part in path.split("::")]
    parts = [part for part in parts if part and part not in _LEADS]
    if parts and parts[0] == "Self" and reading.scope.owner:
        return (".".join([f"^{shapes.owner_sign(reading)}", *parts[1:]]),)
    return ("~" + ".".join(parts),) if parts else ()


def _make(reading: Reading, node: "Node") -> None:
    made = node.child_by_field_name("name")
    *before, name = text_of(made).partition("<")[0].split("::")
    if name == "Self" and reading.scope.owner:
        reading.call_chain(f"^{shapes.owner_sign(reading)}", node)
    elif name:
        reading.call(name, _path(reading, "::".join(before)) if before else (), node)


def _macro(reading: Reading, node: "Node") -> None:
    """Inside a macro there is no tree: a name before round brackets is called."""
    waiting = [child for child in node.named_children if child.type == "token_tree"]
    while waiting:
        tokens = waiting.pop().children
        waiting += [token for token in tokens if token.type == "token_tree"]
        for position in range(1, len(tokens)):
            name, given = tokens[position - 1], tokens[position]
            if name.type != "identifier" or given.type != "token_tree" or given.children[0].type != "(":
                continue
            before = tokens[position - 2].type if position > 1 else ""
            holder = tokens[position - 3] if position > 2 else None
            if before == ".":
                known = reading.chains(holder) if holder is not None and holder.type in ("identifier", "self") else ()
                reading.call(text_of(name), known or (UNKNOWN,), name)
            elif before == "::":
                reading.call(text_of(name), _path(reading, text_of(holder)), name)
            elif before != "fn":
                reading.call_plain(text_of(name), name)


def _scoped(reading: Reading, node: "Node") -> Chains:
    name = text_of(node.child_by_field_name("name"))
    before = _path(reading, text_of(node.child_by_field_name("path")))
    return after(before, f".{name}") if before else (name,)


def _made(reading: Reading, node: "Node") -> Chains:
    text = shapes.plain_type(node.child_by_field_name("name"))
    return (f"@{shapes.owner_sign(reading)}",) if text == "Self" and reading.scope.owner else typed(text)


def _value(reading: Reading, node: "Node") -> Chains:
    return reading.chains(node.child_by_field_name("value"))


GRAMMAR = Grammar(
    _QUERY,
    {
        "class": _class,
        "struct": _struct,
        "function": _function,
        "closure": _closure,
        "let": _let,
        "loop": _loop,
        "use": _use,
        "module": _module,
        "call": _call,
        "make": _make,
        "macro": _macro,
    },
    {
        "identifier": shapes.name,
        "self": shapes.own("@"),
        "field_expression": shapes.member("value", "field"),
        "scoped_identifier": _scoped,
        "generic_function": lambda reading, node: reading.chains(node.child_by_field_name("function")),
        "index_expression": lambda reading, node: after(shapes.inner(reading, node), "[]"),
        "call_expression": shapes.given("function"),
        "struct_expression": _made,
        "try_expression": shapes.inner,
        "await_expression": shapes.inner,
        "parenthesized_expression": shapes.inner,
        "reference_expression": _value,
        "unary_expression": shapes.inner,
        "type_cast_expression": lambda _reading, node: typed(shapes.plain_type(node.child_by_field_name("type"))),
        "string_literal": instance_of("str"),
        "integer_literal": instance_of("int"),
    },
)
