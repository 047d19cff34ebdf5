"""The provider that the configuration names, or none: never guessed from a key that happens to be there."""

from collections.abc import Mapping
from functools import partial

from claude_mem_lite.compress.model import anthropic_provider, openai_provider
from claude_mem_lite.compress.model.anthropic_provider import AnthropicProvider
from claude_mem_lite.compress.model.claude_cli_provider import ClaudeCliProvider
from claude_mem_lite.compress.model.keys import read_key
from claude_mem_lite.compress.model.openai_provider import OpenAiProvider
from claude_mem_lite.compress.model.prices import prices_of
from claude_mem_lite.compress.model.sdk_transport import is_loopback
from claude_mem_lite.config import DEFAULT_MODELS, Config
from claude_mem_lite.models import LOCAL_LIMITS, CallLimits, Provider
from claude_mem_lite.paths import Home


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
