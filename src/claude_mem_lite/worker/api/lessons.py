"""The API of lessons: those that were learned, those that are unsure, and the user's word on them. Writes through the
inbox."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict

from pydantic import ConfigDict

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.knowledge.lessons import user_verdicts
from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory
from claude_mem_lite.safety.clean_import import is_all_private
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import memories
from claude_mem_lite.store.lesson_candidates import Candidate
from claude_mem_lite.store.memory_queries import count_stated, stated
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Limit, Running, project_of, wait
from claude_mem_lite.worker.loop import Loop

router = Router(prefix="/api")
_KINDS: tuple[Kind, ...] = (*GUIDANCE_KINDS, "note", "decision")
MAX_LESSON = 500
"""Characters of a lesson that the user words: it is given to every session."""


class Named(Body):
    """The lessons that are meant, by their ids or the beginnings of them."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str]


class Edit(Body):
    """A lesson in other words."""

    model_config = ConfigDict(extra="forbid")

    id: str
    text: str


@router.get("/lessons")
def lessons(
    loop: Running, cwd: str = "", all_projects: bool = True, project: str = "", limit: Limit = 50
) -> dict[str, object]:
    """Lessons that were learned and those that are unsure, newest first: of all projects, or of a folder's; under
    `more` the number of each that the limit leaves out."""
    chosen = project_of(loop, cwd, all_projects, project)
    with closing(loop.readers.open()) as db:
        found = stated(db, chosen, _KINDS, limit)
        unsure = candidates.of_project(db, chosen, candidates.OPEN, limit)
        said = candidates.of_memories(db, [memory.id for memory in found])
        more = {
            "learned": count_stated(db, chosen, _KINDS) - len(found),
            "unsure": candidates.count(db, chosen, candidates.OPEN) - len(unsure),
        }
    return {
        "learned": [_learned(memory, [one for one in said if one.memory == memory.id]) for memory in found],
        "unsure": [asdict(one) for one in unsure],
        "more": more,
    }


@router.get("/lessons/{id_}")
def lesson(loop: Running, id_: str) -> dict[str, object]:
    """One sentence of the user that is or was unsure, with the message that it answered and its session."""
    with closing(loop.readers.open()) as db:
        return {**asdict(candidates.get(db, id_)), "kind": "lesson"}


@router.post("/lessons/accept")
def accept(named: Named, loop: Running) -> dict[str, object]:
    """Keep lessons on the user's word; what they say now under `lessons`. None, when one of them needs other words."""
    with closing(loop.readers.open()) as db:
        _refuse_no_rules([user_verdicts.named(db, one) for one in dict.fromkeys(named.ids)])
    accepted = _carry_out(loop, user_verdicts.ACCEPT, named.ids)
    with closing(loop.readers.open()) as db:
        told = [{"id": one.id, "text": one.summary} for one in memories.by_ids(db, accepted)]
    return {"accepted": accepted, "lessons": told}


@router.post("/lessons/dismiss")
def dismiss(named: Named, loop: Running) -> dict[str, object]:
    """Drop lessons; neither they nor a paraphrase come back in their project."""
    with closing(loop.readers.open()) as db:
        told = [user_verdicts.dismissal(db, user_verdicts.named(db, one)) for one in dict.fromkeys(named.ids)]
    return {"dismissed": _carry_out(loop, user_verdicts.DISMISS, named.ids), "lessons": told}


@router.post("/lessons/edit")
def edit(wanted: Edit, loop: Running) -> dict[str, object]:
    """Keep a lesson in other words."""
    if is_all_private(wanted.text):
        raise MemoryLiteError("the text is empty", "`claude-mem-lite lessons dismiss` drops a lesson")
    if len(wanted.text) > MAX_LESSON:
        raise MemoryLiteError(
            f"the text has {len(wanted.text):,} characters, and a lesson at most {MAX_LESSON}",
            "say it in one self-contained sentence with its reason; `claude-mem-lite remember` keeps longer texts",
        )
    return {"edited": _carry_out(loop, user_verdicts.EDIT, [wanted.id], wanted.text)}


def _refuse_no_rules(subjects: Sequence[Candidate | Memory]) -> None:
    """Refuse what cannot be a rule in the words that it was said in."""
    refused = {one.id: why for one in subjects if (why := user_verdicts.why_no_rule(one))}
    if refused:
        raise MemoryLiteError(
            "; ".join(f"{id_} {why}" for id_, why in refused.items()),
            f'`claude-mem-lite lessons accept {next(iter(refused))} "the rule in your words"` keeps it, on the page '
            "*Edit* does",
        )


def _carry_out(loop: Loop, command: str, given: Sequence[str], words: str = "") -> list[str]:
    if not given:
        raise MemoryLiteError("no lesson is named", "`claude-mem-lite lessons` lists them")
    with closing(loop.readers.open()) as db:
        # Whole ids: the beginning of one may fit another when the command is replayed.
        subjects = [user_verdicts.named(db, one) for one in dict.fromkeys(given)]
        told = [{"command": command, "id": one.id, "text": words, **user_verdicts.told_of(db, one)} for one in subjects]
    return [id_ for one in told for id_ in wait(loop.command(one))]


def _learned(memory: Memory, said: Sequence[Candidate]) -> dict[str, object]:
    return {**asdict(memory), "said": [asdict(one) for one in said]}
