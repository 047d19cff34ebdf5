"""The engine that finds calls in a syntax tree; a grammar says what to look for in one language and what it means.

It goes through what the grammar's query finds in the order of the text, and knows at each place which symbol it is in
and what the local names there stand for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from claude_mem_lite.code.calling.values import CALLED_ITSELF, UNKNOWN, Call, FileCalls, Name, NameKind, steps
from claude_mem_lite.code.languages import query
from claude_mem_lite.code.values import Symbol

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_LONGEST_CHAIN = 160
_LONGEST_TEXT = 500
_MOST_ALTERNATIVES = 4
_DEEPEST = 20
# A file with more is data, or made by a program; 1 MiB of dense code has some 25,000.
_MOST_NODES = 50_000
# Looking deeper takes time with the square of the depth (22 s for a chain of 50,000 calls).
_DEEPEST_NODE = 2_000
Chains = tuple[str, ...]
"""The chains an expression may stand for."""
ScopeKind = Literal["file", "class", "function"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """What to look for in the trees of one language."""

    query: str
    on: Mapping[str, Callable[["Reading", "Node"], None]]
    """What to do with each thing the query captures."""
    expressions: Mapping[str, Callable[["Reading", "Node"], Chains]]
    """The chains of a node, by its type."""


@dataclass(slots=True)
class Scope:
    kind: ScopeKind
    name: str
    end: int
    block: int = 0
    """The node of its statements: what stands right in it happens whatever else does."""
    owner: str = ""
    """The class it is in."""
    origins: dict[str, Chains] = field(default_factory=dict)
    outward: set[str] = field(default_factory=set)
    """Names that are the file's, although they are set here."""


class Reading:
    """One pass over a file."""

    def __init__(self, symbols: Sequence[Symbol], grammar: Grammar, end: int) -> None:
        self.calls: list[Call] = []
        self.names: list[Name] = []
        self.scopes = [Scope("file", "", end)]
        self._grammar = grammar
        self._depth = 0
        self._later: list[tuple[int, Callable[[], None]]] = []
        self._symbols: dict[str, list[Symbol]] = {}
        for symbol in symbols:
            self._symbols.setdefault(symbol.name.rpartition(".")[2], []).append(symbol)

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

    def arrive(self, at: int) -> None:
        """Go on to a place of the text: what was to happen before it happens, and scopes that ended are left."""
        due = [action for end, action in self._later if end <= at]
        self._later = [(end, action) for end, action in self._later if end > at]
        for action in due:
            action()
        while len(self.scopes) > 1 and self.scope.end <= at:
            self.scopes.pop()

    def enter(self, node: "Node", kind: ScopeKind, name: str, body: "Node | None") -> Scope:
        """Begin the scope of a definition; without a name, or when it is no symbol, it belongs to the one around."""
        qualified = self._symbol_around(node, body or node, name)
        owner = self.scope.owner
        if kind == "class" and qualified:
            owner = qualified
        block = body or node
        self.scopes.append(Scope(kind, qualified or self.scope.name, node.end_byte, block.id, owner))
        return self.scope

    def _symbol_around(self, node: "Node", body: "Node", name: str) -> str:
        """The qualified name of the symbol of this name around a definition; empty when there is none."""
        # By the body: what stands before it, like decorators, is not always the symbol's.
        first, last = body.start_point[0] + 1, node.end_point[0] + 1
        around = [one for one in self._symbols.get(name, ()) if one.first <= first and last <= one.last]
        return min(around, key=lambda one: one.last - one.first).name if around else ""

    def later(self, end: int, action: Callable[[], None]) -> None:
        """Do something once the text up to here has been read."""
        self._later.append((end, action))

    # What names stand for.

    def chains(self, node: "Node | None") -> Chains:
        """What an expression may stand for, as chains; none for what is nothing, like None."""
        if node is None:
            return (UNKNOWN,)
        made = self._grammar.expressions.get(node.type)
        if made is None or self._depth > _DEEPEST:
            return (UNKNOWN,)
        self._depth += 1
        found = _limited(made(self, node))
        self._depth -= 1
        return found

    def local(self, name: str) -> Chains | None:
        """What a local name stands for; None when it is not local."""
        for scope in reversed(self.scopes):
            if scope.kind == "function" and name in scope.origins:
                return scope.origins[name]
        return None

    def named(self, name: str) -> Chains:
        known = self.local(name)
        return (name,) if known is None else known

    def bind(self, name: str, chains: Chains, at: "Node", *, declared: bool = False) -> None:
        """From the end of a node on, a name stands for something in the current scope."""
        scope = self.scope
        if scope.kind == "function" and name not in scope.outward:
            self.later(at.end_byte, lambda: _bind(scope, name, chains, declared or _is_certain(scope, at)))
        else:
            where = "" if name in scope.outward else scope.name
            self.note(where, name, "value", "|".join(chains))

    def note(self, scope: str, name: str, kind: NameKind, target: str, module: str = "") -> None:
        if target or module:
            self.names.append(Name(scope, name, kind, target, module))

    # Calls.

    def call(self, name: str, receiver: Chains, at: "Node") -> None:
        """Something is called: a member of what the receiver stands for, or a plain name when there is none."""
        if name and len(self.calls) < _MOST_NODES:
            self.calls.append(Call(name, "|".join(receiver), at.start_point[0] + 1, self.scope.name))

    def call_plain(self, name: str, at: "Node") -> None:
        """A plain name is called; a local one for something else counts as that."""
        known = self.local(name)
        if known is None:
            self.call(name, (), at)
        for chain in known or ():
            self.call_chain(chain, at)

    def call_chain(self, chain: str, at: "Node") -> None:
        """What a chain stands for is called."""
        *before, last = steps(chain)
        if last.startswith("."):
            self.call(last[1:], ("".join(before),), at)
        elif before or last[0] in "@{":
            self.call("__call__", (chain,), at)
        elif last[0] == "^":
            self.call(last[1:].rpartition(":")[2], (CALLED_ITSELF + chain,), at)
        elif last != UNKNOWN:
            self.call(last.lstrip("~"), (), at)


