"""The settings: whether the files that hold them can be read, and what a project may not say."""

import os
from collections.abc import Mapping, Sequence

from claude_mem_lite.config import Config, project_settings
from claude_mem_lite.config_loader import load_config, read_synonyms
from claude_mem_lite.errors import ConfigError, joined
from claude_mem_lite.install.doctor.check import Check
from claude_mem_lite.paths import Home
from claude_mem_lite.project_config import ALLOWED, NAME


def check_switch(home: Home) -> Check:
    if home.off_switch.exists():
        return Check("switch", "warn", "capture is switched off", "run `claude-mem-lite on`")
    return Check("switch", "ok", "capture is on")


def check_configuration(home: Home, environment: Mapping[str, str]) -> Check:
    """Whether the settings can be read. While they cannot, nothing is taken in: they may name folders to exclude."""
    try:
        config = load_config(home.config, environment)
    except ConfigError as error:
        step = joined(error.next_step, "until it is mended, events wait and none is lost")
        return Check("configuration", "fail", error.message, step)
    told = f"in {home.config}" if home.config.exists() else "there is no config.toml, so the defaults hold"
    more = "" if config == Config() else "; `claude-mem-lite config` shows what is in force"
    return Check("configuration", "ok", f"{told}{more}")


def check_project_file(folder: str) -> Sequence[Check]:
    """What the repository that a folder is in says itself, when it does."""
    own = project_settings(folder)
    if not own.path:
        return []
    if own.problems:
        step = f"that is left out: mend {NAME}, or leave it: it can do no harm"
        return [Check("project file", "warn", f"{own.path}: {problem}", step) for problem in own.problems]
    given = [key for key in ALLOWED if getattr(own, key) not in (None, "", ())]
    return [Check("project file", "ok", f"{own.path} sets {', '.join(given) or 'nothing'}")]


def check_synonyms(home: Home) -> Sequence[Check]:
    """Whether the user's own synonyms can be read, when there are any."""
    if not os.path.lexists(home.synonyms):
        return []
    try:
        read_synonyms(home.synonyms)
    except ConfigError as error:
        return [Check("synonyms", "warn", f"{error.message}; those of the package hold", error.next_step)]
    return [Check("synonyms", "ok", str(home.synonyms))]
