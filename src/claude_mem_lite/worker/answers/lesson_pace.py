"""Pace of the questions that agents are asked about unsure candidates: seldom, and only with loaded weights."""

import sqlite3
import threading
from datetime import datetime, timedelta

from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import turns
from claude_mem_lite.values import frozen

PROMPTS_PER_QUESTION = 7
MIN_BETWEEN = timedelta(minutes=5)
_ANY_PROMPT = "We keep commits small here."
_MAX_SESSIONS = 1_000


@frozen
class _Claim:
    at: datetime
    count: int


class QuestionPace:
    """Pace of the questions of each session, including unrecorded ones. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claims: dict[str, _Claim] = {}
        self._is_requested = threading.Event()

    def request_weights(self) -> None:
        """Have the weights loaded when the worker has nothing else to do."""
        self._is_requested.set()

    def is_ready(self) -> bool:
        """Return whether a question can be built within the time of a prompt; if not, have the weights loaded."""
        from claude_mem_lite.compress.lessons.candidates import is_loaded  # late: see `worker/loading.py`

        if not is_loaded():
            self.request_weights()
        return is_loaded()

    def prepare(self) -> None:
        """Load the weights if they are requested and missing. For the job thread alone."""
        if not self._is_requested.is_set():
            return
        # Late: see `worker/loading.py`.
        from claude_mem_lite.compress.lessons.candidates import is_loaded
        from claude_mem_lite.knowledge.lessons import collection

        if not is_loaded():
            collection.unsure(_ANY_PROMPT, "")
        self._is_requested.clear()

    def may_ask(self, db: sqlite3.Connection, session: str, now: datetime) -> bool:
        """Return whether a session may be asked with the current prompt."""
        return self._next(db, session, now) is not None

    def claim(self, db: sqlite3.Connection, session: str, now: datetime) -> bool:
        """Take the question that a session may be asked now; return False when another prompt was faster."""
        with self._lock:
            claim = self._next(db, session, now)
            if claim is None:
                return False
            if len(self._claims) >= _MAX_SESSIONS:
                self._claims.clear()
            self._claims[session] = claim
            return True

    def _next(self, db: sqlite3.Connection, session: str, now: datetime) -> _Claim | None:
        asked, claimed = candidates.asked_in(db, session), self._claims.get(session)
        count = max(asked.number, claimed.count if claimed else 0)
        last = max((at for at in (asked.last_at, claimed.at if claimed else None) if at), default=None)
        prompts = turns.count_prompts(db, session) + 1
        is_due = count * PROMPTS_PER_QUESTION < prompts and (last is None or now - last >= MIN_BETWEEN)
        return _Claim(now, count + 1) if is_due else None
