"""Page of the feed: memories, newest first, by session and by turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from urllib.parse import urlencode

from claude_mem_lite.client.queries import Wanted
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.responses.feed import FeedResponse, FeedTurn
from claude_mem_lite.scopes import called
from claude_mem_lite.ui import templating
from claude_mem_lite.ui.repeated_text import is_same, title_and_more
from claude_mem_lite.ui.templating import Asked, View, chosen_of, render, some, statuses_of

_PAGE = 50
_FURTHER = ("origin", "status", "since", "until")
"""Choices that are out of sight until one of them is made."""


@dataclass(slots=True)
class _TurnGroup:
    turn: FeedTurn | None
    memories: list[View] = field(default_factory=list)
    quote: str = ""
    """Prompt, unless a memory or the headline says the same."""


@dataclass(slots=True)
class _Session:
    id: str
    session: View | None
    turns: list[_TurnGroup] = field(default_factory=list)
    headline: str = ""
    """Headline, unless a memory below says the same."""


def feed(asked: Asked) -> str:
    """Return the page, only its list, or the next part of the list."""
    asked_for = chosen_of(asked, "project", "kind", "origin", "status", "since", "until")
    given = {name: value for name, value in asked_for.items() if value}
    chosen = {**asked_for, "project": templating.chosen(asked)}
    response = asked.client.feed(
        Wanted(
            kinds=some(chosen["kind"]),
            statuses=statuses_of(chosen["status"]),
            since=_moment(chosen["since"], time.min),
            until=_moment(chosen["until"], time.max),
        ),
        project=chosen["project"],
        origins=some(chosen["origin"]),
        before=asked.chosen("before"),
        limit=_PAGE,
    )
    names = asked.client.project_names()
    next_page = urlencode({**given, "before": response.next, "only": "list"}) if response.next else ""
    values = {
        "sessions": _grouped(response, names),
        "next": f"/?{next_page}" if next_page else "",
        "is_all": not any(chosen.values()),
    }
    if asked.chosen("only") == "list":
        return render("feed_list.html", **values)
    fresh = f"/?{urlencode({**given, 'only': 'list'})}"
    return render(
        "feed.html",
        **values,
        chosen=chosen,
        chosen_name=called(chosen["project"], names),
        fresh=fresh,
        projects=asked.client.projects(),
        is_narrow=any(chosen[name] for name in _FURTHER),
    )


def _grouped(response: FeedResponse, names: Mapping[str, str]) -> list[_Session]:
    """Return consecutive memories of one session, and of one turn, together; each with the name of its project."""
    grouped: list[_Session] = []
    last_turn: str | None = None
    for memory in response.memories:
        turn = memory.turn or ""
        if not grouped or grouped[-1].id != memory.session:
            session = response.sessions.get(memory.session)
            view = View(session, project_name=called(session.project, names)) if session else None
            grouped.append(_Session(memory.session, view))
            last_turn = None
        if last_turn != turn or not grouped[-1].turns:
            grouped[-1].turns.append(_TurnGroup(response.turns.get(turn)))
            last_turn = turn
        title, more = title_and_more(memory, has_prompt=turn in response.turns)
        view = View(memory, title=title, more=more, project_name=called(memory.project, names))
        grouped[-1].turns[-1].memories.append(view)
    for session_group in grouped:
        _say_once(session_group)
    return grouped


def _say_once(group: _Session) -> None:
    """Choose the place of a text that occurs more than once: a memory first, then the headline of the session."""
    headline = group.session.headline if group.session else ""
    memories = [memory for turn in group.turns for memory in turn.memories]
    # The headline of a session with several results names all of them, one after the other.
    results = [headline] if "; " not in headline else [headline, *headline.split("; ")]
    is_repeated = [any(_repeats(memory, result) for memory in memories) for result in results]
    group.headline = "" if is_repeated[0] or all(is_repeated[1:] or [False]) else headline
    for turn in group.turns:
        quote = turn.turn.asked if turn.turn else ""
        is_beside = is_same(quote, group.headline) or any(_repeats(memory, quote) for memory in turn.memories)
        turn.quote = "" if is_beside else quote
    if not group.headline and len(group.turns) == 1:
        group.headline, group.turns[0].quote = group.turns[0].quote, ""


def _repeats(memory: View, said: str) -> bool:
    """Return whether a memory repeats a text, in its title or as a whole."""
    return is_same(said, memory.title) or is_same(said, f"{memory.title} {memory.more}")


def _moment(day: str, at: time) -> str | None:
    """Return a time of a day in this machine's time zone; None without a day."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), at).astimezone().isoformat()
    except (ValueError, OverflowError):
        raise MemoryLiteError(f"{day} is no day", "write it as 2026-01-31") from None
