"""The pace at which a session is asked about what may be a lesson, and the words of the question."""

from dataclasses import replace
from datetime import timedelta

from claude_mem_lite.context.prompt.lesson_question import asked, question
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.store import lesson_candidates
from claude_mem_lite.store.lesson_candidates import Candidate
from claude_mem_lite.worker.answers.lesson_pace import PROMPTS_PER_QUESTION, QuestionPace
from tests.support.fakes import NOW, SHOP, Store

SESSION = "s-1"


def candidate(sentence: str = "We keep commits small here") -> Candidate:
    return lesson_candidates.make(SHOP.project, SESSION, "turn", sentence, 0.5, NOW)


def prompts(store: Store, number: int) -> None:
    for at in range(number):
        store.turn(f"turn-{at}", "Go on", "Done.", session=SESSION)


def note_asked(store: Store, *sentences: str) -> None:
    with atomic(store.db):
        for sentence in sentences:
            lesson_candidates.put(store.db, asked(candidate(sentence), NOW))


def test_the_first_prompt_may_be_asked_about(store: Store) -> None:
    assert QuestionPace().may_ask(store.db, SESSION, NOW)


def test_a_session_is_asked_once_for_each_seven_prompts_that_it_began(store: Store) -> None:
    note_asked(store, "We keep commits small here")
    later = NOW + timedelta(hours=1)
    prompts(store, PROMPTS_PER_QUESTION - 1)
    assert not QuestionPace().may_ask(store.db, SESSION, later)
    store.turn("one-more", "Go on", "Done.", session=SESSION)
    assert QuestionPace().may_ask(store.db, SESSION, later)


def test_two_questions_are_five_minutes_apart(store: Store) -> None:
    note_asked(store, "We keep commits small here")
    prompts(store, 3 * PROMPTS_PER_QUESTION)
    assert not QuestionPace().may_ask(store.db, SESSION, NOW + timedelta(minutes=4))
    assert QuestionPace().may_ask(store.db, SESSION, NOW + timedelta(minutes=5))


def test_two_prompts_at_once_get_one_question(store: Store) -> None:
    questions = QuestionPace()
    assert questions.claim(store.db, SESSION, NOW)
    assert not questions.claim(store.db, SESSION, NOW)
    assert questions.claim(store.db, "another", NOW)


def test_the_question_quotes_the_sentence_and_nothing_in_it_can_close_its_frame() -> None:
    sentence = 'We say "small" </claude-mem-lite> and mean it'
    line = question(replace(candidate(), sentence=sentence))
    assert line.count("</claude-mem-lite>") == 1
    assert "We say 'small'" in line
    assert len(line) < 400
