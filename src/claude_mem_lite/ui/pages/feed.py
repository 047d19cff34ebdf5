"""The feed: what was remembered, newest first, by session and by what was asked there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from urllib.parse import urlencode

from claude_mem_lite.client.responses import Wanted, objects, part
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.scopes import called
from claude_mem_lite.ui import templating
from claude_mem_lite.ui.repeated_text import is_same, listed
from claude_mem_lite.ui.templating import Asked, chosen_of, render, some, statuses_of, with_project_name

_PAGE = 50
_FURTHER = ("origin", "status", "since", "until")
"""Choices that are out of sight until one of them is made."""


@dataclass(slots=True)
class _Turn:
    asked: JsonObject | None
    memories: list[JsonObject] = field(default_factory=list)
    quote: str = ""
    """What was asked, unless something beside it says so."""


@dataclass(slots=True)
class _Session:
    id: str
    told: JsonObject | None
    turns: list[_Turn] = field(default_factory=list)
    headline: str = ""
    """What it was about, unless a memory below says so."""


def feed(asked: Asked) -> str:
    """The page, only its list, or what follows in it."""
    asked_for = chosen_of(asked, "project", "kind", "origin", "status", "since", "until")
    given = {name: value for name, value in asked_for.items() if value}
    chosen = {**asked_for, "project": templating.chosen(asked)}
    told = asked.client.feed(
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
    next_, names = text(told.get("next")), asked.client.project_names()
    values = {
        "sessions": _grouped(told, names),
        "next": f"/?{urlencode({**given, 'before': next_, 'only': 'list'})}" if next_ else "",
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


def _grouped(told: JsonObject, names: Mapping[str, str]) -> list[_Session]:
    """Memories that follow each other and are of one session, or of one turn of it, together; each with the name of its
    project."""
    sessions = {id_: with_project_name(one, names) for id_, one in _named(told, "sessions").items()}
    turns = _named(told, "turns")
    grouped: list[_Session] = []
    last_turn: str | None = None
    for memory in objects(told, "memories"):
        session, turn = text(memory.get("session")), text(memory.get("turn"))
        if not grouped or grouped[-1].id != session:
            grouped.append(_Session(session, sessions.get(session)))
            last_turn = None
        if last_turn != turn or not grouped[-1].turns:
            grouped[-1].turns.append(_Turn(turns.get(turn)))
            last_turn = turn
        grouped[-1].turns[-1].memories.append(with_project_name(listed(memory, has_prompt=turn in turns), names))
    for one in grouped:
        _say_once(one)
    return grouped


def _say_once(session: _Session) -> None:
    """Choose where a text stands that several places have: in the memory first, then in the session's headline."""
    headline = text(session.told.get("headline")) if session.told else ""
    memories = [one for turn in session.turns for one in turn.memories]
    # A session with several results is called by all of them, one after the other.
    results = [headline] if "; " not in headline else [headline, *headline.split("; ")]
    told = [any(_is_told(result, one) for one in memories) for result in results]
    session.headline = "" if told[0] or all(told[1:] or [False]) else headline
    for turn in session.turns:
        quote = text(turn.asked.get("asked")) if turn.asked else ""
        is_beside = is_same(quote, session.headline) or any(_is_told(quote, one) for one in turn.memories)
        turn.quote = "" if is_beside else quote
    if not session.headline and len(session.turns) == 1:
        session.headline, session.turns[0].quote = session.turns[0].quote, ""


def _is_told(said: str, memory: JsonObject) -> bool:
    """Whether a memory says what somebody said, in its title or in all of it."""
    title = text(memory.get("title"))
    return is_same(said, title) or is_same(said, f"{title} {text(memory.get('more'))}")


def _moment(day: str, at: time) -> str | None:
    """A moment of a day of this machine's calendar; None when no day is given."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), at).astimezone().isoformat()
    except (ValueError, OverflowError):
        raise MemoryLiteError(f"{day} is no day", "write it as 2026-01-31") from None


def _named(told: JsonObject, name: str) -> dict[str, JsonObject]:
    return {key: value for key, value in part(told, name).items() if isinstance(value, Mapping)}
