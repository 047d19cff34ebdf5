"""The configured provider, never guessed from a key in the environment.

The key of a provider is read from the variable of the SDK, else from the file `api-key` in the home."""

import os
import stat
from collections.abc import Mapping
from functools import partial

from claude_mem_lite.compress.model.claude_cli_provider import ClaudeCliProvider
from claude_mem_lite.compress.model.sdk_provider import AnthropicProvider, OpenAiProvider, is_loopback
from claude_mem_lite.config import DEFAULT_MODELS, Config
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import LOCAL_LIMITS, CallLimits, Provider, prices_of

_MAX_KEY_LENGTH = 4_096


def read_key(variable: str, home: Home, environment: Mapping[str, str]) -> str:
    """Return the key, or ''. ModelRefused for a file that others can read, and for text that cannot be a key."""
    source, key = variable, environment.get(variable, "").strip()
    if not key:
        source, key = str(home.api_key), _from_file(home)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelRefused(f"what {source} holds is no key", "put the key there, and nothing else")
    return key


def _from_file(home: Home) -> str:
    path = home.api_key
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ModelRefused(f"{path} cannot be read: {error.strerror}", "make it a plain file of yours") from None
    with open(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.getuid():
            raise ModelRefused(f"{path} is not a file of yours", "put the key into a plain file of your own")
        if state.st_mode & 0o077:
            raise ModelRefused(f"{path} can be read by others", f"run `chmod 600 {path}`")
        return file.read(_MAX_KEY_LENGTH).decode("utf-8", "replace").strip()


def make_provider(config: Config, home: Home, environment: Mapping[str, str]) -> Provider | None:
    """Return the configured provider, None for rules. The first call reads the key and imports the SDK.

    The address comes from the configuration alone: variables that redirect the agent have no effect."""
    if config.provider == "rules":
        return None
    model = config.model or DEFAULT_MODELS[config.provider]
    if config.provider == "claude-cli":
        return ClaudeCliProvider(model, environment, config.base_url)
    address = config.base_url.rstrip("/")
    limits = LOCAL_LIMITS if is_loopback(address) else CallLimits()
    prices = prices_of(model, config.usd_per_million_in, config.usd_per_million_out)
    provider = AnthropicProvider if config.provider == "anthropic" else OpenAiProvider
    key = partial(read_key, f"{provider.package.upper()}_API_KEY", home, environment)
    return provider(model, key, prices, address or provider.address, limits, key_file=str(home.api_key))
