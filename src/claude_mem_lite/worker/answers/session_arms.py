"""Arms of sessions in the user's experiment, decided when a session is first answered and stored for good.

A control session is given what the user pinned, and nothing else. docs/experiment.md has the rules."""

import sqlite3
import threading
from datetime import datetime

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.experiment.arms import CONTROL, arm_of
from claude_mem_lite.store import sessions
from claude_mem_lite.store.experiment import arms
from claude_mem_lite.store.experiment.arms import Arm, StoredArm
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.write_thread import WriteThread

WITHHELD = "withheld: this session takes part in your experiment, without memories"
"""Reason in receipts of control sessions."""
NOTICE = (
    "this session runs without memories, for your experiment; `claude-mem-lite experiment` shows it, and "
    "`claude-mem-lite experiment off` ends it."
)
_CONTINUED = ("resume", "compact")
_MAX_SESSIONS = 2_000


@frozen
class SessionRequest:
    """Session that is about to be answered."""

    session: str
    at: datetime
    source: str = ""
    """Source of a session start; a resumed session may have begun before the experiment."""


class SessionArms:
    """Arms of the sessions of a worker, including those that are not stored yet. Any thread may ask."""

    def __init__(self, settings: SettingsSource, writes: WriteThread) -> None:
        self._settings = settings
        self._writes = writes
        self._lock = threading.Lock()
        self._decided: dict[str, Arm] = {}
        self._announced: set[str] = set()
        self._is_running: bool | None = None

    def follow_settings(self, db: sqlite3.Connection, now: datetime) -> bool:
        """Record that the experiment began or ended; return whether it did since the last call. For the job thread."""
        is_running = self._settings.config.experiment > 0
        if is_running == self._is_running:
            return False
        was_known, self._is_running = self._is_running is not None, is_running
        with atomic(db):
            if is_running:
                arms.begin_run(db, now)
            else:
                arms.end_run(db, now)
        with self._lock:
            self._decided.clear()
        return was_known or is_running

    def arm(self, db: sqlite3.Connection, request: SessionRequest) -> Arm | None:
        """Return the arm of a session; decide and store it if the session began in the experiment. None without an
        experiment, and for a session of before."""
        share = self._settings.current().experiment
        if not share or not request.session:
            return None
        with self._lock:
            if request.session in self._decided:
                return self._decided[request.session]
        stored = arms.find_arm(db, request.session)
        if stored is not None:
            return None if stored.is_closed else stored.arm
        if not self._began_in_run(db, request):
            return None
        decided = StoredArm(request.session, arm_of(request.session, share), share, request.at)
        with self._lock:
            if len(self._decided) >= _MAX_SESSIONS:
                self._decided.clear()
            arm = self._decided.setdefault(request.session, decided.arm)

        def write(db: sqlite3.Connection) -> None:
            with atomic(db):
                arms.put_arm(db, decided)

        self._writes.execute_write(write, later=True)
        return arm

    def is_control(self, db: sqlite3.Connection, request: SessionRequest) -> bool:
        """Return whether a session gets no memories."""
        return self.arm(db, request) == CONTROL

    def is_control_agent(self, db: sqlite3.Connection, named_session: str, at: datetime) -> bool:
        """Return whether a request of an agent may come from a control session.

        A client that names no session, or one that is over, may be at work for any active session: then one control
        session among them is enough."""
        if not self._settings.current().experiment:
            return False
        if named_session and self.is_control(db, SessionRequest(named_session, at)):
            return True
        known = sessions.find(db, named_session) if named_session else None
        if named_session and (known is None or known.status == "active"):
            return False
        with self._lock:
            decided = [session for session, arm in self._decided.items() if arm == CONTROL]
        is_stored = arms.arms_of(db, decided)
        return any(session not in is_stored for session in decided) or arms.is_control_at_work(db)

    def take_notice(self, db: sqlite3.Connection, session: str, now: datetime) -> str:
        """Return the notice for the user of a control session, once for each session; then '', also from a later
        worker."""
        stored = arms.find_arm(db, session)
        with self._lock:
            if session in self._announced or (stored is not None and stored.is_announced):
                return ""
            if len(self._announced) >= _MAX_SESSIONS:
                self._announced.clear()
            self._announced.add(session)

        def write(db: sqlite3.Connection) -> None:
            with atomic(db):
                arms.mark_announced(db, session, now)

        self._writes.execute_write(write, later=True)
        return NOTICE

    @staticmethod
    def _began_in_run(db: sqlite3.Connection, request: SessionRequest) -> bool:
        began_at = arms.run_began_at(db)
        if began_at is None:
            return False
        known = sessions.find(db, request.session)
        first_at, source = (known.started_at, known.source) if known else (request.at, request.source)
        return first_at >= began_at and source not in _CONTINUED
