"""Choice of the model that writes notes: read from `config.toml`, written to it, and the key to a file of its own."""

from collections.abc import Mapping
from dataclasses import field

from claude_mem_lite import private_files
from claude_mem_lite.cli.setup.config_edit import write_settings
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import unwritable
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

RULES = "rules"
LOCAL = "local"
"""Answer and option for a server on this machine, which is written as provider `openai` with an address."""
KEY_VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_MAX_KEY_LENGTH = 4_096


@frozen
class ModelChoice:
    """Provider with its model and address, '' for the provider's own; and a new key, '' if the present one stays."""

    provider: str = RULES
    model: str = ""
    base_url: str = ""
    key: str = field(default="", repr=False)

    @property
    def spoken(self) -> str:
        """Return who writes the notes, for a sentence."""
        return "rules alone" if self.provider == RULES else f"{self.provider} {self.model}".rstrip()


def present_choice(home: Home) -> ModelChoice:
    """Return the choice in force; ConfigError for a broken file."""
    config = load_config(home.config, {})
    return ModelChoice(config.provider, config.model, config.base_url)


def dropped_settings(home: Home, choice: ModelChoice) -> list[str]:
    """Return the present settings that the choice removes, as they are written."""
    before = present_choice(home)
    settings = (("model", before.model, choice.model), ("base_url", before.base_url, choice.base_url))
    return [f'{name} = "{present}"' for name, present, chosen in settings if present and not chosen]


def write_choice(home: Home, choice: ModelChoice) -> bool:
    """Write the key, then the settings that use it; return whether anything changed."""
    if choice.key:
        write_key(home, choice.key)
    provider = None if choice.provider == RULES else choice.provider
    wanted = {"provider": provider, "model": choice.model or None, "base_url": choice.base_url or None}
    return write_settings(home, wanted) or bool(choice.key)


def is_key(text: str) -> bool:
    """Return whether a text can be a key."""
    return text.isascii() and text.isprintable() and " " not in text and 0 < len(text) <= _MAX_KEY_LENGTH


def needs_key(choice: ModelChoice) -> bool:
    """Return whether the provider asks for a key; a server of one's own may do without."""
    return choice.provider in KEY_VARIABLES and not choice.base_url


def key_source(home: Home, provider: str, environment: Mapping[str, str]) -> str:
    """Return where the key of a provider is: its variable, else the file; '' without a key."""
    variable = KEY_VARIABLES.get(provider, "")
    if environment.get(variable, "").strip():
        return variable
    return str(home.api_key) if variable and home.api_key.exists() else ""


def write_key(home: Home, key: str) -> None:
    """Write the key to its file, for the user alone."""
    try:
        private_files.replace(home.api_key, f"{key}\n".encode())
    except OSError as error:
        raise unwritable(home.api_key, error) from error
