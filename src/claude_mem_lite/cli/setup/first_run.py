"""Dialogue of `install` on a terminal: all questions first, so that whoever stops it has changed nothing.

`install` carries the answers out."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from claude_mem_lite.cli.options import asking_agent
from claude_mem_lite.cli.setup.local_servers import find_servers, usual_ports
from claude_mem_lite.cli.setup.model_question import ModelFacts, ask_model
from claude_mem_lite.cli.setup.model_settings import ModelChoice, present_choice
from claude_mem_lite.cli.setup.permission_question import ask_permission
from claude_mem_lite.cli.setup.yes_or_no import ask_yes_or_no
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.install import agent_extras
from claude_mem_lite.install.hook_config import hook_groups
from claude_mem_lite.install.hook_install import Plan
from claude_mem_lite.install.targets import AGENT_TEXTS, Target
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen


@frozen
class Answers:
    """Answers of the user beside the hooks. None leaves a setting as it is, or has not been answered yet."""

    allow_tools: bool | None = None
    import_past: bool | None = None
    model: ModelChoice | None = None
    declined_tools: bool = False
    """True if the user was asked to allow the tools, and did not: all stays as it is, and needs no further word."""


def can_ask() -> bool:
    """Return whether the user is at the terminal; an agent must not answer for the user."""
    return sys.stdin.isatty() and sys.stdout.isatty() and asking_agent("") is None


def ask(home: Home, target: Target, given: Answers, plan: Plan, allowing: Plan) -> Answers:
    """Ask what the options leave open; click.Abort if the user wants no change. `plan` is the install without the
    permission, `allowing` the install with it."""
    facts = _model_facts(home, os.environ)  # first: a broken config.toml is no news for the last question
    _print_changes(home, target, plan)
    answers = given
    if given.import_past is None:
        answers = replace(answers, import_past=_ask_import(home, target))
    if given.allow_tools is None:
        allowed = ask_permission(home, target, allowing)
        answers = replace(answers, allow_tools=allowed or None, declined_tools=allowed is False)
    if given.model is None:
        click.echo()
        answers = replace(answers, model=ask_model(home, facts, os.environ))
    _print_answers(home, answers)
    if not ask_yes_or_no("Go ahead?", default=True):
        raise click.Abort
    click.echo()
    return answers


def left_to_import(home: Home, target: Target) -> Sequence[str]:
    """Return the sentence about sessions that may be imported later."""
    from claude_mem_lite.cli.setup.past_sessions import past_sessions  # here: loads every importer

    agents = ", ".join(past_sessions(home, target).agents)
    return [f"`claude-mem-lite import transcripts` imports your earlier sessions ({agents})."] if agents else []


def _print_changes(home: Home, target: Target, plan: Plan) -> None:
    click.echo(f"claude-mem-lite for {AGENT_TEXTS[target.agent].name}. Nothing is changed before the last question.\n")
    for sentence in _changes(home, target, plan):
        click.echo(f"- {sentence}")


def _changes(home: Home, target: Target, plan: Plan) -> Sequence[str]:
    """Return what an install changes, one sentence for each file."""
    sentences = []
    if not home.root.exists():
        sentences.append(f"Would make {home.root} for the data, readable by you alone.")
    if plan.changes:
        backup = ", with a backup" if plan.before is not None else ""
        events = ", ".join(hook_groups(home, target.agent))
        sentences.append(f"Would {'update' if plan.had_ours else 'add'} hooks in {plan.path}{backup}: {events}.")
    sentences += agent_extras.preview_install(home, target.tools)
    if not sentences:
        return ("The hooks, the MCP server and the skill are up to date; nothing changes there.",)
    return (
        *sentences,
        "`claude-mem-lite install --dry-run` shows every line; `claude-mem-lite uninstall` takes it back.",
    )


def _ask_import(home: Home, target: Target) -> bool:
    """Ask about the import of sessions that are not stored; without any, print that."""
    from claude_mem_lite.cli.setup.past_sessions import past_sessions  # here: as above

    click.echo()
    past = past_sessions(home, target)
    past.print_counts()
    if not past.new:
        return False
    click.echo(
        "Importing them is free: rules read them on this machine, and nothing is sent. Nothing is imported twice, and\n"
        "you can stop the import at any time."
    )
    return ask_yes_or_no(f"Import {past.spoken_new}?", default=True)


def _model_facts(home: Home, environment: Mapping[str, str]) -> ModelFacts:
    config = load_config(home.config, {})
    servers = find_servers(usual_ports(environment))
    return ModelFacts(present_choice(home), servers, config.daily_usd, config.session_usd)


def _print_answers(home: Home, answers: Answers) -> None:
    model = answers.model or present_choice(home)
    tools = {None: "as before", True: "allowed", False: "not allowed by us"}[answers.allow_tools]
    imported = "yes" if answers.import_past else "no"
    click.echo(f"\nImport: {imported}. Memory tools: {tools}. Notes by: {model.spoken}{_but_missing(model)}.")


def _but_missing(model: ModelChoice) -> str:
    is_missing = model.provider == "claude-cli" and shutil.which("claude") is None
    return ", but `claude` is not on your PATH: until it is, rules write them" if is_missing else ""
