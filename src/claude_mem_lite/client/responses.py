"""What is asked of the worker and what it answers, as values: `client.py` sends and makes them.

Fields of what the worker told, each read as what it should be; anything else in its place is nothing.

For all that talk to the worker. A worker of another version may tell less, or otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime

from claude_mem_lite.models import JsonObject, text


@dataclass(frozen=True, slots=True)
class Health:
    """Who answers on the socket; `told` is all it said."""

    version: str
    pid: int
    told: JsonObject


@dataclass(frozen=True, slots=True)
class PastTurns:
    """The names of past turns that an import does not store, or only when asked to."""

    known: frozenset[str]
    """There already."""
    excluded: frozenset[str]
    """In a folder that is excluded now."""
    off: frozenset[str]
    """Of a time in which memory was off."""
    excluded_then: frozenset[str]
    """Of a time in which their folder was excluded."""


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Events in the inbox, by status."""

    raw: int = 0
    processing: int = 0
    done: int = 0
    error: int = 0
    skipped: int = 0
    spooled: int = 0
    """Those that hooks left and nobody has taken in yet."""


@dataclass(frozen=True, slots=True)
class Drained:
    """Whether nothing was left to do when the waiting ended, and the counts at that moment."""

    drained: bool
    counts: QueueCounts


@dataclass(frozen=True, slots=True)
class Where:
    """Which memories are meant: those that hold in a folder or a project, or those of every project."""

    cwd: str
    all_projects: bool = False
    project: str = ""
    """Those of a project by its id or name, whatever folder is given."""

    def as_query(self) -> list[tuple[str, str]]:
        named = [("project", self.project)] if self.project else []
        return [("cwd", self.cwd), ("all_projects", "true" if self.all_projects else "false"), *named]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a memory must be to be listed or found; None and empty ask for nothing."""

    kinds: Sequence[str] = ()
    scope: str | None = None
    file: str | None = None
    branch: str | None = None
    since: str | None = None
    until: str | None = None
    statuses: Sequence[str] = ()
    """Without any, only what holds: the active ones."""

    def as_query(self) -> list[tuple[str, str]]:
        single = {name: getattr(self, name) for name in ("scope", "file", "branch", "since", "until")}
        return [
            *(("kind", kind) for kind in self.kinds),
            *((name, value) for name, value in single.items() if value is not None),
            *(("status", status) for status in self.statuses),
        ]


@dataclass(frozen=True, slots=True)
class Asker:
    """An agent that asks for itself: where it works, and in which session as far as it knows."""

    cwd: str
    session: str = ""
    named: str = ""
    """The session that its client names, though another may be at work."""

    def as_body(self) -> JsonObject:
        return {"cwd": self.cwd, "session": self.session}


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Some of the memories, how many there are in all (with the first page), and after which the next page begins."""

    memories: Sequence[JsonObject]
    total: int | None
    next: int | None


@dataclass(frozen=True, slots=True)
class ImportStart:
    """The project and the moment of an import, and the scopes it names that nobody knows, with the reason."""

    project: str
    at: str
    unknown: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StaleTurn:
    """A turn whose memories an older version made, with the marks that a transcript has of it."""

    turn: str
    prompt_id: str
    began_at: datetime
    kept_bytes: int
    """The size of its events in the inbox; 0 when they are gone."""
    is_left: bool
    """An earlier rebuild found nothing to make it anew from."""


@dataclass(frozen=True, slots=True)
class ImportedTurns:
    """What came of some turns of transcripts."""

    turns: int
    memories: int
    ended: int
    """Memories, new or old, that were retired or replaced by what the turns tell."""
    unsure_lessons: int
    """Sentences that may be lessons and wait to be judged, of all sessions."""


@dataclass(frozen=True, slots=True)
class RebuildCounts:
    """Turns that were made anew and turns that were left, and what became of their memories."""

    turns: int = 0
    left: int = 0
    kept: int = 0
    reworded: int = 0
    new: int = 0
    taken_back: int = 0
    unsure: int = 0

    def __add__(self, other: "RebuildCounts") -> "RebuildCounts":
        return RebuildCounts(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


ANYTHING = Wanted()


NOTHING_CERTAIN = "Nothing certain; nearest"
"""The heading of hits of which none is certain."""
_CHANGES = {
    "merge": "{} was merged into {}",
    "join": "{} was recognised as {} and merged into it",
    "rename": "{} was renamed to {}",
    "move": "{} was moved to {}",
    "split": "{1} was split from {0}",
}


def part(told: JsonObject, name: str) -> JsonObject:
    """An object in it; empty when there is none."""
    value = told.get(name)
    return value if isinstance(value, Mapping) else {}


def objects(told: JsonObject, name: str) -> Sequence[JsonObject]:
    """The objects of a list in it; none when there is no list."""
    value = told.get(name)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def number(told: JsonObject, name: str) -> float:
    """A number in it; 0 when there is none."""
    value = told.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def whole_or_none(told: JsonObject, name: str) -> int | None:
    """A whole number in it. True is none, though Python counts it as 1."""
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def whole(told: JsonObject, name: str) -> int:
    """A whole number in it; 0 when there is none."""
    return whole_or_none(told, name) or 0


def is_uncertain(hit: JsonObject) -> bool:
    """Whether a hit is only near to what was asked. A record that no search made is certain."""
    return hit.get("certain") is False


def describe_change(change: JsonObject) -> str:
    """Say what a change to projects did, as a sentence without its full stop."""
    sentence = _CHANGES.get(text(change.get("kind")), "{} became {}")
    return sentence.format(text(change.get("source_name")), text(change.get("target_name")))
