"""`<home>/config.toml` and the environment: read, checked, and told where each setting comes from.

Defaults, then the file, then the environment. An unknown key is an error."""

import difflib
import math
import re
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from claude_mem_lite.config import (
    LAYERS,
    PRESETS,
    PROVIDERS,
    RESERVE,
    VARIABLES,
    Config,
    OwnPreset,
    in_folder,
    project_settings,
)
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import read_regular

# What people call a key: it has a place, but not in a file that is shown around.
_KEYS = ("api_key", "key", "anthropic_api_key", "openai_api_key", "token")
_MAY_BE_ZERO = ("prompt_budget_tokens", "daily_tokens", "session_tokens")
_OFF = ("0", "false", "no", "off")
_MAX_BYTES = 1024 * 1024
_MAX_BYTES_OF_SYNONYMS = 256 * 1024
_MAX_SYNONYMS = 12
"""Of one word."""
_SAVED_WITHIN_S = 1.0
_LOOK_AGAIN_S, _MAX_LOOKS = 0.01, 25
_ONE_OF = (("sessions", "session index"), ("changed code", "function map"))
"""Layers of which the one tells what the other does."""


Source = Literal["default", "file", "project file", "environment"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in force: what it is, and who said so."""

    key: str
    value: JsonValue
    sources: tuple[Source, ...]
    """More than one where a list is put together."""


def load_config(path: Path, environment: Mapping[str, str]) -> Config:
    """The settings in force; ConfigError names the file, the key and what it could have been."""
    return _with_environment(_from_file(path), environment)


def explained(path: Path, environment: Mapping[str, str], folder: str) -> Sequence[Setting]:
    """Every setting as it holds in a folder, with where it comes from; ConfigError as above."""
    from_file = _given(path)
    config = load_config(path, environment)
    own = project_settings(folder)
    here = in_folder(config, folder, environment)
    found = []
    for key in (field.name for field in fields(Config)):
        value, given = getattr(here, key), environment.get(VARIABLES.get(key, ""), "")
        sources: tuple[Source, ...] = ("environment",) if given else ("file",) if key in from_file else ("default",)
        added = own.exclude if key == "exclude" else own.ignored_tools if key == "ignored_tools" else ()
        if added:
            sources = (*(one for one in sources if one != "default"), "project file")
        elif value != getattr(config, key):
            sources = ("project file",)
        if key == "exclude":
            value = (*value, *(f"{Path(own.path).parent}/{glob}" for glob in own.exclude))
        shown: JsonValue = {one.name: dict(one.caps) for one in here.presets} if key == "presets" else _shown(value)
        found.append(Setting(key, shown, sources))
    return found


def settings_told(path: Path, environment: Mapping[str, str], folder: str) -> JsonObject:
    """The same with the files it comes from and what is left out of the repository's own; ConfigError as above."""
    own = project_settings(folder)
    settings: list[JsonValue] = [
        {"key": one.key, "value": one.value, "sources": list(one.sources), "variable": VARIABLES.get(one.key, "")}
        for one in explained(path, environment, folder)
    ]
    return {"file": str(path), "project_file": own.path, "problems": list(own.problems), "settings": settings}


def _shown(value: object) -> JsonValue:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    assert value is None or isinstance(value, bool | int | float | str)
    return value


def read_synonyms(path: Path) -> dict[str, tuple[str, ...]]:
    """What a file says stands for what, nothing when there is none; ConfigError when it cannot be read."""
    try:
        given = read_regular(path, _MAX_BYTES_OF_SYNONYMS)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "mend or remove it") from error
    found: dict[str, tuple[str, ...]] = {}
    try:
        for word, others in tomllib.loads(given.decode("utf-8")).items():
            if not isinstance(others, list) or not all(isinstance(other, str) for other in others):
                raise ValueError(f"{word} is no list of words")
            found[word.strip().casefold()] = tuple(other.strip().casefold() for other in others[:_MAX_SYNONYMS])
    except ValueError as error:  # those of TOML and UTF-8 are such too
        raise ConfigError(f"{path} cannot be read: {error}", 'write lines like: deploy = ["ci", "pipeline"]') from error
    return found


def _given(path: Path) -> dict[str, Any]:
    """What the file says, unchecked; nothing when there is none."""
    try:
        found = tomllib.loads(read_saved(path).decode("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "mend or remove it") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", "mend or remove it") from error
    return found


def read_saved(path: Path, pause: Callable[[float], None] = time.sleep) -> bytes:
    """Return the content of a file that people edit, a moment later when it was emptied just now; OSError as reading.

    Most editors empty a file before they write it: read in between, nothing is excluded and no model is named."""
    for _ in range(_MAX_LOOKS):
        content = read_regular(path, _MAX_BYTES)
        if content or abs(time.time() - path.stat().st_mtime) > _SAVED_WITHIN_S:
            return content
        pause(_LOOK_AGAIN_S)
    return b""


def _from_file(path: Path) -> Config:
    given = _given(path)
    known = {field.name: field for field in fields(Config)}
    for key, value in given.items():
        if key.lower() in _KEYS:
            raise ConfigError(f"{path}: {key} does not belong here", f"put it into the file {path.parent / 'api-key'}")
        if key not in known:
            nearest = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(known)}"
            raise ConfigError(f"{path}: unknown key {key}", hint)
        if key != "presets":
            _check_type(path, key, value)
    chosen: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    if "presets" in chosen:
        chosen["presets"] = _own_presets(path, chosen["presets"])
    config = replace(Config(), **chosen)
    _check_preset(f"{path}: preset", config)
    _check_exclude(path, config)
    _check_provider(path, config)
    return config


