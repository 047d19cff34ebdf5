"""One session: what it was about, what was asked in it and remembered of it, and what it was given. And one turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from claude_mem_lite.client.client import quoted
from claude_mem_lite.client.responses import Where, objects, part
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import JsonObject, text, texts
from claude_mem_lite.ui import templating
from claude_mem_lite.ui.repeated_text import beyond, listed
from claude_mem_lite.ui.templating import Asked, render, shortened

_TURNS_AT_ONCE = 50
_ITEMS_AT_ONCE = 200
_MAX_RECEIPTS = 50
_PROSE = {"request": "Asked for", "investigated": "Looked into", "learned": "Learned", "completed": "Done"}
_LISTS = {
    "key_decisions": "Decided",
    "next_steps": "Next steps",
    "files_edited": "Files changed",
    "files_read": "Files read",
}
_MOMENTS = {
    "startup": "When it started",
    "resume": "When it was resumed",
    "clear": "After it was cleared",
    "compact": "After it was compacted",
    "fork": "When it was forked",
    "prompt": "With a prompt",
    "failure": "After a failed command",
    "file": "When a file was opened",
    "asked": "When the agent asked",
}


@dataclass(slots=True)
class _Turn:
    """What was asked and answered, if that is kept, and what was remembered after it."""

    said: JsonObject | None
    memories: list[JsonObject] = field(default_factory=list)

    @property
    def items(self) -> int:
        return len(self.memories) + (self.said is not None)


@dataclass(frozen=True, slots=True)
class _Given:
    """One context that the session was given."""

    told: JsonObject
    when: str
    used: int
    is_judged: bool


def session(asked: Asked) -> str:
    """The page, or the turns that follow in its timeline."""
    told = asked.client.record(asked.path["id"])
    if told.get("kind") != "session":
        raise NotFound(f"{asked.path['id']} is not a session", "the feed leads to sessions")
    id_ = text(told.get("session"))
    timeline = _timeline(asked, id_)
    if asked.chosen("only") == "turns":
        return render("session_turns.html", **timeline)
    given = [_given(one) for one in asked.client.receipts(Where(""), session=id_, limit=_MAX_RECEIPTS)]
    return render(
        "session.html",
        **timeline,
        session=told,
        id=id_,
        project=templating.find(asked.client, text(told.get("project"))),
        title=text(told.get("title")) or "A session without a headline",
        prose=_prose(told),
        lists=_lists(told),
        given=given[::-1],
        items=sum(len(objects(one.told, "items")) for one in given),
        used=sum(one.used for one in given),
    )


def turn(asked: Asked) -> str:
    """What was asked and answered in one turn, in full if that is asked for."""
    told = asked.client.record(asked.path["id"])
    if told.get("kind") != "turn":
        raise NotFound(f"{asked.path['id']} is not a turn", "the page of a session leads to its turns")
    is_all = bool(asked.chosen("all"))
    question, answer = (shortened(text(told.get(name)), is_all=is_all) for name in ("asked", "answered"))
    return render("turn.html", turn=told, question=question, answer=answer)


def _timeline(asked: Asked, id_: str) -> dict[str, object]:
    """Some turns, from the item on that was asked for, and where the next begin."""
    begin = asked.chosen("from")
    start = int(begin) if begin.isascii() and begin.isdigit() and len(begin) < 9 else 0
    items = asked.client.timeline_of_session(id_, skip=start, limit=_ITEMS_AT_ONCE)
    turns = _turns(items)
    # Of the last one there may be more than was told: it is shown with what follows, unless it is all there is.
    whole = turns if len(items) < _ITEMS_AT_ONCE or len(turns) == 1 else turns[:-1]
    shown = whole[:_TURNS_AT_ONCE]
    end = start + sum(one.items for one in shown)
    has_more = end < start + len(items) or len(items) == _ITEMS_AT_ONCE
    return {
        "turns": shown,
        "next": f"/sessions/{quoted(id_)}?from={end}&only=turns" if has_more else "",
        "is_rest": start > 0,
    }


def _turns(items: Sequence[JsonObject]) -> list[_Turn]:
    """What was remembered stands behind the turn it was made in: they have the same time."""
    found: list[_Turn] = []
    for item in items:
        if item.get("kind") == "turn":
            more = beyond(text(item.get("title")), text(item.get("summary")))
            found.append(_Turn({**item, "more": more}))
            continue
        if not found:
            found.append(_Turn(None))
        found[-1].memories.append(listed(item, has_prompt=found[-1].said is not None))
    return found


def _prose(told: JsonObject) -> dict[str, str]:
    """The parts of the summary that are prose and say something, by their headings."""
    summary = part(told, "summary")
    return {heading: said for name, heading in _PROSE.items() if (said := text(summary.get(name)).strip())}


def _lists(told: JsonObject) -> dict[str, tuple[str, ...]]:
    """Those that are lists, and the notes."""
    summary = part(told, "summary")
    found = {heading: items for name, heading in _LISTS.items() if (items := texts(summary.get(name)))}
    notes = tuple(line.strip() for line in text(summary.get("notes")).splitlines() if line.strip())
    return {**found, "Notes": notes} if notes else found


def _given(told: JsonObject) -> _Given:
    outcomes = [item.get("outcome") for item in objects(told, "items")]
    moment = text(told.get("moment"))
    return _Given(
        told,
        _MOMENTS.get(moment, f"At {moment}"),
        used=outcomes.count("used"),
        is_judged=any(outcomes),
    )
