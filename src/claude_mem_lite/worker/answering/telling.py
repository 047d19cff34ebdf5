"""The one word to the user when a session starts: what was recovered since the last one, or that settings which
cannot be read stop everything. The model never sees it."""

import json
import os
from contextlib import suppress

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.db import recoveries
from claude_mem_lite.errors import joined
from claude_mem_lite.models import Event, load_json
from claude_mem_lite.worker.loop import Loop

_SETTINGS = "settings"
"""In the place of a recovery's id."""
TELL_AGAIN_S = 86_400


def with_news(loop: Loop, event: Event, answer: bytes | None) -> bytes | None:
    """The answer to a session that starts, with what the user has not heard of yet; the answer alone when it is not
    one that can carry it."""
    news = recoveries.untold(loop.home) if event.agent == CLAUDE_CODE else []
    if not news:
        return answer
    reply = load_json(answer.decode()) if answer else {}
    if not isinstance(reply, dict):
        return answer
    loop.on_their_way.news[event.name] = [one.id for one in news]
    told = "\n".join(f"claude-mem-lite: {recoveries.sentence(one)}" for one in news)
    return json.dumps({**reply, "systemMessage": told}, ensure_ascii=False).encode("utf-8", "replace")


def with_trouble(loop: Loop, event: Event) -> bytes | None:
    """What the user hears while the settings cannot be read, once a day; no session is told anything then."""
    if event.agent != CLAUDE_CODE or _was_told_of_late(loop):
        return None
    loop.on_their_way.news[event.name] = [_SETTINGS]
    until = "until that is mended, nothing is given, and what you do waits to be remembered."
    told = f"claude-mem-lite: the settings are wrong: {joined(loop.problem, until)}"
    return json.dumps({"systemMessage": told}, ensure_ascii=False).encode("utf-8", "replace")


def note_printed(loop: Loop, name: str) -> None:
    """An answer has been printed: what it told the user is told."""
    told = loop.on_their_way.news.pop(name, None)
    if told == [_SETTINGS]:
        with suppress(OSError):  # then it is told once more
            loop.home.told.touch(mode=0o600)
            os.utime(loop.home.told, (loop.clock().timestamp(),) * 2)
    elif told:
        recoveries.mark_told(loop.home, told)


def _was_told_of_late(loop: Loop) -> bool:
    try:
        told_at = loop.home.told.stat().st_mtime
    except OSError:
        return False
    return abs(loop.clock().timestamp() - told_at) < TELL_AGAIN_S
