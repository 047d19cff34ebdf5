"""What stands for what in a prompt: the list of the package, joined with the user's own `<home>/synonyms.toml`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from claude_mem_lite.config_loader import read_synonyms

Synonyms = Mapping[str, tuple[str, ...]]
_DEFAULTS = Path(__file__).with_name("synonyms.toml")


def load(path: Path) -> Synonyms:
    """The synonyms in force; ConfigError when the user's file cannot be read."""
    return {**defaults(), **read_synonyms(path)}


@cache
def defaults() -> Synonyms:
    """Those that come with the package."""
    return read_synonyms(_DEFAULTS)
