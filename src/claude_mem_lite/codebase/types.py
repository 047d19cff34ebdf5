"""What a type that is written in code says, as far as it tells whose methods a value has. Functions over text alone."""

_MAYBE = ("Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "Awaitable", "Coroutine")
# What one has in hand with these is the thing inside: its methods are called as if they were not there.
_SEE_THROUGH = (
    *("Option", "Result", "Box", "Rc", "Arc", "Ref", "RefMut", "MutexGuard"),
    *("unique_ptr", "shared_ptr", "weak_ptr", "optional"),
    *("Promise", "Readonly", "Partial", "NonNullable", "CompletableFuture", "Future"),
)
_CLASS_OF = ("Type", "type", "Class")
_MAPPINGS = ("Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict", "Map", "HashMap")
_TUPLES = ("Tuple", "tuple")
_CALLABLES = ("Callable",)


def alternatives(text: str) -> list[str]:
    """The types a value may have, none of them nothing, each without what may be left out: `Optional["A"]` -> A."""
    text = text.strip().strip("\"'").strip()
    parts = split(text, "|")
    if len(parts) > 1:
        return [one for part in parts for one in alternatives(part)]
    name, inner = parse(text)
    simple = name.rpartition(".")[2]
    if simple == "Union":
        return [one for part in inner for one in alternatives(part)]
    if simple == "Coroutine" and inner:
        return alternatives(inner[-1])
    if (simple in _MAYBE or simple in _SEE_THROUGH) and inner:
        return alternatives(inner[0])
    return [] if text in ("None", "null", "undefined", "void", "") else [text]


def parse(text: str) -> tuple[str, list[str]]:
    """A type's name and what stands in its brackets."""
    name, bracket, rest = text.partition("[")
    if not bracket or not rest.endswith("]"):
        return text.strip(), []
    return name.strip(), split(rest[:-1], ",")


def split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks that stand in no brackets or quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for position, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[({":
            depth += 1
        elif sign in "])}":
            depth -= 1
        elif sign == mark and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def of_class(text: str) -> str:
    """What `type[A]` is the class of; empty for other types."""
    name, inner = parse(text)
    return inner[0] if name.rpartition(".")[2] in _CLASS_OF and inner else ""


def item(text: str, step: str) -> str:
    """The type of an item of a container (`[]`, `[2]`) or of what a loop over it gives (`*`); empty when unknown."""
    name, inner = parse(text)
    simple = name.rpartition(".")[2]
    if not inner or simple in _CALLABLES:
        return ""
    if simple in _MAPPINGS:
        return inner[0] if step == "*" else inner[-1]
    if simple in _TUPLES and inner[-1] != "...":
        at = int(step[1:-1]) if step[1:-1].isdigit() else -1
        same = inner[0] if len(set(inner)) == 1 else ""
        return inner[at] if 0 <= at < len(inner) else same
    return inner[0]


def given_by(text: str) -> str:
    """The type of what calling a value of this type gives; empty when unknown."""
    name, inner = parse(text)
    return inner[-1] if name.rpartition(".")[2] in _CALLABLES and len(inner) == 2 else ""


def member(text: str, name: str) -> str:
    """The type of a container's method, as a callable; empty when unknown."""
    kind, inner = parse(text)
    is_mapping = kind.rpartition(".")[2] in _MAPPINGS and len(inner) == 2
    if name in ("get", "pop", "popleft", "setdefault"):
        return f"Callable[[], {inner[-1] if inner else '?'}]"
    if name == "copy":
        return f"Callable[[], {text}]"
    if is_mapping and name in ("values", "keys"):
        return f"Callable[[], list[{inner[1] if name == 'values' else inner[0]}]]"
    if is_mapping and name == "items":
        return f"Callable[[], list[tuple[{inner[0]}, {inner[1]}]]]"
    return ""
