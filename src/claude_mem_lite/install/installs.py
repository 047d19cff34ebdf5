"""What is installed where, agent by agent, and how it stands. For `doctor`; it only reads."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import files, record, serving, settings, skills
from claude_mem_lite.install.claude_code import Scope
from claude_mem_lite.install.hooks import hook_groups
from claude_mem_lite.install.record import Record
from claude_mem_lite.install.targets import OWN_FILE, Target, target_in, target_of
from claude_mem_lite.paths import Home

HooksState = Literal["current", "other", "absent", "disabled", "unreadable"]
ServerState = Literal["absent", "current", "other", "foreign", "unreadable", "none"]


@dataclass(frozen=True, slots=True)
class Install:
    """One agent's settings that an install wrote to. `server` is `none` where the agent has no place for one."""

    agent: str
    scope: Scope
    settings: Path
    hooks: HooksState
    server: ServerState
    skill: skills.State


def installs(home: Home) -> Sequence[Install]:
    """Every install of this home, in the order of their records; SettingsError when one of those is damaged."""
    return [_install(home, one) for one in record.load_all(home) if one.agent in NAMES]


def hooks_state(home: Home, path: Path, agent: str) -> HooksState:
    """How our hooks stand in one agent's settings."""
    try:
        text = (files.read(path) or b"").decode("utf-8") or settings.EMPTY_SETTINGS
        if settings.disables_hooks(text):
            return "disabled"
        if settings.is_current(text, hook_groups(home, agent)):
            return "current"
        return "other" if settings.has_ours(text) else "absent"
    except (SettingsError, UnicodeDecodeError):
        return "unreadable"


def _install(home: Home, one: Record) -> Install:
    target = target_of_record(one)
    return Install(
        one.agent,
        "project" if one.project else "user",
        one.settings,
        hooks_state(home, one.settings, one.agent),
        _server(home, target),
        skills.state_of(target.tools.skill),
    )


def target_of_record(one: Record) -> Target:
    """The places of the agent that a record tells of."""
    is_own = one.settings.name == OWN_FILE
    folder = one.settings.parent.parent if is_own else one.settings.parent
    if one.agent != CLAUDE_CODE:
        return target_in(one.agent, folder, one.project)
    is_project = one.settings.name == "settings.local.json"
    return target_of(CLAUDE_CODE, "project" if is_project else "user", None if is_project else folder, os.environ)


def _server(home: Home, target: Target) -> ServerState:
    if not target.tools.has_server:
        return "none"
    try:
        return serving.plan_adding(target.tools.server, serving.entry(home, target.agent)).state
    except MemoryLiteError:
        return "unreadable"
