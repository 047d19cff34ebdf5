"""What stands for what in a prompt: the list of the package, joined with the user's own `<home>/synonyms.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from claude_mem_lite.errors import ConfigError

Synonyms = Mapping[str, tuple[str, ...]]
_DEFAULTS = Path(__file__).with_name("synonyms.toml")
_MOST_BYTES = 256 * 1024
_MOST_OF_A_WORD = 12


def load(path: Path) -> Synonyms:
    """The synonyms in force; ConfigError when the user's file cannot be read."""
    try:
        with path.open("rb") as file:
            given = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return defaults()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}", "mend or remove it") from error
    if len(given) > _MOST_BYTES:
        raise ConfigError(f"{path} is too large", f"keep it under {_MOST_BYTES // 1024} KiB")
    try:
        return {**defaults(), **_read(given)}
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", 'write lines like: deploy = ["ci", "pipeline"]') from error


@cache
def defaults() -> Synonyms:
    """Those that come with the package."""
    return _read(_DEFAULTS.read_bytes())


def _read(given: bytes) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for word, others in tomllib.loads(given.decode("utf-8")).items():
        if not isinstance(others, list) or not all(isinstance(other, str) for other in others):
            raise ValueError(f"{word} is no list of words")
        found[word.strip().casefold()] = tuple(other.strip().casefold() for other in others[:_MOST_OF_A_WORD])
    return found
