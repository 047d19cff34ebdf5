"""From what the worker tells to HTML: the templates, and the few words and forms that all of them need.

Everything that is put into a template is escaped there; nothing else makes HTML."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import QueryParams

from claude_mem_lite.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import (
    GUIDANCE_KINDS,
    HELP_KINDS,
    KINDS,
    LONGEST_TEXT,
    LONGEST_TITLE,
    ORIGINS,
    STATUSES,
    WORK_KINDS,
    JsonObject,
    text,
)

_KIND_GROUPS = (("What was done", WORK_KINDS), ("What was taught", GUIDANCE_KINDS), ("Other", HELP_KINDS))
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a part: whom to ask, the names in its path, and what was chosen."""

    client: Client
    path: Mapping[str, str]
    query: QueryParams
    forgotten: Mapping[str, JsonObject] = field(default_factory=dict)
    """What was forgotten from the page that asks and can be undone, by id."""

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
    environment.filters |= {one.__name__: one for one in (ago, moment, words, short, named, counted, quoted)}
    environment.globals |= {
        "KINDS": KINDS,
        "KIND_GROUPS": _KIND_GROUPS,
        "STATUSES": STATUSES,
        "ORIGINS": ORIGINS,
        "LONGEST_TITLE": LONGEST_TITLE,
        "LONGEST_TEXT": LONGEST_TEXT,
    }
    return environment


def ago(written: str) -> str:
    """How long ago a moment was, in the largest unit that fits."""
    seconds = (datetime.now(UTC) - datetime.fromisoformat(written)).total_seconds()
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"


def moment(written: str) -> str:
    """A moment as people write it, in the time of this machine.

    At the ends of the calendar that may be no date; such a moment stays in the time it was written in."""
    at = datetime.fromisoformat(written)
    try:
        return f"{at.astimezone():%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError):
        return at.isoformat(" ", "minutes")


def words(name: str) -> str:
    """A name of the code as words: `anti_pattern` is an anti pattern."""
    return name.replace("_", " ")


def short(id_: str) -> str:
    """The beginning of an id, by which commands know it too."""
    return id_[:8]


def quoted(id_: str) -> str:
    """An id as one part of a path; those of sessions are other people's and may hold anything, a slash too."""
    return quote(id_, safe="", errors="replace")


def counted(number: int, one: str, many: str = "") -> str:
    """A number with what it counts, as one or as many; `many` is `one` with an s unless it is given."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def named(project: str) -> str:
    """What a project is called: the end of its path or remote."""
    return project.rstrip("/").rpartition("/")[2] or project


def id_of(given: JsonObject) -> str:
    """The id of what is to be changed."""
    if not (id_ := text(given.get("id")).strip()):
        raise MemoryLiteError("it was not said which memory", "load the page again")
    return id_


def listed(told: JsonObject, name: str) -> list[JsonObject]:
    """A list of objects in what the worker told."""
    found = told.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
