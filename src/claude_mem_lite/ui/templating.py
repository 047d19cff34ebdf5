"""Templates of the page, with filters, choices and projects that all parts share.

Templates escape every value; besides, only `markdown.py` makes HTML, of fixed tags. A long text is shown as its
beginning, and in full on request. A choice of a filter counts only if the page offers the choice. Projects are looked
up by id.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.datastructures import QueryParams

from claude_mem_lite.authors import received_from, source_name
from claude_mem_lite.client.base import quoted
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import (
    GUIDANCE_KINDS,
    HELP_KINDS,
    KINDS,
    MAX_TEXT_LENGTH,
    MAX_TITLE_LENGTH,
    ORIGINS,
    STATUSES,
    WORK_KINDS,
    JsonObject,
    text,
)
from claude_mem_lite.responses.feed import FeedMemory
from claude_mem_lite.responses.memories import StoredMemory
from claude_mem_lite.responses.project import ListedProject
from claude_mem_lite.responses.records import SearchHit
from claude_mem_lite.scopes import called
from claude_mem_lite.text import counted, time_ago
from claude_mem_lite.ui.markdown import blocks, headline, inline
from claude_mem_lite.values import frozen

EVERY_PROJECT = "*"
"""Chosen in the place of a project; an address that names none means the project of the folder."""
_KIND_GROUPS = (("What was done", WORK_KINDS), ("What was taught", GUIDANCE_KINDS), ("Other", HELP_KINDS))
"""Kinds that belong together; `style.css` has a colour for each group, in this order."""


@frozen
class Asked:
    """Request for a part: client, names in the path, and choices of the user."""

    client: Client
    path: Mapping[str, str]
    query: QueryParams
    folder: str = ""
    """Where the command that serves the page was called."""

    def chosen(self, name: str) -> str:
        return self.query.get(name, "").strip()


Part = Callable[[Asked], str]
"""Makes one part of the page."""
Action = Callable[[Client, JsonObject], JsonObject]
"""Does something with what it is given, and answers with a `message` for the user and, if need be, where to `go`."""


def render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("claude_mem_lite.ui"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (ago, when, words, short, counted, quoted, inline, blocks, headline, group_of, source, sentence)
    environment.filters |= {one.__name__: one for one in filters}
    environment.globals |= {
        "KINDS": KINDS,
        "KIND_GROUPS": _KIND_GROUPS,
        "STATUSES": STATUSES,
        "ORIGINS": ORIGINS,
        "received_from": received_from,
        "MAX_TITLE_LENGTH": MAX_TITLE_LENGTH,
        "MAX_TEXT_LENGTH": MAX_TEXT_LENGTH,
        "EVERY_PROJECT": EVERY_PROJECT,
    }
    return environment


def source(memory: StoredMemory | FeedMemory | SearchHit) -> str:
    """Return the origin of a memory; for a received memory the name of its author."""
    return source_name(memory.origin, memory.author)


def ago(written: str) -> Markup:
    """Return the age of a time; the time itself shows on hover."""
    return _time(written, time_ago(datetime.fromisoformat(written), datetime.now(UTC)))


def when(written: str) -> Markup:
    """Return a time in the zone of this machine, a recent day by its name; the whole time shows on hover."""
    return _time(written, short_moment(written, datetime.now(UTC)))


def short_moment(written: str, now: datetime) -> str:
    """Return a time in the zone of this machine, in short: `today 14:05`, `3 Mar 14:05`, `2025-03-03 14:05`.

    A time at the ends of the calendar may have no date there, and stays in its own zone."""
    try:
        at, today = datetime.fromisoformat(written).astimezone(), now.astimezone().date()
    except (OverflowError, ValueError):
        return moment(written)
    if at.date() == today:
        return f"today {at:%H:%M}"
    if at.date() == today - timedelta(days=1):
        return f"yesterday {at:%H:%M}"
    return f"{at.day} {at:%b %H:%M}" if at.year == today.year else f"{at:%Y-%m-%d %H:%M}"


def moment(written: str) -> str:
    """Return a whole time in the zone of this machine, with the offset from UTC."""
    at = datetime.fromisoformat(written)
    try:
        return at.astimezone().isoformat(" ", "seconds")
    except (OverflowError, ValueError):
        return at.isoformat(" ", "minutes")


def _time(written: str, shown: str) -> Markup:
    return Markup('<time datetime="{}" title="{}">{}</time>').format(written, moment(written), shown)


def group_of(kind: str) -> int:
    """Return the number of the group of a kind: `style.css` has a colour for each group."""
    return next((at for at, (_, kinds) in enumerate(_KIND_GROUPS) if kind in kinds), len(_KIND_GROUPS) - 1)


def words(name: str) -> str:
    """Return an identifier as words: `anti pattern` for `anti_pattern`."""
    return name.replace("_", " ")


def sentence(said: str) -> str:
    """Return a message as a sentence: with a capital at its beginning and a full stop."""
    return f"{said[:1].upper()}{said[1:].rstrip('.')}." if said else ""


def short(id_: str) -> str:
    """Return the beginning of an id, long enough for commands."""
    return id_[:8]


def id_of(given: JsonObject) -> str:
    """Return the id of the memory to change."""
    if not (id_ := text(given.get("id")).strip()):
        raise MemoryLiteError("it was not said which memory", "load the page again")
    return id_


MAX_SHOWN = 20_000
_AT_ONCE = 20_000


class Shortened(NamedTuple):
    """Text in pieces for the browser's layout, with the number of omitted characters."""

    pieces: list[str]
    left_out: int


