"""Settings of the worker: config.toml as last read, or the reason why the file cannot be read."""

import logging
import os

from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.paths import Home, state_of
from claude_mem_lite.worker.answers import prerendered

log = logging.getLogger(__name__)


class SettingsSource:
    """Source of the settings. Any thread may read the attributes; only the job thread reloads."""

    def __init__(self, home: Home) -> None:
        self.config = Config()
        self.problem = ""
        """Reason why nothing may be taken in; empty while the settings are valid."""
        self._home = home
        self._state: tuple[int, int, int] | None = None

    def is_current(self) -> bool:
        """Return whether config.toml is unchanged since the last reload."""
        return state_of(self._home.config) == self._state

    def current(self) -> Config:
        """Return the settings, even if changed a moment ago; the settings before while the file is invalid."""
        if self.is_current():
            return self.config
        try:
            return load_config(self._home.config, os.environ)
        except ConfigError:
            return self.config

    def excludes(self, folder: str) -> bool:
        """Return whether the settings exclude a folder."""
        return is_excluded(self.config, folder)

    def reload(self) -> bool:
        """Read config.toml; return whether the file is valid. A broken file may have named folders to exclude."""
        state = state_of(self._home.config)  # first: the next reload reads a file that is written meanwhile
        try:
            config = load_config(self._home.config, os.environ)
        except ConfigError as error:
            if not self.problem:
                log.error("configuration cannot be read; events wait in the spool")
            self.problem, self._state = str(error), state
            return False
        # A rendered context may belong to a folder that is excluded now, or be read by a control session.
        if config.exclude != self.config.exclude or bool(config.experiment) != bool(self.config.experiment):
            prerendered.clear(self._home)
        self.config, self.problem = config, ""
        self._state = state  # last: until then other threads read the file, instead of the settings before
        return True
