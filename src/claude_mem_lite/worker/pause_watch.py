"""Watch for the off switch and for excluded folders, and keep the periods for imports. Part of the job loop.

Hooks and the commands `off` and `on` note the switch themselves; this closes a switch that was removed by hand, and
alone sees when config.toml or a repository excludes a folder. Doubt makes a period longer, never shorter."""

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

from claude_mem_lite import pauses
from claude_mem_lite.config import Config, is_excluded_by_repository
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.paths import Home, state_of
from claude_mem_lite.pauses import Pause
from claude_mem_lite.store import pauses as copies
from claude_mem_lite.timestamps import Clock

log = logging.getLogger(__name__)


class PauseWatch:
    """Reconciles the files of the home, the table and the settings whenever one of them changed."""

    def __init__(self, home: Home, db: sqlite3.Connection, clock: Clock) -> None:
        self._home = home
        self._db = db
        self._clock = clock
        self._seen: object = None

    def reconcile(self, exclude: Sequence[str]) -> None:
        """Record what began and what ended since the last time."""
        if (self._state(), exclude) == self._seen:
            return
        try:
            self._update(exclude)
            self._seen = self._state(), exclude
        except OSError as error:  # a full disk, say: events are still to be taken in, and the next pass tries again
            log.warning("pauses not noted", extra={"error": type(error).__name__})

    def note_dropped(self, config: Config, folders: Iterable[str]) -> None:
        """Note that events of these folders were dropped just now, where nothing but their repository excludes them."""
        now_ns = int(self._clock().timestamp() * 1e9)
        digests = {pauses.digest(folder) for folder in folders if is_excluded_by_repository(config, folder)}
        noted = [pause for pause in pauses.load(self._home) if pause.glob in digests] if digests else []
        begun = [pauses.begin_exclusion(one, now_ns, now_ns) for one in digests - {pause.glob for pause in noted}]
        try:
            for pause in (*noted, *begun):
                pauses.save(self._home, pause.ended(now_ns))
        except OSError as error:
            log.warning("pauses not noted", extra={"error": type(error).__name__})

    def _state(self) -> object:
        return state_of(self._home.off_switch), state_of(self._home.pauses)

    def _update(self, exclude: Sequence[str]) -> None:
        now_ns = int(self._clock().timestamp() * 1e9)
        if self._home.off_switch.exists():
            pauses.note_off(self._home, now_ns)
        known = copies.load(self._db)
        files = {one.name: one for one in pauses.load(self._home)}
        found = dict(files)
        for name, copy in known.items():
            # The file tells whether the period is over: `on` works without a worker.
            found[name] = replace(copy.joined(files[name]), is_over=files[name].is_over) if name in files else copy
        current = self._with_ends(found, exclude, now_ns)
        for pause in current.values():
            if files.get(pause.name) != pause:
                pauses.save(self._home, pause)
        with atomic(self._db):
            copies.record_baseline(self._db, now_ns)
            copies.put(self._db, (one for one in current.values() if known.get(one.name) != one))

    def _with_ends(self, found: dict[str, Pause], exclude: Sequence[str], now_ns: int) -> dict[str, Pause]:
        """The periods as they stand now: those that are over ended, those that began added."""
        is_off = self._home.off_switch.exists()
        current = {}
        for pause in found.values():
            holds = pause.glob in exclude if pause.glob else is_off  # those of repositories are over when noted
            current[pause.name] = pause if pause.is_over or holds else pause.ended(now_ns)
        open_globs = {pause.glob for pause in current.values() if not pause.is_over}
        for glob in exclude:
            if glob not in open_globs:
                begun = pauses.begin_exclusion(glob, self._excluded_since_ns(now_ns), now_ns)
                current[begun.name] = begun
        return current

    def _excluded_since_ns(self, now_ns: int) -> int:
        """The time since which a folder may be excluded that was not before: always, without a baseline.

        A session with hooks starts a worker, so no session was captured between an edit of the file and now."""
        state = state_of(self._home.config)
        return min(state[1], now_ns) if state and copies.has_baseline(self._db) else 0
