"""API of lessons: learned lessons, unsure candidates, and the user's verdicts. Writes through the inbox."""

from collections.abc import Sequence
from contextlib import closing

from pydantic import ConfigDict

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.knowledge.lessons import user_verdicts
from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.lessons import (
    AcceptedLesson,
    AcceptedLessons,
    DismissedLessons,
    EditedLesson,
    LearnedLesson,
    LessonCandidate,
    LessonCounts,
    LessonList,
)
from claude_mem_lite.safety.clean_import import is_all_private
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import memories
from claude_mem_lite.store.lesson_candidates import Candidate
from claude_mem_lite.store.memory_queries import count_stated, stated
from claude_mem_lite.worker.api.request_project import RequestProjectOrAll
from claude_mem_lite.worker.api.routing import Body, Limit, Router, Running, wait
from claude_mem_lite.worker.services import Services

router = Router(prefix="/api")
_KINDS: tuple[Kind, ...] = (*GUIDANCE_KINDS, "note", "decision")
MAX_LESSON = 500
"""Characters of a lesson that the user words: it is given to every session."""


class NamedLessons(Body):
    """Lessons by their ids or the beginnings of ids."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str]


class Edit(Body):
    """Lesson with a new text."""

    model_config = ConfigDict(extra="forbid")

    id: str
    text: str


@router.get("/lessons")
def lessons(services: Running, project: RequestProjectOrAll, limit: Limit = 50) -> LessonList:
    """Return learned lessons and unsure candidates of all projects or of a folder's project, newest first."""
    with closing(services.readers.open()) as db:
        found = stated(db, project.id, _KINDS, limit)
        unsure = candidates.of_project(db, project.id, candidates.OPEN, limit)
        said = candidates.of_memories(db, [memory.id for memory in found])
        more = LessonCounts(
            learned=count_stated(db, project.id, _KINDS) - len(found),
            unsure=candidates.count(db, project.id, candidates.OPEN) - len(unsure),
        )
    return LessonList(
        learned=tuple(_learned(memory, [each for each in said if each.memory == memory.id]) for memory in found),
        unsure=tuple(response_from(LessonCandidate, candidate) for candidate in unsure),
        more=more,
    )


@router.get("/lessons/{id_}")
def lesson(services: Running, id_: str) -> LessonCandidate:
    """Return one lesson candidate, whatever its state."""
    with closing(services.readers.open()) as db:
        return response_from(LessonCandidate, candidates.get(db, id_), kind="lesson")


@router.post("/lessons/accept")
def accept(named: NamedLessons, services: Running) -> AcceptedLessons:
    """Accept lessons; refuse all if the text of a lesson cannot be a rule."""
    with closing(services.readers.open()) as db:
        _refuse_no_rules([user_verdicts.named(db, one) for one in dict.fromkeys(named.ids)])
    accepted = _carry_out(services, user_verdicts.ACCEPT, named.ids)
    with closing(services.readers.open()) as db:
        lessons = tuple(AcceptedLesson(memory.id, memory.summary) for memory in memories.by_ids(db, accepted))
    return AcceptedLessons(tuple(accepted), lessons)


@router.post("/lessons/dismiss")
def dismiss(named: NamedLessons, services: Running) -> DismissedLessons:
    """Drop lessons and their paraphrases for good in their projects."""
    with closing(services.readers.open()) as db:
        subjects = [user_verdicts.named(db, id_) for id_ in dict.fromkeys(named.ids)]
        lessons = tuple(user_verdicts.dismissal(db, subject) for subject in subjects)
    return DismissedLessons(tuple(_carry_out(services, user_verdicts.DISMISS, named.ids)), lessons)


@router.post("/lessons/edit")
def edit(wanted: Edit, services: Running) -> EditedLesson:
    """Accept a lesson in other words."""
    if is_all_private(wanted.text):
        raise MemoryLiteError("the text is empty", "`claude-mem-lite lessons dismiss` drops a lesson")
    if len(wanted.text) > MAX_LESSON:
        raise MemoryLiteError(
            f"the text has {len(wanted.text):,} characters, and a lesson at most {MAX_LESSON}",
            "say it in one self-contained sentence with its reason; `claude-mem-lite remember` keeps longer texts",
        )
    return EditedLesson(tuple(_carry_out(services, user_verdicts.EDIT, [wanted.id], wanted.text)))


def _refuse_no_rules(subjects: Sequence[Candidate | Memory]) -> None:
    """Refuse lessons whose sentence cannot be a rule."""
    refused = {one.id: why for one in subjects if (why := user_verdicts.why_no_rule(one))}
    if refused:
        raise MemoryLiteError(
            "; ".join(f"{id_} {why}" for id_, why in refused.items()),
            f'`claude-mem-lite lessons accept {next(iter(refused))} "the rule in your words"` keeps it, on the page '
            "*Edit* does",
        )


def _carry_out(services: Services, command: str, given: Sequence[str], words: str = "") -> list[str]:
    if not given:
        raise MemoryLiteError("no lesson is named", "`claude-mem-lite lessons` lists them")
    with closing(services.readers.open()) as db:
        # Whole ids: the beginning of one may fit another when the command is replayed.
        subjects = [user_verdicts.named(db, one) for one in dict.fromkeys(given)]
        commands = [
            {"command": command, "id": subject.id, "text": words, **user_verdicts.description_of(db, subject)}
            for subject in subjects
        ]
    return [id_ for body in commands for id_ in wait(services.commands.put(body))]


def _learned(memory: Memory, said: Sequence[Candidate]) -> LearnedLesson:
    sentences = tuple(response_from(LessonCandidate, candidate) for candidate in said)
    return response_from(LearnedLesson, memory, said=sentences)
