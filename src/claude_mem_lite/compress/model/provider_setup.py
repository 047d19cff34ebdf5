"""The provider that the configuration names, or none: never guessed from a key that happens to be there.

The key of a provider: from the variable that its SDK uses, else from the file `api-key` in the home."""

import os
import stat
from collections.abc import Mapping
from functools import partial

from claude_mem_lite.compress.model import anthropic_provider, openai_provider
from claude_mem_lite.compress.model.anthropic_provider import AnthropicProvider
from claude_mem_lite.compress.model.claude_cli_provider import ClaudeCliProvider
from claude_mem_lite.compress.model.openai_provider import OpenAiProvider
from claude_mem_lite.compress.model.prices import prices_of
from claude_mem_lite.compress.model.sdk_transport import is_loopback
from claude_mem_lite.config import DEFAULT_MODELS, Config
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.models import LOCAL_LIMITS, CallLimits, Provider
from claude_mem_lite.paths import Home

_LONGEST = 4_096


def read_key(variable: str, home: Home, environment: Mapping[str, str]) -> str:
    """The key, '' when there is none. ModelRefused for a file that others can read, and for what cannot be a key."""
    place, key = variable, environment.get(variable, "").strip()
    if not key:
        place, key = str(home.api_key), _from_file(home)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelRefused(f"what {place} holds is no key", "put the key there, and nothing else")
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
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise ModelRefused(f"{path} is not a file of yours", "put the key into a plain file of your own")
        if found.st_mode & 0o077:
            raise ModelRefused(f"{path} can be read by others", f"run `chmod 600 {path}`")
        return file.read(_LONGEST).decode("utf-8", "replace").strip()


def make_provider(config: Config, home: Home, environment: Mapping[str, str]) -> Provider | None:
    """The provider in force, None for rules. No key is read and nothing imported or sent before it is asked.

    The address is always ours to say: variables that redirect the agent we were started from do not redirect us."""
    if config.provider == "rules":
        return None
    model = config.model or DEFAULT_MODELS[config.provider]
    if config.provider == "claude-cli":
        return ClaudeCliProvider(model, environment, config.base_url)
    address = config.base_url.rstrip("/")
    limits = LOCAL_LIMITS if is_loopback(address) else CallLimits()
    prices = prices_of(model, config.usd_per_million_in, config.usd_per_million_out)
    if config.provider == "anthropic":
        key = partial(read_key, "ANTHROPIC_API_KEY", home, environment)
        address = address or anthropic_provider.ADDRESS
        return AnthropicProvider(model, key, prices, address, limits, key_file=str(home.api_key))
    key = partial(read_key, "OPENAI_API_KEY", home, environment)
    return OpenAiProvider(model, key, prices, address or openai_provider.ADDRESS, limits, key_file=str(home.api_key))
