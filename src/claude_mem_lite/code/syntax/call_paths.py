"""Expressions and types of a syntax tree as *paths*: names, members and calls, the same in all languages.

`a.b().c` is a path: member `c` of the result of calling member `b` of `a`. `self` is the class around, `super` its base
classes, `?` is unknown, and `T()` is an instance of type T. `references.py` makes paths, and the resolver follows
paths."""

from typing import TYPE_CHECKING

from claude_mem_lite.lazy_regex import lazy

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN = "?"
_MAX_STEPS = 12
_MEMBERS = frozenset(
    """attribute member_expression selector_expression field_expression field_access scoped_identifier call
    scoped_type_identifier qualified_identifier qualified_type scope_resolution method_invocation nested_identifier
    nested_type_identifier""".split()  # noqa: SIM905
)
_CALLS = (
    "call",
    "call_expression",
    "new_expression",
    "object_creation_expression",
    "composite_literal",
    "struct_expression",
)
# Node types with the meaning of their first child.
_TRANSPARENT = frozenset(
    """await await_expression parenthesized_expression non_null_expression try_expression boolean_operator as_expression
    conditional_expression reference_expression unary_expression pointer_expression generic_type generic_function
    template_type type_conversion_expression pointer_type expression_list""".split()  # noqa: SIM905
)
_MEMBERS_WITH_CALL = ("call", "method_invocation")  # of Ruby and Java
_HOLDER_FIELDS = ("object", "operand", "value", "argument", "path", "scope", "receiver", "package", "module")
_MEMBER_FIELDS = ("attribute", "property", "field", "name", "method")
_CALLED_FIELDS = ("function", "constructor", "type", "name")
_OWN = ("self", "cls", "this", "Self")
_LITERAL = lazy(r"string|integer|float|number|list|dict|set$|tuple|array|object|regex|true|false|comparison")
_NOTHING = ("none", "null", "nil", "undefined", "null_literal")
# Types with a single value of another type inside, and type words without a type name.
_WRAPPERS = frozenset(
    """Optional Final ClassVar Annotated Type type Promise Awaitable Awaited Readonly Partial Box Rc Arc Ref RefMut
    Option Result unique_ptr shared_ptr mut const dyn impl struct class enum final readonly static
    typename""".split()  # noqa: SIM905
)
_TYPE_NAME = lazy(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
_LIST = lazy(r"^[\[\]]|\[\]$")


def text_of(node: "Node | None", max_bytes: int = 200) -> str:
    """Return the text of a node; '' for a text longer than any name or type."""
    if node is None or node.end_byte - node.start_byte > max_bytes:
        return ""
    return (node.text or b"").decode("utf-8", "replace")


def path_of(node: "Node | None", *, is_callee: bool = False) -> str:
    """Return the path of an expression; '' for None and similar literals. For a callee, the call is left out."""
    steps: list[str] = []
    for _ in range(_MAX_STEPS):
        if node is None:
            return _joined("", steps)
        last = _last_step(node, is_callee=is_callee)
        if last is None:
            return _joined(_first(node), steps) if steps or node.type not in _NOTHING else ""
        steps.append(last[0])
        node, is_callee = last[1], is_callee and not last[0]
    return _joined(UNKNOWN, steps)


def member_of(node: "Node") -> "Node":
    """Return the node with the simple name of a callee."""
    return (_field(node, _MEMBER_FIELDS) if node.type in _MEMBERS else None) or node


def type_path(text: str) -> str:
    """Return the path of an instance of a type; unknown for functions, lists and unions."""
    text = text.strip(": \t\n?")
    if text.startswith("("):  # the first of several results in Go
        text = text[1:].partition(",")[0].rstrip(")")
    text = text.removeprefix("->").strip().strip("\"'")
    parts = [part for part in text.split("|") if part.strip() not in ("None", "null", "undefined")]
    if len(parts) != 1 or "=>" in text or "(" in text or _LIST.search(text) or text.startswith(("Union[", "Callable")):
        return UNKNOWN
    names = [name for name in _TYPE_NAME.findall(parts[0].replace("std::", "")) if name not in _WRAPPERS]
    if not names:
        return UNKNOWN
    return "self" if names[0] == "Self" else names[0].replace("::", ".") + "()"


def _last_step(node: "Node", *, is_callee: bool) -> "tuple[str, Node | None] | None":
    """Return the last step of an expression, and the expression before the step; None for a name or a literal."""
    if node.type in _CALLS and (called := _field(node, _CALLED_FIELDS)) is not None:
        return "()", called
    if node.type in _MEMBERS and (member := _field(node, _MEMBER_FIELDS)) is not None:
        call = "()" if node.type in _MEMBERS_WITH_CALL and not is_callee else ""
        is_new = node.type == "call" and text_of(member) == "new"  # Ruby
        return call if is_new else f".{text_of(member)}{call}", _field(node, _HOLDER_FIELDS)
    if node.type in _TRANSPARENT and node.named_children:
        return "", node.named_children[0]
    return None


def _first(node: "Node") -> str:
    text = text_of(node)
    if node.type in ("crate", "self", "super") and node.parent is not None and node.parent.type.startswith("scoped_"):
        return ""  # Rust: the path to a module is not followed
    if text in _OWN:
        return "self"
    if node.type in ("instance_variable", "class_variable"):  # Ruby
        return f"self.{text.lstrip('@')}"
    if text.replace("$", "_").rstrip("?!").isidentifier():
        return text
    if node.type == "scoped_type_identifier":  # Java: no fields inside
        return text
    return "str()" if _LITERAL.search(node.type) else UNKNOWN


def _joined(first: str, steps: list[str]) -> str:
    path = "".join((first, *reversed(steps))).lstrip(".")
    if path.startswith("super()"):  # Python
        return path.replace("()", "", 1)
    return path if path[:1] not in ("", "(") else f"self{path}"


def _field(node: "Node", names: tuple[str, ...]) -> "Node | None":
    return next((found for name in names if (found := node.child_by_field_name(name)) is not None), None)
