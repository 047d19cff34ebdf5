"""Notices to the user at the start of a session: recoveries since the last session, guards that were paused, or
settings that cannot be read. The model never sees a notice."""

import json
import os
import threading
from collections.abc import Sequence
from contextlib import suppress

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.db import recovery_log
from claude_mem_lite.errors import joined
from claude_mem_lite.models import Event, load_json
from claude_mem_lite.paths import Home
from claude_mem_lite.store.guards import StoredGuard
from claude_mem_lite.timestamps import Clock

_SETTINGS = "settings"
"""Id of the notice about settings, in place of the id of a recovery."""
SHOW_AGAIN_S = 86_400


class UserNotices:
    """Notices in answers, until hooks have printed them. Any thread may ask."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        self._lock = threading.Lock()
        self._in_flight: dict[str, list[str]] = {}
        """Ids of recoveries by the names of the answers."""
        self._guards_in_flight: dict[str, list[str]] = {}

    def with_news(
        self, event: Event, answer: bytes | None, paused: Sequence[StoredGuard] = (), others: Sequence[str] = ()
    ) -> bytes | None:
        """Return the answer to a session start with new recoveries, paused guards and other sentences for the user;
        unchanged for agents that show no notices."""
        if event.agent != CLAUDE_CODE:
            return answer
        news = recovery_log.not_shown(self._home)
        others = [sentence for sentence in others if sentence]
        if not news and not paused and not others:
            return answer
        reply = load_json(answer.decode()) if answer else {}
        if not isinstance(reply, dict):
            return answer
        self._send(event.name, [recovery.id for recovery in news], [guard.id for guard in paused])
        sentences = [*map(recovery_log.sentence, news), *map(_pause_sentence, paused), *others]
        notice = "\n".join(f"claude-mem-lite: {sentence}" for sentence in sentences)
        return json.dumps({**reply, "systemMessage": notice}, ensure_ascii=False).encode("utf-8", "replace")

    def alone(self, event: Event, sentence: str) -> bytes | None:
        """Return a reply with one sentence for the user and no context; None for agents that show no notices."""
        if event.agent != CLAUDE_CODE or not sentence:
            return None
        return json.dumps({"systemMessage": f"claude-mem-lite: {sentence}"}, ensure_ascii=False).encode()

    def with_trouble(self, event: Event, problem: str) -> bytes | None:
        """Return a notice that the settings cannot be read, once a day; no session gets a context meanwhile."""
        if event.agent != CLAUDE_CODE or self._was_shown_today():
            return None
        self._send(event.name, [_SETTINGS])
        until = "until that is fixed, sessions get no context, and your work waits to be remembered."
        notice = f"claude-mem-lite: the settings are wrong: {joined(problem, until)}"
        return json.dumps({"systemMessage": notice}, ensure_ascii=False).encode("utf-8", "replace")

    def note_printed(self, name: str) -> list[str]:
        """Note that a hook has printed an answer: the user has seen its notices. Return the guards among them."""
        with self._lock:
            shown = self._in_flight.pop(name, None)
            guards = self._guards_in_flight.pop(name, [])
        if shown == [_SETTINGS]:
            with suppress(OSError):  # then the notice is shown once more
                self._home.notice_mark.touch(mode=0o600)
                os.utime(self._home.notice_mark, (self._clock().timestamp(),) * 2)
        elif shown:
            recovery_log.mark_shown(self._home, shown)
        return guards

    def _send(self, name: str, notices: list[str], guards: Sequence[str] = ()) -> None:
        with self._lock:
            self._in_flight[name] = notices
            if guards:
                self._guards_in_flight[name] = list(guards)

    def _was_shown_today(self) -> bool:
        try:
            shown_at = self._home.notice_mark.stat().st_mtime
        except OSError:
            return False
        return abs(self._clock().timestamp() - shown_at) < SHOW_AGAIN_S


def _pause_sentence(guard: StoredGuard) -> str:
    again = f"`claude-mem-lite guards resume {guard.id}` puts it in force again."
    return f"guard {guard.id} is paused, because {guard.note}; {again}"
