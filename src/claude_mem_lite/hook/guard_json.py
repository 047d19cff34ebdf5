"""JSON values of calls and guards, read without the `json` module. Imported by the other modules of guards."""

from _json import make_scanner

Members = dict[str, object]


def parse(text: str) -> object:
    """Return the value of a JSON text; ValueError for any other text.

    By the C scanner of the `json` module: the module itself imports `re` and doubles the time of a hook."""
    try:
        value, end = make_scanner(_Decoder)(  # type: ignore[arg-type]
            text, len(text) - len(text.lstrip(" \t\r\n"))
        )
    except StopIteration:
        raise ValueError("no JSON") from None
    if text[end:].strip(" \t\r\n"):
        raise ValueError("more than one value")
    return value


class _Decoder:
    """Settings of the scanner, as `json.JSONDecoder` has them."""

    strict = False
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: Members = {}


def members(value: object) -> Members:
    """Return an object's members; none for any other value."""
    return value if isinstance(value, dict) else {}


def word(found: Members, key: str) -> str:
    """Return a member that is a text; '' for any other."""
    value = found.get(key)
    return value if isinstance(value, str) else ""
