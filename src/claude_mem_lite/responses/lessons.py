"""Responses about lessons: learned lessons, lesson candidates, and the user's verdicts."""

from collections.abc import Collection

from claude_mem_lite.responses.encoding import Response, response
from claude_mem_lite.responses.memories import StoredMemory


@response
class LessonCandidate(Response):
    """Sentence of the user, possibly a lesson."""

    id: str
    project: str
    session: str
    turn: str
    sentence: str
    after_message: str
    """End of the agent's message that the sentence answers."""
    probability: float
    state: str
    created_at: str
    asked_at: str | None = None
    decided_at: str | None = None
    memory: str = ""
    """Id of the memory that the candidate became or repeats."""
    kind: str = ""
    """`lesson` for a single record, empty in a list."""

    def omitted_fields(self) -> Collection[str]:
        return () if self.kind else ("kind",)


@response
class LearnedLesson(StoredMemory):
    """Memory of a lesson, with the sentences of the user."""

    said: tuple[LessonCandidate, ...] = ()


@response
class LessonCounts(Response):
    """Number of lessons beyond the limit of a list."""

    learned: int = 0
    unsure: int = 0


@response
class LessonList(Response):
    """Learned lessons and unsure candidates, newest first."""

    learned: tuple[LearnedLesson, ...]
    unsure: tuple[LessonCandidate, ...]
    more: LessonCounts


@response
class AcceptedLesson(Response):
    """Lesson accepted by the user."""

    id: str
    text: str


@response
class AcceptedLessons(Response):
    """Ids of accepted memories, with their text."""

    accepted: tuple[str, ...]
    lessons: tuple[AcceptedLesson, ...]


@response
class DismissedLesson(Response):
    """Lesson dismissed by the user."""

    id: str
    text: str
    already: bool
    """The lesson was dismissed before."""


@response
class DismissedLessons(Response):
    """Ids of dismissed memories and candidates, with their text."""

    dismissed: tuple[str, ...]
    lessons: tuple[DismissedLesson, ...]


@response
class EditedLesson(Response):
    """Id of the memory of an edited lesson, in a list."""

    edited: tuple[str, ...]
