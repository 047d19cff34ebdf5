"""Digests of past turns, made by the command that imports them: the worker stores the turns before meanwhile.

The digest of a turn depends on the session before it, which is the worker's. A wrong guess of that costs time alone:
the worker takes a digest only for a turn of the same content."""

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.compress.rules.known_digests import key_of
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.config import Config
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.event_history import events_of_turn
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.inbox.usable_events import read_events
from claude_mem_lite.models import Event, JsonObject, Turn, text
from claude_mem_lite.responses.encoding import to_json

_TURNS_BEFORE = 3


class SessionDigests:
    """Maker of the digests of one session, whose turns come in order."""

    def __init__(self, config: Config, now: datetime) -> None:
        self._config = config
        self._now_s = now.timestamp()
        self._previous = ""
        """Last closing message of the agent."""
        self._failed: deque[bool] = deque(maxlen=_TURNS_BEFORE)
        """Last turns: True if a command failed, which the worker may find still open.

        False also for turns that were not read."""

    def follow(self, turn: JsonObject) -> None:
        """Read the closing message of a turn that comes as rows of the inbox."""
        self._failed.append(False)
        self._note_reply(self._read([row for row in self._rows(turn) if row.event in TURN_ENDS]))

    def digest(self, turn: JsonObject) -> JsonObject | None:
        """Return the digest of a turn that comes as rows of the inbox, and its key; None for a turn without a prompt,
        or after a failure."""
        if any(self._failed):
            self.follow(turn)
            return None
        events, previous = tuple(self._read(self._rows(turn))), self._previous
        self._note_reply(events)
        prompt = next((event.prompt for event in events if event.prompt), "")
        if not prompt:
            return None
        read = Turn("", events[0].session, "", prompt, events, (), previous)
        digest = fold(read)
        self._failed.append(digest.has_failure)
        return {"key": key_of(read), "digest": to_json(digest)}

    def _rows(self, turn: JsonObject) -> list[Row]:
        """Return the rows that the inbox would process as one turn."""
        listed = turn["events"]
        found = [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []
        arrivals = [
            Arrival(text(row["name"]), text(row["event"]), text(row["session"]), text(row["payload"]), 0)
            for row in found
            if not row["problem"]
        ]
        return [
            Row(number, arrival.name, arrival.event, arrival.session, arrival.payload, self._now_s)
            for number, arrival in enumerate(events_of_turn(arrivals))
        ]

    def _read(self, rows: Sequence[Row]) -> list[Event]:
        try:
            return read_events(rows, self._config)
        except PayloadError:  # the worker reports it
            return []

    def _note_reply(self, events: Sequence[Event]) -> None:
        reply = next((event.message for event in reversed(events) if event.message and not event.agent_id), "")
        self._previous = reply or self._previous
