"""Digests of past turns, made by the command that imports them: the worker stores the turns before meanwhile.

The digest of a turn depends on the session before it, which is the worker's. A wrong guess of that costs time alone:
the worker takes a digest only for a turn of the same content."""

import logging
from collections import deque
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.compress.rules.digest_key import key_of
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.config import Config
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.event_history import MAX_TURNS_BEFORE, events_of_turn
from claude_mem_lite.inbox.past_arrival import PlacedArrival
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.inbox.usable_events import prompt_of, read_events, reply_of
from claude_mem_lite.models import Event, JsonObject, Turn
from claude_mem_lite.responses.encoding import to_json
from claude_mem_lite.turn_digest import TurnDigest

_PROMPT_OR_CALL = ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure")
"""Events of the turns that the worker looks back on."""
_READ = ("UserPromptSubmit", *TURN_ENDS)
log = logging.getLogger(__name__)


class SessionDigests:
    """Digests of one session. The turns come in order."""

    def __init__(self, config: Config, now: datetime) -> None:
        self._config = config
        self._now_s = now.timestamp()
        self._previous = ""
        """Last closing message of the agent."""
        self._prompt = ""
        """Last prompt, for turns without a prompt."""
        self._failed: deque[bool] = deque(maxlen=MAX_TURNS_BEFORE)
        """Last turns with prompts or calls: True if a command failed, which the worker may find still open.

        False also for turns without a digest."""

    def follow(self, turn: Sequence[PlacedArrival]) -> None:
        """Read prompt and closing message of a turn."""
        rows = self._rows(turn)
        self._note(rows, self._read([row for row in rows if row.event in _READ]), has_failed=False)

    def digest(self, turn: Sequence[PlacedArrival]) -> JsonObject | None:
        """Return the digest of a turn, and its key; None after a failed command, or if a rule fails: then the worker
        reports the error."""
        if any(self._failed):
            self.follow(turn)
            return None
        rows, previous = self._rows(turn), self._previous
        events = tuple(self._read(rows))
        prompt = prompt_of(events) or self._prompt
        made = self._digest(Turn("", events[0].session, "", prompt, events, (), previous)) if events else None
        self._note(rows, events, has_failed=made is not None and made[1].has_failure)
        return None if made is None else {"key": made[0], "digest": to_json(made[1])}

    def _digest(self, turn: Turn) -> tuple[str, TurnDigest] | None:
        try:
            return key_of(turn), fold(turn)
        except Exception as error:  # noqa: BLE001  one failing turn must not stop the import of others
            event = turn.events[0].name
            log.warning("turn left to the worker: %s", type(error).__name__, extra={"name_of_event": event})
            return None

    def _rows(self, turn: Sequence[PlacedArrival]) -> list[Row]:
        """Return a turn as rows of the inbox."""
        return [
            Row(number, arrival.name, arrival.event, arrival.session, arrival.payload, self._now_s)
            for number, arrival in enumerate(events_of_turn([event.arrival for event in turn]))
        ]

    def _read(self, rows: Sequence[Row]) -> list[Event]:
        try:
            return read_events(rows, self._config)
        except PayloadError:  # the worker reports it
            return []

    def _note(self, rows: Sequence[Row], events: Sequence[Event], *, has_failed: bool) -> None:
        """Note what the digests of later turns depend on."""
        self._previous = reply_of(events) or self._previous
        self._prompt = prompt_of(events) or self._prompt
        if any(row.event in _PROMPT_OR_CALL for row in rows):
            self._failed.append(has_failed)
