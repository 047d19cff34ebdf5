"""Question who writes the notes, with the cost of each answer. Changes nothing."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from claude_mem_lite.cli.options import OneOf
from claude_mem_lite.cli.output import plain
from claude_mem_lite.cli.setup.local_servers import USUAL_PORTS, LocalServer, is_local
from claude_mem_lite.cli.setup.model_settings import LOCAL, RULES, ModelChoice, is_key, key_source
from claude_mem_lite.config import DEFAULT_MODELS
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

_ANSWERS = (RULES, "claude-cli", "anthropic", "openai", LOCAL)
_MAX_MODELS_SHOWN = 5


@frozen
class ModelFacts:
    """Facts that the question shows."""

    present: ModelChoice
    servers: tuple[LocalServer, ...]
    daily_usd: float
    session_usd: float


def ask_model(home: Home, facts: ModelFacts, environment: Mapping[str, str]) -> ModelChoice | None:
    """Return the new choice; None if the present one stays."""
    for line in _explanation(facts, environment):
        click.echo(line)
    default = _answer_of(facts.present)
    while True:
        answer = str(click.prompt("Who writes the notes?", type=OneOf(_ANSWERS), default=default, show_choices=False))
        if answer != LOCAL:
            break
        if facts.servers:
            return _unless_present(_local_choice(facts), facts.present)
        if default == LOCAL:
            click.echo("No local server answers now; the present setting stays.")
            return None
        click.echo("No local server answers. Start one, or choose another answer.")
    choice = facts.present if answer == default else ModelChoice(answer)
    if answer == "openai" and not choice.model:
        choice = replace(choice, model=_ask_name())
    if answer in ("anthropic", "openai"):
        choice = replace(choice, key=_ask_key(home, answer, environment))
    return _unless_present(choice, facts.present)


def _unless_present(choice: ModelChoice, present: ModelChoice) -> ModelChoice | None:
    return None if choice == present else choice


def _answer_of(choice: ModelChoice) -> str:
    return LOCAL if choice.provider == "openai" and is_local(choice.base_url) else choice.provider


def _explanation(facts: ModelFacts, environment: Mapping[str, str]) -> Sequence[str]:
    caps = f"at most ${facts.daily_usd:.2f} a day and ${facts.session_usd:.2f} a session"
    missing = "" if shutil.which("claude", path=environment.get("PATH")) else " `claude` is not on your PATH."
    return (
        "Rules write the notes; a model can write better ones, in the background:",
        "  rules       no model. Free; nothing leaves this machine.",
        "  claude-cli  your Claude subscription, through `claude -p`. Counts for the limits of your plan, and may be",
        f"              billed per token; {caps}.{missing}",
        f"  anthropic   an API key of Anthropic. About $0.01 a session with {DEFAULT_MODELS['anthropic']},",
        f"              {caps}.",
        "  openai      an API key of OpenAI. Costs what your model costs; set its prices in config.toml, else only the",
        "              caps in tokens hold.",
        "  local       a server on this machine. Free; a very small model writes worse notes than rules.",
        *(f"              Found {_described(server)}." for server in facts.servers),
        *(() if facts.servers else (f"              None found ({_searched()}).",)),
        "With a model, a digest of each larger turn is sent to it, without known secrets and excluded folders.",
    )


def _described(server: LocalServer) -> str:
    shown = ", ".join(plain(name) for name in server.models[:_MAX_MODELS_SHOWN])
    more = len(server.models) - _MAX_MODELS_SHOWN
    return f"{server.kind} at {server.base_url}: {shown}{f' and {more} more' if more > 0 else ''}"


def _searched() -> str:
    return ", ".join(f"{each.kind} on {each.port}" for each in USUAL_PORTS)


def _local_choice(facts: ModelFacts) -> ModelChoice:
    """Return the model of a server that was found; asks where there are several."""
    by_url = {server.base_url: server for server in facts.servers}
    present = facts.present
    url = present.base_url if present.base_url in by_url else facts.servers[0].base_url
    if len(by_url) > 1:
        url = str(click.prompt("Which server?", type=OneOf(tuple(by_url)), default=url, show_choices=False))
    models = by_url[url].models
    model = present.model if present.model in models else models[0]
    if len(models) > 1:
        model = str(click.prompt("Which model?", type=OneOf(models), default=model, show_choices=False))
    return ModelChoice("openai", model, url)


def _ask_name() -> str:
    question = "Model of OpenAI (for example gpt-4.1-mini)"
    return str(click.prompt(question, default="", show_default=False, value_proc=_checked_name))


def _checked_name(typed: str) -> str:
    if not typed.strip():
        raise click.UsageError("type the name of a model; Ctrl-C ends without any change")
    return typed.strip()


def _ask_key(home: Home, provider: str, environment: Mapping[str, str]) -> str:
    """Return a typed key, which is not shown; '' if the present key stays or comes later."""
    source = key_source(home, provider, environment)
    step = f"Enter keeps the key of {source}" if source else f"Enter to write it into {home.api_key} later"
    return str(
        click.prompt(
            f"API key (not shown; {step})", hide_input=True, default="", show_default=False, value_proc=_checked_key
        )
    )


def _checked_key(typed: str) -> str:
    key = typed.strip()
    if key and not is_key(key):
        raise click.UsageError("that is no key: it has a space or a character that keys do not have")
    return key