def _check_type(path: Path, key: str, value: object) -> None:
    default = getattr(Config(), key)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ConfigError(f"{path}: {key} must be true or false", f"for example {key} = true")
    elif isinstance(default, int):
        least = 0 if key in _MAY_BE_ZERO else 1
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            wanted = "a whole number, 0 or more" if least == 0 else "a positive whole number"
            raise ConfigError(f"{path}: {key} must be {wanted}", f"for example {key} = {default}")
    elif isinstance(default, float):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
            raise ConfigError(f"{path}: {key} must be a number, 0 or more", f"for example {key} = {default or 0.5}")
    elif isinstance(default, str):
        if not isinstance(value, str):
            raise ConfigError(f"{path}: {key} must be a string", f'for example {key} = "{default or "…"}"')
    elif not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{path}: {key} must be a list of strings", f'for example {key} = ["…"]')


def _check_exclude(path: Path, config: Config) -> None:
    for glob in config.exclude:
        if not glob.startswith(("/", "~", "*")):
            name = glob.removeprefix("./") or "folder"
            raise ConfigError(
                f"{path}: exclude: {glob or 'an empty string'} is no whole path", f"write ~/{name} or */{name}"
            )


def _own_presets(path: Path, given: object) -> tuple[OwnPreset, ...]:
    if not isinstance(given, dict) or not all(isinstance(caps, dict) for caps in given.values()):
        raise ConfigError(f"{path}: presets must be tables", "write [presets.mine], and its layers below")
    for name in given:
        if name in PRESETS:
            raise ConfigError(f"{path}: the preset {name} is built in", "call yours by another name")
    return tuple(OwnPreset(name, _caps(f"{path}: presets.{name}", caps)) for name, caps in given.items())


def _caps(where: str, given: Mapping[str, object]) -> tuple[tuple[str, int], ...]:
    """The layers by their own names: `changed_code` is the layer `changed code`."""
    known = {_plain(layer): layer for layer in (*LAYERS, RESERVE)}
    caps: dict[str, int] = {}
    for name, cap in given.items():
        layer = known.get(_plain(name))
        if layer is None:
            nearest = difflib.get_close_matches(_plain(name), known, n=1)
            hint = f"did you mean {known[nearest[0]]}?" if nearest else f"known are {', '.join(known.values())}"
            raise ConfigError(f"{where}: there is no layer {name[:40]!r}", hint)
        if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1 or layer in caps:
            raise ConfigError(f"{where}: {name} must be one positive whole number", f"for example {name} = 300")
        caps[layer] = cap
    for both in _ONE_OF:
        if set(both) <= set(caps):
            raise ConfigError(f"{where}: {both[0]} and {both[1]} tell the same", "name one of them")
    if not set(caps) - {RESERVE}:
        raise ConfigError(f"{where} has no layer", "for example sessions = 500")
    return tuple(caps.items())


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().lower()


def _check_preset(where: str, config: Config) -> None:
    known = (*PRESETS, *(own.name for own in config.presets))
    if config.preset not in known:
        raise ConfigError(f"{where} is {config.preset[:40]!r}", f"known are {', '.join(known)}")


def _check_provider(path: Path, config: Config) -> None:
    if config.provider not in PROVIDERS:
        nearest = difflib.get_close_matches(config.provider, PROVIDERS, n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(PROVIDERS)}"
        raise ConfigError(f"{path}: there is no provider {config.provider[:40]!r}", hint)
    if config.provider == "openai" and not config.model:
        raise ConfigError(f"{path}: the provider openai needs a model", 'name the one to ask, as in model = "qwen3:8b"')
    if config.base_url and not _is_address(config.base_url):
        raise ConfigError(f"{path}: base_url is no address", 'for example base_url = "http://localhost:11434/v1"')


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _with_environment(config: Config, environment: Mapping[str, str]) -> Config:
    if preset := environment.get(VARIABLES["preset"], ""):
        config = replace(config, preset=preset)
        _check_preset(VARIABLES["preset"], config)
    if budget := environment.get(VARIABLES["budget_tokens"], ""):
        config = replace(config, budget_tokens=_tokens(VARIABLES["budget_tokens"], budget, least=1))
    if budget := environment.get(VARIABLES["prompt_budget_tokens"], ""):
        config = replace(config, prompt_budget_tokens=_tokens(VARIABLES["prompt_budget_tokens"], budget, least=0))
    if debug := environment.get(VARIABLES["debug"], ""):
        config = replace(config, debug=debug.strip().lower() not in _OFF)
    return config


def _tokens(name: str, given: str, *, least: int) -> int:
    if not given.isascii() or not given.isdigit() or len(given) > 9 or int(given) < least:
        raise ConfigError(f"{name} is {given[:20]!r}", "set it to a number of tokens, or unset it")
    return int(given)
