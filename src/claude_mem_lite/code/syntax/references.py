"""Reader of the references in a source text: calls, and the meaning of names (imports, variables, base classes, return
types).

Nothing is resolved: other files are unknown to the reader. `code_cache` calls the reader for changed files."""

from bisect import bisect_right
from typing import TYPE_CHECKING, Literal

from claude_mem_lite.code.syntax.call_paths import UNKNOWN, member_of, path_of, text_of, type_path
from claude_mem_lite.code.syntax.languages import parse, query
from claude_mem_lite.code.syntax.symbols import DEFINING, TextPart, read_scopes
from claude_mem_lite.values import frozen

if TYPE_CHECKING:
    from tree_sitter import Node

    Captures = dict[str, list[Node]]

NameKind = Literal["import", "value", "base"]
RETURNS = "()"
"""Name of the entry for a function's return type."""
# A file with more matches is data, or generated; 1 MiB of dense code has some 25,000.
_MAX_MATCHES = 50_000
# Deeper queries take time with the square of the depth (22 s for a chain of 50,000 calls).
_MAX_DEPTH = 2_000
_FUNCTION_VALUES = ("function_expression", "arrow_function", "generator_function", "class", "object", "lambda")
_MAX_LIST_DEPTH = 3
_MAX_USE_BYTES = 2_000
_MIXINS = ("include", "extend", "prepend")


@frozen
class CallSite:
    """Call in a source text."""

    name: str
    """Simple name of the callee."""
    receiver: str
    """Path of the object or module with the callee; '' for a plain name."""
    line: int
    within: str
    """Symbol around the call; '' at the top level."""


@frozen
class Name:
    """Name other than a definition."""

    scope: str
    """Scope of the name: a symbol, or '' for the whole file."""
    name: str
    kind: NameKind
    target: str
    """Path (value, base), or imported name (import; '' for the module itself)."""
    origin: str = ""
    """For an import, the module as written; for a value, the symbol with the scope of the path."""


@frozen
class References:
    calls: tuple[CallSite, ...] = ()
    names: tuple[Name, ...] = ()


def read_references(text: str, language: str) -> References | None:
    """Return the references of a text; None for a language without a query, and for a text too large to parse."""
    from tree_sitter import QueryCursor

    tree = parse(text, language)
    compiled = query(language, "calls") if tree is not None else None
    parts = read_scopes(text, language) if compiled is not None else None
    if tree is None or compiled is None or parts is None:
        return None
    cursor = QueryCursor(compiled)
    cursor.set_max_start_depth(_MAX_DEPTH)
    reader = _Reader(language, parts)
    for _, captures in cursor.matches(tree.root_node)[:_MAX_MATCHES]:
        reader.read(captures)
    return reader.references()


class _Reader:
    """Converter from the matches of one text to calls and names."""

    def __init__(self, language: str, parts: list[TextPart]) -> None:
        self._language = language
        self._scopes = _Scopes(parts)
        self._calls: list[CallSite] = []
        self._names: dict[Name, None] = {}

    def references(self) -> References:
        if self._language == "ruby":  # a bare word is a call unless a local variable has the name
            local = {(name.scope, name.name) for name in self._names if name.kind == "value"}
            self._calls = [call for call in self._calls if call.receiver or (call.within, call.name) not in local]
        return References(tuple(self._calls), tuple(self._names))

    def read(self, captures: "Captures") -> None:
        node = {name: nodes[0] for name, nodes in captures.items()}
        if "call" in node:
            self._call(node["call"])
        elif "specifier" in node or "taken" in node:
            self._list_item(node)
        elif "module" in node or "import" in node or "use" in node:
            self._import(node)
        elif "exported" in node:
            name = text_of(node.get("export")) or "default"
            self._add("", name, "value", text_of(node["exported"]))
        elif "base" in node:
            self._add(self._scopes.owner(node["base"].start_byte), "", "base", path_of(node["base"], is_callee=True))
        elif "returns" in node:
            function = self._scopes.symbol(node["returns"].start_byte)
            self._add(function, RETURNS, "value", type_path(text_of(node["returns"])), function)
        elif "declared" in node and (parent := node["declared"].parent) is not None:
            declared_type = parent.child_by_field_name("type")
            self._variable(node["declared"], {"type": declared_type} if declared_type is not None else {})
        elif "variable" in node:
            self._variable(node["variable"], node)
        elif "field" in node:
            self._variable(node["field"], node, is_field=True)

    def _call(self, node: "Node") -> None:
        at = member_of(node)
        within = self._scopes.symbol(node.start_byte, is_body=True)
        receiver, dot, name = _callee_path(node).rpartition(".")
        if name in ("self", "super") and not dot:
            receiver, name = self._own_constructor(name, node.start_byte, within)
        if name and name != UNKNOWN and "(" not in name and not (self._language == "ruby" and name in _MIXINS):
            self._calls.append(CallSite(name, receiver, at.start_point[0] + 1, within))

    def _own_constructor(self, which: str, at: int, within: str) -> tuple[str, str]:
        """Return receiver and name of `cls()`, `super()` and similar calls."""
        owner = self._scopes.owner(at)
        if which == "self":
            return "", owner.rpartition(".")[2]
        if self._language == "ruby":
            return "super", within.rpartition(".")[2]
        if self._language == "java":
            bases = (name.target for name in self._names if name.kind == "base" and name.scope == owner)
            return "", next(bases, "").rpartition(".")[2]
        return ("super", "constructor") if self._language != "python" else ("", "")

    def _import(self, node: "dict[str, Node]") -> None:
        at = next(iter(node.values())).start_byte
        scope = self._scopes.symbol(at)
        for module, imported, alias in _imports(self._language, node):
            self._add(scope, alias, "import", imported, module)

    def _list_item(self, node: "dict[str, Node]") -> None:
        """Read a name of `import { a as b } from "m"`, of the same `export`, or of `const { a: b } = require("m")`."""
        item = node.get("specifier") or node["taken"]
        name = text_of(item.child_by_field_name("name") or item.child_by_field_name("key") or item)
        alias = text_of(item.child_by_field_name("alias") or item.child_by_field_name("value")) or name
        scope = self._scopes.symbol(item.start_byte)
        if module := _module_around(item):
            self._add(scope, alias, "import", name, module)
        elif "taken" in node:
            self._add(scope, alias, "value", UNKNOWN)
        elif alias != name:
            self._add(scope, alias, "value", name)

    def _variable(self, target: "Node", node: "dict[str, Node]", *, is_field: bool = False) -> None:
        value = node.get("value")
        if value is not None and value.type in _FUNCTION_VALUES:
            return
        within = self._scopes.symbol(target.start_byte)
        declared = type_path(text_of(node["type"])) if "type" in node else ""
        path = path_of(value) if value is not None and declared in ("", "var()", "auto()") else declared or UNKNOWN
        name = path_of(target)
        scope = self._scopes.owner(target.start_byte) if is_field or name.startswith("self.") else within
        name = name.removeprefix("self.")
        if name.isidentifier() and path:
            self._add(scope, name, "value", path, within)

    def _add(self, scope: str, name: str, kind: NameKind, target: str, origin: str = "") -> None:
        self._names[Name(scope, name, kind, target, origin)] = None


