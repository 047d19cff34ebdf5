"""The functions, methods and classes that a text defines, by its syntax tree. Any text will do, however broken."""

from dataclasses import replace
from hashlib import blake2b

from claude_mem_lite.code.syntax.languages import MAX_TEXT_BYTES, encoded
from claude_mem_lite.code.syntax.parts import DEFINING, QUALIFYING, Part, find_parts
from claude_mem_lite.code.syntax.values import Symbol, SymbolKind
from claude_mem_lite.code.syntax.wording import SPACES, hash_of, signature_of, without

_END_OF_BLOCK = b"\x02"


def read_symbols(text: str, language: str) -> tuple[Symbol, ...] | None:
    """The symbols a text defines, in order, each name once; None when its language is not read, or it is far too large.

    What is defined more than once (overloads, a property's setter) is one symbol: lines and signature are of the first,
    the hash is of them all. Lines begin with the definition itself, not with its decorators.
    """
    definitions = read_definitions(text, language)
    if definitions is None:
        return None
    by_name: dict[str, list[Symbol]] = {}
    for definition in definitions:
        by_name.setdefault(definition.name, []).append(definition)
    return tuple(_folded(same) for same in by_name.values())


def read_definitions(text: str, language: str) -> tuple[Symbol, ...] | None:
    """Every definition in a text, in order; a name may come more than once. None as for `read_symbols`."""
    if len(text) > MAX_TEXT_BYTES:
        return None
    data = encoded(text)
    parts = find_parts(data, language)
    if parts is None:
        return None
    return _Sweep(data).definitions(parts)


def read_scopes(text: str, language: str) -> list[Part] | None:
    """Return the parts of a text that qualify names, in order, each with its qualified name; None as `read_symbols`."""
    data = encoded(text)
    parts = find_parts(data, language) if len(text) <= MAX_TEXT_BYTES else None
    return None if parts is None else [part for part, _ in _Sweep(data).qualify(parts)]


def _folded(same: list[Symbol]) -> Symbol:
    if len(same) == 1:
        return same[0]
    bodies = "".join(symbol.body for symbol in same)
    return replace(same[0], body=blake2b(bodies.encode(), digest_size=6).hexdigest())


class _Sweep:
    """Goes through a text's parts once and knows what each stands in."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._around: list[Part] = []
        self._before: list[Part] = []
        """Comments and decorators since the last definition."""
        self._comments: dict[int, int] = {}

    def definitions(self, parts: list[Part]) -> tuple[Symbol, ...]:
        # In broken text the grammar may suppose a name that is not there.
        found = self.qualify(parts)
        return tuple(self._symbol(part, kind) for part, kind in found if part.role in DEFINING and part.own_name)

    def qualify(self, parts: list[Part]) -> list[tuple[Part, SymbolKind]]:
        """Qualify the names of parts by the parts around them; return those that qualify others, with their kind."""
        self._comments = {part.end: part.start for part in parts if part.role == "comment"}
        found = []
        for part in parts:
            while self._around and self._around[-1].end <= part.start:
                self._around.pop()
            holder = next((outer for outer in reversed(self._around) if outer.role in DEFINING), None)
            if part.role in QUALIFYING:
                found.append((part, self._enter(part, holder)))
            else:
                self._pass(part, holder)
        return found

    def _pass(self, part: Part, holder: Part | None) -> None:
        """Take note of what is no definition: it belongs to the one around it, or to the next."""
        if part.role in ("comment", "lead"):
            self._before.append(part)
        if holder is None:
            return
        if part.role == "comment":
            holder.cuts.append((part.start, part.end, b""))
        elif part.role == "block":
            holder.cuts.append((part.end, part.end, _END_OF_BLOCK))
        elif part.start < holder.head_end:
            holder.leads.append((part.start, part.end, b""))

    def _enter(self, part: Part, holder: Part | None) -> SymbolKind:
        """Take up a definition: qualify its name, give it what leads to it, and take it out of the one around it."""
        self._take_leads(part)
        if holder is not None and part.role in DEFINING:
            holder.cuts.append((part.outer, self._after_separator(part.end), b""))
        outer = self._around[-1] if self._around else None
        if outer is not None:
            part.name = ".".join(name for name in (outer.name, part.name) if name)
        self._around.append(part)
        if part.role in ("class", "namespace"):
            return "class"
        return "method" if part.role == "method" or (outer and outer.role in ("class", "type")) else "function"

    def _take_leads(self, part: Part) -> None:
        at = part.outer
        taken: list[Part] = []
        for lead in reversed(self._before):
            if self._data[lead.end : at].strip():
                break
            at = lead.start
            taken.append(lead)
            if lead.role == "lead":
                part.outer = at
        part.cuts += [
            (each.start, each.end, b"") for each in taken if each.role == "comment" and each.start >= part.outer
        ]
        self._before.clear()

    def _after_separator(self, at: int) -> int:
        """Past the comma or semicolon that goes when a definition goes."""
        rest = self._data[at : at + 80].lstrip()
        return self._data.index(rest[:1], at) + 1 if rest[:1] in (b",", b";") else at

    def _symbol(self, part: Part, kind: SymbolKind) -> Symbol:
        data = self._data
        start = part.head_start
        for first, last, _ in sorted(part.leads + part.cuts):
            if data[start:first].strip():
                break
            start = max(start, last)
        while start < part.head_end and data[start] in SPACES:
            start += 1
        end = self._without_last_comments(part)
        signature = signature_of(without(data, start, part.head_end, part.leads + part.cuts))
        return Symbol(
            part.name,
            kind,
            f"{signature} {part.own_name.decode()}" if part.is_named_last else signature,
            part.first_row + 1 + data.count(b"\n", part.start, start) - data.count(b"\n", start, part.start),
            part.last_row + 1 - data.count(b"\n", end, part.node_end),
            hash_of(without(data, part.outer, end, part.cuts), part.own_name),
        )

    def _without_last_comments(self, part: Part) -> int:
        """Where a definition ends: Python's grammar counts comments after the last statement to it."""
        end = part.end
        while end in self._comments and self._comments[end] > part.start:
            end = self._comments[end]
            while self._data[end - 1] in SPACES:
                end -= 1
        return end
