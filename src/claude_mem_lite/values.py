"""Frozen dataclasses that are cheap to define.

`dataclass(frozen=True, slots=True)` compiles six methods for each class, a third of a millisecond, and a worker defines
160 classes before its first answer. Here the methods are shared, and `__init__` is compiled for the first instance."""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from inspect import get_annotations
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

_Defined = TypeVar("_Defined")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_Defined]) -> type[_Defined]:
    """Make a frozen dataclass with slots of a class."""
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    own = fields(made)
    _refuse_unknown(cls, own)
    made.__init__ = _late_init(made)
    made.__eq__, made.__hash__ = _comparison(tuple(each.name for each in own if each.compare))
    if "__repr__" not in cls.__dict__:
        made.__repr__ = _repr
    made.__setattr__, made.__delattr__ = _refuse_change, _refuse_removal
    made.__getstate__, made.__setstate__ = _state, _restore  # copies and pickles go around the refusal
    defined: type[_Defined] = made
    return defined


def _refuse_unknown(cls: type, own: tuple[Field[Any], ...]) -> None:
    """Raise TypeError for what `dataclass` knows and `frozen` would ignore."""
    if own_methods := {"__eq__", "__hash__"} & {name for name, given in cls.__dict__.items() if given is not None}:
        raise TypeError(f"{cls.__name__}: a frozen value has no {' or '.join(sorted(own_methods))} of its own")
    if any(each.kw_only or not each.init for each in own):
        raise TypeError(f"{cls.__name__}: all fields of a frozen value are parameters by place")
    if any(each.hash is not None for each in own):
        raise TypeError(f"{cls.__name__}: a frozen value has the hash of its compared fields, and no field(hash=…)")
    if any("InitVar" in str(each) for each in get_annotations(cls).values()):
        raise TypeError(f"{cls.__name__}: a frozen value has no InitVar")


def _late_init(cls: Any) -> Callable[..., None]:
    def compile_and_call(self: object, *values: object, **named: object) -> None:
        cls.__init__ = _compiled_init(cls)
        cls.__init__(self, *values, **named)

    return compile_and_call


def _compiled_init(cls: Any) -> Callable[..., None]:
    """Return the `__init__` of a dataclass whose fields are all parameters."""
    known: dict[str, Any] = {"keep": object.__setattr__, "MISSING": MISSING}
    parameters, lines = ["self"], []
    for each in fields(cls):
        parameters.append(each.name + _default(each, known))
        given = each.name
        if each.default_factory is not MISSING:
            given = f"make_{each.name}() if {each.name} is MISSING else {each.name}"
        lines.append(f" keep(self, {each.name!r}, {given})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"]), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"  # named by errors about missing arguments
    return made


def _default(of: Field[Any], known: dict[str, Any]) -> str:
    """Return the default of a parameter as source text, and add its value to `known`."""
    if of.default_factory is not MISSING:
        known[f"make_{of.name}"] = of.default_factory
        return "=MISSING"
    if of.default is MISSING:
        return ""
    known[f"default_{of.name}"] = of.default
    return f"=default_{of.name}"


def _comparison(names: tuple[str, ...]) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    """Return `__eq__` and `__hash__` over the fields of these names."""
    key: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def is_equal(self: object, other: object) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_of(self: object) -> int:
        return hash(key(self))

    return is_equal, hash_of


def _repr(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"


def _state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, state: list[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _refuse_change(_: object, name: str, __: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_removal(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