def _callee_path(node: "Node") -> str:
    before = node.prev_sibling if node.parent is not None and node.parent.type == "token_tree" else None
    if before is None or before.type not in (".", "::"):
        return path_of(node, is_callee=True)
    holder = before.prev_sibling  # a macro of Rust has only tokens
    return f"{path_of(holder) if holder is not None else UNKNOWN}.{text_of(node)}"


def _module_around(item: "Node") -> str:
    """Return the module of the import, export or `require` around a list item; '' if none."""
    statement = item.parent
    for _ in range(_MAX_LIST_DEPTH):
        if statement is None:
            return ""
        if (source := statement.child_by_field_name("source")) is not None:
            return text_of(source).strip("\"'`")
        value = statement.child_by_field_name("value")
        if value is not None and text_of(value.child_by_field_name("function")) == "require":
            return text_of(value.child_by_field_name("arguments")).strip("()\"'`")
        statement = statement.parent
    return ""


def _imports(language: str, node: "dict[str, Node]") -> list[tuple[str, str, str]]:
    """Return module, imported name and local name for each name of an import."""
    module = text_of(node.get("module")).strip("\"'`")
    if "use" in node:
        return _used(text_of(node["use"], _MAX_USE_BYTES), "")
    if "import" in node:  # Java
        holder, _, last = text_of(node["import"]).rpartition(".")
        following = node["import"].next_named_sibling
        is_star = following is not None and following.type == "asterisk"
        return [(f"{holder}.{last}", "*", "*")] if is_star else [(holder, last, last)] if holder else []
    if "star" in node:
        return [(module, "*", "*")]
    if "default" in node:
        return [(module, "default", text_of(node["default"]))]
    imported, alias = text_of(node.get("imported")), text_of(node.get("alias"))
    if language == "python" and not imported and not alias:
        module = alias = module.partition(".")[0]  # `import a.b` defines `a`
    if language == "go" and not alias:
        parts = [part for part in module.split("/") if not (part[:1] == "v" and part[1:].isdigit())]
        alias = parts[-1] if parts else ""
    return [(module, imported, alias or imported or module)]


def _used(text: str, before: str) -> list[tuple[str, str, str]]:
    """Return module, imported name and local name for each name of a Rust `use`, as written: `a::{b as c, d::*}`."""
    head, brace, rest = text.partition("{")
    if brace:
        found, depth, start = [], 0, 0
        inner = rest.rpartition("}")[0] + ","
        for position, sign in enumerate(inner):
            depth += (sign == "{") - (sign == "}")
            if sign == "," and depth == 0:
                found += _used(inner[start:position].strip(), before + head.strip())
                start = position + 1
        return found
    path, _, alias = (before + text.strip()).partition(" as ")
    module, _, name = path.strip().rpartition("::")
    if name == "self":
        module, _, name = module.rpartition("::")
    return [(module or name, name, alias.strip() or name)] if name else []


class _Scopes:
    """Definitions around each offset of a text."""

    def __init__(self, parts: list[TextPart]) -> None:
        self._parts = parts
        self._starts = [part.start for part in parts]
        self._around: list[int] = []
        for position, part in enumerate(parts):
            outer = position - 1
            while outer >= 0 and parts[outer].end <= part.start:
                outer = self._around[outer]
            self._around.append(outer)

    def symbol(self, at: int, *, is_body: bool = False) -> str:
        """Return the symbol around an offset; with `is_body`, the head of a function belongs to the outer symbol."""
        for part in self._outward(at):
            is_head = is_body and part.role in ("function", "method") and at < part.head_end
            if part.role in DEFINING and not is_head:
                return part.name
        return ""

    def owner(self, at: int) -> str:
        """Return the class around an offset."""
        for part in self._outward(at):
            if part.role in ("class", "type"):
                return part.name
            if part.role == "method":
                return part.name.rpartition(".")[0]
        return ""

    def _outward(self, at: int) -> list[TextPart]:
        found, position = [], bisect_right(self._starts, at) - 1
        while position >= 0:
            if self._parts[position].end > at:
                found.append(self._parts[position])
            position = self._around[position]
        return found
