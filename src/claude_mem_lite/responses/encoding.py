"""Base class of responses, and their conversion to and from JSON, for both ends of the worker's socket.

The worker encodes with `to_json`, the client decodes with `from_json`. Field names and their order are the format: a
response has the keys of its dataclass. Times are text in responses, in the form in which the worker sends them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

from claude_mem_lite.models import JsonObject, JsonValue

_Defined = TypeVar("_Defined", bound="Response")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def response(cls: type[_Defined]) -> type[_Defined]:
    """Make a frozen dataclass of a subclass of `Response`; the methods are those of `Response`."""
    # `dataclass(frozen=True)` compiles eight methods for each class: half a millisecond, at every start of a command.
    return dataclass(init=False, repr=False, eq=False)(cls)


class Response:
    """Response of the worker, or a part of a response."""

    __slots__ = ("raw",)
    raw: JsonObject
    """The JSON object that the client received; empty in the worker."""

    def __init__(self, *values: object, **named: object) -> None:
        keep = object.__setattr__
        keep(self, "raw", {})
        defaults = _defaults(type(self))
        given = dict(zip(defaults, values, strict=False)) | named
        for name, default in defaults.items():
            keep(self, name, given.pop(name) if name in given else default())
        if given or len(values) > len(defaults):
            raise TypeError(f"{type(self).__name__} has fewer fields: {', '.join(given) or len(values)}")

    def omitted_fields(self) -> Collection[str]:
        """Return the names of the fields that the worker does not send."""
        return ()

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        names = _defaults(type(self))
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in _defaults(type(self))))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in _defaults(type(self)))
        return f"{type(self).__name__}({shown})"


def _defaults(cls: object) -> dict[str, Callable[[], object]]:
    return _cached_defaults(cls)


@cache
def _cached_defaults(cls: Any) -> dict[str, Callable[[], object]]:
    """Return the fields of a class in order, each with the function that returns its default or raises TypeError."""
    return {each.name: _default(cls, each) for each in fields(cls)}


def _default(cls: Any, of: Field[Any]) -> Callable[[], object]:
    def raise_missing() -> object:
        raise TypeError(f"{cls.__name__} needs {of.name}")

    if of.default is not MISSING:
        return lambda: of.default
    return raise_missing if of.default_factory is MISSING else of.default_factory


Value = TypeVar("Value")
_Decoder = Callable[[Any], object]
_INVALID = object()
_EPOCH = datetime.fromtimestamp(0, UTC)


def to_json(value: Any) -> JsonValue:
    """Return a value as JSON: dataclasses as objects, sequences as lists, times as text."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, datetime):
        return time_text(value)
    if is_dataclass(value):
        return _dataclass_to_json(value)
    other: JsonValue = value
    return other


def _dataclass_to_json(value: Any) -> JsonObject:
    cls: Any = type(value)
    names = _sent_fields(cls)
    if isinstance(value, Response) and (omitted := value.omitted_fields()):
        return {name: to_json(getattr(value, name)) for name in names if name not in omitted}
    return {name: to_json(getattr(value, name)) for name in names}


def time_text(time: datetime) -> str:
    """Return a time as ISO 8601 text with `Z` for UTC."""
    return time.isoformat().replace("+00:00", "Z")


def from_json(cls: type[Value], value: object) -> Value:
    """Return a dataclass made of a JSON object.

    A worker of another version may send fewer or other fields. A missing field or a field of the wrong type gets its
    default, or the empty value of its type. Unknown fields are ignored."""
    annotation: Any = cls
    decoded = _decoder(annotation)(value if isinstance(value, Mapping) else {})
    assert isinstance(decoded, cls)
    return decoded


def response_from(cls: type[Value], *sources: object, **more: object) -> Value:
    """Return a response with `more` and with the attributes of sources that have the names of its fields.

    Times become text. The first source that has an attribute counts."""
    annotation: Any = cls
    found = dict(more)
    for name in _sent_fields(annotation):
        source = next((each for each in sources if hasattr(each, name)), None) if name not in found else None
        if source is not None:
            value = getattr(source, name)
            found[name] = time_text(value) if isinstance(value, datetime) else value
    return cls(**found)


@cache
def _sent_fields(cls: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(cls))


@cache
def _decoder(annotation: Any) -> _Decoder:
    """Return the function that decodes JSON of a type; `_INVALID` is its result for JSON of another type."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if is_dataclass(annotation):
        return _dataclass_decoder(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return lambda value: value if value in arguments else _INVALID
    if origin in (Union, UnionType) and NoneType in arguments and len(arguments) == 2:
        return _optional_decoder(_decoder(next(each for each in arguments if each is not NoneType)))
    if origin is tuple:
        return _tuple_decoder(_decoder(arguments[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_decoder(_decoder(arguments[1]))
    return lambda value: value


def _dataclass_decoder(cls: Any) -> _Decoder:
    hints = get_type_hints(cls, localns={"JsonValue": JsonValue})  # named as text in the definition of JsonObject
    names = _sent_fields(cls)
    decoders = [(name, _decoder(hints[name])) for name in names]
    required = {each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING}
    empty = {name: _empty(hints[name]) for name in names if name in required}

    def decode(value: object) -> object:
        if not isinstance(value, Mapping):
            return _INVALID
        found = dict(empty)
        for name, decoder in decoders:
            if name in value and (decoded := decoder(value[name])) is not _INVALID:
                found[name] = decoded
        response = cls(**found)
        if isinstance(response, Response):
            object.__setattr__(response, "raw", value)
        return response

    return decode


def _optional_decoder(decoder: _Decoder) -> _Decoder:
    return lambda value: None if value is None else decoder(value)


def _tuple_decoder(decoder: _Decoder) -> _Decoder:
    def decode(value: object) -> object:
        if not isinstance(value, list | tuple):
            return _INVALID
        return tuple(decoded for item in value if (decoded := decoder(item)) is not _INVALID)

    return decode


def _mapping_decoder(decoder: _Decoder) -> _Decoder:
    def decode(value: object) -> object:
        if not isinstance(value, Mapping):
            return _INVALID
        return {key: decoded for key, item in value.items() if (decoded := decoder(item)) is not _INVALID}

    return decode


def _empty(annotation: Any) -> object:
    """Return the value of a required field that the worker did not send."""
    if annotation in _EMPTY:
        return _EMPTY[annotation]
    containers: tuple[object, ...] = ([], {})
    for container in containers:
        if (decoded := _decoder(annotation)(container)) is not _INVALID and decoded is not container:
            return decoded
    return None


def _decoder_of(*types: type) -> _Decoder:
    return lambda value: value if type(value) in types else _INVALID


def _decode_time(value: object) -> object:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else _INVALID
    except ValueError:
        return _INVALID


_SCALARS: Mapping[object, _Decoder] = {
    str: _decoder_of(str),
    int: _decoder_of(int),
    float: _decoder_of(int, float),
    bool: _decoder_of(bool),
    datetime: _decode_time,
}
_EMPTY: Mapping[object, object] = {str: "", int: 0, float: 0.0, bool: False, datetime: _EPOCH}