def shortened(whole: str, *, is_all: bool = False, most: int = MAX_SHOWN) -> Shortened:
    """Return the beginning of a text, or the whole text."""
    shown = whole if is_all else whole[:most]
    return Shortened(_pieces(shown), len(whole) - len(shown))


def _pieces(text: str) -> list[str]:
    """Return a text in parts of about a screen, cut at ends of lines where possible."""
    found: list[str] = []
    start = 0
    while start < len(text):
        end = start + _AT_ONCE
        line_end = text.rfind("\n", start + _AT_ONCE // 2, end) if end < len(text) else -1
        end = line_end + 1 if line_end >= 0 else end
        found.append(text[start:end].removesuffix("\n") if line_end >= 0 else text[start:end])
        start = end
    return found


_ANY_STATUS = "any"
_OFFERED: dict[str, Sequence[str]] = {
    "kind": KINDS,
    "origin": ORIGINS,
    # What is active is shown unless another is chosen: that is no choice.
    "status": [*(one for one in STATUSES if one != "active"), _ANY_STATUS],
}


def chosen_of(asked: Asked, *names: str) -> dict[str, str]:
    """Return the choices by name, '' for a choice that was not made or not offered."""
    chosen = {name: asked.chosen(name) for name in names}
    return {name: one if one in _OFFERED.get(name, (one,)) else "" for name, one in chosen.items()}


def statuses_of(chosen: str) -> tuple[str, ...]:
    """Return the statuses for a request; without any, the worker returns active memories."""
    return STATUSES if chosen == _ANY_STATUS else some(chosen)


def some(one: str) -> tuple[str, ...]:
    return (one,) if one else ()


def find(client: Client, project: str) -> ListedProject:
    """Return a project by id; an unknown or empty project with its name alone."""
    known = next((listed for listed in client.projects() if listed.id == project), None)
    return known or ListedProject(project, called(project, client.project_names()))


class View:
    """Record with further values for a template; a value hides the attribute of the same name."""

    def __init__(self, record: object, **values: object) -> None:
        self._record = record
        self._values = values

    def __getattr__(self, name: str) -> Any:
        return self._values[name] if name in self._values else getattr(self._record, name)


def chosen(asked: Asked) -> str:
    """Return the project of a page: the chosen project, else the project of the start folder.

    '' stands for all projects, also when the folder's project holds nothing.
    """
    if given := asked.chosen("project"):
        return "" if given == EVERY_PROJECT else given
    return of_folder(asked)


def of_folder(asked: Asked) -> str:
    """Return the project of the folder where the page was started; '' when the project holds nothing."""
    return asked.client.project_of(asked.folder) if asked.folder else ""
