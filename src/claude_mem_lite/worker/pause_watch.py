"""Watch of the off switch and of excluded folders, which records pauses for imports. For the job thread.

Hooks and the commands `off` and `on` record the switch themselves; the watch ends the pause of a switch that a user
removed, and records exclusions by config.toml or a repository. Doubt makes a pause longer, never shorter."""

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

from claude_mem_lite import pauses
from claude_mem_lite.config import Config, is_excluded_by_repository
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.paths import Home, state_of
from claude_mem_lite.pauses import Pause
from claude_mem_lite.timestamps import Clock

_BASELINE = ""
"""Name of the row with the time when the settings were first read."""
log = logging.getLogger(__name__)


def _load(db: sqlite3.Connection) -> dict[str, Pause]:
    """Return all periods by name."""
    rows = db.execute("select * from pauses where name <> ?", (_BASELINE,))
    return {
        row["name"]: Pause(row["name"], row["glob"], row["first_ns"], row["last_ns"], bool(row["is_over"]))
        for row in rows
    }


def _put(db: sqlite3.Connection, pauses: Iterable[Pause]) -> None:
    """Store periods, replacing earlier versions."""
    db.executemany(
        "insert or replace into pauses values (?, ?, ?, ?, ?)",
        [(pause.name, pause.glob, pause.first_ns, pause.last_ns, int(pause.is_over)) for pause in pauses],
    )


class PauseWatch:
    """Comparison of pause files, pause table and settings, after a change of any."""

    def __init__(self, home: Home, db: sqlite3.Connection, clock: Clock) -> None:
        self._home = home
        self._db = db
        self._clock = clock
        self._seen: object = None

    def reconcile(self, exclude: Sequence[str]) -> None:
        """Record the pauses that began or ended since the last call."""
        state = self._state(), exclude  # read first: a switch that changes during the update is not missed
        if state == self._seen:
            return
        try:
            self._update(exclude)
            self._seen = state
        except OSError as error:  # a full disk, say: events are still to be taken in, and the next pass tries again
            log.warning("pauses not noted", extra={"error": type(error).__name__})

    def note_dropped(self, config: Config, folders: Iterable[str]) -> None:
        """Record a pause for folders with dropped events that are excluded by their repository alone."""
        now_ns = int(self._clock().timestamp() * 1e9)
        digests = {pauses.digest(folder) for folder in folders if is_excluded_by_repository(config, folder)}
        noted = [pause for pause in pauses.load(self._home) if pause.glob in digests] if digests else []
        begun = [pauses.begin_exclusion(new, now_ns, now_ns) for new in digests - {pause.glob for pause in noted}]
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
        known = _load(self._db)
        files = {pause.name: pause for pause in pauses.load(self._home)}
        found = dict(files)
        for name, copy in known.items():
            # The file decides whether the pause is over: `on` works without a worker.
            found[name] = replace(copy.joined(files[name]), is_over=files[name].is_over) if name in files else copy
        current = self._with_ends(found, exclude, now_ns)
        for pause in current.values():
            if files.get(pause.name) != pause:
                pauses.save(self._home, pause)
        with atomic(self._db):
            self._db.execute("insert or ignore into pauses values (?, '', ?, ?, 1)", (_BASELINE, now_ns, now_ns))
            _put(self._db, (pause for pause in current.values() if known.get(pause.name) != pause))

    def _with_ends(self, found: dict[str, Pause], exclude: Sequence[str], now_ns: int) -> dict[str, Pause]:
        """Return the current pauses: finished ones ended, new ones added."""
        is_off = self._home.off_switch.exists()
        current = {}
        for pause in found.values():
            holds = pause.glob in exclude if pause.glob else is_off  # a pause by a repository is over when recorded
            current[pause.name] = pause if pause.is_over or holds else pause.ended(now_ns)
        open_globs = {pause.glob for pause in current.values() if not pause.is_over}
        for glob in exclude:
            if glob not in open_globs:
                begun = pauses.begin_exclusion(glob, self._excluded_since_ns(now_ns), now_ns)
                current[begun.name] = begun
        return current

    def _excluded_since_ns(self, now_ns: int) -> int:
        """Return the earliest start of a new exclusion: the last edit of config.toml, or 0 without a baseline.

        A session with hooks starts a worker, so no session was captured between the edit and now."""
        state = state_of(self._home.config)
        baseline = self._db.execute("select 1 from pauses where name = ?", (_BASELINE,)).fetchone()
        return min(state[1], now_ns) if state and baseline else 0
