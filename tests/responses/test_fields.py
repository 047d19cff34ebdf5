"""Keys of all responses: the format of the worker's socket and of `--json`, which scripts and workers of other versions
read."""

import pkgutil
import tomllib
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import claude_mem_lite.responses

KNOWN = Path(__file__).parents[1] / "data" / "response_fields.toml"


def test_responses_have_the_keys_that_are_known_to_their_readers() -> None:
    assert _keys() == tomllib.loads(KNOWN.read_text("utf-8"))


def _keys() -> dict[str, dict[str, list[str]]]:
    """Return the keys of each response in their order, by module and class."""
    names = [found.name for found in pkgutil.iter_modules(claude_mem_lite.responses.__path__)]
    keys = {name: _keys_of_module(f"{claude_mem_lite.responses.__name__}.{name}") for name in names}
    return {name: found for name, found in keys.items() if found}


def _keys_of_module(name: str) -> dict[str, list[str]]:
    return {
        cls.__name__: [each.name for each in fields(cls)]
        for cls in vars(import_module(name)).values()
        if isinstance(cls, type) and is_dataclass(cls) and cls.__module__ == name and fields(cls)
    }
