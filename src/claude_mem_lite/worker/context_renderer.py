"""Renderer of start contexts for hooks that get no answer in time: at once, after commands, or after an import."""

import sqlite3

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.db.read_pool import Readers
from claude_mem_lite.limits import Limits
from claude_mem_lite.paths import Home
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker.answers import prerendered
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.shutdown import Shutdown

ALL_PROJECTS = ""


class ContextRenderer:
    """Rendered contexts of projects, in `rendered/`. For the job thread alone."""

    def __init__(
        self,
        home: Home,
        memory_db: sqlite3.Connection,
        readers: Readers,
        settings: SettingsSource,
        clock: Clock,
        scanner: StalenessScanner,
        search: Search,
        shutdown: Shutdown,
        limits: Limits,
    ) -> None:
        self._home = home
        self._memory_db = memory_db
        self._readers = readers
        self._settings = settings
        self._clock = clock
        self._scanner = scanner
        self._search = search
        self._shutdown = shutdown
        self._limits = limits
        self._postponed: set[str] = set()
        """Projects of imported turns: an import sends hundreds of sessions, so rendering waits until a pause."""
        self._has_commands = False

    def render(self, projects: set[str]) -> None:
        """Render the folders of projects whose context changed; `ALL_PROJECTS` in `projects` means all."""
        if not projects or not self._shutdown.has_files():
            return
        self._postponed = set() if ALL_PROJECTS in projects else self._postponed - projects
        prerendered.refresh(
            self._home,
            self._memory_db,
            self._readers.open,
            self._settings.config,
            projects,
            self._clock(),
            self._scanner.open_ahead,
            self._search.search_without_reasons,
            self._limits,
        )

    def postpone(self, projects: set[str]) -> None:
        """Render the contexts of projects once an import pauses."""
        self._postponed |= projects

    def note_command(self) -> None:
        """Render all contexts at the end of the pass: the caller of a command does not wait for contexts."""
        self._has_commands = True

    def render_after_pass(self, changed: set[str], *, flush: bool) -> None:
        """Render what commands and the other units of a pass changed; `flush`: postponed contexts too."""
        if self._has_commands:
            changed = {*changed, ALL_PROJECTS}
            self._has_commands = False
        self.render(changed | (self._postponed if flush else set()))

    def render_postponed(self) -> None:
        """Render the contexts that an import has changed."""
        self.render(self._postponed)
