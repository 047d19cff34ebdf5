"""Every setting with its default, and the settings in force in one folder. `config_loader` reads the file.

The text below a setting explains the setting: the page for users is made from these texts."""

import fnmatch
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from claude_mem_lite import project_config
from claude_mem_lite.project_config import ProjectSettings
from claude_mem_lite.values import frozen

PROVIDERS = ("rules", "anthropic", "openai", "claude-cli")
DEFAULT_MODELS = {"anthropic": "claude-haiku-4-5-20251001", "claude-cli": "claude-haiku-4-5-20251001"}
PRESETS = ("balanced", "layers", "codes")
"""Layouts of the context that are built in."""
RESERVE = "reserve"
MAX_EXPERIMENT = 0.5
LAYERS = (
    "handoff",
    "sessions",
    "session index",
    "project",
    "universal",
    "language",
    "learnings",
    "changed code",
    "function map",
    "observations",
    "impl",
    "dec",
    "block+next",
)
"""Layers that a user's own layout may contain."""
VARIABLES = {
    "budget_tokens": "CLAUDE_MEM_LITE_BUDGET",
    "preset": "CLAUDE_MEM_LITE_PRESET",
    "prompt_budget_tokens": "CLAUDE_MEM_LITE_PROMPT_BUDGET",
    "debug": "CLAUDE_MEM_LITE_DEBUG",
}
"""Settings with an environment variable, which takes precedence over every file."""


class OwnPreset(NamedTuple):
    """Layout written by the user: layers with their caps in tokens, in order of priority."""

    name: str
    caps: tuple[tuple[str, int], ...]


@frozen
class Config:
    """Every setting with its default."""

    budget_tokens: int = 2000
    """How large the context given at the start of a session may be, in tokens by estimate. With less than 100, little
    or nothing fits. Whatever the number, the text stays below what Claude Code passes on whole (10,000 characters)."""
    preset: str = "balanced"
    """Which layers that context has: `balanced`, `layers`, `codes`, or one of your own. See
    [context.md](context.md)."""
    presets: tuple[OwnPreset, ...] = ()
    """Layouts of your own, each a table: `[presets.NAME]` with a cap in tokens for each layer, in order of priority.
    See [context.md](context.md)."""
    prompt_budget_tokens: int = 3000
    """What the prompts, failing commands and opened files of one session are given in all, in tokens by estimate; one
    prompt gets at most two thirds of it, a failure at most 300, a file at most 120. 0 means that they are given
    nothing. See [moments.md](moments.md)."""
    ask_agent: bool = True
    """Ask the agent, in one line with a prompt and seldom, to save what you said if it holds beyond the
    task. Only where it may use the memory tools without asking you. See [lessons.md](lessons.md)."""
    experiment: float = 0.0
    """The share of sessions that get no memories, to find out whether memories help: 0 for none, at most 0.5. What you
    pinned and guards hold in all sessions. See [experiment.md](experiment.md)."""
    exclude: tuple[str, ...] = ()
    """Folders of which nothing is kept and to which nothing is given, as patterns. See
    [below](#excluded-folders)."""
    ignored_tools: tuple[str, ...] = ()
    """Tools whose calls are not used, by their exact names. `Glob`, `Grep`, `LS`, `ListMcpResourcesTool`, `ToolSearch`
    and `TodoRead` never are."""
    idle_exit_s: int = 1800
    """After how many seconds without events or commands the worker ends. The next hook or command starts it again."""
    provider: str = "rules"
    """Who tells what a turn came to: `rules` without any model, or `anthropic`, `openai`, `claude-cli`. See
    [models.md](models.md). Nothing is sent to a model unless this names its provider."""
    model: str = ""
    """The model to ask. Empty is `claude-haiku-4-5-20251001` for `anthropic` and `claude-cli`; `openai` needs one."""
    base_url: str = ""
    """Where the provider is asked, for a gateway or a server of your own, as in `"http://localhost:11434/v1"`. Empty is
    the provider's own address."""
    daily_usd: float = 1.0
    """Cost of models in a day, in US dollars, at most. When a cap is reached, rules go on alone. 0 means no calls."""
    session_usd: float = 0.25
    """The same for one session."""
    daily_tokens: int = 1_000_000
    """Tokens sent and received in a day. 0 means no calls."""
    session_tokens: int = 250_000
    """The same for one session."""
    usd_per_million_in: float = 0.0
    """The price of a million tokens sent, for a model whose price is not known here. As long as both prices are 0, such
    a model counts as free, and only the caps in tokens hold."""
    usd_per_million_out: float = 0.0
    """The price of a million tokens received."""
    debug: bool = False
    """With `true`, `worker.log` has one line for each prompt, failing command and opened file that was looked up: ids,
    scores, and why nothing was said. No word of a prompt or a memory is in it."""


def project_settings(folder: str) -> ProjectSettings:
    """Return the settings in the repository of a folder, as far as a repository may set them."""
    return project_config.find(folder, PRESETS)


def in_folder(config: Config, folder: str, environment: Mapping[str, str] = os.environ) -> Config:
    """Return the settings in force in a folder. A repository may make budgets smaller, never larger.

    The exclusions of the repository are not included, because they are relative to the repository's root: see
    `is_excluded`."""
    repository = project_settings(folder)
    if not repository.path:
        return config
    budget, prompt_budget = repository.budget_tokens, repository.prompt_budget_tokens
    may_choose = repository.preset and not environment.get(VARIABLES["preset"])
    return replace(
        config,
        budget_tokens=config.budget_tokens if budget is None else min(config.budget_tokens, budget),
        prompt_budget_tokens=config.prompt_budget_tokens
        if prompt_budget is None
        else min(config.prompt_budget_tokens, prompt_budget),
        preset=repository.preset if may_choose else config.preset,
        ignored_tools=tuple(dict.fromkeys((*config.ignored_tools, *repository.ignored_tools))),
    )


def is_excluded(config: Config, folder: str) -> bool:
    """Return whether a folder or a parent is excluded, by the user (any spelling of the path) or by the repository."""
    return matches(config.exclude, folder) or project_settings(folder).excludes(folder)


def is_excluded_by_repository(config: Config, folder: str) -> bool:
    """Return whether the repository excludes a folder, and the user does not."""
    return project_settings(folder).excludes(folder) and not matches(config.exclude, folder)


def matches(patterns: Sequence[str], folder: str) -> bool:
    """Return whether a folder or a parent matches a pattern of `exclude`, by any spelling of the path."""
    if not patterns:
        return False
    globs = [os.path.expanduser(glob).rstrip("/") for glob in patterns]
    globs += [os.path.realpath(glob) for glob in globs]
    spellings = {folder, os.path.normpath(folder), _real(folder)}
    ancestors = {str(path) for spelling in spellings for path in (Path(spelling), *Path(spelling).parents)}
    return any(fnmatch.fnmatchcase(ancestor, glob) for glob in globs for ancestor in ancestors)


def _real(folder: str) -> str:
    try:
        return os.path.realpath(folder)
    except (OSError, ValueError):  # no folder can have this name
        return folder
