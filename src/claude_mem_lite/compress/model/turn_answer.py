"""Answer of a model about a turn. Apart from the request: the worker's start needs the type, but asks no model."""

from claude_mem_lite.models import Draft, Kind, SessionSummary
from claude_mem_lite.providers import Usage
from claude_mem_lite.values import frozen


@frozen
class ModelLesson:
    """One sentence of the user, worded by a model for later sessions."""

    sentence: str
    """The sentence of the request."""
    lesson: str
    kind: Kind


@frozen
class TurnAnswer:
    """Memories of one turn and summary of its session, by a model."""

    drafts: tuple[Draft, ...]
    summary: SessionSummary | None
    """The session so far, without files; None for an answer without a summary."""
    usage: Usage
    prompt_version: str
    lessons: tuple[ModelLesson, ...] = ()
