"""From what the worker tells to HTML: the templates, and the few words and forms that all of them need.

Everything that is put into a template is escaped there; nothing else makes HTML."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import QueryParams

from claude_mem_lite.client import Client, quoted
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
from claude_mem_lite.scopes import project_name
from claude_mem_lite.words import counted, time_ago

_KIND_GROUPS = (("What was done", WORK_KINDS), ("What was taught", GUIDANCE_KINDS), ("Other", HELP_KINDS))


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
    environment.filters |= {one.__name__: one for one in (ago, moment, words, short, project_name, counted, quoted)}
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
    """How long ago a moment was."""
    return time_ago(datetime.fromisoformat(written), datetime.now(UTC))


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


def id_of(given: JsonObject) -> str:
    """The id of what is to be changed."""
    if not (id_ := text(given.get("id")).strip()):
        raise MemoryLiteError("it was not said which memory", "load the page again")
    return id_
