"""The one word to the user when a session starts: what was recovered since the last one, or that settings which
cannot be read stop everything. The model never sees it."""

import json
import os
import threading
from contextlib import suppress

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.db import recovery_log
from claude_mem_lite.errors import joined
from claude_mem_lite.models import Event, load_json
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import Clock

_SETTINGS = "settings"
"""In the place of a recovery's id."""
TELL_AGAIN_S = 86_400


class Telling:
    """What answers tell the user, until their hooks have printed it. Any thread may ask."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        self._lock = threading.Lock()
        self._on_its_way: dict[str, list[str]] = {}
        """The ids of recoveries, by the names of the answers."""

    def with_news(self, event: Event, answer: bytes | None) -> bytes | None:
        """The answer to a session that starts, with what the user has not heard of yet; the answer alone when it is
        not one that can carry it."""
        news = recovery_log.not_shown(self._home) if event.agent == CLAUDE_CODE else []
        if not news:
            return answer
        reply = load_json(answer.decode()) if answer else {}
        if not isinstance(reply, dict):
            return answer
        self._send(event.name, [one.id for one in news])
        told = "\n".join(f"claude-mem-lite: {recovery_log.sentence(one)}" for one in news)
        return json.dumps({**reply, "systemMessage": told}, ensure_ascii=False).encode("utf-8", "replace")

    def with_trouble(self, event: Event, problem: str) -> bytes | None:
        """What the user hears while the settings cannot be read, once a day; no session is told anything then."""
        if event.agent != CLAUDE_CODE or self._was_told_of_late():
            return None
        self._send(event.name, [_SETTINGS])
        until = "until that is mended, nothing is given, and what you do waits to be remembered."
        told = f"claude-mem-lite: the settings are wrong: {joined(problem, until)}"
        return json.dumps({"systemMessage": told}, ensure_ascii=False).encode("utf-8", "replace")

    def note_printed(self, name: str) -> None:
        """An answer has been printed: what it told the user is told."""
        with self._lock:
            told = self._on_its_way.pop(name, None)
        if told == [_SETTINGS]:
            with suppress(OSError):  # then it is told once more
                self._home.told.touch(mode=0o600)
                os.utime(self._home.told, (self._clock().timestamp(),) * 2)
        elif told:
            recovery_log.mark_shown(self._home, told)

    def _send(self, name: str, told: list[str]) -> None:
        with self._lock:
            self._on_its_way[name] = told

    def _was_told_of_late(self) -> bool:
        try:
            told_at = self._home.told.stat().st_mtime
        except OSError:
            return False
        return abs(self._clock().timestamp() - told_at) < TELL_AGAIN_S
