"""What the user teaches in a turn becomes memory, behind the work and without taking its place."""

from dataclasses import replace

import pytest

from claude_mem_lite.compress.rules.session_summary import summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.rules.turn_lessons import lesson_drafts, request_in
from claude_mem_lite.models import MAX_MEMORIES_PER_TURN, Event
from tests.support.turns import AT, AUTH, CWD, bash, edit, lenient_judge, turn, write

SURE = "All handlers must never block, because every other request has to wait for them."


def test_what_is_stated_in_so_many_words_is_kept_as_the_users_word_with_the_quote_in_its_detail() -> None:
    (draft,) = lesson_drafts(turn("No, never use npm. And set up the front end."))
    assert (draft.kind, draft.title, draft.origin) == ("rule", "Never use npm", "user")
    assert (draft.summary, draft.detail) == ("Never use npm.", 'The user said: "No, never use npm."')
    assert draft.scope == ""


def test_a_sentence_of_which_the_scorer_is_sure_is_kept_whole_with_its_reason() -> None:
    (draft,) = lesson_drafts(turn(f"Commit it. {SURE}"))
    assert draft.title == "All handlers must never block"
    assert draft.summary == SURE
    assert draft.confidence == 0.75


@pytest.mark.parametrize("said", ["No, use pnpm.", "No, this is fine.", "I like option C", "Fix the cart", "yes, 2"])
def test_an_answer_a_task_and_a_short_correction_are_not_kept_at_once(said: str) -> None:
    assert lesson_drafts(turn(said)) == []


def test_a_sentence_of_a_paragraph_that_could_be_pasted_is_never_sure() -> None:
    assert lesson_drafts(turn(f"{SURE} {'Then look at how the cart adds up its prices today. ' * 14}")) == []


def test_only_a_short_prompt_can_speak_for_every_project() -> None:
    said = "In all my projects, never commit to main."
    (everywhere,) = lesson_drafts(turn(said))
    (here,) = lesson_drafts(turn(f"{said} {'Then look at how the cart adds its prices up. ' * 7}"))
    assert (everywhere.scope, here.scope) == ("universal", "")
    assert everywhere.title == here.title == "Never commit to main"


def test_files_and_folders_that_are_named_become_files() -> None:
    (draft,) = lesson_drafts(
        turn("never edit src/api/client.ts or anything under vendor/, use overrides.json instead of a patch")
    )
    assert draft.files == ("src/api/client.ts", "vendor/", "overrides.json")


def test_what_the_user_taught_comes_behind_the_work_and_is_not_tied_to_code() -> None:
    change = edit("auth.py", AUTH, "self.expires > now * 1000", "self.expires > now")
    said = "Sessions expired at once because `is_valid` compared seconds with milliseconds."
    asked = turn("Fix is_valid. And never multiply times in is_valid()", change, closing=said)
    folded = fold(asked, lenient_judge())
    *work, lesson = folded.drafts
    assert work
    assert (lesson.kind, lesson.title, lesson.anchors) == ("rule", "Never multiply times in is_valid()", ())


def test_a_turn_full_of_work_keeps_its_work() -> None:
    commits = []
    for number in range(20):
        commits += [
            write(f"part{number}.py", f"def work_{number}():\n    return {number}\n"),
            bash(
                f"git commit -m 'Add part number {number}'",
                f"[main {number:07x}] Add part number {number}\n 1 file changed",
            ),
        ]
    without = fold(turn("Write all the parts", *commits))
    taught_too = fold(turn("Write all the parts. Never use globals in them", *commits))
    work = [draft for draft in taught_too.drafts if draft.origin != "user"]
    assert [draft.title for draft in work] == [draft.title for draft in without.drafts]
    assert len(taught_too.drafts) <= MAX_MEMORIES_PER_TURN


def test_the_summary_of_a_session_tells_of_its_work_and_not_of_what_was_taught() -> None:
    given = turn(
        "Never use globals in handlers", write("a.py", "def a():\n    return 1\n"), closing="Added `a` to a.py."
    )
    summary = summarize(None, given, fold(given))
    assert "globals" not in summary.headline
    assert "globals" not in summary.completed


def test_the_same_said_twice_in_a_turn_is_one_memory_and_the_surer_one() -> None:
    (draft,) = lesson_drafts(turn("never use npm\n\nremember: never use npm"))
    assert draft.confidence == 1.0


def test_what_a_sub_agent_was_asked_is_not_the_users_word() -> None:
    given = turn("look around")
    asked = Event("1", "UserPromptSubmit", "s", AT, CWD, prompt="never commit to main", agent_id="a1")
    assert lesson_drafts(replace(given, events=(*given.events, asked))) == []


def test_a_prompt_that_came_with_an_earlier_part_of_the_turn_is_not_read_again() -> None:
    given = turn("never commit to main")
    assert lesson_drafts(replace(given, events=given.events[1:])) == []


def test_a_prompt_typed_while_the_agent_works_is_read_too() -> None:
    given = turn("look around")
    asked = Event("1", "UserPromptSubmit", "s", AT, CWD, prompt="never commit to main")
    assert [draft.title for draft in lesson_drafts(replace(given, events=(*given.events, asked)))] == [
        "Never commit to main"
    ]


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("No, never use npm. And set up the front end.", "set up the front end."),
        ("I prefer pytest over unittest. Please add a price module.", "Please add a price module."),
        ("No, never use npm.", "No, never use npm."),
        ("Add a price module.", "Add a price module."),
        ("Hi! I prefer small commits. Please add a price module.", "Please add a price module."),
        ("Hey Claude, add a price module.", "add a price module."),
        ("Hi!", "Hi!"),
    ],
)
def test_what_was_asked_for_is_told_without_what_was_taught(prompt: str, asked: str) -> None:
    assert request_in(prompt) == asked
