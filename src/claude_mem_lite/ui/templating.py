"""From what the worker tells to HTML: the templates, and the few words and forms that all of them need.

Everything that is put into a template is escaped there; besides, only `markdown.py` makes HTML, of fixed tags.

Long texts: the page shows the beginning of them, and all of it only when that is asked for.

What can be chosen to narrow the feed and a search; a choice that nobody offered is none.

The projects that the worker knows, by their ids: their names and folders, and which one a page is about."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.datastructures import QueryParams

from claude_mem_lite.client.client import Client, quoted
from claude_mem_lite.client.responses import describe_change
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
from claude_mem_lite.scopes import called
from claude_mem_lite.text import counted, time_ago
from claude_mem_lite.ui.markdown import blocks, headline, inline

EVERY_PROJECT = "*"
"""Chosen in the place of a project; an address that names none means the project of the folder."""
_KIND_GROUPS = (("What was done", WORK_KINDS), ("What was taught", GUIDANCE_KINDS), ("Other", HELP_KINDS))
"""Kinds that belong together; `style.css` has a colour for each group, in this order."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a part: whom to ask, the names in its path, and what was chosen."""

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
    filters = (ago, when, words, short, counted, quoted, inline, blocks, headline, group_of, describe_change)
    environment.filters |= {one.__name__: one for one in filters}
    environment.globals |= {
        "KINDS": KINDS,
        "KIND_GROUPS": _KIND_GROUPS,
        "STATUSES": STATUSES,
        "ORIGINS": ORIGINS,
        "MAX_TITLE_LENGTH": MAX_TITLE_LENGTH,
        "MAX_TEXT_LENGTH": MAX_TEXT_LENGTH,
        "EVERY_PROJECT": EVERY_PROJECT,
    }
    return environment


def ago(written: str) -> Markup:
    """How long ago a moment was; the moment itself shows on hover."""
    return _time(written, time_ago(datetime.fromisoformat(written), datetime.now(UTC)))


def when(written: str) -> Markup:
    """A moment in the time of this machine, the day by its name if it was lately; all of it shows on hover."""
    return _time(written, short_moment(written, datetime.now(UTC)))


def short_moment(written: str, now: datetime) -> str:
    """A moment as people say it, in the time of this machine: `today 14:05`, `3 Mar 14:05`, `2025-03-03 14:05`.

    At the ends of the calendar that may be no date; such a moment stays in the time it was written in."""
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
    """A moment in full, in the time of this machine and with its distance from UTC."""
    at = datetime.fromisoformat(written)
    try:
        return at.astimezone().isoformat(" ", "seconds")
    except (OverflowError, ValueError):
        return at.isoformat(" ", "minutes")


def _time(written: str, shown: str) -> Markup:
    return Markup('<time datetime="{}" title="{}">{}</time>').format(written, moment(written), shown)


def group_of(kind: str) -> int:
    """The number of the group that a kind belongs to, by which it has its colour."""
    return next((at for at, (_, kinds) in enumerate(_KIND_GROUPS) if kind in kinds), len(_KIND_GROUPS) - 1)


def words(name: str) -> str:
    """A name of the code as words: `anti_pattern` is an anti pattern."""
    return name.replace("_", " ")


def short(id_: str) -> str:
    """The beginning of an id, by which commands know it too."""
    return id_[:8]


def id_of(given: JsonObject) -> str:
    """The id of what is to be changed."""
    if not (id_ := text(given.get("id")).strip()):
        raise MemoryLiteError("it was not said which memory", "load the page again")
    return id_


MAX_SHOWN = 20_000
_AT_ONCE = 20_000


class Shortened(NamedTuple):
    """A text in pieces that a browser lays out one by one, and how many characters are left out."""

    pieces: list[str]
    left_out: int


def shortened(whole: str, *, is_all: bool = False, most: int = MAX_SHOWN) -> Shortened:
    """The beginning of a text, or all of it."""
    shown = whole if is_all else whole[:most]
    return Shortened(_pieces(shown), len(whole) - len(shown))


def _pieces(text: str) -> list[str]:
    """A text in parts of a screen or some more, each up to the end of a line if one is near."""
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
    """What was chosen by each of these names, '' where nothing was."""
    chosen = {name: asked.chosen(name) for name in names}
    return {name: one if one in _OFFERED.get(name, (one,)) else "" for name, one in chosen.items()}


def statuses_of(chosen: str) -> tuple[str, ...]:
    """The statuses to ask the worker for; none leaves it to the worker, which takes the active ones."""
    return STATUSES if chosen == _ANY_STATUS else some(chosen)


def some(one: str) -> tuple[str, ...]:
    return (one,) if one else ()


def find(client: Client, project: str) -> JsonObject:
    """What is known of a project; of one that is not known, its id."""
    known = next((one for one in client.projects() if one.get("id") == project), None)
    return known if known is not None else {"id": project, "name": called(project, client.project_names()), "root": ""}


def with_project_name(one: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """A memory or a session, with what its project is called."""
    return {**one, "project_name": called(text(one.get("project")), names)}


def chosen(asked: Asked) -> str:
    """Return the project that a page is about: the chosen one, else that of the folder where the page was started.

    '' stands for all projects, also when nothing is remembered of that folder's project."""
    if given := asked.chosen("project"):
        return "" if given == EVERY_PROJECT else given
    return of_folder(asked)


def of_folder(asked: Asked) -> str:
    """Return the project of the folder where the page was started; '' when nothing is remembered of it."""
    return asked.client.project_of(asked.folder) if asked.folder else ""
