"""Loader of `<home>/config.toml` and the environment: reads, checks, and tells the source of each setting.

The order is defaults, then the file, then the environment. An unknown key is an error."""

import difflib
import math
import re
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from claude_mem_lite.config import (
    LAYERS,
    MAX_EXPERIMENT,
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
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import read_regular

if TYPE_CHECKING:
    from claude_mem_lite.responses.status import Settings

# Names that people use for a key. A key has its own file; the settings file is often shown to others.
_KEYS = ("api_key", "key", "anthropic_api_key", "openai_api_key", "token")
_MAY_BE_ZERO = ("prompt_budget_tokens", "daily_tokens", "session_tokens")
_OFF = ("0", "false", "no", "off")
_MAX_BYTES = 1024 * 1024
_MAX_SYNONYM_BYTES = 256 * 1024
_MAX_SYNONYMS = 12
"""Maximum per word."""
_SAVED_WITHIN_S = 1.0
_RETRY_S, _MAX_TRIES = 0.01, 25
_ALTERNATIVES = (("sessions", "session index"), ("changed code", "function map"))
"""Pairs of layers with the same content."""


def load_config(path: Path, environment: Mapping[str, str]) -> Config:
    """Return the settings in force; ConfigError names the file, the key and the values allowed."""
    return _with_environment(_from_file(path), environment)


def settings_in_force(path: Path, environment: Mapping[str, str], folder: str) -> "Settings":
    """Return every setting in force in a folder, with the sources. ConfigError if the configuration is broken."""
    from_file = _read_file(path)
    config = load_config(path, environment)
    repository = project_settings(folder)
    effective = in_folder(config, folder, environment)
    from claude_mem_lite.responses.status import EffectiveSetting, Settings  # late: no hook needs them

    settings: list[EffectiveSetting] = []
    for key in (field.name for field in fields(Config)):
        value, given = getattr(effective, key), environment.get(VARIABLES.get(key, ""), "")
        sources: tuple[str, ...] = ("environment",) if given else ("file",) if key in from_file else ("default",)
        added = repository.exclude if key == "exclude" else repository.ignored_tools if key == "ignored_tools" else ()
        if added:
            sources = (*(source for source in sources if source != "default"), "project file")
        elif value != getattr(config, key):
            sources = ("project file",)
        if key == "exclude":
            value = (*value, *(f"{Path(repository.path).parent}/{glob}" for glob in repository.exclude))
        shown: JsonValue = (
            {preset.name: dict(preset.caps) for preset in effective.presets} if key == "presets" else _shown(value)
        )
        settings.append(EffectiveSetting(key, shown, sources, VARIABLES.get(key, "")))
    return Settings(str(path), repository.path, tuple(repository.problems), tuple(settings))


def _shown(value: object) -> JsonValue:
    if isinstance(value, tuple):
        return [str(item) for item in value]
    assert value is None or isinstance(value, bool | int | float | str)
    return value


def read_synonyms(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the synonyms of each word in a file; {} without a file; ConfigError for an unreadable file."""
    try:
        content = read_regular(path, _MAX_SYNONYM_BYTES)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "correct or remove it") from error
    synonyms: dict[str, tuple[str, ...]] = {}
    try:
        for word, same in tomllib.loads(content.decode("utf-8")).items():
            if not isinstance(same, list) or not all(isinstance(synonym, str) for synonym in same):
                raise ValueError(f"{word} is no list of words")
            synonyms[word.strip().casefold()] = tuple(synonym.strip().casefold() for synonym in same[:_MAX_SYNONYMS])
    except ValueError as error:  # TOML and UTF-8 errors are ValueErrors
        raise ConfigError(f"{path} cannot be read: {error}", 'write lines like: deploy = ["ci", "pipeline"]') from error
    return synonyms


def _read_file(path: Path) -> dict[str, Any]:
    """Return the unchecked content of the file; {} without a file."""
    try:
        settings = tomllib.loads(read_saved(path).decode("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "correct or remove it") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", "correct or remove it") from error
    return settings


def read_saved(path: Path, pause: Callable[[float], None] = time.sleep) -> bytes:
    """Return the content of a file that people edit; OSError as in reading. Wait a moment if the file was just emptied.

    Most editors empty a file before writing. A read in between would exclude nothing and name no model."""
    for _ in range(_MAX_TRIES):
        content = read_regular(path, _MAX_BYTES)
        if content or abs(time.time() - path.stat().st_mtime) > _SAVED_WITHIN_S:
            return content
        pause(_RETRY_S)
    return b""


def _from_file(path: Path) -> Config:
    settings = _read_file(path)
    known = {field.name: field for field in fields(Config)}
    for key, value in settings.items():
        if key.lower() in _KEYS:
            raise ConfigError(f"{path}: {key} does not belong here", f"put it into the file {path.parent / 'api-key'}")
        if key not in known:
            nearest = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(known)}"
            raise ConfigError(f"{path}: unknown key {key}", hint)
        if key != "presets":
            _check_type(path, key, value)
    chosen: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    if "presets" in chosen:
        chosen["presets"] = _own_presets(path, chosen["presets"])
    config = replace(Config(), **chosen)
    _check_preset(f"{path}: preset", config)
    _check_experiment(path, config)
    _check_exclude(path, config)
    _check_provider(path, config)
    return config


def _check_type(path: Path, key: str, value: object) -> None:
    default = getattr(Config(), key)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ConfigError(f"{path}: {key} must be true or false", f"for example {key} = true")
    elif isinstance(default, int):
        minimum = 0 if key in _MAY_BE_ZERO else 1
        if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
            expected = "a whole number, 0 or more" if minimum == 0 else "a positive whole number"
            raise ConfigError(f"{path}: {key} must be {expected}", f"for example {key} = {default}")
    elif isinstance(default, float):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
            raise ConfigError(f"{path}: {key} must be a number, 0 or more", f"for example {key} = {default or 0.5}")
    elif isinstance(default, str):
        if not isinstance(value, str):
            raise ConfigError(f"{path}: {key} must be a string", f'for example {key} = "{default or "…"}"')
    elif not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{path}: {key} must be a list of strings", f'for example {key} = ["…"]')


def _check_experiment(path: Path, config: Config) -> None:
    if config.experiment > MAX_EXPERIMENT:
        raise ConfigError(
            f"{path}: experiment must be a share of the sessions, from 0 to {MAX_EXPERIMENT}",
            "for example experiment = 0.2",
        )


def _check_exclude(path: Path, config: Config) -> None:
    for glob in config.exclude:
        if not glob.startswith(("/", "~", "*")):
            name = glob.removeprefix("./") or "folder"
            raise ConfigError(
                f"{path}: exclude: {glob or 'an empty string'} is no whole path", f"write ~/{name} or */{name}"
            )


def _own_presets(path: Path, presets: object) -> tuple[OwnPreset, ...]:
    if not isinstance(presets, dict) or not all(isinstance(caps, dict) for caps in presets.values()):
        raise ConfigError(f"{path}: presets must be tables", "write [presets.mine], and its layers below")
    for name in presets:
        if name in PRESETS:
            raise ConfigError(f"{path}: the preset {name} is built in", "call yours by another name")
    return tuple(OwnPreset(name, _caps(f"{path}: presets.{name}", caps)) for name, caps in presets.items())


def _caps(where: str, layers: Mapping[str, object]) -> tuple[tuple[str, int], ...]:
    """Return caps by layer. Names are normalised: `changed_code` is the layer `changed code`."""
    known = {_plain(layer): layer for layer in (*LAYERS, RESERVE)}
    caps: dict[str, int] = {}
    for name, cap in layers.items():
        layer = known.get(_plain(name))
        if layer is None:
            nearest = difflib.get_close_matches(_plain(name), known, n=1)
            hint = f"did you mean {known[nearest[0]]}?" if nearest else f"known are {', '.join(known.values())}"
            raise ConfigError(f"{where}: there is no layer {name[:40]!r}", hint)
        if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1 or layer in caps:
            raise ConfigError(f"{where}: {name} must be one positive whole number", f"for example {name} = 300")
        caps[layer] = cap
    for pair in _ALTERNATIVES:
        if set(pair) <= set(caps):
            raise ConfigError(f"{where}: {pair[0]} and {pair[1]} show the same", "name one of them")
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
    if config.base_url and not is_address(config.base_url):
        raise ConfigError(f"{path}: base_url is no address", 'for example base_url = "http://localhost:11434/v1"')


def is_address(url: str) -> bool:
    """Return whether a text is the address of a web server."""
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
        config = replace(config, budget_tokens=_tokens(VARIABLES["budget_tokens"], budget, minimum=1))
    if budget := environment.get(VARIABLES["prompt_budget_tokens"], ""):
        config = replace(config, prompt_budget_tokens=_tokens(VARIABLES["prompt_budget_tokens"], budget, minimum=0))
    if debug := environment.get(VARIABLES["debug"], ""):
        config = replace(config, debug=debug.strip().lower() not in _OFF)
    return config


def _tokens(name: str, value: str, *, minimum: int) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 9 or int(value) < minimum:
        raise ConfigError(f"{name} is {value[:20]!r}", "set it to a number of tokens, or unset it")
    return int(value)
