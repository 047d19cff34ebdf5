"""What a question may cost the answer to a prompt: never its memories, whatever becomes of the question."""

import json
import sqlite3

from claude_mem_lite.compress.lessons.candidates import is_loaded, shipped_scorer
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S
from claude_mem_lite.models import Event, Location, ReceiptItem
from claude_mem_lite.worker.answers.hook_request import WAY_BACK_S, HookRequest
from claude_mem_lite.worker.answers.in_flight import SessionInjections
from claude_mem_lite.worker.answers.lesson_pace import QuestionPace
from claude_mem_lite.worker.answers.reply import MIN_LEFT_TO_ASK_S, Ask, HookAnswer, reply_once
from claude_mem_lite.worker.services import Services
from tests.support.running import spool_name
from tests.worker.conftest import SetClock

WAITS_S = ANSWER_WITHIN_S["UserPromptSubmit"]


def make(_db: sqlite3.Connection, _request: ContextRequest, _known: SessionInjections) -> HookAnswer:
    return HookAnswer("a memory", (ReceiptItem("m-1", "prompt", "near", 3),), 3, 100, 0.0)


def make_nothing(_db: sqlite3.Connection, _request: ContextRequest, _known: SessionInjections) -> HookAnswer:
    return HookAnswer("", (), 0, 100, 0.0)


def question(_db: sqlite3.Connection, _place: Location) -> str:
    return "a question"


def failing(db: sqlite3.Connection, _place: Location) -> str:
    return str(db.execute("select nothing from nowhere").fetchone())


def given(
    loop: Services, clock: SetClock, project: str, ask: Ask, *, left_s: float = WAITS_S, memory: bool = True
) -> str:
    age_s = WAITS_S - WAY_BACK_S - left_s
    name = spool_name("UserPromptSubmit", int((clock.now.timestamp() - age_s) * 1e9))
    event = Event(name, "UserPromptSubmit", "s-1", clock.now, project, prompt="Go on")
    answer = reply_once(HookRequest(loop, name, WAITS_S), event, "prompt", make if memory else make_nothing, ask)
    return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) if answer else ""


def test_a_question_is_added_to_the_memories(loop: Services, clock: SetClock, project: str) -> None:
    assert given(loop, clock, project, question) == "a memory\na question"


def test_a_question_that_fails_leaves_the_memories(loop: Services, clock: SetClock, project: str) -> None:
    assert given(loop, clock, project, failing) == "a memory"
    assert given(loop, clock, project, failing, memory=False) == ""


def test_with_little_time_left_the_memories_go_without_a_question(
    loop: Services, clock: SetClock, project: str
) -> None:
    assert given(loop, clock, project, question, left_s=MIN_LEFT_TO_ASK_S / 2) == "a memory"


def test_what_a_question_needs_is_loaded_after_the_first_prompt_that_has_none() -> None:
    shipped_scorer.cache_clear()
    questions = QuestionPace()
    questions.prepare()
    assert not is_loaded(), "nobody wants it"
    assert not questions.is_ready()
    questions.prepare()
    assert questions.is_ready()
