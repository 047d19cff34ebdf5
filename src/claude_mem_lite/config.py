"""Settings: defaults, then `<home>/config.toml`, then the environment. An unknown key is an error."""

import difflib
import fnmatch
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from claude_mem_lite.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting with its default."""

    budget_tokens: int = 2000
    """Size of the context given at the start of a session, in tokens."""
    exclude: tuple[str, ...] = ()
    """Folders of which nothing is kept, as globs: `["~/private/*"]`."""
    ignored_tools: tuple[str, ...] = ()
    """Tools whose calls are not used, besides the ones that never are."""
    idle_exit_s: int = 1800
    """How long the worker stays without events or requests."""


def load_config(path: Path, environment: Mapping[str, str]) -> Config:
    """The settings in force; ConfigError names the file, the key and what it could have been."""
    return _with_environment(_from_file(path), environment)


def is_excluded(config: Config, folder: str) -> bool:
    """Whether a folder, or one above it, matches an excluded glob, by any spelling of its path."""
    if not config.exclude:
        return False
    globs = [os.path.expanduser(glob).rstrip("/") for glob in config.exclude]
    globs += [os.path.realpath(glob) for glob in globs]
    spellings = {folder, os.path.normpath(folder), _real(folder)}
    ancestors = {str(one) for spelling in spellings for one in (Path(spelling), *Path(spelling).parents)}
    return any(fnmatch.fnmatchcase(ancestor, glob) for glob in globs for ancestor in ancestors)


def _real(folder: str) -> str:
    try:
        return os.path.realpath(folder)
    except (OSError, ValueError):  # no such folder can exist
        return folder


def _from_file(path: Path) -> Config:
    try:
        given = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", "mend or remove it") from error
    known = {field.name: field for field in fields(Config)}
    for key, value in given.items():
        if key not in known:
            nearest = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(known)}"
            raise ConfigError(f"{path}: unknown key {key}", hint)
        _check_type(path, key, value)
    chosen: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    return replace(Config(), **chosen)


def _check_type(path: Path, key: str, value: object) -> None:
    default = getattr(Config(), key)
    if isinstance(default, int):
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise ConfigError(f"{path}: {key} must be a positive whole number", f"for example {key} = {default}")
    elif not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{path}: {key} must be a list of strings", f'for example {key} = ["…"]')


def _with_environment(config: Config, environment: Mapping[str, str]) -> Config:
    budget = environment.get("CLAUDE_MEM_LITE_BUDGET", "")
    if not budget:
        return config
    if not budget.isascii() or not budget.isdigit() or len(budget) > 9 or int(budget) == 0:
        raise ConfigError(f"CLAUDE_MEM_LITE_BUDGET is {budget[:20]!r}", "set it to a number of tokens, or unset it")
    return replace(config, budget_tokens=int(budget))
