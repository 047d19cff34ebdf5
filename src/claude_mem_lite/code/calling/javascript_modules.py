"""What modules of JavaScript and TypeScript take from each other: `import`, `require` and `export`.

What a module exports under another name is a name of it; `default` is that of the default export."""

from typing import TYPE_CHECKING

from claude_mem_lite.code.calling import shapes
from claude_mem_lite.code.calling.reading import Reading, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

WORDS = ("identifier", "shorthand_property_identifier_pattern")
FUNCTIONS = ("function_expression", "arrow_function", "generator_function", "class")


def required(value: "Node | None") -> tuple[str, str]:
    """The module and the member that `require("m").x` takes; empty when it is something else."""
    if value is not None and value.type == "member_expression":
        module, _ = required(value.child_by_field_name("object"))
        return module, text_of(value.child_by_field_name("property"))
    if value is None or value.type != "call_expression" or text_of(value.child_by_field_name("function")) != "require":
        return "", ""
    given = value.child_by_field_name("arguments")
    return (text_of(given.named_children[0]).strip("\"'`") if given and given.named_children else ""), ""


def import_by(reading: Reading, target: "Node", module: str, members: str) -> None:
    if target.type == "identifier":
        reading.note(reading.scope.name, text_of(target), "import", members, module)
        return
    for entry in target.named_children:
        key = text_of(entry.child_by_field_name("key") or entry)
        for word in shapes.words_in(entry.child_by_field_name("value") or entry, WORDS):
            reading.note(reading.scope.name, word, "import", key, module)


def import_statement(reading: Reading, node: "Node") -> None:
    module = text_of(node.child_by_field_name("source")).strip("\"'`")
    clause = next((child for child in node.named_children if child.type == "import_clause"), None)
    for part in clause.named_children if clause else ():
        if part.type == "identifier":
            reading.note("", text_of(part), "import", "default", module)
        elif part.type == "namespace_import":
            reading.note("", text_of(part.named_children[0]), "import", "", module)
        else:
            for entry in part.named_children:
                name = text_of(entry.child_by_field_name("name"))
                reading.note("", text_of(entry.child_by_field_name("alias")) or name, "import", name, module)


def export_statement(reading: Reading, node: "Node") -> None:
    module = text_of(node.child_by_field_name("source")).strip("\"'`")
    value, declared = node.child_by_field_name("value"), node.child_by_field_name("declaration")
    is_default = any(child.type == "default" for child in node.children)
    if is_default and value is not None and value.type not in FUNCTIONS:
        reading.note("", "default", "value", "|".join(reading.chains(value)))
    elif is_default and (given := (declared or value)) is not None:
        reading.note("", "default", "value", text_of(given.child_by_field_name("name")))
    listed = [child for child in node.named_children if child.type in ("export_clause", "namespace_export")]
    for part in listed:
        for entry in part.named_children:
            name = text_of(entry.child_by_field_name("name") or entry)
            alias = text_of(entry.child_by_field_name("alias")) or name
            if part.type == "namespace_export":
                reading.note("", name, "import", "", module)
            elif module:
                reading.note("", alias, "import", name, module)
            elif alias != name:
                reading.note("", alias, "value", name)
    if module and not listed:
        reading.note("", "*", "import", "*", module)


def exported(reading: Reading, left: "Node", right: "Node") -> bool:
    """Whether something is assigned to `module.exports` or a member of it; if so that is noted."""
    target, holder = text_of(left), text_of(left.child_by_field_name("object"))
    if target == "module.exports" and right.type == "object":
        for entry in right.named_children:
            value = entry.child_by_field_name("value") or entry
            if value.type in ("identifier", "shorthand_property_identifier"):
                reading.note("", text_of(entry.child_by_field_name("key") or entry), "value", text_of(value))
        return True
    is_whole = target == "module.exports"
    if not is_whole and holder not in ("exports", "module.exports"):
        return False
    name = "default" if is_whole else text_of(left.child_by_field_name("property"))
    if right.type not in FUNCTIONS:
        reading.note("", name, "value", "|".join(reading.chains(right)))
    elif is_whole:
        reading.note("", name, "value", "exports")  # what such a symbol is called
    return True
