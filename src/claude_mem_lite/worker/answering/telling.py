"""The one word to the user when a session starts: what was recovered since the last one. The model never sees it."""

import json

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.models import Event, load_json
from claude_mem_lite.worker import recoveries
from claude_mem_lite.worker.loop import Loop


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


def note_printed(loop: Loop, name: str) -> None:
    """An answer has been printed: what it told the user is told."""
    told = loop.on_their_way.news.pop(name, None)
    if told:
        recoveries.mark_told(loop.home, told)
