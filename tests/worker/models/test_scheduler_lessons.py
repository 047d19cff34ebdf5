"""Tests of `knowledge/lessons/model_verdicts.py` and `knowledge/lessons/collection.py`: a model judges unsure
candidates in the call of their turn."""

import json

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.api import lessons as lessons_api
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.lesson_stories import stories
from tests.support.running import Json, query, running_loop
from tests.worker.conftest import SetClock
from tests.worker.model_turns import long_turn, rest, work

(STORY,) = stories()


def told(quote: str, lesson: str = STORY.saved) -> str:
    lessons = [{"quote": quote, "lesson": lesson, "kind": "rule"}]
    return json.dumps({"memories": [], "session": {"headline": ""}, "lessons": lessons})


def spoken_turn(session: str = "s-1") -> list[Json]:
    asked, *more = long_turn(session, "Count the items")
    return [{**asked, "prompt": f"{STORY.said}\n\n{asked['prompt']}"}, *more]


def lessons(home: Home) -> list[tuple[str, str, str, float]]:
    rows = query(home.memory_db, "select summary, origin, made_by, trust from memories where kind = 'rule'")
    return [(summary, origin, made_by, trust) for summary, origin, made_by, trust in rows]


def test_the_lesson_of_a_model_is_the_users_word_in_its_wording(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [told(STORY.said)]

    work(home, model_loop, spoken_turn())
    rest(home, model_loop, clock)

    assert f"- {STORY.said}" in provider.asked[0]
    assert lessons(home) == [(STORY.saved, "user", provider.name, 0.8)]
    ((detail, version),) = query(home.memory_db, "select detail, prompt_version from memories where kind = 'rule'")
    assert detail.startswith("Worded by a model after the user said on ")
    assert STORY.said in detail
    assert version == "lessons-1"
    assert query(home.memory_db, "select state from lesson_candidates") == [("promoted",)]


def test_a_lesson_whose_quote_is_not_in_the_prompt_is_dropped(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [told("Deploy on Fridays only, as the user always says")]

    work(home, model_loop, spoken_turn())
    rest(home, model_loop, clock)

    assert lessons(home) == []
    assert query(home.memory_db, "select state from lesson_candidates") == [("unsure",)]


def test_a_turn_without_candidates_is_asked_about_as_ever(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    assert "may hold beyond the task" not in provider.asked[0]


def test_what_a_model_worded_and_the_user_dismissed_does_not_come_back_with_another_database(
    home: Home, clock: SetClock, provider: FakeProvider
) -> None:
    home.config.write_text('provider = "anthropic"\n')
    provider.answers = [told(STORY.said)]
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, spoken_turn())
        rest(home, loop, clock)
        ((id_,),) = query(home.memory_db, "select id from memories where kind = 'rule'")
        lessons_api.dismiss(lessons_api.NamedLessons(ids=[id_]), loop)
    dismissed = "select sentence from lesson_candidates where state = 'dismissed' order by sentence"
    before = query(home.memory_db, dismissed)
    home.memory_db.unlink()

    provider.answers = [told(STORY.said)]
    with running_loop(home, clock, provider.make) as loop:
        loop.passes.wait_until_idle(30, flush=True)
        rest(home, loop, clock)

    assert sorted(before) == sorted([(STORY.said,), (STORY.saved,)])
    assert query(home.memory_db, dismissed) == before
    assert lessons(home) == []