def after(chains: Chains, step: str) -> Chains:
    """Chains with one more step."""
    return tuple(UNKNOWN if chain == UNKNOWN else _one_more(chain, step) for chain in chains)


def _one_more(chain: str, step: str) -> str:
    is_taken = step == "*" or step[0] == "["
    if chain[-1] == "#":
        return chain[:-1] if is_taken else chain if step == "=" else "{list}" + step
    if chain[-1] == "=":
        return chain[:-1] + "*" if is_taken else chain if step == "=" else "{list}" + step
    return chain + step


def looped(chains: Chains) -> Chains:
    """What a loop over them gives."""
    return after(chains, "*")


def text_of(node: "Node | None") -> str:
    """What a node says; nothing when it is longer than names and types are."""
    if node is None or node.end_byte - node.start_byte > _LONGEST_TEXT:
        return ""
    return (node.text or b"").decode("utf-8", "replace")


def type_of(node: "Node | None") -> str:
    """A type as written, on one line; empty when it is none or longer than is of use."""
    text = " ".join(text_of(node).split())
    return "" if len(text) > _LONGEST_CHAIN or "{" in text or "}" in text else text


def instance_of(name: str) -> Callable[["Reading", "Node"], Chains]:
    """What a literal stands for."""
    return lambda _reading, _node: (f"{{{name}}}",)


def typed(type_text: str) -> Chains:
    """An instance of a type."""
    return (f"{{{type_text}}}",) if type_text else (UNKNOWN,)


def read(tree: "Tree", language: str, grammar: Grammar, symbols: Sequence[Symbol]) -> FileCalls | None:
    """The calls of a file, and what its names stand for; None when the grammar cannot be used."""
    from tree_sitter import QueryCursor

    compiled = query(language, grammar.query)
    if compiled is None:
        return None
    cursor = QueryCursor(compiled)
    cursor.set_max_start_depth(_DEEPEST_NODE)
    found = cursor.captures(tree.root_node)
    order = sorted(
        ((node.start_byte, -node.end_byte, capture, node) for capture, nodes in found.items() for node in nodes),
        key=lambda one: one[:3],
    )
    reading = Reading(symbols, grammar, tree.root_node.end_byte + 1)
    for start, _, capture, node in order[:_MOST_NODES]:
        reading.arrive(start)
        grammar.on[capture](reading, node)
    reading.arrive(tree.root_node.end_byte + 1)
    return FileCalls(tuple(reading.calls), tuple(reading.names))


def _bind(scope: Scope, name: str, chains: Chains, is_certain: bool) -> None:
    before = () if is_certain else scope.origins.get(name, ())
    scope.origins[name] = _limited((*before, *chains)) or (UNKNOWN,)


def _is_certain(scope: Scope, node: "Node") -> bool:
    """Whether a statement stands right among those of its function, so that what it sets is set from there on."""
    statement = node.parent
    return statement is not None and statement.parent is not None and statement.parent.id == scope.block


def _limited(chains: Chains) -> Chains:
    """Without doubles, no longer and no more than is of use: the last are likelier."""
    short = (chain if len(chain) <= _LONGEST_CHAIN else UNKNOWN for chain in chains)
    return tuple(dict.fromkeys(short))[-_MOST_ALTERNATIVES:]
