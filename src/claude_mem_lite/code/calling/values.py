"""What a file says of calls, before anybody knows which definitions they reach.

A *chain* is an expression as far as it matters for that, written without spaces, alternatives parted by `|`:

    name            whatever that name means where the chain stands
    @C  ^C  !C      an instance of class C of the same file, its dots as colons; the class itself; what its base
                    classes have (super)
    ~name           the same of what can be no variable: a namespace, a class, a module
    {T}             an instance of a type, as written: {Optional[Console]}
    ?               something nobody can tell
    .x  ()  [] [2]  then: a member, what calling gives, an item, an item of a tuple
    *  =  #         then: what a loop gives, a list of what a loop gives, a list of such things
"""

import re
from dataclasses import dataclass
from typing import Literal

NameKind = Literal["import", "value", "type", "alias", "base", "returns"]
UNKNOWN = "?"
_STEP = re.compile(r"\{[^{}]*\}|[@^!~]?[\w$:]+|\?|\.[\w$#?!]+|\(\)|\[\d*\]|[*=#]")
CALLED_ITSELF = "="
"""Before the receiver of a call: not a member of it is called, but it itself."""


@dataclass(frozen=True, slots=True)
class Call:
    """A place where something is called."""

    name: str
    """The simple name of what is called; of an alias, that of what it stands for."""
    receiver: str
    """The chain of what it is a member of; empty for a plain name."""
    line: int
    within: str
    """The symbol it stands in; empty at the top level."""


@dataclass(frozen=True, slots=True)
class Name:
    """What a name stands for that is no definition: an import, a variable, a base class, what a function returns."""

    scope: str
    """The symbol it is known in; empty for the whole file."""
    name: str
    kind: NameKind
    target: str
    """A chain (value, base), a type (type, alias, returns), or the imported name (import; empty for the module)."""
    module: str = ""
    """Of an import: from where, as written."""


@dataclass(frozen=True, slots=True)
class FileCalls:
    calls: tuple[Call, ...]
    names: tuple[Name, ...]


NO_CALLS = FileCalls((), ())


def steps(chain: str) -> list[str]:
    """A chain's first name and what follows it: `self.a().b` -> `self`, `.a`, `()`, `.b`."""
    return _STEP.findall(chain)


def leaf(name: Name) -> str:
    """The last simple name of what a name stands for; empty when it is no other name of something."""
    if name.kind == "import":
        return name.target or name.module.replace("/", ".").replace("::", ".").rpartition(".")[2]
    last = steps(name.target)[-1] if name.kind == "value" and name.target else ""
    return last.lstrip(".") if last.lstrip(".").isidentifier() else ""
