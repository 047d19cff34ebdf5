"""Calls and names in Python.

A decorator counts as called by what surrounds the function it decorates, for that is where it runs; so do calls in
defaults of parameters and in annotations. Making an instance is a call of the class."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling.python_values import EXPRESSIONS, arguments, as_pattern, assignment, loop, set_items
from claude_mem_lite.code.calling.reading import Grammar, Reading, text_of, type_of, typed
from claude_mem_lite.code.calling.values import UNKNOWN

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = """
[(function_definition) (class_definition)] @definition
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
(lambda) @lambda
[(assignment) (named_expression)] @assignment
(for_statement) @loop
(as_pattern) @as
(global_statement) @global
[(import_statement) (import_from_statement)] @import
(call) @call
(decorator) @decorator
"""


def _definition(reading: Reading, node: "Node") -> None:
    name = text_of(node.child_by_field_name("name"))
    body = node.child_by_field_name("body")
    if node.type == "class_definition":
        scope = reading.enter(node, "class", name, body)
        for base in arguments(node.child_by_field_name("superclasses")):
            while base.type == "subscript" and base.named_children:
                base = base.named_children[0]
            reading.note(scope.name, "", "base", "|".join(reading.chains(base)))
        return
    owner = "" if reading.scope.kind != "class" or _is_static(node) else reading.scope.owner
    # The scope begins with the body: defaults and annotations belong to what is around.
    reading.later(body.start_byte if body else node.end_byte, lambda: _enter(reading, node, name, owner))


def _enter(reading: Reading, node: "Node", name: str, owner: str) -> None:
    """The body of a function begins; `owner` is the class whose instance, or which itself, is its first parameter."""
    scope = reading.enter(node, "function", name, node.child_by_field_name("body"))
    parameters = node.child_by_field_name("parameters")
    for position, parameter in enumerate(parameters.named_children if parameters else ()):
        word, type_text = _parameter(parameter)
        scope.origins[word] = typed(type_text)
        if position == 0 and owner:
            scope.origins[word] = (("^" if word in ("cls", "mcs") else "@") + owner.replace(".", ":"),)
    reading.note(scope.name, "", "returns", type_of(node.child_by_field_name("return_type")))


def _parameter(node: "Node") -> tuple[str, str]:
    """Name and type of a parameter; of several values, that of one is no use."""
    name = node.child_by_field_name("name") or (node.named_children[0] if node.named_children else node)
    if name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
        return text_of(name).lstrip("*"), ""
    return text_of(name).lstrip("*"), type_of(node.child_by_field_name("type"))


def _is_static(node: "Node") -> bool:
    above = node.parent
    decorators = above.named_children if above is not None and above.type == "decorated_definition" else ()
    return any(text_of(one) == "@staticmethod" for one in decorators)


def _comprehension(reading: Reading, node: "Node") -> None:
    scope = reading.enter(node, "function", "", None)
    for clause in node.named_children:
        if clause.type == "for_in_clause":
            set_items(reading, clause, scope.origins)


def _lambda(reading: Reading, node: "Node") -> None:
    scope = reading.enter(node, "function", "", None)
    parameters = node.child_by_field_name("parameters")
    for parameter in parameters.named_children if parameters else ():
        scope.origins[_parameter(parameter)[0]] = (UNKNOWN,)


def _global(reading: Reading, node: "Node") -> None:
    reading.scope.outward.update(text_of(name) for name in node.named_children)


def _import(reading: Reading, node: "Node") -> None:
    source = node.child_by_field_name("module_name")
    for entry in node.children_by_field_name("name"):
        name = text_of(entry.child_by_field_name("name") or entry)
        alias = text_of(entry.child_by_field_name("alias"))
        if source is not None:
            reading.note(reading.scope.name, alias or name, "import", name, text_of(source))
        else:
            reading.note(
                reading.scope.name,
                alias or name.partition(".")[0],
                "import",
                "",
                name if alias else name.partition(".")[0],
            )
    if source is not None and any(child.type == "wildcard_import" for child in node.named_children):
        reading.note(reading.scope.name, "*", "import", "*", text_of(source))


def _call(reading: Reading, node: "Node") -> None:
    _called(reading, node.child_by_field_name("function"))


def _decorator(reading: Reading, node: "Node") -> None:
    if node.named_children and node.named_children[0].type != "call":
        _called(reading, node.named_children[0])


def _called(reading: Reading, function: "Node | None") -> None:
    """What stands before the brackets is called."""
    if function is None:
        return
    if function.type == "identifier":
        reading.call_plain(text_of(function), function)
    elif function.type == "attribute":
        name = function.child_by_field_name("attribute")
        holder = reading.chains(function.child_by_field_name("object"))
        if name is None:
            return
        if text_of(name) == "__class__":
            for chain in holder:
                reading.call_chain(chain.replace("@", "^"), name)
        else:
            reading.call(text_of(name), holder or (UNKNOWN,), name)


GRAMMAR = Grammar(
    _QUERY,
    {
        "definition": _definition,
        "comprehension": _comprehension,
        "lambda": _lambda,
        "assignment": assignment,
        "loop": loop,
        "as": as_pattern,
        "global": _global,
        "import": _import,
        "call": _call,
        "decorator": _decorator,
    },
    EXPRESSIONS,
)
