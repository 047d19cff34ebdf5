"""Options of `install` that choose the model, for scripts."""

import os
import sys
from collections.abc import Callable
from typing import TypeVar

import click

from claude_mem_lite.cli.options import OneOf, refuse_agent
from claude_mem_lite.cli.setup.local_servers import is_local, usual_address
from claude_mem_lite.cli.setup.model_settings import LOCAL, RULES, ModelChoice, is_key
from claude_mem_lite.config import PROVIDERS
from claude_mem_lite.config_loader import is_address

Decorated = TypeVar("Decorated", bound=Callable[..., object])


def model_options(command: Decorated) -> Decorated:
    """Add the options for provider, model, address and key."""
    for option in (
        click.option("--key-stdin", is_flag=True, help="Read the API key from the input; asks nothing then."),
        click.option("--base-url", metavar="URL", default="", help="Address of the provider, if not its own."),
        click.option("--model", metavar="NAME", default="", help="The model to ask; openai and local need one."),
        click.option(
            "--provider",
            type=OneOf((*PROVIDERS, LOCAL)),
            help="Who writes the notes: rules alone, or a model's provider (local: a server on this machine); asked on "
            "a terminal if not given.",
        ),
    ):
        command = option(command)
    return command


def chosen_model(provider: str | None, model: str, base_url: str, key_stdin: bool) -> ModelChoice | None:
    """Return the choice of the options; None without --provider."""
    if provider is None:
        if model or base_url or key_stdin:
            raise click.UsageError("--model, --base-url and --key-stdin need --provider")
        return None
    if provider == RULES and (model or base_url or key_stdin):
        raise click.UsageError("--provider rules asks no model, so it takes no other option")
    if provider in ("openai", LOCAL) and not model:
        raise click.UsageError(f"--provider {provider} needs --model")
    if provider == LOCAL and (key_stdin or not is_local(base_url or usual_address(os.environ))):
        raise click.UsageError("--provider local is a server on this machine, without a key; for others use openai")
    if provider == "claude-cli" and key_stdin:
        raise click.UsageError("--provider claude-cli uses the login of `claude`, so it takes no key")
    if base_url and not is_address(base_url):
        raise click.UsageError("--base-url is no address, as in http://localhost:11434/v1")
    if provider != RULES:
        refuse_agent("install --provider")
    if provider == LOCAL:
        return ModelChoice("openai", model, base_url or usual_address(os.environ))
    return ModelChoice(provider, model, base_url, _key_of_input() if key_stdin else "")


def _key_of_input() -> str:
    key = sys.stdin.readline().strip()
    if not is_key(key):
        raise click.UsageError("the input of --key-stdin is no key; nothing was changed")
    return key
